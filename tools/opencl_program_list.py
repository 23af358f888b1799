# SPDX-License-Identifier: MIT
"""Part of opencl_programs.py: the programs that it runs, and where they come from. None of them is part of bankwise.

The host code of a library's program is as short as it can be and stands here; all kernels are the library's.
"""

from typing import NamedTuple


class Source(NamedTuple):
    title: str
    apt: str = ""  # packages to install; the first has the version
    apt_source: str = ""  # a Debian source package to download and unpack; it has the version
    pip: str = ""  # packages of PyPI; the first has the version


class Line(NamedTuple):
    """The passes of one line of a kernel on sm_90, counted by hand from the source."""

    kernel: str
    where: str  # the end of the file's name, and the line
    operation: str
    accesses: int
    passes: int


class Program(NamedTuple):
    name: str
    source: str
    command: str  # in the folder of programs; {python} is that of the source
    build: str = ""  # command in that folder; {source} is the folder of the source package
    text: str = ""  # of NAME.py or NAME.cpp


SOURCES = {
    "boost": Source(
        "Boost.Compute",
        apt="libboost-dev libboost-program-options-dev libboost-timer-dev g++ ocl-icd-opencl-dev",
        apt_source="boost1.74",
    ),
    "viennacl": Source("ViennaCL", apt="libviennacl-dev g++ ocl-icd-opencl-dev"),
    "pyopencl": Source("PyOpenCL", apt="python3-pyopencl python-pyopencl-doc python3-mako"),
    "silx": Source("silx", apt="python3-silx python3-pyopencl python3-mako"),
    "clfft": Source("clFFT", apt="clfft-client"),
    "clblast": Source("CLBlast", apt="libclblast-dev g++ ocl-icd-opencl-dev"),
    "gpyfft": Source("gpyfft", apt="python3-gpyfft"),
    "ffmpeg": Source("FFmpeg", apt="ffmpeg"),
    "piglit": Source("Piglit", apt="piglit"),
    "dtcwt": Source("dtcwt", apt="python3-dtcwt"),
    "wheel": Source("PyOpenCL from PyPI", pip="pyopencl mako siphash24"),
    "reikna": Source("reikna", pip="reikna pyopencl"),
    "pyvkfft": Source("VkFFT (pyvkfft)", pip="pyvkfft pyopencl"),
    "tinygrad": Source("tinygrad", pip="tinygrad"),
    "pmcxcl": Source("MCX-CL (pmcxcl)", pip="pmcxcl numpy"),
}

LINES = {
    "perf_sort": (Line("local_scan", ":21", "load", 160, 2080), Line("local_scan", ":29", "load", 32, 512)),
    "viennacl_fft": (
        Line("fft_radix2_local", ":144", "store", 16, 512),
        Line("fft_radix2_local", ":153", "load", 144, 416),
    ),
    "silx_statistics": (
        Line("reduce_kernel_stage1", ":442", "store", 12, 96),
        Line("reduce_kernel_stage1", ":452", "store", 12, 48),
    ),
    "silx_medfilt": (Line("medfilt2d", ":684", "store", 768, 1536),),
    "clFFT-client": (
        Line("fft_fwd", ":1191", "store", 16, 128),
        Line("fft_fwd", ":1326", "store", 16, 64),
        Line("fft_fwd", ":1341", "load", 16, 32),
    ),
    "clblast_transpose": (Line("TransposeMatrixFast", ":688", "store", 32, 1024),),
    "ffmpeg unsharp": (Line("unsharp_local", "unsharp.cl:75", "load", 160, 640),),
    "piglit atomic_add-local": (Line("threads_int", ":69", "atomic", 1, 8),),
    "piglit atomic_cmpxchg-local": (Line("threads_int", ":80", "atomic.cas", 8, 16),),
}

PYOPENCL = """
import numpy as np
import pyopencl as cl
import pyopencl.array as array

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
data = (np.arange(3000) * 7919 % 4093).astype(np.uint32)
on_device = array.to_device(queue, data)
"""

SCAN = """
from pyopencl.scan import InclusiveScanKernel

InclusiveScanKernel(context, np.uint32, "a + b", neutral="0")(on_device)
assert (on_device.get() == np.cumsum(data, dtype=np.uint32)).all()
"""

RADIX_SORT = """
from pyopencl.algorithm import RadixSort

sort = RadixSort(context, "unsigned *a", key_expr="a[i]", sort_arg_names=["a"], key_dtype=np.uint32)
assert (sort(on_device[:1000], key_bits=12)[0][0].get() == np.sort(data[:1000])).all()
"""

BITONIC_SORT = """
from pyopencl.bitonic_sort import BitonicSort

on_device = array.to_device(queue, data[:1024])
assert (BitonicSort(context)(on_device)[0].get() == np.sort(data[:1024])).all()
"""

REDUCTION = """
assert array.sum(on_device).get() == data.sum() and array.max(on_device).get() == data.max()
assert array.dot(on_device, on_device).get() == (data * data).sum(dtype=np.uint32)
"""

RANDOM = """
from pyopencl.clrandom import PhiloxGenerator, ThreefryGenerator

for generator in (PhiloxGenerator(context), ThreefryGenerator(context)):
    numbers = generator.uniform(queue, 2000, np.float32).get()
    assert 0.45 < numbers.mean() < 0.55 and generator.normal(queue, 2000, np.float32).get().std() > 0.9
"""

SILX_SCRIPT = """
import numpy as np

image = (np.arange(32 * 24) * 7919 % 4093).astype(np.float32).reshape(24, 32)
"""

SILX = {
    "medfilt": """
from silx.opencl.medfilt import MedianFilter2D

MedianFilter2D(image.shape, (3, 3), devicetype="gpu").medfilt2d(image)
""",
    "statistics": """
from silx.opencl.statistics import Statistics

found = Statistics(template=image, devicetype="gpu")(image, comp=True)
assert found.min == image.min() and abs(found.mean - image.mean()) < 1
""",
    "sparse": """
from silx.opencl.sparse import CSR

image[image < 2000] = 0
values, columns, rows = CSR(image.shape, devicetype="gpu").sparsify(image)
assert (values[:50] == image[image > 0][:50]).all()
""",
    "backprojection": """
from silx.opencl.backprojection import Backprojection

Backprojection(image.shape, devicetype="gpu").filtered_backprojection(image)
""",
    "convolution": """
from silx.opencl.convolution import Convolution

Convolution(image.shape, np.ones(5, np.float32))(image)
""",
}

REIKNA = """
import numpy as np
from reikna.cluda import ocl_api

thread = ocl_api().Thread.create()
random = np.random.RandomState(1)
"""

REIKNA_PROGRAMS = {
    "fft": """
from reikna.fft import FFT

data = random.normal(size=(4, 1024)).astype(np.complex64)
on_device = thread.to_device(data)
FFT(data, axes=(1,)).compile(thread)(on_device, on_device)
assert np.allclose(on_device.get(), np.fft.fft(data), atol=1e-2)
""",
    "matrix_product": """
from reikna.linalg import MatrixMul

a, b = (random.normal(size=(64, 64)).astype(np.float32) for _ in range(2))
out = thread.array((64, 64), np.float32)
MatrixMul(a, b).compile(thread)(out, thread.to_device(a), thread.to_device(b))
assert np.allclose(out.get(), a @ b, atol=1e-3)
""",
    "scan": """
from reikna.algorithms import Scan, predicate_sum

data = random.randint(0, 9, size=4096).astype(np.int32)
out = thread.array(data.shape, np.int32)
Scan(data, predicate_sum(np.int32), exclusive=False).compile(thread)(out, thread.to_device(data))
assert (out.get() == np.cumsum(data)).all()
""",
    "transpose": """
from reikna.algorithms import Transpose

data = random.normal(size=(96, 64)).astype(np.float32)
out = thread.array((64, 96), np.float32)
Transpose(data).compile(thread)(out, thread.to_device(data))
assert (out.get() == data.T).all()
""",
}

VIENNACL = """
#define VIENNACL_WITH_OPENCL
#include <viennacl/fft.hpp>
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/norm_2.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/scalar.hpp>
#include <viennacl/vector.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

"""

VIENNACL_PROGRAMS = {
    "fft": """
int main() {  // of a constant: all of it in the first element
  std::vector<float> host(2 * 512);
  for (int i = 0; i < 512; ++i) host[2 * i] = 1;
  viennacl::vector<float> data(2 * 512);
  viennacl::fast_copy(host, data);
  viennacl::inplace_fft(data);
  viennacl::fast_copy(data, host);
  return std::fabs(host[0] - 512) < 1 && std::fabs(host[2]) < 1 ? 0 : 1;
}
""",
    "product": """
int main() {
  const int side = 128;  // a multiple of 128, to which ViennaCL pads
  std::vector<float> host(side * side, 0.5f), out(side * side);
  viennacl::matrix<float> a(side, side), b(side, side), c(side, side);
  viennacl::fast_copy(&host[0], &host[0] + host.size(), a);
  viennacl::fast_copy(&host[0], &host[0] + host.size(), b);
  c = viennacl::linalg::prod(a, viennacl::trans(b));
  viennacl::fast_copy(c, &out[0]);
  return out[side + 1] == side * 0.25f ? 0 : 1;
}
""",
    "inner_product": """
int main() {
  std::vector<float> host(5000, 2);
  viennacl::vector<float> a(5000), b(5000);
  viennacl::fast_copy(host, a);
  viennacl::fast_copy(host, b);
  const float product = viennacl::linalg::inner_prod(a, b), length = viennacl::linalg::norm_2(a);
  return product == 20000 && std::fabs(length * length - 20000) < 1 ? 0 : 1;
}
""",
}

CLBLAST = """
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <clblast.h>

#include <vector>

int main() {
  cl_platform_id platform;
  cl_device_id device;
  clGetPlatformIDs(1, &platform, nullptr);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, nullptr);
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
  const size_t side = 64;
  std::vector<float> host(side * side, 0.5f);
  cl_mem buffers[3];
  for (cl_mem& buffer : buffers) {
    buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 4 * host.size(), host.data(), nullptr);
  }
  using namespace clblast;
  if (CALL != StatusCode::kSuccess) return 1;
  clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, 4 * host.size(), host.data(), 0, nullptr, nullptr);
  return host[0] == 0.5f ? 1 : 0;
}
"""

CLBLAST_CALLS = {
    "gemm": "Gemm<float>(Layout::kRowMajor, Transpose::kNo, Transpose::kYes, side, side, side, 1, buffers[0], 0, side,"
    " buffers[1], 0, side, 0, buffers[2], 0, side, &queue)",
    "dot": "Dot<float>(side * side, buffers[2], 0, buffers[0], 0, 1, buffers[1], 0, 1, &queue)",
    "transpose": "Omatcopy<float>(Layout::kRowMajor, Transpose::kYes, side, side, 2, buffers[0], 0, side,"
    " buffers[2], 0, side, &queue)",
}

BOOST = ("sort --size 4096 --trials 1", "sort_by_key 256", "exclusive_scan 4096", "partial_sum 4096")
BOOST += ("accumulate 4096", "inner_product 4096", "reduce_by_key 2048", "merge 4096")
COMPILE = "g++ -w -DCL_TARGET_OPENCL_VERSION=120 -o {name}"
FFMPEG = "ffmpeg -v error -init_hw_device opencl=gpu -filter_hw_device gpu -f lavfi -i testsrc=size=64x48:duration=0.04"
FILTERED = "-vf format=yuv420p,hwupload,{filter},hwdownload,format=yuv420p -f null -"
FILTERS = {"unsharp": "unsharp_opencl", "nlmeans": "nlmeans_opencl=s=2:p=3:r=3", "transpose": "transpose_opencl"}
PIGLIT = "/usr/lib/x86_64-linux-gnu/piglit"
PIGLIT_TESTS = ("local-memory", "builtin/atomic/atomic_add-local", "builtin/atomic/atomic_cmpxchg-local")


def python(name: str, source: str, text: str) -> Program:
    return Program(name, source, f"{{python}} {name}.py", text=text)


def boost(arguments: str) -> Program:
    name = f"perf_{arguments.split()[0]}"
    libraries = "-lOpenCL -lboost_timer -lboost_program_options"
    build = f"{COMPILE.format(name=name)} {{source}}/libs/compute/perf/{name}.cpp {libraries}"
    return Program(name, "boost", f"./perf_{arguments}", build)


def built(name: str, source: str, text: str, libraries: str) -> Program:
    build = f"{COMPILE.format(name=name)} {name}.cpp {libraries}"
    return Program(name, source, f"./{name}", build, text)


PROGRAMS = (
    *(boost(arguments) for arguments in BOOST),
    *(built(f"viennacl_{name}", "viennacl", VIENNACL + text, "-lOpenCL") for name, text in VIENNACL_PROGRAMS.items()),
    python("scan", "pyopencl", PYOPENCL + SCAN),
    python("radix_sort", "pyopencl", PYOPENCL + RADIX_SORT),
    python("bitonic_sort", "pyopencl", PYOPENCL + BITONIC_SORT),
    python("reduction", "pyopencl", PYOPENCL + REDUCTION),
    python("random_numbers", "pyopencl", PYOPENCL + RANDOM),
    Program("demo_array.py", "pyopencl", "{python} /usr/share/doc/python-pyopencl-doc/examples/demo_array.py"),
    python("wheel_scan", "wheel", PYOPENCL + SCAN),
    python("wheel_radix_sort", "wheel", PYOPENCL + RADIX_SORT),
    python("wheel_random_numbers", "wheel", PYOPENCL + RANDOM),
    *(python(f"silx_{name}", "silx", SILX_SCRIPT + text) for name, text in SILX.items()),
    Program("clFFT-client", "clfft", "clFFT-client -x 1024 -b 4"),
    Program("clFFT-client, two dimensions", "clfft", "clFFT-client -x 64 -y 64 --outPlace"),
    *(
        built(f"clblast_{name}", "clblast", CLBLAST.replace("CALL", call), "-lclblast -lOpenCL")
        for name, call in CLBLAST_CALLS.items()
    ),
    python(
        "gpyfft_fft",
        "gpyfft",
        PYOPENCL
        + """
from gpyfft.fft import FFT

data = np.ones((8, 512), np.complex64)
on_device = array.to_device(queue, data)
for event in FFT(context, queue, on_device, axes=(1,)).enqueue():
    event.wait()
assert np.allclose(on_device.get(), np.fft.fft(data), atol=1e-2)
""",
    ),
    *(
        Program(f"ffmpeg {name}", "ffmpeg", f"{FFMPEG} {FILTERED.format(filter=text)}")
        for name, text in FILTERS.items()
    ),
    *(
        Program(
            f"piglit {test.split('/')[-1]}",
            "piglit",
            f"{PIGLIT}/bin/cl-program-tester {PIGLIT}/tests/cl/program/execute/{test}.cl",
        )
        for test in PIGLIT_TESTS
    ),
    python(
        "dtcwt_transform",
        "dtcwt",
        """
import dtcwt
import numpy as np

dtcwt.push_backend("opencl")
dtcwt.Transform2d().forward(np.arange(1024, dtype=np.float32).reshape(32, 32), nlevels=1)
""",
    ),
    *(python(f"reikna_{name}", "reikna", REIKNA + text) for name, text in REIKNA_PROGRAMS.items()),
    *(
        python(
            f"vkfft_{name}",
            "pyvkfft",
            PYOPENCL
            + f"""
from pyvkfft.opencl import VkFFTApp

data = np.random.RandomState(1).normal(size={shape}).astype(np.complex64)
on_device = array.to_device(queue, data)
VkFFTApp(data.shape, data.dtype, queue, ndim={dimensions}).fft(on_device)
assert np.allclose(on_device.get(), np.fft.fftn(data, axes=range(-{dimensions}, 0)), atol=1e-2)
""",
        )
        for name, shape, dimensions in (("rows", (4, 1024), 1), ("matrix", (64, 96), 2))
    ),
    Program(
        "tinygrad_matrix_product",
        "tinygrad",
        "env DEV=CL {python} tinygrad_matrix_product.py",
        text="""
import numpy as np
from tinygrad import Tensor

a, b = (np.random.RandomState(i).normal(size=(64, 64)).astype(np.float32) for i in range(2))
assert np.allclose((Tensor(a) @ Tensor(b)).numpy(), a @ b, atol=1e-3)
assert abs(Tensor(a).sum().item() - a.sum()) < 1e-2
""",
    ),
    python(
        "mcxcl",
        "pmcxcl",
        """
import numpy as np
import pmcxcl

config = {"nphoton": 200, "vol": np.ones((20, 20, 20), np.uint8), "srcpos": [10, 10, 0], "srcdir": [0, 0, 1]}
config |= {"prop": [[0, 0, 1, 1], [0.005, 1, 0.01, 1.37]], "tstart": 0, "tend": 1e-9, "tstep": 1e-9}
assert pmcxcl.run(config)["flux"].max() > 0
""",
    ),
)
