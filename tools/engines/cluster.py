"""Accesses to the shared memory of a cluster's blocks."""

import random
import re
from functools import cache

from rows import Kernel, Row, kernel_of, loop, over_shared, words

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
# By operation: how many of the patterns it is measured under. Others: SOME of them.
PATTERNS = dict.fromkeys(("load 4", "load 8", "load 16", "store 4", "store 8", "store 16"), 38)
PATTERNS |= {"atom add.u32": 13, "red add.u32": 13, "st.async 16": 10, "red.async add.u32": 13}
SOME = 6
CLUSTERS = (2, 4)  # blocks
UNROLLED = 4


@cache
def remote_kernel(name: str, blocks: int) -> Kernel:
    """Words: 0 to 31 offsets, 32 lanes, 33 the target's number, 34 iterations - 1, 35 whether to access once only."""
    code = REMOTE[name][1]
    text = """
.reg .b32 rank, target, mask;
.reg .f32 f;
add.u32 bar, base, 196608;
@lead mbarrier.init.shared.b64 [bar], 1;
"""
    text += over_shared("ZERO", "mov.u32 x, 0;\nst.shared.u32 [r], x;\n", 4, 32, 8192)
    text += "fence.mbarrier_init.release.cluster;\nmov.u32 rank, %cluster_ctarank;\n"
    text += words(target=33, mask=32, n=34, m=35) + """
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
    text += f"{code}\n@q bra LAST;\n" + loop("LOOP", f"{code}\n" * UNROLLED)
    text += """
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
    if "async" in name:  # those in flight shall arrive before the target's shared memory goes
        text += "mov.u64 t, %clock64;\nREST: mov.u64 d, %clock64;\nsub.u64 d, d, t;\nsetp.lt.u64 p, d, 20000;\n@p bra REST;\n"
    kernel_name = f"remote_{blocks}_" + name.replace(" ", "_").replace(".", "_")
    return kernel_of(kernel_name, text, blocks=blocks)


def remote_patterns(width: int, chosen: random.Random) -> list:
    """Names, offsets of lanes in units of the width, masks; the random and the regular take turns."""
    everyone = 0xFFFFFFFF
    regular = {
        "consecutive": lambda i: i, "stride 2": lambda i: 2 * i, "tile": lambda i: i % 8 * 32 + i // 8, "same": lambda i: 0,
        "stride 32": lambda i: 32 * i, "pairs": lambda i: i // 2, "stride 4": lambda i: 4 * i, "permuted": lambda i: i ^ 5,
        "stride 8": lambda i: 8 * i, "four": lambda i: i % 4 * 8, "stride 3": lambda i: 3 * i, "stride 17": lambda i: 17 * i,
        "halves": lambda i: i % 16 * 2 + i // 16, "reversed": lambda i: 31 - i, "stride 33": lambda i: 33 * i,
        "swizzled tile": lambda i: i % 8 * 32 + (i // 8 ^ i % 8), "two lines": lambda i: i % 2 * 256 + i // 2,
    }  # fmt: skip
    patterns = [(name, [at(i) for i in range(32)], everyone) for name, at in regular.items()]
    masks = {"odd lanes": 0xAAAAAAAA, "first half": 0xFFFF, "a lane": 1 << 13, "few lanes": 0x01010011}
    patterns += [(name, [3 * i for i in range(32)], mask) for name, mask in masks.items()]
    far = 196608 // width
    random_ones = []
    for name, range_, sparse in 2 * (
        ("random", 1024, 0), ("far", far, 0), ("random lanes", 1024, 1), ("far lanes", far, 1), ("random 64", 64, 0),
        ("far", far, 0), ("random 64 lanes", 64, 1), ("far", far, 0), ("few far lanes", far, 2),
    ):  # fmt: skip
        mask = everyone
        for _ in range(sparse):
            mask &= chosen.getrandbits(32)
        random_ones.append((name, [chosen.randrange(range_) for _ in range(32)], mask or 1))
    mixed = [pattern for pair in zip(random_ones, patterns) for pattern in pair] + patterns[len(random_ones) :]
    return [(name, [at * width % 196608 for at in offsets], mask) for name, offsets, mask in mixed]


def remote_rows() -> list:
    """An operation's rows alternate between the sizes of a cluster; the last is one of the block's own memory."""
    chosen = random.Random(2)
    rows = []
    for name, (width, _) in REMOTE.items():
        patterns = remote_patterns(width, chosen)[: PATTERNS.get(name, SOME)]
        for i, (pattern, offsets, mask) in enumerate(patterns):
            blocks = CLUSTERS[i // 2 % len(CLUSTERS)]
            target = chosen.randrange(1, blocks) if i + 1 < len(patterns) else 0
            columns = {"operation": re.sub(r" \d+$", "", name).replace(" ", ".")}
            columns |= {"width": width, "blocks": blocks, "target": target, "pattern": pattern, "mask": f"0x{mask:08x}"}
            columns |= {f"a{lane}": offset for lane, offset in enumerate(offsets)}
            parameters = [*offsets, mask, target, 64, 0]
            rows.append(Row(remote_kernel(name, blocks), columns, ["clocks"], parameters, once={35: 1}))
    return rows
