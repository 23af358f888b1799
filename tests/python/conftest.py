"""The package that the tests see: that of the source tree, if CTest says where, or else the installed one."""

import importlib.util
import os
import sys
import types
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

HAS_MODULE = True


def load_module() -> bool:
    """The compiled module of the build; an empty one if there is none, for the tests that do not need it."""
    name = "bankwise._model"
    for file in Path(os.environ["BANKWISE_TEST_MODULE"]).glob("_model*.so"):
        if importlib.util.find_spec("nanobind_backend") is None:
            break
        spec = importlib.util.spec_from_file_location(name, file)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        return True
    sys.modules[name] = types.ModuleType(name)
    return False


if source := os.environ.get("BANKWISE_TEST_SOURCE"):
    sys.path.insert(0, source)
    HAS_MODULE = load_module()

CONFLICT = """
__global__ void transpose(float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
  float* out;
  cudaMalloc(&out, 4096);
  transpose<<<1, dim3(32, 32)>>>(out);
  cudaDeviceSynchronize();
}
"""


@pytest.fixture
def conflict() -> str:
    """A CUDA program with 992 conflicts."""
    return CONFLICT


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled headers of the emulator are kept between runs, and not in the user's cache."""
    if folder := os.environ.get("BANKWISE_TEST_CACHE"):
        monkeypatch.setenv("XDG_CACHE_HOME", folder)


@pytest.fixture
def model() -> None:
    if not HAS_MODULE:
        pytest.skip("this build has no module: -D BANKWISE_PYTHON=ON, and pip install nanobind-backend")


@pytest.fixture(scope="session")
def pyopencl() -> None:
    """PyOpenCL, and an Oclgrind that this build can use."""
    from bankwise import BankwiseError, check

    pytest.importorskip("pyopencl")
    try:
        check("opencl", ["true"])
    except BankwiseError as error:
        if "apt-get install" in str(error):
            pytest.skip(str(error))


@pytest.fixture(scope="session")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of CONFLICT."""
    from bankwise import BankwiseError, check

    folder = tmp_path_factory.mktemp("trace")
    source = folder / "conflict.cu"
    source.write_text(CONFLICT)
    try:
        check("emulate", [source], None, "--trace", str(folder / "trace.jsonl"))
    except BankwiseError as error:
        pytest.skip(f"no emulator: {error}")
    return folder / "trace.jsonl"
