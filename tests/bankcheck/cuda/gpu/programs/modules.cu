// Modules that the program loads itself: `modules MODE FILE.ptx`, where the file is that of module.cu, or PTX that
// the program brings.
#include <fstream>
#include <sstream>

#include "driver.cuh"

namespace {

std::string image;  // the file

/// PTX as a compiler of another language may write it: `from_text` stores and loads at a stride of 8 words.
constexpr const char* text = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry from_text(.param .u64 out)
{
  .reg .u32 %lane, %block, %value, %from, %base;
  .reg .u64 %to, %index;
  .shared .align 4 .b8 words[1024];
  mov.u32 %lane, %tid.x;
  mov.u32 %block, %ctaid.x;
  mad.lo.u32 %value, %block, 1000, %lane;
  mov.u32 %base, words;
  mad.lo.u32 %from, %lane, 32, %base;
  st.volatile.shared.u32 [%from], %value;
  ld.volatile.shared.u32 %value, [%from];
  mad.lo.u32 %lane, %block, 32, %lane;
  ld.param.u64 %to, [out];
  cvta.to.global.u64 %to, %to;
  mul.wide.u32 %index, %lane, 4;
  add.u64 %to, %to, %index;
  st.global.u32 [%to], %value;
  ret;
}
)";

/// `in_module` 5 times, each time in its own module, with 1, 2, 3, 4 and 5 blocks.
void reload() {
  for (unsigned i = 1; i <= 5; ++i) {
    const CUmodule module = load(image, true);
    run(module, "in_module", i);
    CHECK_DRIVER(cuModuleUnload(module));
  }
}

void jit() { run(load(text, false), "from_text", 6); }

/// With the runtime's own modules, which are loaded when they are needed, or when the program starts.
void mixed() {
  run(ways_32, 3);
  run(load(image, true), "in_module", 2);
  run(ways_2, 7);
}

constexpr Mode modes[] = {{"reload", reload}, {"jit", jit}, {"mixed", mixed}};

}  // namespace

int main(int count, char** arguments) {
  if (count > 2) {
    std::ifstream file(arguments[2]);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    image = bytes.str();
    expect(!image.empty(), "the file of the module");
  }
  CHECK(cudaFree(nullptr));  // the runtime's context, also for the driver's functions
  return play(modes, count, arguments);
}
