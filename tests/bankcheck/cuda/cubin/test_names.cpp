// Names of instructions and of functions.
#include <fstream>
#include <map>
#include <sstream>

#include "bankcheck/cuda/cubin/cubin.hpp"
#include "tests/bankcheck/cuda/cubin/recorded.hpp"
#include "tests/catch_any.hpp"

using bankwise::cuda::array_name;
using bankwise::cuda::demangled;
using bankwise::cuda::InstructionBits;
using bankwise::cuda::mangled_path;
using bankwise::cuda::shared_opcode;
using bankwise::cuda::wgmma_bytes;

namespace {

struct Row {
  unsigned sm = 0;
  InstructionBits bits;
  std::string opcode;  // as nvdisasm says
};

std::vector<Row> rows() {
  std::ifstream file(recorded::folder() / "encodings.txt");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Row row;
    words >> std::dec >> row.sm >> std::hex >> row.bits.low >> row.bits.high >> row.opcode;
    rows.push_back(row);
  }
  return rows;
}

/// nvdisasm cannot name a part of the opcode.
bool is_unknown(const std::string& opcode) {
  return opcode.find('?') != std::string::npos || opcode.find("INVALID") != std::string::npos;
}

}  // namespace

TEST_CASE("cuda/cubin/array_names") {
  CHECK(array_name("_ZZ10more_queuePKjPjE5queue") == "queue");
  CHECK(array_name("_ZZN1n1kILi32EEEvPfE6E1tile_0") == "E1tile");
  CHECK(array_name("_ZN1n4tileE") == "n::tile");
  CHECK(array_name("tile") == "tile");
  CHECK(array_name("_ZZ1kPfE99tile") == demangled("_ZZ1kPfE99tile"));
  CHECK(array_name("_ZZE99999999999999999999999t") == demangled("_ZZE99999999999999999999999t"));
  CHECK(array_name("_ZZ") == "_ZZ");
}

TEST_CASE("cuda/cubin/opcode/equals_nvdisasm") {
  std::map<unsigned, unsigned> named, unnamed;
  for (const Row& row : rows()) {
    INFO(row.sm << " " << std::hex << row.bits.low << " " << row.bits.high);
    const auto opcode = shared_opcode(row.sm, row.bits);
    if (is_unknown(row.opcode)) CHECK(opcode == std::nullopt);
    if (opcode) CHECK(*opcode == row.opcode);
    if (!is_unknown(row.opcode)) ++(opcode ? named : unnamed)[row.sm];
  }
  REQUIRE(named.size() == 7);
  for (const auto& [sm, count] : named) {
    INFO(sm);
    CHECK(count >= 40);
    CHECK(unnamed[sm] * 10 <= count);  // combinations that no compiler was seen to write
  }
}

TEST_CASE("cuda/cubin/opcode/uniform_addresses") {
  unsigned compared = 0;
  for (const Row& row : rows()) {
    if (row.sm < 90 || ((row.bits.low & 0xFFF) != 0x3A2 && (row.bits.low & 0xFFF) != 0x9A2)) continue;
    for (const std::uint64_t code : {0x3A2, 0x9A2}) {
      const auto opcode = shared_opcode(row.sm, {(row.bits.low & ~std::uint64_t{0xFFF}) | code, row.bits.high});
      CHECK(opcode == shared_opcode(row.sm, row.bits));
      compared += opcode ? 1 : 0;
    }
  }
  CHECK(compared > 0);
}

TEST_CASE("cuda/cubin/opcode/by_architecture") {
  CHECK(!shared_opcode(90, {0x0000000000007918, 0x000FC00000000000}));  // NOP
  CHECK(!shared_opcode(90, {0x0000000402047981, 0x000EA2000C1E1900}));  // LDG.E, from global memory
  CHECK(!shared_opcode(90, {0, 0}));
  const InstructionBits load{0x0000002804007984, 0x001FE20008000C00};
  CHECK(shared_opcode(90, load) == "LDS.128");
  for (const unsigned sm : {0U, 70U, 72U, 122U, 200U}) CHECK(!shared_opcode(sm, load));
  const InstructionBits tensor_store{0x00000018040073B5, 0x0003E40008008000};  // UTMASTG.2D
  CHECK(shared_opcode(90, tensor_store) == "UTMASTG");
  CHECK(shared_opcode(120, {0x00000006040073B6, 0x0003D8000B800000}) == "UTMAREDG");  // .1D.XOR
  CHECK(!shared_opcode(89, tensor_store));
  CHECK(shared_opcode(90, {0x00000004120075B4, 0x0001D80008000000}) == "UTMALDG");   // .1D
  CHECK(shared_opcode(100, {0x00001410160073B4, 0x0021F40008009804}) == "UTMALDG");  // .2D.MULTICAST
  for (const Row& row : rows()) {
    if (row.sm != 80 || row.opcode != "ATOMS.POPC.INC.32") continue;
    CHECK(shared_opcode(80, row.bits) == "ATOMS.POPC.INC.32");
    CHECK(shared_opcode(90, row.bits) != "ATOMS.POPC.INC.32");
    return;
  }
  FAIL("no such row");
}

TEST_CASE("cuda/cubin/opcode/wgmma_bytes") {
  const InstructionBits eight_bits{0x00000000081879F3, 0x000FE60008000818};  // QGMMA.64x8x32, A in shared memory
  CHECK(wgmma_bytes(90, eight_bits) == 64 * 32 + 8 * 32);
  CHECK(wgmma_bytes(90, {0x07E09C0498187DF3, 0x000FE60008000A18}) == 256 * 64);          // QGMMA.SP.64x256x64
  CHECK(wgmma_bytes(90, {0x08001C00081879F0, 0x000FE60008001A18}) == 64 * 32 + 8 * 64);  // HGMMA.SP.64x8x32, bf16
  CHECK(wgmma_bytes(90, {0x040000041C187DF0, 0x000FE60008002818}) == 8 * 32);            // HGMMA.64x8x8, tf32
  CHECK(wgmma_bytes(90, {0x00A00000081879F3, 0x000FE60008000818}) == 64 * 32 + 48 * 32);
  CHECK(wgmma_bytes(90, {0x00000000081879F1, 0x000FE60008041018}) == 0);  // IGMMA
  CHECK(wgmma_bytes(90, {0x0000002804007984, 0x001FE20008000C00}) == 0);  // LDS
  CHECK(wgmma_bytes(100, eight_bits) == 0);
}

namespace {

// cub::DeviceReduce::Sum of CCCL 3.0.1
const std::string cub_reduce =
    "_ZN3cub17CUB_300001_SM_9006detail6reduce18DeviceReduceKernelINS2_10policy_hubIijN4cuda3std3__"
    "44plusIvEEE10Policy1000"
    "EPijS9_iNS7_10__identityEEEvT0_PT3_T1_NS0_13GridEvenShareISH_EET2_T4_";

// part of a kernel of CUTLASS 4.2: literals of types with names
const std::string cutlass_kernel =
    "_ZN7cutlass6KernelINS_4gemm6kernel4GemmINS1_9GemmShapeILi128ELi128ELi16EEELNS_4arch14CacheOperation4KindE1ELSU_"
    "1EfLb0E"
    "LNS1_5OuterILi3EE5InnerE0EbEEEEvNT_6ParamsE";

/// A name of a few hundred bytes whose demangled form is longer than any memory: each argument is twice the one before.
std::string doubled(unsigned times) {
  const auto reference = [](unsigned i) {
    const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string text;
    for (--i;; i /= 36) {
      text.insert(0, 1, digits[i % 36]);
      if (i < 36) return "S" + text + "_";
    }
  };
  std::string name = "_Z1fI1AIiiE";
  for (unsigned i = 1; i <= times; ++i) name += "S0_I" + reference(i + 1) + reference(i + 1) + "E";
  return name + "Evv";
}

}  // namespace

TEST_CASE("cuda/cubin/demangled/names") {
  CHECK(demangled("_Z5plainPi") == "plain");
  CHECK(demangled("_Z4tmplISt4pairIifELi3EEvPT_") == "tmpl<std::pair<int, float>, 3>");
  CHECK(demangled("_ZN37_GLOBAL__N__54902467_5_dm_cu_3c7ab8be6hiddenEPi") == "hidden");
  CHECK(demangled("_Z2opIZ2goPiEUlS0_E_EvT_S0_") == "op<go(int*)::{lambda(int*)#1}>");
  CHECK(demangled("_ZN1AclEi") == "A::operator()");
  CHECK(demangled("_ZN1AltES_") == "A::operator<");
  CHECK(demangled("_Z4tmplISt4pairIifELi3EEvPT_", 25) == "tmpl<std::pair<...>, 3>");
  CHECK(demangled("_Z4tmplISt4pairIifELi3EEvPT_", 15) == "tmpl<...>");
  CHECK(demangled(cub_reduce) == "cub::CUB_300001_SM_900::detail::reduce::DeviceReduceKernel<...>");
  CHECK(demangled(cub_reduce, 40) == "cub::...::DeviceReduceKernel<...>");
  CHECK(demangled(cub_reduce, 20) == "cub::...::DeviceR...");
  CHECK(demangled("triton_poi_fused_add_0") == "triton_poi_fused_add_0");
  CHECK(demangled("triton_poi_fused_add_0", 10) == "triton_...");
  CHECK(demangled("") == "");
  CHECK(demangled("_Zfoo") == "_Zfoo");
}

TEST_CASE("cuda/cubin/demangled/hostile_name") {
  CHECK(demangled(doubled(200), 1000) == "f<...>");
  CHECK(demangled(doubled(1), 1000) == "f<A<int, int>, A<A<int, int>, A<int, int> > >");
  CHECK(demangled("_ZN" + std::string(100000, 'I')).size() <= 80);
  CHECK(demangled("_Z99999999999999999999f").size() <= 80);
  std::string literals;
  for (int i = 0; i < 100000; ++i) literals += "LN";
  CHECK(!mangled_path("_Z1fI" + literals));
}

TEST_CASE("cuda/cubin/demangled/path") {
  CHECK(mangled_path(cub_reduce) == "cub::CUB_300001_SM_900::detail::reduce::DeviceReduceKernel<...>");
  CHECK(mangled_path(cutlass_kernel) == "cutlass::Kernel<...>");
  CHECK(mangled_path("_Z4tmplISt4pairIifELi3EEvPT_") == "tmpl<...>");
  CHECK(mangled_path("_Z4tmplIL4Kind1ELSt5order2ELb1EEvv") == "tmpl<...>");
  CHECK(mangled_path("_Z4tmplILb1ELin3EJfdEXadL_Z1gvEEEvv") == "tmpl<...>");
  CHECK(mangled_path("_Z2opIZ2goPiEUlS0_E_EvT_S0_") == "op<...>");
  CHECK(mangled_path("_ZSt4moveIiEvv") == "std::move<...>");
  CHECK(mangled_path("_Z5plainPi") == "plain");
  for (const char* none : {"", "_Z", "_ZN", "_ZN1a", "_Z4tmplI", "_Z9short", "main", "_ZN1AC1Ev"}) {
    INFO(none);
    CHECK(!mangled_path(none));
  }
}
