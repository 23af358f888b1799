"""Copies between global memory and shared memory that one thread issues: of bytes, and of boxes of tensors (TMA)."""

from math import prod

from rows import Kernel, Row, entry, word

HALF = 8 << 20  # bytes of global memory that loads read; stores write those after
ELEMENTS = {  # name: number in the driver's API, bytes
    "u8": (0, 1), "u16": (1, 2), "u32": (2, 4), "s32": (3, 4), "u64": (4, 8), "s64": (5, 8), "f16": (6, 2), "f32": (7, 4),
    "f64": (8, 8), "bf16": (9, 2), "f32.ftz": (10, 4), "tf32": (11, 4), "tf32.ftz": (12, 4),
}  # fmt: skip
BOX_SWIZZLES = ["none", "32B", "64B", "128B"]  # the driver refuses the variants of 128B on compute capability 9.0
SPANS = [1 << 20, 32, 64, 128]  # the most bytes of a row
INTERLEAVES = ["", "16B", "32B"]  # bytes of the slices of channels


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
"""
ACCESSES = {
    "loads": "ld.volatile.shared.v4.u32 {x, y, z, w}, [r+XX];\nxor.b32 m, m, x;\n",
    "stores": "st.volatile.shared.v4.u32 [r+XX], {x, x, x, x};\n",
}


def accesses_beside(kind: str) -> str:
    """Of the warps after the first: word 0 times 8 accesses of 16 bytes per lane, without conflicts. Then they tell it."""
    body = "".join(ACCESSES[kind].replace("XX", str(4096 * i)) for i in range(8))
    return word("n", 0) + f"""
shl.b32 r, tid, 4;
add.u32 r, r, base;
add.u32 r, r, 130560;
mov.u32 x, 1;
mov.u32 m, 0;
mov.u32 i, 0;
mov.u64 t, %clock64;
ACCESSES:
{body}add.u32 i, i, 1;
setp.lt.u32 p, i, n;
@p bra ACCESSES;
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


def copy_kernel(direction: str, space: str, reduction: str, beside: str) -> Kernel:
    """Words: 0 rounds (the last has three times as many copies), 1 copies, 2 bytes, 3 bytes between buffers of shared
    memory, 4 buffers - 1, 5 and 6 the same of global memory, 7 and 8 offsets in shared and global memory, 9 to 13
    coordinates, 14 step of the last, 15 whether to count the words written, 16 bytes that a barrier expects for a copy.
    Writes the clocks of the rounds. With `beside`, rounds follow each other until eight other warps have made their
    accesses: writes their clocks, and the copies meanwhile. The direction "nothing" makes no copies."""
    name = "_".join([beside or "copy", direction, *space.split(), *reduction.replace(".", " ").split()])
    two = direction in ("copy", "multicast")
    receives = direction in ("load", "copy", "multicast")
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
    if direction == "nothing":
        return Kernel(name, entry(name, 288, text + "bra END;\nBESIDE:\n" + accesses_beside(beside)), 288)
    names = {"n": 0, "total": 1, "w": 2, "apart": 3, "buffers": 4, "far": 5, "places": 6, "near": 7, "z": 8, "step": 14, "expected": 16}
    text += "".join(word(name, index) for name, index in names.items()) + "add.u32 near, near, base;\n"
    text += "cvt.u64.u32 global, z;\nadd.u64 global, global, data_;\n"
    text += "".join(word(f"k{j}", 9 + j) for j in range(rank)) + (f"mov.b32 first_k, {last};\n" if rank else "")
    text += "mov.u32 turn, 0;\nROUND:\n@!lead bra NEXT;\nmov.u64 t, %clock64;\n"
    if receives:
        own = direction != "copy"
        text += f"mul.lo.u32 x, total, expected;\n{'' if own else '@!first '}mbarrier.arrive.expect_tx.shared.b64 _, [bar], x;\n"
    if two:
        text += "@!first bra SENT;\n"
        if direction == "copy":
            text += "mov.u32 y, 1;\nmapa.shared::cluster.u32 bar, bar, y;\n"
    text += "mov.u32 i, 0;\nSEND:\nand.b32 x, i, buffers;\nmad.lo.u32 r, x, apart, near;\nand.b32 x, i, places;\n"
    text += "mad.wide.u32 d, x, far, global;\n" if not rank else f"mad.lo.u32 {last}, x, step, first_k;\n"
    if direction == "copy":
        text += "mapa.shared::cluster.u32 s, r, 1;\n"
    code = copy_text(direction, space, reduction)
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
        return Kernel(name, entry(name, 288, text + BESIDE + accesses_beside(beside)), 288)
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


def bulk_rows(beside: str = "") -> list:
    """Copies alone; or beside "loads" or "stores" of other warps."""
    rows, kernels = [], {}

    def add(direction, space, reduction, columns, size, tensor=None, step=0, coordinates=(), at=(0, 0), rows_of=0, row=0):
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
        first = coordinates[0] * ELEMENTS[columns["element"]][1] if coordinates else 0
        names |= {"bytes": size, "rows": rows_of, "row_bytes": row, "shared_offset": at[0], "global_offset": at[1] + first}
        receives = direction in ("load", "multicast")
        if beside:
            names = {"beside": beside, **names}
            rows.append(Row(kernel, names, ["clocks_beside", "copies"], [1000, *words[1:]], tensor=tensor))
            return
        rows.append(
            Row(kernel, names, ["clocks_first", "clocks", "clocks_of_three"],
                words, {0: 1}, {0: 1, 1: 1, 15: 1}, (copies, 4 * copies), tensor, receives)
        )  # fmt: skip

    none = {"element": "", "swizzle": "", "interleave": "", "box": "", "pitch": ""}

    def box(direction, mode, element, swizzle, sizes, reduction="", pitch=0, strides=None, coordinates=None, interleave=0):
        """A tensor whose last dimension holds 16 boxes, in 8 MiB."""
        number, size = ELEMENTS[element]
        inner = sizes[0] * size
        if inner % 16 or inner > SPANS[swizzle] or max(sizes) > 256 and mode == "tile":
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
        tensor |= {"swizzle": swizzle, "interleave": interleave, "at": HALF if direction == "store" else 0}
        total = prod(loaded) * size
        if total > 32768 or (pitch if rank > 1 else inner) * prod(sizes[1:]) * 16 > HALF:
            return
        columns = {"element": element, "swizzle": BOX_SWIZZLES[swizzle], "interleave": INTERLEAVES[interleave]}
        columns |= {"box": "x".join(map(str, sizes)) + ("/" + "x".join(map(str, steps)) if max(steps) > 1 else ""), "pitch": pitch}
        first = coordinates or [0] * rank
        add(direction, f"tile {rank}", reduction, columns, total, tensor, sizes[-1], first, rows_of=prod(loaded[1:]), row=inner)

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
        tensor = {"type": number, "dims": dims, "strides": strides, "steps": [1] * rank, "swizzle": swizzle}
        tensor |= {"interleave": 0, "at": HALF if direction == "store" else 0, "lower": [0] * (rank - 2), "upper": [0] * (rank - 2)}
        tensor |= {"channels": channels, "pixels": count}
        columns = {"element": element, "swizzle": BOX_SWIZZLES[swizzle], "interleave": "", "box": f"{channels}x{count}", "pitch": pitch}
        add(direction, f"im2col {rank}", reduction, columns, inner * count, tensor, 1, [0] * rank, rows_of=count, row=inner)

    widths = (16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256)
    if beside:
        add("nothing", "bytes", "", none, 16)
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
    for swizzle in range(4):
        for width in widths:
            for count in (8, 64, 256):
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
    for swizzle in range(4):
        for width in widths:
            for count in (64, 256):
                box("store", "tile", "u8", swizzle, [width, count])
    for rank in (3, 4, 5):
        for swizzle, channels in ((0, 16), (0, 32), (0, 64), (0, 128), (1, 32), (2, 64), (3, 64), (3, 128)):
            for count in (16, 64, 256):
                pixels("load", rank, "u8", swizzle, channels, count)
        for channels in (16, 64, 128):
            pixels("store", rank, "u8", 0, channels, 64)
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
    for width in (16, 64, 128):
        box("load", "tile", "u8", 0, [width, 64], strides=[1, 2])
        box("load", "tile", "u8", 0, [width, 64], strides=[1, 4])
        box("load", "tile", "u8", 0, [width, 64], coordinates=[0, -32])
        if width > 16:  # partly outside
            box("load", "tile", "u8", 0, [width, 64], coordinates=[256 - width // 2, 0])
        for swizzle in (0, 3):
            box("multicast", "tile", "u8", swizzle, [width, 64])
            box("multicast", "tile", "u8", swizzle, [width, 8, 8])
    for rest in ([8, 8], [4, 4], [16, 4], [64, 1], [2, 32], [4, 4, 4]):
        # Loads of other interleaved boxes end with an error of the driver (719).
        for direction in ("load", "store") if rest == [8, 8] else ("store",):
            for swizzle in range(4):
                box(direction, "tile", "f16", swizzle, [8, *rest], pitch=16, interleave=1)
    for rest in ([4, 4], [8, 4]):
        box("store", "tile", "f16", 1, [16, *rest], pitch=32, interleave=2)
    for width in (16, 32, 48, 64, 96, 128):
        for swizzle in (0, 3):
            for count in (32, 128, 256):
                box("multicast", "tile", "u8", swizzle, [width, count])
    return rows
