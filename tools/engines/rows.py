"""PTX kernels, and the rows that launch them."""

from dataclasses import dataclass, field

WORDS = 64  # 32-bit parameters of each kernel
PARAMETERS = f".param .u64 out, .param .u64 data, .param .align 64 .b8 map[128], .param .align 16 .b8 words[{4 * WORDS}]"


@dataclass
class Kernel:
    name: str
    text: str
    threads: int
    blocks: int


@dataclass
class Row:
    kernel: Kernel
    columns: dict
    results: list  # the names of the numbers that the kernel writes
    parameters: list  # words of the kernel
    once: dict = field(default_factory=dict)  # those that differ in a launch for a profiler, by index
    instructions: int = 1  # of that launch
    checks: dict = field(default_factory=dict)  # those that differ in a launch that counts the words written, if any
    tensor: dict | None = None


def kernel_of(name: str, body: str, threads: int = 32, blocks: int = 1) -> Kernel:
    """`body` after what all kernels have; `blocks` of a cluster."""
    clustered = f".explicitcluster .reqnctapercluster {blocks}, 1, 1" if blocks > 1 else ""
    text = f"""
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
elect.sync _|lead, 0xffffffff;
setp.lt.and.u32 lead, tid, 32, lead;
{body}
ret;
}}
"""
    return Kernel(name, text, threads, blocks)


def words(**indices: int) -> str:
    """Loads parameters into registers: their indices by register."""
    return "".join(f"ld.param.u32 {register}, [words+{4 * index}];\n" for register, index in indices.items())


def loop(label: str, body: str, count: str = "n") -> str:
    """`body` until i, which grows by 1, is `count`."""
    return f"{label}:\n{body}add.u32 i, i, 1;\nsetp.lt.u32 p, i, {count};\n@p bra {label};\n"


def over_shared(label: str, body: str, size: int, threads: int, count: int) -> str:
    """A loop of all threads over `count` elements of so many bytes in shared memory; r: the address of one."""
    return f"""mov.u32 i, tid;
{label}: shl.b32 r, i, {size.bit_length() - 1};
add.u32 r, r, base;
{body}add.u32 i, i, {threads};
setp.lt.u32 p, i, {count};
@p bra {label};
"""
