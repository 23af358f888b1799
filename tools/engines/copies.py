"""Copies between global memory and shared memory that one thread issues: of bytes, and of boxes of tensors (TMA)."""

from functools import cache
from itertools import accumulate, product
from math import prod
from operator import mul

from rows import Kernel, Row, kernel_of, loop, over_shared, words

HALF = 8 << 20  # bytes of global memory that loads read; stores write those after
ELEMENTS = {  # bytes by name, in the order of the driver's numbers
    "u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "f32": 4, "f64": 8, "bf16": 2, "f32.ftz": 4,
    "tf32": 4, "tf32.ftz": 4,
}  # fmt: skip
BOX_SWIZZLES = ["none", "32B", "64B", "128B"]  # the driver refuses the variants of 128B on compute capability 9.0
SPANS = [1 << 20, 32, 64, 128]  # the most bytes of a row
INTERLEAVES = ["", "16B", "32B"]  # bytes of the slices of channels


def copy_text(direction: str, space: str, reduction: str) -> str:
    """The instruction. r: shared memory, d: global memory, s: shared memory of the other block, m: blocks; k0 … k4:
    coordinates, o0 … o2: offsets of im2col."""
    reduces, tail = ("cp.reduce", f".{reduction}") if reduction else ("cp", "")
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
    cast, masks = (".multicast::cluster", ", m16") if direction == "multicast" else ("", "")
    return f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}{to_barrier}{cast} [r], {at}, [bar]{offsets}{masks};"


BESIDE = """
ld.volatile.shared.u32 x, [base+196616];
setp.ne.u32 p, x, 0;
vote.sync.any.pred p, p, 0xffffffff;
@!p bra ROUND;
mul.wide.u32 u, turn, total;
@lead st.global.u64 [out_+8], u;
bra END;
BESIDE:
"""
ACCESSES = {
    "loads": "ld.volatile.shared.v4.u32 {x, y, z, w}, [r+XX];\nxor.b32 m, m, x;\n",
    "stores": "st.volatile.shared.v4.u32 [r+XX], {x, x, x, x};\n",
}


def accesses_beside(kind: str) -> str:
    """Of the warps after the first: word 0 times 8 accesses of 16 bytes per lane, without conflicts. Then they tell it."""
    body = "".join(ACCESSES[kind].replace("XX", str(4096 * i)) for i in range(8))
    return words(n=0) + f"""
shl.b32 r, tid, 4;
add.u32 r, r, base;
add.u32 r, r, 130560;
mov.u32 x, 1;
mov.u32 m, 0;
mov.u32 i, 0;
mov.u64 t, %clock64;
{loop("ACCESSES", body)}
mov.u64 u, %clock64;
sub.u64 u, u, t;
setp.eq.u32 p, m, 0x7777777;
@p st.global.u32 [out_+48], m;
setp.ne.u32 p, tid, 32;
@p bra END;
st.global.u64 [out_], u;
mov.u32 x, 1;
st.volatile.shared.u32 [base+196616], x;
END:
"""


@cache
def copy_kernel(direction: str, space: str, reduction: str, beside: str) -> Kernel:
    """Words: 0 rounds (the last has three times as many copies), 1 copies, 2 bytes, 3 bytes between buffers of shared
    memory, 4 buffers - 1, 5 and 6 the same of global memory, 7 and 8 offsets in shared and global memory, 9 to 13
    coordinates, 14 step of the last, 15 whether to count the words written, 16 bytes that a barrier expects for a copy.
    Writes the clocks of the rounds. With `beside`, rounds follow each other until eight other warps have made their
    accesses: writes their clocks, and the copies meanwhile. The direction "nothing" makes no copies."""
    name = "_".join([beside or "copy", direction, *space.split(), *reduction.replace(".", " ").split()])
    two = direction in ("copy", "multicast")
    to_other = direction == "copy"  # block 1 receives and measures; otherwise block 0 does
    rank = int(space.split()[1]) if " " in space else 0
    last = f"k{rank - 1}"
    text = """
.reg .b32 k<5>, rank, turn, parity, step, expected, total, apart, buffers, far, places, near, first_k;
.reg .b64 global;
.reg .b16 o<3>;
.reg .b16 m16;
.reg .pred first, check;
add.u32 bar, base, 196608;
@lead mbarrier.init.shared.b64 [bar], 1;
mov.u32 x, 0;
@lead st.volatile.shared.u32 [base+196616], x;
mov.u32 rank, %cluster_ctarank;
setp.eq.u32 first, rank, 0;
mov.b16 m16, 3;
mov.b16 o0, 0;
mov.b16 o1, 0;
mov.b16 o2, 0;
"""
    text += words(x=15) + "setp.ne.u32 check, x, 0;\n@!check bra FILLED;\nmov.u32 x, 0xdeadbeef;\n"
    text += over_shared("FILL", "st.shared.u32 [r], x;\n", 4, 32, 32768)
    text += "FILLED:\nfence.mbarrier_init.release.cluster;\nfence.proxy.async;\nbar.sync 0;\n"
    meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" if two else "bar.sync 0;\n"
    text += meet
    if beside:
        text += "setp.ge.u32 p, tid, 32;\n@p bra BESIDE;\n"
        meet = "bar.sync 1, 32;\n"
    if direction == "nothing":
        return kernel_of(name, text + "bra END;\nBESIDE:\n" + accesses_beside(beside), 288)
    text += words(n=0, total=1, w=2, apart=3, buffers=4, far=5, places=6, near=7, z=8, step=14, expected=16)
    text += "add.u32 near, near, base;\n"
    text += "cvt.u64.u32 global, z;\nadd.u64 global, global, data_;\n"
    text += words(**{f"k{j}": 9 + j for j in range(rank)}) + (f"mov.b32 first_k, {last};\n" if rank else "")
    text += "mov.u32 turn, 0;\nROUND:\n@!lead bra NEXT;\nmov.u64 t, %clock64;\n"
    if direction != "store":
        guard = "@!first " if to_other else ""
        text += f"mul.lo.u32 x, total, expected;\n{guard}mbarrier.arrive.expect_tx.shared.b64 _, [bar], x;\n"
    text += "@!first bra SENT;\n" if two else ""
    text += "mov.u32 y, 1;\nmapa.shared::cluster.u32 bar, bar, y;\n" if to_other else ""
    send = "and.b32 x, i, buffers;\nmad.lo.u32 r, x, apart, near;\nand.b32 x, i, places;\n"
    send += f"mad.lo.u32 {last}, x, step, first_k;\n" if rank else "mad.wide.u32 d, x, far, global;\n"
    send += "mapa.shared::cluster.u32 s, r, 1;\n" if to_other else ""
    send += copy_text(direction, space, reduction) + "\n"
    text += "mov.u32 i, 0;\n" + loop("SEND", send, "total") + "SENT:\n"
    if direction == "store":
        text += "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
    else:
        text += "@first bra DONE;\n" if to_other else ""
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
    measures = "setp.eq.u32 p, rank, 1;\n" if to_other else "mov.pred p, first;\n"
    text += "mov.u64 u, %clock64;\nsub.u64 u, u, t;\nmul.wide.u32 e, turn, 8;\nadd.u64 e, e, out_;\n"
    text += f"{measures}{'' if beside else '@p st.global.u64 [e], u;'}\nNEXT:\n"
    text += "add.u32 bar, base, 196608;\n" if to_other else ""
    text += meet + "add.u32 turn, turn, 1;\n"
    if beside:
        return kernel_of(name, text + BESIDE + accesses_beside(beside), 288)
    text += "setp.eq.u32 p, turn, 2;\n@p mul.lo.u32 total, total, 3;\nsetp.lt.u32 p, turn, n;\n@p bra ROUND;\n"
    counts = "setp.eq.u32 p, rank, 1;\n@!p bra END;\n" if to_other else "@!first bra END;\n"
    text += f"@!check bra END;\n{counts}mov.u32 z, 0;\n"
    count = "ld.shared.u32 x, [r];\nsetp.ne.u32 p, x, 0xdeadbeef;\n@p add.u32 z, z, 1;\n"
    text += over_shared("COUNT", count, 4, 32, 32768) + "cvt.u64.u32 u, z;\nred.global.add.u64 [out_+24], u;\nEND:\n"
    return kernel_of(name, text, blocks=2 if two else 1)


def power_of_two(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()


def strides(pitch: int, dims: list) -> list:
    """Bytes from one index to the next, of each dimension but the first."""
    return list(accumulate(dims[1:-1], mul, initial=pitch))[: len(dims) - 1]


def bulk_rows(beside: str = "") -> list:
    """Copies alone; or beside "loads" or "stores" of other warps."""
    rows = []

    def add(direction, size, operation="", at=(0, 0), space="bytes", tensor=None, step=0, first=(), shape=None):
        """Copies of `size` bytes, of a box at the coordinates `first` if there is a tensor; `shape`: its columns."""
        kernel = copy_kernel(direction, space, operation, beside)
        apart = max(power_of_two(size + at[0]), 1024)
        copies = 16 if size <= 16384 else 8
        buffers = min(131072 // apart, copies)
        far = max(power_of_two(size + at[1]), 128)
        start = HALF if direction == "store" else 0
        places = min((HALF // 2) // far, 16)
        parameters = [3, copies, size, apart, buffers - 1, far, places - 1, at[0], start + at[1]]
        parameters += [*first, *[0] * (5 - len(first)), step, 0, size]
        columns = {"direction": direction, "space": space, "operation": operation}
        texts = {"element": list(ELEMENTS), "swizzle": BOX_SWIZZLES, "interleave": INTERLEAVES}
        columns |= {name: named[tensor[name]] if tensor else "" for name, named in texts.items()}
        columns |= {"box": "", "pitch": "", "bytes": size, "rows": 0, "row_bytes": 0} | (shape or {})
        offset = first[0] * ELEMENTS[columns["element"]] if first else 0
        columns |= {"shared_offset": at[0], "global_offset": at[1] + offset}
        if tensor:
            tensor["at"] = start
        if beside:
            results = ["clocks_beside", "copies"]
            rows.append(Row(kernel, {"beside": beside, **columns}, results, [1000, *parameters[1:]], tensor=tensor))
            return
        results = ["clocks_first", "clocks", "clocks_of_three"]
        checks = {0: 1, 1: 1, 15: 1} if direction in ("load", "multicast") else {}
        rows.append(Row(kernel, columns, results, parameters, {0: 1}, copies, checks, tensor))

    def box(direction, element, swizzle, sizes, operation="", pitch=0, steps=None, first=None, interleave=0):
        """A tensor whose last dimension holds 16 boxes, in 8 MiB."""
        rank, size = len(sizes), ELEMENTS[element]
        inner = sizes[0] * size
        if inner % 16 or inner > SPANS[swizzle] or max(sizes) > 256:
            return
        pitch = pitch or max(256, inner)
        steps = steps or [1] * rank
        dims = [pitch // size if rank > 1 else sizes[0], *sizes[1:]]
        dims[-1] *= 16
        loaded = [sizes[0], *(-(-n // step) for n, step in zip(sizes[1:], steps[1:]))]
        total = prod(loaded) * size
        if total > 32768 or (pitch if rank > 1 else inner) * prod(sizes[1:]) * 16 > HALF:
            return
        tensor = {"element": list(ELEMENTS).index(element), "swizzle": swizzle, "interleave": interleave, "dims": dims}
        tensor |= {"strides": strides(pitch, dims), "box": sizes, "steps": steps}
        text = "x".join(map(str, sizes)) + ("/" + "x".join(map(str, steps)) if max(steps) > 1 else "")
        shape = {"box": text, "pitch": pitch, "rows": prod(loaded[1:]), "row_bytes": inner}
        first = first or [0] * rank
        add(direction, total, operation, space=f"tile {rank}", tensor=tensor, step=sizes[-1], first=first, shape=shape)

    def pixels(direction, rank, swizzle, channels, count):
        """im2col: `count` pixels of `channels` bytes each, in an image of 16 by 16, or of 256."""
        pitch = max(channels, 64)
        dims = [pitch, *{3: [256], 4: [16, 16], 5: [8, 8, 8]}[rank], 32]
        if channels > SPANS[swizzle] or channels * count > 32768 or prod(dims) > HALF:
            return
        tensor = {"element": list(ELEMENTS).index("u8"), "swizzle": swizzle, "interleave": 0, "dims": dims}
        tensor |= {"strides": strides(pitch, dims), "steps": [1] * rank, "channels": channels, "pixels": count}
        tensor |= {"lower": [0] * (rank - 2), "upper": [0] * (rank - 2)}
        shape = {"box": f"{channels}x{count}", "pitch": pitch, "rows": count, "row_bytes": channels}
        space, first = f"im2col {rank}", [0] * rank
        add(direction, channels * count, space=space, tensor=tensor, step=1, first=first, shape=shape)

    widths = (16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256)
    if beside:
        add("nothing", 16)
        for direction in ("load", "store"):
            for swizzle, width in product(range(4), widths):
                box(direction, "u8", swizzle, [width, 64])
            for size, at in product((16, 32, 64, 128, 256, 1024, 8192), ((0, 0), (16, 0))):
                add(direction, size, at=at)
            box(direction, "u8", 0, [16, 256])
            pixels(direction, 4, 0, 16, 64)
            pixels(direction, 4, 0, 64, 64)
        for size in (16, 128, 1024, 8192):
            add("store", size, "add.u32")
        return rows
    for swizzle, width, count in product(range(4), widths, (8, 64, 256)):
        box("load", "u8", swizzle, [width, count])
    for width, count in product((512, 1024), (8, 32)):
        box("load", "f32", 0, [width // 4, count])
    for width in (16, 32, 64, 128):
        box("load", "u8", 0, [width, 64], pitch=width)
        box("load", "u8", 0, [width, 64], pitch=4096 if width < 64 else 1024)
    for (element, size), width in product(ELEMENTS.items(), (32, 128)):
        box("load", element, 3, [width // size, 64])
    kinds = (("load", "u8"), ("load", "f32"), ("store", "u8"))
    for width, (direction, element) in product((16, 32, 64, 128, 256), kinds):
        box(direction, element, 0, [width])
    rests = ([8, 8], [2, 64], [64, 2], [4, 4, 4], [2, 8, 4], [2, 2, 4, 4], [8, 1, 2, 4], [1, 1, 64], [64, 1, 1])
    for inner, rest, (direction, swizzle) in product((16, 64, 128), rests, (("load", 0), ("load", 3), ("store", 0))):
        if direction == "load" or inner == 64:
            box(direction, "u8", swizzle, [inner, *rest])
    for swizzle, width, count in product(range(4), widths, (64, 256)):
        box("store", "u8", swizzle, [width, count])
    for rank in (3, 4, 5):
        spans = ((0, 16), (0, 32), (0, 64), (0, 128), (1, 32), (2, 64), (3, 64), (3, 128))
        for (swizzle, channels), count in product(spans, (16, 64, 256)):
            pixels("load", rank, swizzle, channels, count)
        for channels in (16, 64, 128):
            pixels("store", rank, 0, channels, 64)
    operations_of = dict.fromkeys(("u32", "s32", "u64", "f16", "bf16", "f32", "f32.ftz", "f64"), ["add"])
    operations_of |= {"u32": ["add", "min", "max", "inc", "dec", "and", "or", "xor"]}
    operations_of |= {"s32": ["add", "min"], "f16": ["add", "min"]}
    for element, operations in operations_of.items():
        for operation, (width, swizzle) in product(operations, ((16, 0), (32, 0), (64, 0), (128, 0), (128, 3))):
            if operation == "add" or (width, swizzle) == (64, 0):
                box("store", element, swizzle, [width // ELEMENTS[element], 64], operation)
    sizes = (16, 32, 48, 64, 80, 96, 112, 128, 144, 192, 256, 384, 512, 1024, 1040, 2048, 4096, 8192, 16384)
    places = product(((0, 0), (16, 0), (0, 16), (48, 112)), ("load", "store"))
    places = [place for place in places if place != ((0, 16), "store")]
    places += [((0, 0), "copy"), ((48, 0), "copy"), ((0, 0), "multicast")]
    for size, (at, direction) in product(sizes, places):
        add(direction, size, at=at)
    kinds = ["add.u32", "add.u64", "min.s32", "and.b32", "add.noftz.f16", "add.noftz.bf16", "add.f32", "add.f64"]
    for kind, size in product([*kinds, "inc.u32"], (16, 64, 128, 1024, 8192)):
        add("store", size, kind)
    for kind, size in product(("add.u32", "add.u64", "and.b32", "max.s32"), (16, 64, 128, 1024, 8192)):
        add("copy", size, kind)
    for width in (16, 64, 128):
        box("load", "u8", 0, [width, 64], steps=[1, 2])
        box("load", "u8", 0, [width, 64], steps=[1, 4])
        box("load", "u8", 0, [width, 64], first=[0, -32])
        if width > 16:  # partly outside
            box("load", "u8", 0, [width, 64], first=[256 - width // 2, 0])
        for swizzle in (0, 3):
            box("multicast", "u8", swizzle, [width, 64])
            box("multicast", "u8", swizzle, [width, 8, 8])
    for rest in ([8, 8], [4, 4], [16, 4], [64, 1], [2, 32], [4, 4, 4]):
        # Loads of other interleaved boxes end with an error of the driver (719).
        for direction, swizzle in product(("load", "store") if rest == [8, 8] else ("store",), range(4)):
            box(direction, "f16", swizzle, [8, *rest], pitch=16, interleave=1)
    for rest in ([4, 4], [8, 4]):
        box("store", "f16", 1, [16, *rest], pitch=32, interleave=2)
    for width, swizzle, count in product((16, 32, 48, 64, 96, 128), (0, 3), (32, 128, 256)):
        box("multicast", "u8", swizzle, [width, count])
    return rows
