// Modules: loaded when they are needed or at the start, again and again, from PTX, and with the same names.
#include "watched_program.hpp"

namespace {

void check_in_module(const Checked& c, unsigned launches, unsigned blocks) {
  check_launches(c, "in_module", launches, blocks);
  CHECK(numbers(c.on("in_module"), "", "store") == times(blocks, 4));
  CHECK(numbers(c.on("in_module"), "", "load") == times(blocks, 4));
  CHECK(numbers(c.on("in_module")) == times(std::uint64_t{2} * blocks, 4));
}

}  // namespace

TEST_CASE("cuda/gpu/modules/lazy_and_eager", "[modules]") {
  const std::string command = program("modules", "mixed " + module_file());
  const Checked lazy = watched_whole(command, "", "CUDA_MODULE_LOADING=LAZY");
  const Checked eager = watched_whole(command, "", "CUDA_MODULE_LOADING=EAGER");
  for (const Checked* c : {&lazy, &eager}) {
    check_kernels(*c, {"in_module", "ways_2", "ways_32"});
    check_ways_32(*c, 1, 3);
    check_ways_2(*c, 1, 7);
    check_in_module(*c, 1, 2);
  }
  CHECK(lazy.json.at("kernels") == eager.json.at("kernels"));
}

TEST_CASE("cuda/gpu/modules/loaded_5_times", "[modules]") {
  const Checked c = watched_whole(program("modules", "reload " + module_file()));
  check_kernels(c, {"in_module"});
  check_in_module(c, 5, 1 + 2 + 3 + 4 + 5);
  // The driver's compiler keeps the lines of the PTX.
  CHECK(numbers(c.on("in_module"), "4-way store", "store") == times(15, 4));
  CHECK(numbers(c.on("in_module"), "4-way load", "load") == times(15, 4));
}

TEST_CASE("cuda/gpu/modules/ptx_rows_name_offsets", "[modules]") {
  const Checked c = watched_whole(program("modules", "jit"));
  check_kernels(c, {"from_text"});
  check_launches(c, "from_text", 1, 6);
  CHECK(numbers(c.on("from_text"), "", "store") == times(6, 8));
  CHECK(numbers(c.on("from_text"), "", "load") == times(6, 8));
  const Outcome text = watch(program("modules", "jit"));
  CHECK(count(text.out, "\n  +0x") == 2);  // a row each for the store and the load
}

TEST_CASE("cuda/gpu/modules/same_kernel_name", "[modules]") {
  const Checked c = watched_whole(program("same_name"));
  check_kernels(c, {"same"});
  check_launches(c, "same", 2, 3 + 5);
  CHECK(numbers(c.on("same"), "here: 32-way store", "store") == times(3, 32));
  CHECK(numbers(c.on("same"), "here: 32-way load", "load") == times(3, 32));
  CHECK(numbers(c.on("same"), "there: 2-way store", "store") == times(5, 2));
  CHECK(numbers(c.on("same"), "there: 2-way load", "load") == times(5, 2));
  CHECK(numbers(c.on("same"), "", "store") == Numbers{8, 256, 3 * 32 + 5 * 2, 8, 3 * 31 + 5});
}

#if HAVE_NVRTC
TEST_CASE("cuda/gpu/modules/nvrtc", "[modules]") {
  const Checked c = watched_whole(program("nvrtc"));
  check_kernels(c, {"compiled"});
  check_launches(c, "compiled", 1, 4);
  CHECK(numbers(c.on("compiled"), "", "store") == times(4, 16));
  CHECK(numbers(c.on("compiled"), "", "load") == times(4, 16));
}
#endif
