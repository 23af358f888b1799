"""What engines.py measures: PTX kernels, and the rows that launch them."""

import random
from dataclasses import dataclass, field
from math import prod

WORDS = 64  # 32-bit parameters of each kernel
PARAMETERS = f".param .u64 out, .param .u64 data, .param .align 64 .b8 map[128], .param .align 16 .b8 words[{4 * WORDS}]"


@dataclass
class Kernel:
    name: str
    text: str
    threads: int = 32
    blocks: int = 1


@dataclass
class Row:
    kernel: Kernel
    columns: dict
    results: list  # the names of the numbers that the kernel writes
    parameters: list  # words of the kernel
    once: dict = field(default_factory=dict)  # those of a launch for a profiler, by index
    checks: dict = field(default_factory=dict)
    count: tuple = (1, 1)  # instructions of a launch for a profiler, and of another
    tensor: dict | None = None
    check: bool = False

    def words(self, repeats: int, check: bool = False) -> list:
        words = self.parameters + [0] * (WORDS - len(self.parameters))
        for index, value in ({} if repeats else self.once).items():
            words[index] = value
        for index, value in (self.checks if check else {}).items():
            words[index] = value
        return words

    def instructions(self, repeats: int) -> int:
        return self.count[1 if repeats else 0]


def entry(name: str, threads: int, body: str, cluster: int = 1) -> str:
    """A kernel: `body` after what all have."""
    clustered = f".explicitcluster .reqnctapercluster {cluster}, 1, 1" if cluster > 1 else ""
    return f"""
.visible .entry {name}({PARAMETERS}) .maxntid {threads}, 1, 1 {clustered} {{
.reg .pred p, q, lead, go;
.reg .b32 base, tid, lane, i, n, x, y, z, w, bar, r, s, m;
.reg .b64 out_, data_, map_, words_, t, u, v, d, e;
ld.param.u64 out_, [out];
ld.param.u64 data_, [data];
mov.b64 map_, map;
cvta.param.u64 map_, map_;
mov.b64 words_, words;
cvta.param.u64 words_, words_;
mov.u32 base, shared;
mov.u32 tid, %tid.x;
mov.u32 lane, %laneid;
setp.eq.u32 lead, tid, 0;
{body}
ret;
}}
"""


def word(register: str, index: int) -> str:
    return f"ld.param.u32 {register}, [words+{4 * index}];\n"


# ---- wgmma ----

# Type of A, type of B, of the result, elements in K, bytes of an element times 8, a suffix.
MMA_TYPES = [
    ("f16", "f16", "f32", 16, 16), ("f16", "f16", "f16", 16, 16), ("bf16", "bf16", "f32", 16, 16),
    ("tf32", "tf32", "f32", 8, 32), ("e4m3", "e4m3", "f32", 32, 8), ("e4m3", "e4m3", "f16", 32, 8),
    ("e5m2", "e4m3", "f32", 32, 8), ("s8", "s8", "s32", 32, 8), ("u8", "u8", "s32", 32, 8),
    ("s8", "u8", "s32", 32, 8), ("b1", "b1", "s32", 256, 1),
]  # fmt: skip
MMA_WIDTHS = [8, 16, 24, 32, 64, 96, 128, 192, 256]
IN_FLIGHT = 4  # wgmmas of a group
SWIZZLES = ["none", "128B", "64B", "32B"]  # by the number in a descriptor
WIDE = 16384  # bytes between the operands


@dataclass(frozen=True)
class Mma:
    a: str
    b: str
    to: str
    k: int
    bits: int
    n: int
    of_registers: bool = False
    sparse: bool = False
    major: str = "KK"  # of A and of B: K or M(N)
    other: str = ""  # what the second warpgroup does meanwhile

    @property
    def depth(self) -> int:
        return self.k * (2 if self.sparse else 1)

    @property
    def operand_bytes(self) -> int:
        return (0 if self.of_registers else 64 * self.k * self.bits // 8) + self.n * self.depth * self.bits // 8

    @property
    def name(self) -> str:
        parts = [self.a, self.b, self.to, f"n{self.n}", "rs" if self.of_registers else "ss", self.major]
        return "_".join(["mma", *parts, *(["sp"] if self.sparse else []), *([self.other] if self.other else [])])


# A loop of the second warpgroup: what it needs before, and its 8 accesses.
LDSM = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {x, y, z, w}, [r];\n"
OTHERS = {
    "ldmatrix": ("shl.b32 r, lane, 4; add.u32 r, r, base; add.u32 r, r, 65536;", LDSM * 8),
    "ldmatrix_conflicts": ("shl.b32 r, lane, 7; add.u32 r, r, base; add.u32 r, r, 65536;", LDSM * 8),
    "load": ("shl.b32 r, tid, 4; add.u32 r, r, base; add.u32 r, r, 65536;", "ld.volatile.shared.v4.u32 {x, y, z, w}, [r];\n" * 8),
    "store": ("shl.b32 r, tid, 2; add.u32 r, r, base; add.u32 r, r, 65536; mov.u32 x, 1;", "st.volatile.shared.u32 [r], x;\n" * 8),
    "store_conflicts": ("shl.b32 r, lane, 7; add.u32 r, r, base; add.u32 r, r, 65536; mov.u32 x, 1;", "st.volatile.shared.u32 [r], x;\n" * 8),
    "stmatrix": (
        "shl.b32 r, lane, 4; add.u32 r, r, base; add.u32 r, r, 65536; mov.u32 x, 1;",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [r], {x, x, x, x};\n" * 8,
    ),
    "copy": (
        "add.u32 r, base, 65536; add.u32 bar, base, 131072; setp.eq.u32 go, tid, 128; @go mbarrier.init.shared.b64 [bar], 1;\n"
        "fence.proxy.async;",
        "@!go bra COPIED;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 65536;\n"
        + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r], [data_], 8192, [bar];\n" * 8
        + "and.b32 y, i, 1;\nWAIT: mbarrier.try_wait.parity.shared.b64 q, [bar], y;\n@!q bra WAIT;\nCOPIED:\n",
    ),
}  # fmt: skip


def mma_kernel(mma: Mma) -> Kernel:
    """Words: 0 groups, 1 to 4 descriptors of A and B without addresses, 5 and 6 offsets of A and B, 7 iterations of the
    second warpgroup."""
    count = mma.n // (4 if mma.to == "f16" else 2)
    results = ", ".join(f"c{i}" for i in range(count))
    kind = "f32" if mma.to == "f32" else "b32"
    shape = f"m64n{mma.n}k{mma.depth}.{mma.to}.{mma.a}.{mma.b}" + (".and.popc" if mma.a == "b1" else "")
    arguments = ["{a0, a1, a2, a3}" if mma.of_registers else "da", "db"]
    arguments += ["x", "0"] if mma.sparse else []
    arguments += ["1"]
    if mma.to != "s32":
        arguments += ["1", "1"]
    if mma.bits == 16:
        arguments += [str(int(major != "K")) for major in (mma.major[1:] if mma.of_registers else mma.major)]
    step = f"wgmma.mma_async{'.sp' if mma.sparse else ''}.sync.aligned.{shape} {{{results}}}, {', '.join(arguments)};\n"
    zero = "0f00000000" if kind == "f32" else "0"
    adds = "add.f32 c0, c0, c{};" if kind == "f32" else "xor.b32 c0, c0, c{};"
    threads = 256 if mma.other else 128
    before, loop = OTHERS.get(mma.other, ("", ""))
    text = f"""
.reg .{kind} c<{count}>;
.reg .b32 a<4>, lo, hi;
.reg .b64 da, db;
.reg .pred second;
mov.u32 i, tid;
ZERO: shl.b32 r, i, 4;
add.u32 r, r, base;
mov.u32 x, 0;
st.shared.v4.u32 [r], {{x, x, x, x}};
add.u32 i, i, {threads};
setp.lt.u32 p, i, 8192;
@p bra ZERO;
fence.proxy.async;
bar.sync 0;
setp.ge.u32 second, tid, 128;
@second bra SECOND;
"""
    for operand, first in (("a", 1), ("b", 3)):
        text += word("lo", first) + word("hi", first + 1) + word("r", 5 if operand == "a" else 6)
        text += "add.u32 r, r, base;\nand.b32 r, r, 0x3ffff;\nshr.u32 r, r, 4;\nor.b32 lo, lo, r;\n"
        text += f"mov.b64 d{operand}, {{lo, hi}};\n"
    text += "".join(f"mov.b32 a{i}, 0;\n" for i in range(4))
    text += "".join(f"mov.{kind} c{i}, {zero};\n" for i in range(count))
    text += word("n", 0)
    text += f"""
mov.u32 i, 0;
mov.u32 x, 0x44444444;
mov.u64 t, %clock64;
LOOP:
wgmma.fence.sync.aligned;
{step * IN_FLIGHT}wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 1;
add.u32 i, i, 1;
setp.lt.u32 p, i, n;
@p bra LOOP;
wgmma.wait_group.sync.aligned 0;
mov.u64 u, %clock64;
sub.u64 t, u, t;
{"".join(adds.format(i) for i in range(1, count))}
@lead st.global.u64 [out_], t;
setp.eq.{"f32" if kind == "f32" else "s32"} p, c0, {"0f3f9df3b6" if kind == "f32" else "77777"};
@p st.global.{kind} [out_+48], c0;
bra END;
SECOND:
"""
    if mma.other:
        text += before + word("n", 7)
        text += f"mov.u32 i, 0;\nmov.u64 t, %clock64;\nAGAIN:\n{loop}add.u32 i, i, 1;\nsetp.lt.u32 p, i, n;\n@p bra AGAIN;\n"
        text += "mov.u64 u, %clock64;\nsub.u64 t, u, t;\nsetp.eq.u32 p, tid, 128;\n@p st.global.u64 [out_+8], t;\n"
    text += "END:\n"
    return Kernel(mma.name, entry(mma.name, threads, text), threads)


def wgmma_rows() -> list:
    chosen = random.Random(1)
    rows, kernels = [], {}

    def add(mma: Mma, swizzle: int, leading: int, stride: int, offset_a=0, offset_b=WIDE) -> None:
        kernel = kernels.setdefault(mma, mma_kernel(mma))
        low, high = (leading >> 4 & 0x3FFF) << 16, (stride >> 4 & 0x3FFF) | swizzle << 30
        names = {"a": mma.a, "b": mma.b, "result": mma.to, "m": 64, "n": mma.n, "k": mma.depth, "sparse": int(mma.sparse)}
        names |= {"a_in": "registers" if mma.of_registers else "shared", "major_a": mma.major[0], "major_b": mma.major[1]}
        names |= {"swizzle": SWIZZLES[swizzle], "leading": leading, "stride": stride, "offset_a": offset_a}
        names |= {"offset_b": offset_b, "beside": mma.other, "operand_bytes": mma.operand_bytes}
        loops = 64
        words = [loops, low, high, low, high, offset_a, offset_b, 4 * loops if mma.other else 0]
        results = ["clocks", "clocks_beside"] if mma.other else ["clocks"]
        rows.append(Row(kernel, names, results, words, {0: 4, 7: 16}, count=(4 * IN_FLIGHT, loops * IN_FLIGHT)))

    strides = [0, 16, 32, 64, 128, 144, 256, 512, 1024, 1040, 2048]
    for types in MMA_TYPES:
        for n in MMA_WIDTHS:
            for of_registers in (False, True):
                for sparse in (False, True) if types[0] != "b1" else (False,):
                    majors = ["KK", "MK", "KM", "MM"] if types[4] == 16 and n in (16, 64) else ["KK"]
                    for major in ("KK", "KM") if of_registers and len(majors) > 1 else majors:
                        mma = Mma(*types, n, of_registers, sparse, major)
                        add(mma, chosen.randrange(4), chosen.choice(strides), chosen.choice(strides))
    bf16 = MMA_TYPES[2]
    for n in (64, 256):  # operands that overlap
        for offset in (0, 16, 64, 128, 512, 1024, 2048):
            add(Mma(*bf16, n), 1, 16, 1024, 0, offset)
    for other in OTHERS:
        for n in (64, 256):
            for of_registers in (False, True):
                for swizzle in (0, 1):
                    add(Mma(*bf16, n, of_registers, other=other), swizzle, 16, 1024)
    return rows


# ---- Bulk copies ----

HALF = 8 << 20  # bytes of global memory that loads read; stores write those after
ELEMENTS = {  # name: number in the driver's API, bytes
    "u8": (0, 1), "u16": (1, 2), "u32": (2, 4), "s32": (3, 4), "u64": (4, 8), "s64": (5, 8), "f16": (6, 2), "f32": (7, 4),
    "f64": (8, 8), "bf16": (9, 2), "f32.ftz": (10, 4), "tf32": (11, 4), "tf32.ftz": (12, 4),
}  # fmt: skip
BOX_SWIZZLES = ["none", "32B", "64B", "128B", "128B atom 32B", "128B atom 32B flip 8B", "128B atom 64B"]
SPANS = [1 << 20, 32, 64, 128, 128, 128, 128]  # the most bytes of a row


def copy_text(direction: str, space: str, reduction: str) -> str:
    """The instruction. r: shared memory, d: global memory, s: shared memory of the other block, m: blocks; k0 … k4:
    coordinates, o0 … o2: offsets of im2col."""
    reduces = "cp.reduce" if reduction else "cp"
    tail = f".{reduction}" if reduction else ""
    to_barrier = ".mbarrier::complete_tx::bytes"
    if space == "bytes":
        return {
            "load": f"cp.async.bulk.shared::cluster.global{to_barrier} [r], [d], w, [bar];",
            "multicast": f"cp.async.bulk.shared::cluster.global{to_barrier}.multicast::cluster [r], [d], w, [bar], m16;",
            "store": f"{reduces}.async.bulk.global.shared::cta.bulk_group{tail} [d], [r], w;",
            "copy": f"{reduces}.async.bulk.shared::cluster.shared::cta{to_barrier}{tail} [s], [r], w, [bar];",
        }[direction]
    mode, rank = space.split()
    at = f"[map_, {{{', '.join(f'k{i}' for i in range(int(rank)))}}}]"
    if direction == "store":
        how = "im2col_no_offs" if mode == "im2col" else "tile"
        return f"{reduces}.async.bulk.tensor.{rank}d.global.shared::cta{tail}.{how}.bulk_group {at}, [r];"
    offsets = f", {{{', '.join(f'o{i}' for i in range(int(rank) - 2))}}}" if mode == "im2col" else ""
    cast = ".multicast::cluster" if direction == "multicast" else ""
    masks = ", m16" if cast else ""
    how = "im2col" if mode == "im2col" else "tile"
    return f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.{how}{to_barrier}{cast} [r], {at}, [bar]{offsets}{masks};"


BESIDE = """
ld.volatile.shared.u32 x, [base+196616];
setp.ne.u32 p, x, 0;
vote.sync.any.pred p, p, 0xffffffff;
@!p bra ROUND;
mul.wide.u32 u, turn, total;
@lead st.global.u64 [out_+8], u;
bra END;
BESIDE:
""" + word("n", 0) + """
shl.b32 r, tid, 4;
add.u32 r, r, base;
add.u32 r, r, 131072;
mov.u32 i, 0;
mov.u64 t, %clock64;
LOADS:
""" + "ld.volatile.shared.v4.u32 {x, y, z, w}, [r];\n" * 8 + """
add.u32 i, i, 1;
setp.lt.u32 p, i, n;
@p bra LOADS;
mov.u64 u, %clock64;
sub.u64 u, u, t;
setp.ne.u32 p, tid, 32;
@p bra END;
st.global.u64 [out_], u;
mov.u32 x, 1;
st.volatile.shared.u32 [base+196616], x;
END:
"""


def copy_kernel(direction: str, space: str, reduction: str, beside: bool) -> Kernel:
    """Words: 0 rounds (the last has three times as many copies), 1 copies, 2 bytes, 3 bytes between buffers of shared
    memory, 4 buffers - 1, 5 and 6 the same of global memory, 7 and 8 offsets in shared and global memory, 9 to 13
    coordinates, 14 step of the last, 15 whether to count the words written, 16 bytes that a barrier expects for a copy.
    Writes the clocks of the rounds. With `beside`, rounds follow each other until eight other warps have made word 0
    times 8 loads of 16 bytes per lane without conflicts: writes their clocks, and the copies meanwhile."""
    name = "_".join(["beside" if beside else "copy", direction, *space.split(), *reduction.replace(".", " ").split()])
    two = direction in ("copy", "multicast")
    receives = direction in ("load", "copy", "multicast")
    rank = int(space.split()[1]) if " " in space else 0
    last = f"k{rank - 1}"
    text = """
.reg .b32 k<5>, o<3>, rank, bytes, turn, parity, step, rest, expected, total;
.reg .b16 m16;
.reg .pred first, check;
add.u32 bar, base, 196608;
@lead mbarrier.init.shared.b64 [bar], 1;
mov.u32 x, 0;
@lead st.volatile.shared.u32 [base+196616], x;
mov.u32 rank, %cluster_ctarank;
setp.eq.u32 first, rank, 0;
mov.b16 m16, 3;
"""
    text += word("x", 15)
    text += """
setp.ne.u32 check, x, 0;
@!check bra FILLED;
mov.u32 i, tid;
mov.u32 x, 0xdeadbeef;
FILL: shl.b32 r, i, 2;
add.u32 r, r, base;
st.shared.u32 [r], x;
add.u32 i, i, 32;
setp.lt.u32 p, i, 32768;
@p bra FILL;
FILLED:
fence.mbarrier_init.release.cluster;
fence.proxy.async;
bar.sync 0;
"""
    meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" if two else "bar.sync 0;\n"
    text += meet
    if beside:
        text += "setp.ge.u32 p, tid, 32;\n@p bra BESIDE;\n"
        meet = "bar.sync 1, 32;\n"
    text += word("n", 0) + word("total", 1) + word("w", 2) + word("expected", 16)
    text += "mov.u32 turn, 0;\nROUND:\n@!lead bra NEXT;\nmov.u64 t, %clock64;\n"
    if receives:
        own = direction != "copy"
        text += f"mul.lo.u32 x, total, expected;\n{'' if own else '@!first '}mbarrier.arrive.expect_tx.shared.b64 _, [bar], x;\n"
    if two:
        text += "@!first bra SENT;\n"
        if direction == "copy":
            text += "mov.u32 y, 1;\nmapa.shared::cluster.u32 bar, bar, y;\n"
    text += "mov.u32 i, 0;\nSEND:\n"
    text += word("x", 4) + word("y", 3) + word("z", 7) + "and.b32 x, x, i;\nmul.lo.u32 x, x, y;\nadd.u32 r, base, x;\nadd.u32 r, r, z;\n"
    if direction == "copy":
        text += "mov.u32 y, 1;\nmapa.shared::cluster.u32 s, r, y;\n"
    text += word("x", 6) + word("y", 5) + word("z", 8)
    text += "and.b32 x, x, i;\nmul.lo.u32 step, x, y;\nadd.u32 z, z, step;\ncvt.u64.u32 d, z;\nadd.u64 d, d, data_;\n"
    if rank:
        text += "".join(word(f"k{j}", 9 + j) for j in range(rank)) + word("y", 14)
        text += f"mul.lo.u32 y, y, x;\nadd.u32 {last}, {last}, y;\n"
        text += "".join(f"mov.u32 {o}, 0;\n" for o in ("o0", "o1", "o2")).replace("mov.u32", "mov.b32")
    code = copy_text(direction, space, reduction)
    if "im2col" in code:
        text += ".reg .b16 h<3>;\nmov.b16 h0, 0;\nmov.b16 h1, 0;\nmov.b16 h2, 0;\n"
        code = code.replace("{o", "{h").replace(", o", ", h")
    text += code + "\nadd.u32 i, i, 1;\nsetp.lt.u32 p, i, total;\n@p bra SEND;\nSENT:\n"
    if receives:
        if direction == "copy":
            text += "@first bra DONE;\n"
        text += """
and.b32 parity, turn, 1;
WAIT: mbarrier.try_wait.parity.shared.b64 q, [bar], parity;
@q bra DONE;
mov.u64 u, %clock64;
sub.u64 u, u, t;
setp.lt.u64 q, u, 2000000;
@q bra WAIT;
mov.u64 u, 1;
st.global.u64 [out_+32], u;
DONE:
"""
    else:
        text += "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
    measures = "setp.eq.u32 p, rank, 1;\n" if direction == "copy" else "mov.pred p, first;\n"
    text += "mov.u64 u, %clock64;\nsub.u64 u, u, t;\nmul.wide.u32 e, turn, 8;\nadd.u64 e, e, out_;\n"
    text += f"{measures}{'' if beside else '@p st.global.u64 [e], u;'}\nNEXT:\n"
    if direction == "copy":
        text += "add.u32 bar, base, 196608;\n"
    text += meet + "add.u32 turn, turn, 1;\n"
    if beside:
        return Kernel(name, entry(name, 288, text + BESIDE), 288)
    text += "setp.eq.u32 p, turn, 2;\n@p mul.lo.u32 total, total, 3;\nsetp.lt.u32 p, turn, n;\n@p bra ROUND;\n"
    counts = "setp.eq.u32 p, rank, 1;\n@!p bra END;\n" if direction == "copy" else "@!first bra END;\n"
    text += f"@!check bra END;\n{counts}" + """
mov.u32 i, tid;
mov.u32 z, 0;
COUNT: shl.b32 r, i, 2;
add.u32 r, r, base;
ld.shared.u32 x, [r];
setp.ne.u32 p, x, 0xdeadbeef;
@p add.u32 z, z, 1;
add.u32 i, i, 32;
setp.lt.u32 p, i, 32768;
@p bra COUNT;
cvt.u64.u32 u, z;
red.global.add.u64 [out_+24], u;
END:
"""
    return Kernel(name, entry(name, 32, text, 2 if two else 1), 32, 2 if two else 1)


def power_of_two(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()


def bulk_rows(beside: bool = False) -> list:
    rows, kernels = [], {}

    def add(direction: str, space: str, reduction: str, columns: dict, size: int, tensor=None, step=0, coordinates=(), at=(0, 0), rows_of=0, row=0):
        kernel = kernels.setdefault((direction, space, reduction), copy_kernel(direction, space, reduction, beside))
        apart = max(power_of_two(size + at[0]), 1024)
        copies = 16 if size <= 16384 else 8
        buffers = min(131072 // apart, copies)
        far = max(power_of_two(size + at[1]), 128)
        start = HALF if direction == "store" else 0
        places = min((HALF // 2) // far, 16)
        words = [3, copies, size, apart, buffers - 1, far, places - 1, at[0], start + at[1]]
        words += [*coordinates, *[0] * (5 - len(coordinates)), step, 0, size]
        names = {"direction": direction, "space": space, "operation": reduction, **columns}
        names |= {"bytes": size, "rows": rows_of, "row_bytes": row, "shared_offset": at[0], "global_offset": at[1]}
        receives = direction in ("load", "multicast")
        if beside:
            rows.append(Row(kernel, names, ["clocks_of_loads", "copies"], [1000, *words[1:]], tensor=tensor))
            return
        rows.append(
            Row(kernel, names, ["clocks_first", "clocks", "clocks_of_three"],
                words, {0: 1}, {0: 1, 1: 1, 15: 1}, (copies, 4 * copies), tensor, receives)
        )  # fmt: skip

    none = {"element": "", "swizzle": "", "interleave": "", "box": "", "pitch": ""}

    def box(direction, mode, element, swizzle, sizes, reduction="", pitch=0, interleave=0, strides=None, coordinates=None, channels=0, pixels=0):
        """A tensor whose last dimension holds 16 boxes, in 8 MiB."""
        number, size = ELEMENTS[element]
        inner = sizes[0] * size
        if inner % 16 and not interleave or inner > SPANS[swizzle] or max(sizes) > 256 and mode == "tile":
            return
        rank = len(sizes)
        pitch = pitch or max(256, inner)
        steps = strides or [1] * rank
        dims = list(sizes)
        if rank > 1:
            dims[0] = pitch // size
        dims[-1] *= 16
        bytes_of = [pitch]
        for dim in dims[1:-1]:
            bytes_of.append(bytes_of[-1] * dim)
        loaded = [-(-n // s) for n, s in zip(sizes, steps)]
        loaded[0] = sizes[0]
        tensor = {"type": number, "dims": dims, "strides": bytes_of[: rank - 1], "box": sizes, "steps": steps}
        tensor |= {"interleave": interleave, "swizzle": swizzle, "at": HALF if direction == "store" else 0}
        total = prod(loaded) * size
        if total > 32768 or (pitch if rank > 1 else inner) * prod(sizes[1:]) * 16 > HALF:
            return
        columns = {"element": element, "swizzle": BOX_SWIZZLES[swizzle], "interleave": ["", "16B", "32B"][interleave]}
        columns |= {"box": "x".join(map(str, sizes)) + ("/" + "x".join(map(str, steps)) if max(steps) > 1 else ""), "pitch": pitch}
        add(direction, f"tile {rank}", reduction, columns, total, tensor, sizes[-1], coordinates or [0] * rank, rows_of=prod(loaded[1:]), row=inner)

    def pixels(direction, rank, element, swizzle, channels, count, reduction=""):
        """im2col: `count` pixels of `channels` each, in an image of 16 by 16, or of 256."""
        number, size = ELEMENTS[element]
        inner = channels * size
        if inner > SPANS[swizzle] or inner * count > 32768:
            return
        spatial = {3: [256], 4: [16, 16], 5: [8, 8, 8]}[rank]
        pitch = max(inner, 64)
        dims = [pitch // size, *spatial, 32]
        strides = [pitch]
        for dim in spatial:
            strides.append(strides[-1] * dim)
        if strides[-1] * 32 > HALF:
            return
        tensor = {"type": number, "dims": dims, "strides": strides, "steps": [1] * rank, "interleave": 0, "swizzle": swizzle}
        tensor |= {"at": HALF if direction == "store" else 0, "lower": [0] * (rank - 2), "upper": [0] * (rank - 2)}
        tensor |= {"channels": channels, "pixels": count}
        columns = {"element": element, "swizzle": BOX_SWIZZLES[swizzle], "interleave": "", "box": f"{channels}x{count}", "pitch": pitch}
        add(direction, f"im2col {rank}", reduction, columns, inner * count, tensor, 1, [0] * rank, rows_of=count, row=inner)

    widths = (16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256)
    if beside:
        for direction in ("load", "store"):
            for swizzle in range(4):
                for width in widths:
                    box(direction, "tile", "u8", swizzle, [width, 64])
            for size in (16, 32, 64, 128, 256, 1024, 8192):
                add(direction, "bytes", "", none, size)
                add(direction, "bytes", "", none, size, at=(16, 0))
            box(direction, "tile", "u8", 0, [16, 256])
            pixels(direction, 4, "u8", 0, 16, 64)
            pixels(direction, 4, "u8", 0, 64, 64)
        for size in (16, 128, 1024, 8192):
            add("store", "bytes", "add.u32", none, size)
        return rows
    for swizzle in range(7):
        for width in widths:
            for count in (8, 64, 256) if swizzle < 4 else (64,):
                box("load", "tile", "u8", swizzle, [width, count])
    for width in (512, 1024):
        for count in (8, 32):
            box("load", "tile", "f32", 0, [width // 4, count])
    for width in (16, 32, 64, 128):
        box("load", "tile", "u8", 0, [width, 64], pitch=width)
        box("load", "tile", "u8", 0, [width, 64], pitch=4096 if width < 64 else 1024)
    for element, (_, size) in ELEMENTS.items():
        for width in (32, 128):
            box("load", "tile", element, 3, [width // size, 64])
    for width in (16, 32, 64, 128, 256):
        box("load", "tile", "u8", 0, [width])
        box("load", "tile", "f32", 0, [width])
        box("store", "tile", "u8", 0, [width])
    for inner in (16, 64, 128):
        for rest in ([8, 8], [2, 64], [64, 2], [4, 4, 4], [2, 8, 4], [2, 2, 4, 4], [8, 1, 2, 4], [1, 1, 64], [64, 1, 1]):
            box("load", "tile", "u8", 0, [inner, *rest])
            box("load", "tile", "u8", 3, [inner, *rest])
            if inner == 64:
                box("store", "tile", "u8", 0, [inner, *rest])
    for swizzle in range(7):
        for width in widths:
            for count in (64, 256) if swizzle < 4 else (64,):
                box("store", "tile", "u8", swizzle, [width, count])
    for rank in (3, 4, 5):
        for swizzle, channels in ((0, 16), (0, 32), (0, 64), (0, 128), (1, 32), (2, 64), (3, 64), (3, 128)):
            for count in (16, 64, 256):
                pixels("load", rank, "u8", swizzle, channels, count)
        for channels in (16, 64, 128):
            pixels("store", rank, "u8", 0, channels, 64)
    for interleave, width, swizzles in ((1, 8, (0, 1, 2, 3)), (2, 16, (1,))):
        for swizzle in swizzles:
            for rest in ([64, 1], [16, 4], [16, 2, 2], [128, 1]):
                box("load", "tile", "f16", swizzle, [width, *rest], pitch=2 * width, interleave=interleave)
    for width in (16, 64, 128):
        box("load", "tile", "u8", 0, [width, 64], strides=[1, 2])
        box("load", "tile", "u8", 0, [width, 64], strides=[1, 4])
        box("load", "tile", "u8", 0, [width, 64], coordinates=[0, -32])
        box("load", "tile", "u8", 0, [width, 64], coordinates=[256 - width // 2, 0])
        for swizzle in (0, 3):
            box("multicast", "tile", "u8", swizzle, [width, 64])
            box("multicast", "tile", "u8", swizzle, [width, 8, 8])
    for element, operations in (
        ("u32", ("add", "min", "max", "inc", "dec", "and", "or", "xor")), ("s32", ("add", "min")), ("u64", ("add",)),
        ("f16", ("add", "min")), ("bf16", ("add",)), ("f32", ("add",)), ("f32.ftz", ("add",)), ("f64", ("add",)),
    ):  # fmt: skip
        for operation in operations:
            for width, swizzle in ((16, 0), (32, 0), (64, 0), (128, 0), (128, 3)) if operation == "add" else ((64, 0),):
                box("store", "tile", element, swizzle, [width // ELEMENTS[element][1], 64], operation)
    sizes = (16, 32, 48, 64, 80, 96, 112, 128, 144, 192, 256, 384, 512, 1024, 1040, 2048, 4096, 8192, 16384)
    for size in sizes:
        for at in ((0, 0), (16, 0), (0, 16), (48, 112)):
            add("load", "bytes", "", none, size, at=at)
            if at != (0, 16):
                add("store", "bytes", "", none, size, at=at)
        add("copy", "bytes", "", none, size)
        add("copy", "bytes", "", none, size, at=(48, 0))
        add("multicast", "bytes", "", none, size)
    kinds = ["add.u32", "add.u64", "min.s32", "and.b32", "add.noftz.f16", "add.noftz.bf16", "add.f32", "add.f64", "inc.u32"]
    for kind in kinds:
        for size in (16, 64, 128, 1024, 8192):
            add("store", "bytes", kind, none, size)
    for kind in ("add.u32", "add.u64", "and.b32", "max.s32"):
        for size in (16, 64, 128, 1024, 8192):
            add("copy", "bytes", kind, none, size)
    return rows


# ---- Shared memory of a cluster's blocks ----

# Name: bytes, instruction. r: the address, q: the barrier's; x, y, z, w: 32 bits each, u, v: 64 bits each.
REMOTE = {
    "load 1": (1, "ld.volatile.shared::cluster.u8 x, [r];"),
    "load 2": (2, "ld.volatile.shared::cluster.u16 x, [r];"),
    "load 4": (4, "ld.volatile.shared::cluster.u32 x, [r];"),
    "load 8": (8, "ld.volatile.shared::cluster.v2.u32 {x, y}, [r];"),
    "load 16": (16, "ld.volatile.shared::cluster.v4.u32 {x, y, z, w}, [r];"),
    "store 1": (1, "st.volatile.shared::cluster.u8 [r], x;"),
    "store 2": (2, "st.volatile.shared::cluster.u16 [r], x;"),
    "store 4": (4, "st.volatile.shared::cluster.u32 [r], x;"),
    "store 8": (8, "st.volatile.shared::cluster.v2.u32 [r], {x, y};"),
    "store 16": (16, "st.volatile.shared::cluster.v4.u32 [r], {x, y, z, w};"),
    "atom add.u32": (4, "atom.shared::cluster.add.u32 x, [r], z;"),
    "atom exch.b32": (4, "atom.shared::cluster.exch.b32 x, [r], z;"),
    "atom cas.b32": (4, "atom.shared::cluster.cas.b32 x, [r], z, w;"),
    "atom add.u64": (8, "atom.shared::cluster.add.u64 u, [r], v;"),
    "atom add.f32": (4, "atom.shared::cluster.add.f32 f, [r], f;"),
    "red add.u32": (4, "red.shared::cluster.add.u32 [r], z;"),
    "red max.s32": (4, "red.shared::cluster.max.s32 [r], z;"),
    "st.async 4": (4, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [r], x, [s];"),
    "st.async 8": (8, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [r], {x, y}, [s];"),
    "st.async 16": (16, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [r], {x, y, z, w}, [s];"),
    "red.async add.u32": (4, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [r], x, [s];"),
    "red.async add.u64": (8, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [r], u, [s];"),
    "red.async and.b32": (4, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and.b32 [r], x, [s];"),
}  # fmt: skip
UNROLLED = 4


def remote_kernel(name: str) -> Kernel:
    """Words: 0 to 31 offsets, 32 lanes, 33 the target's number, 34 iterations - 1, 35 whether to access once only."""
    code = REMOTE[name][1]
    asynchronous = "async" in name
    entry_name = "remote_" + name.replace(" ", "_").replace(".", "_")
    text = """
.reg .b32 rank, target, mask;
.reg .f32 f;
add.u32 bar, base, 65536;
@lead mbarrier.init.shared.b64 [bar], 1;
mov.u32 i, tid;
ZERO: shl.b32 r, i, 2;
add.u32 r, r, base;
mov.u32 x, 0;
st.shared.u32 [r], x;
add.u32 i, i, 32;
setp.lt.u32 p, i, 8192;
@p bra ZERO;
fence.mbarrier_init.release.cluster;
mov.u32 rank, %cluster_ctarank;
"""
    text += word("target", 33) + word("mask", 32) + word("n", 34) + word("m", 35)
    text += """
shl.b32 i, tid, 2;
cvt.u64.u32 e, i;
mov.b64 d, words;
add.u64 d, d, e;
ld.param.u32 r, [d];
add.u32 r, r, base;
mapa.shared::cluster.u32 r, r, target;
mapa.shared::cluster.u32 s, bar, target;
mov.u32 x, 0;
mov.u32 y, 0;
mov.u32 z, 1;
mov.u32 w, 1;
mov.u64 u, 0;
mov.u64 v, 1;
mov.f32 f, 0f3f800000;
barrier.cluster.arrive;
barrier.cluster.wait;
setp.ne.u32 p, rank, 0;
@p bra END;
shr.u32 i, mask, tid;
and.b32 i, i, 1;
setp.eq.u32 p, i, 0;
@p bra END;
setp.eq.u32 q, m, 1;
mov.u32 i, 0;
mov.u64 t, %clock64;
"""
    text += f"{code}\n@q bra LAST;\nLOOP:\n" + f"{code}\n" * UNROLLED
    text += """
add.u32 i, i, 1;
setp.lt.u32 p, i, n;
@p bra LOOP;
LAST:
xor.b32 x, x, y;
xor.b32 x, x, z;
xor.b32 x, x, w;
cvt.u32.u64 y, u;
xor.b32 x, x, y;
cvt.rzi.u32.f32 y, f;
xor.b32 x, x, y;
setp.eq.u32 p, x, 0x7777777;
@p st.global.u32 [out_+48], x;
mov.u64 d, %clock64;
sub.u64 t, d, t;
st.global.u64 [out_], t;
END:
barrier.cluster.arrive;
barrier.cluster.wait;
"""
    if asynchronous:  # those in flight shall arrive before the target's shared memory goes
        text += "mov.u64 t, %clock64;\nREST: mov.u64 d, %clock64;\nsub.u64 d, d, t;\nsetp.lt.u64 p, d, 20000;\n@p bra REST;\n"
    return Kernel(entry_name, entry(entry_name, 32, text, 2), 32, 2)


def remote_patterns(width: int, chosen: random.Random) -> list:
    """Names, offsets of lanes in units of the width, masks."""
    everyone = 0xFFFFFFFF
    regular = {
        "consecutive": lambda i: i, "stride 2": lambda i: 2 * i, "stride 4": lambda i: 4 * i, "stride 8": lambda i: 8 * i,
        "stride 32": lambda i: 32 * i, "same": lambda i: 0, "pairs": lambda i: i // 2, "permuted": lambda i: i ^ 5,
        "tile": lambda i: i % 8 * 32 + i // 8, "four": lambda i: i % 4 * 8, "stride 3": lambda i: 3 * i, "stride 17": lambda i: 17 * i,
        "halves": lambda i: i % 16 * 2 + i // 16, "reversed": lambda i: 31 - i,
    }  # fmt: skip
    patterns = [(name, [at(i) for i in range(32)], everyone) for name, at in regular.items()]
    for name, mask in (("odd lanes", 0xAAAAAAAA), ("first half", 0xFFFF), ("a lane", 1 << 13), ("few lanes", 0x01010011)):
        patterns.append((name, [3 * i for i in range(32)], mask))
    for name, range_, sparse in (("random 64", 64, 0), ("random", 1024, 0), ("random lanes", 1024, 1), ("random 64 lanes", 64, 1)):
        mask = chosen.getrandbits(32) | 1 if sparse else everyone
        patterns.append((name, [chosen.randrange(range_) for _ in range(32)], mask))
    return [(name, [at * width % 32768 for at in offsets], mask) for name, offsets, mask in patterns]


def remote_rows() -> list:
    chosen = random.Random(2)
    kernels = {name: remote_kernel(name) for name in REMOTE}
    rows = []
    for name, (width, _) in REMOTE.items():
        for target in (1, 0):
            patterns = remote_patterns(width, chosen)
            for pattern, offsets, mask in patterns if target else patterns[::4]:
                columns = {"operation": name.split()[0] + (f".{name.split()[1]}" if not name.split()[1].isdigit() else "")}
                columns |= {"width": width, "target": "other" if target else "own", "pattern": pattern, "mask": f"0x{mask:08x}"}
                columns |= {f"a{lane}": offset for lane, offset in enumerate(offsets)}
                words = [*offsets, mask, target, 64, 0]
                rows.append(Row(kernels[name], columns, ["clocks"], words, {35: 1}, count=(1, 1 + 64 * UNROLLED)))
    return rows


SETS = {"wgmma": wgmma_rows, "bulk": bulk_rows, "beside": lambda: bulk_rows(beside=True), "remote": remote_rows}
