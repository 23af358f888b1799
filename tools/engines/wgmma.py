"""wgmma of all types and shapes, under descriptors of all kinds, alone and beside other warps."""

import random
from dataclasses import dataclass
from functools import cache
from itertools import product

from rows import Kernel, Row, kernel_of, loop, over_shared, words

# Types of A, of B and of the result, elements in K, bits of an element.
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


# A loop of the second warpgroup: what comes before, and 8 accesses. XX: bytes to add to the address.
FIRST = "add.u32 r, r, base; add.u32 r, r, 65536; mov.u32 x, 1; mov.u32 m, 0;"
KEEP = "xor.b32 m, m, x; xor.b32 m, m, y; xor.b32 m, m, z; xor.b32 m, m, w;\n"
LDSM = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {x, y, z, w}, [r+XX];\n" + KEEP
STORE = "st.volatile.shared.u32 [r+XX], x;\n"
COPIES = "".join(
    f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r], [data_], 8192, [bar];\nadd.u32 r, r, {step};\n"
    for step in (8192, -8192) * 4
)
OTHERS = {
    "ldmatrix": ("shl.b32 r, lane, 4;" + FIRST, LDSM),
    "ldmatrix_conflicts": ("shl.b32 r, lane, 7;" + FIRST, LDSM),
    "load": ("shl.b32 r, tid, 4; sub.u32 r, r, 2048;" + FIRST, "ld.volatile.shared.v4.u32 {x, y, z, w}, [r+XX];\n" + KEEP),
    "store": ("shl.b32 r, tid, 2; sub.u32 r, r, 512;" + FIRST, STORE),
    "store_conflicts": ("shl.b32 r, lane, 7;" + FIRST, STORE),
    "stmatrix": ("shl.b32 r, lane, 4;" + FIRST, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [r+XX], {x, x, x, x};\n"),
    "copy": (
        "mov.u32 r, 0;" + FIRST + "add.u32 bar, base, 131072; elect.sync _|go, 0xffffffff; setp.eq.and.u32 go, warp, 4, go;\n"
        "@go mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async;",
        f"@!go bra COPIED;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 65536;\n{COPIES}"
        "and.b32 y, i, 1;\nWAIT: mbarrier.try_wait.parity.shared.b64 q, [bar], y;\n@!q bra WAIT;\nCOPIED:\n",
    ),
}


@cache
def mma_kernel(mma: Mma) -> Kernel:
    """Words: 0 groups, 1 to 4 descriptors of A and B without addresses, 5 and 6 offsets of A and B, 7 iterations of the
    second warpgroup."""
    count = mma.n // (4 if mma.to == "f16" else 2)
    threads = 256 if mma.other else 128
    results = ", ".join(f"c{i}" for i in range(count))
    kind = "f32" if mma.to == "f32" else "b32"
    shape = f"m64n{mma.n}k{mma.depth}.{mma.to}.{mma.a}.{mma.b}" + (".and.popc" if mma.a == "b1" else "")
    arguments = ["{a0, a1, a2, a3}" if mma.of_registers else "da", "db"]
    arguments += ["x", "0", "1"] if mma.sparse else ["1"]
    arguments += ["1", "1"] if mma.to != "s32" else []
    if mma.bits == 16:
        arguments += [str(int(major != "K")) for major in (mma.major[1:] if mma.of_registers else mma.major)]
    step = f"wgmma.mma_async{'.sp' if mma.sparse else ''}.sync.aligned.{shape} {{{results}}}, {', '.join(arguments)};\n"
    group = f"wgmma.fence.sync.aligned;\n{step * IN_FLIGHT}wgmma.commit_group.sync.aligned;\n"
    group += "wgmma.wait_group.sync.aligned 1;\n"
    zeros = over_shared("ZERO", "mov.u32 x, 0;\nst.shared.v4.u32 [r], {x, x, x, x};\n", 16, threads, 8192)
    zero = "0f00000000" if kind == "f32" else "0"
    adds = "add.f32 c0, c0, c{};" if kind == "f32" else "xor.b32 c0, c0, c{};"
    text = f"""
.reg .{kind} c<{count}>;
.reg .b32 a<4>, lo, hi, warp;
.reg .b64 da, db;
.reg .pred second;
{zeros}
fence.proxy.async;
bar.sync 0;
setp.ge.u32 second, tid, 128;
@second bra SECOND;
"""
    for operand, first in (("a", 1), ("b", 3)):
        text += words(lo=first, hi=first + 1, r=5 if operand == "a" else 6)
        text += "add.u32 r, r, base;\nand.b32 r, r, 0x3ffff;\nshr.u32 r, r, 4;\nor.b32 lo, lo, r;\n"
        text += f"mov.b64 d{operand}, {{lo, hi}};\n"
    text += "".join(f"mov.b32 a{i}, 0;\n" for i in range(4))
    text += "".join(f"mov.{kind} c{i}, {zero};\n" for i in range(count))
    text += words(n=0) + f"""
mov.u32 i, 0;
mov.u32 x, 0x44444444;
mov.u64 t, %clock64;
{loop("LOOP", group)}
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
        before, body = OTHERS[mma.other]
        body = body if "WAIT" in body else "".join(body.replace("XX", str(4096 * i)) for i in range(8))
        text += "shr.u32 warp, tid, 5;\n" + before + words(n=7)
        text += "mov.u32 i, 0;\nmov.u64 t, %clock64;\n" + loop("AGAIN", body)
        text += "mov.u64 u, %clock64;\nsub.u64 t, u, t;\nsetp.eq.u32 p, tid, 128;\n@p st.global.u64 [out_+8], t;\n"
        text += "setp.eq.u32 p, m, 0x7777777;\n@p st.global.u32 [out_+48], m;\n"
    return kernel_of(mma.name, text + "END:\n", threads)


def wgmma_rows() -> list:
    chosen = random.Random(1)
    rows = []

    def add(mma: Mma, swizzle: int, a: tuple, b: tuple | None = None, offsets: tuple = (0, WIDE), bases: tuple = (0, 0)) -> None:
        """a and b: leading and stride byte offset."""
        b = b or a
        descriptors = []
        for (leading, stride), base in ((a, bases[0]), (b, bases[1])):
            descriptors += [(leading >> 4 & 0x3FFF) << 16, (stride >> 4 & 0x3FFF) | base << 17 | swizzle << 30]
        names = {"a": mma.a, "b": mma.b, "result": mma.to, "m": 64, "n": mma.n, "k": mma.depth, "sparse": int(mma.sparse)}
        names |= {"a_in": "registers" if mma.of_registers else "shared", "major_a": mma.major[0], "major_b": mma.major[1]}
        names |= {"swizzle": SWIZZLES[swizzle], "leading_a": a[0], "stride_a": a[1], "leading_b": b[0], "stride_b": b[1]}
        names |= {"base_a": bases[0], "base_b": bases[1], "offset_a": offsets[0], "offset_b": offsets[1]}
        names |= {"beside": mma.other, "operand_bytes": mma.operand_bytes}
        loops = 64
        parameters = [loops, *descriptors, *offsets, 4 * loops if mma.other else 0]
        results = ["clocks", "clocks_beside"] if mma.other else ["clocks"]
        rows.append(Row(mma_kernel(mma), names, results, parameters, once={0: 4, 7: 16}, instructions=4 * IN_FLIGHT))

    strides = [0, 16, 32, 64, 128, 144, 256, 512, 1024, 1040, 2048]
    flags = (False, True)
    for types, n, of_registers, sparse in product(MMA_TYPES, MMA_WIDTHS, flags, flags):
        majors = ["KK", "KM"] if of_registers else ["KK", "MK", "KM", "MM"]
        for major in majors if types[4] == 16 and n in (16, 64) else ["KK"]:
            if not sparse or types[0] != "b1":
                mma = Mma(*types, n, of_registers, sparse, major)
                add(mma, chosen.randrange(4), (chosen.choice(strides), chosen.choice(strides)))
    bf16 = MMA_TYPES[2]
    for n, offset in product((64, 256), (0, 16, 64, 128, 512, 1024, 2048)):  # operands that overlap
        add(Mma(*bf16, n), 1, (16, 1024), offsets=(0, offset))
    for _ in range(200):  # descriptors of all kinds
        mma = Mma(*bf16, 64, major=chosen.choice(["KK", "MK", "KM", "MM"])) if chosen.random() < 0.9 else Mma(*bf16, 64, True)
        a, b = ((chosen.choice(strides), chosen.choice(strides)) for _ in "ab")
        swizzle = chosen.randrange(4)
        bases = (chosen.randrange(8), chosen.randrange(8)) if swizzle and chosen.random() < 0.3 else (0, 0)
        offsets = (16 * chosen.randrange(64), WIDE + 16 * chosen.randrange(64)) if chosen.random() < 0.3 else (0, WIDE)
        add(mma, swizzle, a, b, offsets, bases)
    for other, n, of_registers, swizzle in product(OTHERS, (64, 256), flags, (0, 1)):
        add(Mma(*bf16, n, of_registers, other=other), swizzle, (16, 1024))
    return rows
