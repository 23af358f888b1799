// How bankcheck rewrites asm statements, and which names of PTX the emulator knows.
#include <algorithm>
#include <optional>
#include <string>
#include "tests/catch_any.hpp"

#include <bankwise/emulator/cuda/ptx.hpp>
#include <bankwise/emulator/cuda/ptx/machine.hpp>
#include "bankcheck/emulate/build.hpp"

using bankwise::emulator::device::ptx_is_known;

namespace {

/// Nothing if the statement stays as it is.
std::optional<std::string> emulated_asm(const std::string& statement) {
  const std::string text = bankwise::emulate::rewritten(statement);
  return text == statement ? std::nullopt : std::optional(text);
}

}  // namespace

TEST_CASE("emulator/inline_ptx/asm_to_call") {
  const std::string ptx = "::bankwise::emulator::device::ptx";
  CHECK(emulated_asm("asm volatile(\"bfe.u32 %0, %1, 4, 8;\" : \"=r\"(x[i + 1]) : \"r\"(f<1, 2>(y)) : \"memory\")") ==
        ptx + "<true>([] { return \"bfe.u32 %0, %1, 4, 8;\"; }, " + ptx + "_out(x[i + 1]), " + ptx +
            "_in(f<1, 2>(y)))");
  CHECK(emulated_asm("asm(\"add.f32 %0, %0, %1;\\n\" : \"+f\"(a) : \"f\"(b))") ==
        ptx + "([] { return \"add.f32 %0, %0, %1;\\n\"; }, " + ptx + "_in_out(a), " + ptx + "_in(b))");
  CHECK(emulated_asm("asm volatile (\"bar.sync 0;\" ::: \"memory\")") ==
        ptx + "<true>([] { return \"bar.sync 0;\"; })");
  CHECK(emulated_asm("__asm__ volatile(\"cp.async.wait_group %0;\\n\" ::\"n\"(N))") ==
        ptx + "<true>([] { return \"cp.async.wait_group %0;\\n\"; }, " + ptx + "_in(N))");
  // A colon, a parenthesis and a comma in texts, and lines that are kept.
  const auto several =
      emulated_asm("asm volatile(\"a: x;\"\n  \"y, (;\" : \"=l\"(p->q)\n  : \"l\"(a ? b : c), \"h\"(')'))");
  REQUIRE(several);
  CHECK(std::count(several->begin(), several->end(), '\n') == 2);
  CHECK_THAT(*several, has(ptx + "_in(')'))"));
}

TEST_CASE("emulator/inline_ptx/other_asm") {
  CHECK_FALSE(emulated_asm("asm volatile(\"\" ::: \"memory\")"));
  CHECK_FALSE(emulated_asm("__asm__ (\"\" \"__isoc99_sscanf\")"));
  CHECK_FALSE(emulated_asm("asm volatile(\"rdtsc\" : \"=a\"(low), \"=d\"(high))"));
  CHECK_FALSE(emulated_asm("asm volatile(\"lock; addl %0, %1;\" : \"+r\"(a), \"+m\"(b))"));
  CHECK_FALSE(emulated_asm("asm volatile(\"mov %0, %[x];\" : [x] \"=r\"(a))"));
  CHECK_FALSE(emulated_asm("asm"));
  CHECK_FALSE(emulated_asm("asm volatile(\"x;\" : \"=r\"(a) : \"r\")"));
}

TEST_CASE("emulator/inline_ptx/names") {
  CHECK(ptx_is_known("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p cp.async.cg.shared.global.L2::128B [%1], [%2], 16; }"));
  CHECK(ptx_is_known("LAB_WAIT:\n mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@!P1 bra.uni LAB_WAIT;"));
  CHECK(ptx_is_known("/* wgmma */ mov.b64 {%0, %1}, %2; // wgmma\n"));
  CHECK(ptx_is_known(""));
  CHECK_FALSE(ptx_is_known("wgmma.fence.sync.aligned;"));
  CHECK_FALSE(ptx_is_known("mov.u32 %0, 1; tensormap.replace.tile [%0];"));
  CHECK_FALSE(ptx_is_known("@p movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"));
  // The list is that of the interpreter.
  for (const char* const name : bankwise::emulator::device::ptx_names) {
    CAPTURE(name);
    CHECK(bankwise::emulator::ptx::handler_of(name) != nullptr);
  }
}

TEST_CASE("emulator/inline_ptx/refused") {
  using bankwise::emulator::ptx::parse;
  using bankwise::emulator::ptx::UnsupportedPtx;
  CHECK(parse("add.u32 %0, %1, -0x10; ").instructions.at(0).operands.at(2).bits == 0 - std::uint64_t{16});
  for (const char* text : {"wgmma.x %0;", "mov.u32 nothing, 1;", "bra nowhere;", "ld.u32 %0, [%1;", "add.u32 %0 %1;",
                           "@", ".reg .b32 x", "mov.u32 %0, {", "@7 mov.u32 %0, 1;"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse(text), UnsupportedPtx);
  }
}
