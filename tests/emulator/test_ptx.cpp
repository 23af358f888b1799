// Each instruction of PTX that the emulator interprets, with operands and the result that the PTX ISA manual defines.
#include <bit>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "tests/catch_any.hpp"

#include <cuda_fp16.h>

#include <bankwise/emulator/cuda/ptx.hpp>
#include <bankwise/emulator/cuda/ptx/machine.hpp>
#include "tests/emulator/kernel_tests.hpp"
#include "tests/emulator/ptx_rows.hpp"

namespace {

using bankwise::emulate;
using namespace ptx_rows;

// --- the kernels ---

struct Statement {
  const char* text;
  unsigned count;
  Bits operands[5];
};

__global__ void run_scalars(const Statement* statements, unsigned count, Bits* results) {
  for (unsigned i = 0; i < count; ++i) {
    Bits operands[5];
    for (unsigned j = 0; j < 5; ++j) operands[j] = statements[i].operands[j];
    bankwise::emulator::device::interpret_ptx(statements[i].text, operands, statements[i].count, false);
    results[i] = operands[0];
  }
}

__global__ void run_on_memory(const Statement* statements, unsigned count, std::uint32_t* global, Bits* results,
                              std::uint32_t* after) {
  __shared__ alignas(16) std::uint32_t shared[8];
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned j = 0; j < 8; ++j) shared[j] = global[j] = words[j];
    Bits operands[4]{untouched, __cvta_generic_to_shared(shared), Bits(global), Bits(&shared[0])};
    bankwise::emulator::device::interpret_ptx(statements[i].text, operands, 4, false);
    results[i] = operands[0];
    for (unsigned j = 0; j < 8; ++j) after[8 * i + j] = shared[j];
  }
}

__global__ void run_warps(const Statement* statements, unsigned count, Bits* results) {
  __shared__ alignas(16) unsigned short rows[32][8];
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned j = 0; j < 8; ++j) rows[threadIdx.x][j] = static_cast<unsigned short>(8 * threadIdx.x + j);
    __syncthreads();
    Bits operands[3]{untouched, threadIdx.x, __cvta_generic_to_shared(&rows[threadIdx.x][0])};
    bankwise::emulator::device::interpret_ptx(statements[i].text, operands, 3, false);
    results[32 * i + threadIdx.x] = operands[0];
    __syncthreads();
  }
}

__global__ void run_products(const char* text, const Bits* registers, unsigned count, Bits* results) {
  Bits operands[16];
  for (unsigned i = 0; i < count; ++i) operands[i] = registers[16 * threadIdx.x + i];
  bankwise::emulator::device::interpret_ptx(text, operands, count, false);
  for (unsigned i = 0; i < 4; ++i) results[4 * threadIdx.x + i] = operands[i];
}

__global__ void read_special(const Statement* statements, unsigned count, Bits* results) {
  for (unsigned i = 0; i < count; ++i) {
    Bits operands[1]{untouched};
    bankwise::emulator::device::interpret_ptx(statements[i].text, operands, 1, false);
    const bool chosen = threadIdx.x == 1 && threadIdx.y == 2 && threadIdx.z == 2;
    if (chosen && blockIdx.x == 2 && blockIdx.y == 1 && blockIdx.z == 3) results[i] = operands[0];
  }
}

constexpr Bits cut(Bits value, unsigned bits) { return bits == 64 ? value : value & ((Bits{1} << bits) - 1); }

/// "add.u32" of two numbers as a statement.
std::string statement_of(const Row& row) {
  if (row.text.find(';') != std::string::npos) return row.text;
  std::string text = row.text + " %0";
  for (std::size_t i = 1; i <= row.given.size(); ++i) text += ", %" + std::to_string(i);
  return text + ";";
}

/// The results of rows, as they are.
std::vector<Bits> results_of(const std::vector<Row>& rows) {
  static std::deque<std::string> texts;  // the emulator knows texts by their addresses
  std::vector<Statement> statements;
  for (const Row& row : rows) {
    Statement statement{texts.emplace_back(statement_of(row)).c_str(), unsigned(row.given.size() + 1), {untouched}};
    std::copy(row.given.begin(), row.given.end(), statement.operands + 1);
    statements.push_back(statement);
  }
  std::vector<Bits> results(rows.size());
  emulate(run_scalars, {.grid = 1, .block = 1}, statements.data(), unsigned(statements.size()), results.data());
  return results;
}

void check(const std::vector<Row>& rows) {
  const auto results = results_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].text << " of " << Catch::Detail::stringify(rows[i].given));
    CHECK(cut(results[i], rows[i].bits) == cut(rows[i].result, rows[i].bits));
  }
}

template <class Rows>
std::vector<Statement> statements_of(const Rows& rows) {
  std::vector<Statement> statements;
  for (const auto& row : rows) statements.push_back({row.text, 0, {}});
  return statements;
}

}  // namespace

TEST_CASE("emulator/ptx/scalars") { check(scalar_rows); }

TEST_CASE("emulator/ptx/comparisons") {
  // Whether it holds for less, equal, greater, and (floating-point numbers) unordered.
  const std::map<std::string, std::string> floats{{"eq", "0100"},  {"ne", "1010"},  {"lt", "1000"},  {"le", "1100"},
                                                  {"gt", "0010"},  {"ge", "0110"},  {"equ", "0101"}, {"neu", "1011"},
                                                  {"ltu", "1001"}, {"leu", "1101"}, {"gtu", "0011"}, {"geu", "0111"},
                                                  {"num", "1110"}, {"nan", "0001"}};
  const std::map<std::string, std::string> integers{{"eq", "010"}, {"ne", "101"}, {"lt", "100"},
                                                    {"le", "110"}, {"gt", "001"}, {"ge", "011"}};
  const std::map<std::string, std::string> unsigneds{{"lo", "100"}, {"ls", "110"}, {"hi", "001"}, {"hs", "011"}};
  const struct {
    const char* type;
    const std::map<std::string, std::string>& operators;
    std::vector<std::vector<Bits>> pairs;
  } types[]{
      {"f32", floats, {{F(-1), F(1)}, {F(0), F(-0.0f)}, {F(2), F(1)}, {nan32, F(1)}}},
      {"f64", floats, {{D(-1), D(1)}, {D(1), D(1)}, {D(2), D(1)}, {D(1), D(std::numeric_limits<double>::quiet_NaN())}}},
      {"f16", floats, {{0xBC00, 0x3C00}, {0x8000, 0}, {0x4000, 0x3C00}, {0x7E00, 0x7E00}}},
      {"bf16", floats, {{0xBF80, 0x3F80}, {0x8000, 0}, {0x4000, 0x3F80}, {0x3F80, 0x7FC0}}},
      {"s32", integers, {{I(-1), 1}, {7, 7}, {1, I(-1)}}},
      {"u32", integers, {{1, I(-1)}, {7, 7}, {I(-1), 1}}},
      {"u32", unsigneds, {{1, I(-1)}, {7, 7}, {I(-1), 1}}},
      {"s16", integers, {{0xFFFF, 1}, {7, 7}, {1, 0xFFFF}}},
      {"u64", integers, {{1, high64}, {high64, high64}, {high64, 1}}},
      {"s64", integers, {{high64, 1}, {high64, high64}, {1, high64}}},
  };
  std::vector<Row> rows;
  for (const auto& [type, operators, pairs] : types) {
    for (const auto& [name, holds] : operators) {
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        const bool yes = holds[i] == '1';
        rows.push_back({"set." + name + ".u32." + type, pairs[i], yes ? ones : 0});
        rows.push_back({"{ .reg .pred p, q; setp." + name + "." + type +
                            " p|q, %1, %2; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }",
                        pairs[i], Bits(yes ? 1 : 2)});
      }
    }
  }
  check(rows);
}

TEST_CASE("emulator/ptx/memory") {
  const auto statements = statements_of(memory_rows);
  std::vector<Bits> results(memory_rows.size());
  std::vector<std::uint32_t> global(8), after(8 * memory_rows.size());
  const auto trace = emulate(run_on_memory, {.grid = 1, .block = 1}, statements.data(), unsigned(statements.size()),
                             global.data(), results.data(), after.data());
  for (std::size_t i = 0; i < memory_rows.size(); ++i) {
    const MemoryRow& row = memory_rows[i];
    INFO(row.text);
    CHECK(cut(results[i], row.bits) == row.result);
    CHECK(after[8 * i + row.at] == row.after);
  }
  std::uint64_t loops = 0;  // the additions of floating-point numbers and of 64 bits
  for (const auto& pattern : trace.patterns) loops += pattern.is_loop ? pattern.count : 0;
  CHECK(loops == 4);
}

TEST_CASE("emulator/ptx/warps") {
  const auto statements = statements_of(warp_rows);
  std::vector<Bits> results(32 * warp_rows.size());
  emulate(run_warps, {.grid = 1, .block = 32}, statements.data(), unsigned(statements.size()), results.data());
  for (std::size_t i = 0; i < warp_rows.size(); ++i) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      INFO(warp_rows[i].text << " in lane " << lane);
      CHECK(cut(results[32 * i + lane], 32) == warp_rows[i].result(lane));
    }
  }
}

TEST_CASE("emulator/ptx/special_registers") {
  // Thread (1, 2, 2) of a block of 4 × 3 × 3 is lane 1 of warp 1; block (2, 1, 3) of a grid of 3 × 2 × 4.
  const std::vector<std::pair<std::string, Bits>> registers{
      {"laneid", 1},      {"warpid", 1},      {"nwarpid", 2},     {"tid.x", 1},         {"tid.y", 2},
      {"tid.z", 2},       {"ntid.x", 4},      {"ntid.y", 3},      {"ntid.z", 3},        {"ctaid.x", 2},
      {"ctaid.y", 1},     {"ctaid.z", 3},     {"nctaid.x", 3},    {"nctaid.y", 2},      {"nctaid.z", 4},
      {"lanemask_eq", 2}, {"lanemask_lt", 1}, {"lanemask_le", 3}, {"lanemask_gt", ~3u}, {"lanemask_ge", ~1u},
      {"WARP_SZ", 32},    {"gridid", 0},      {"clock_hi", 0}};
  std::deque<std::string> texts;
  std::vector<Statement> statements;
  for (const auto& [name, value] : registers) {
    statements.push_back(
        {texts.emplace_back("mov.u32 %0, " + (name == "WARP_SZ" ? name : "%%" + name) + ";").c_str(), 0, {}});
  }
  std::vector<Bits> results(registers.size());
  emulate(read_special, {.grid = {3, 2, 4}, .block = {4, 3, 3}}, statements.data(), unsigned(statements.size()),
          results.data());
  for (std::size_t i = 0; i < registers.size(); ++i) {
    CAPTURE(registers[i].first);
    CHECK(results[i] == registers[i].second);
  }
}

namespace {

/// A type of mma's elements: numbers as the manual encodes them.
struct Type {
  unsigned bits;
  Bits (*encode)(double);
};
const std::map<std::string, Type> types{{"f16", {16, [](double x) -> Bits { return __half_as_ushort(__half(x)); }}},
                                        {"bf16", {16, [](double x) -> Bits { return F(float(x)) >> 16; }}},
                                        {"tf32", {32, [](double x) { return F(float(x)); }}},
                                        {"f32", {32, [](double x) { return F(float(x)); }}},
                                        {"f64", {64, [](double x) { return D(x); }}},
                                        {"s8", {8, [](double x) -> Bits { return std::uint8_t(int(x)); }}},
                                        {"u8", {8, [](double x) -> Bits { return std::uint8_t(int(x)); }}},
                                        {"s32", {32, [](double x) { return I(int(x)); }}}};

/// Where element i of a register of lane `lane` lies, in rows and columns: the figures of the manual.
struct Place {
  unsigned row, column;
};
Place place_of(char matrix, unsigned lane, unsigned reg, unsigned i, unsigned each) {
  const unsigned group = lane / 4, in_group = lane % 4;
  if (matrix == 'a') return {group + reg % 2 * 8, in_group * each + i + reg / 2 * 4 * each};
  if (matrix == 'b') return {in_group * each + i + reg * 4 * each, group};
  return {group + (reg * each + i) / 2 * 8, in_group * 2 + (reg * each + i) % 2};
}

}  // namespace

TEST_CASE("emulator/ptx/matrices") {
  const struct {
    const char *shape, *d, *a, *b;
    unsigned depth;
  } products[]{{"m16n8k16", "f32", "f16", "f16", 16}, {"m16n8k8", "f32", "f16", "f16", 8},
               {"m16n8k16", "f16", "f16", "f16", 16}, {"m16n8k16", "f32", "bf16", "bf16", 16},
               {"m16n8k8", "f32", "bf16", "bf16", 8}, {"m16n8k8", "f32", "tf32", "tf32", 8},
               {"m16n8k4", "f32", "tf32", "tf32", 4}, {"m8n8k4", "f64", "f64", "f64", 4},
               {"m16n8k32", "s32", "s8", "s8", 32},   {"m16n8k32", "s32", "u8", "u8", 32},
               {"m16n8k32", "s32", "u8", "s8", 32},   {"m16n8k16", "s32", "s8", "u8", 16}};
  static std::deque<std::string> texts;
  for (const auto& product : products) {
    const bool wide = product.d == std::string("f64");
    const Type a = types.at(product.a), b = types.at(product.b), d = types.at(product.d);
    const unsigned each = wide ? 1 : 32 / a.bits, each_d = wide ? 1 : 32 / d.bits;
    const unsigned counts[]{wide ? 2 : 4 / each_d, product.depth / (4 * each) * (wide ? 1 : 2),
                            product.depth / (4 * each)};
    const auto number = [&](const char* type, unsigned i) {
      return type[0] == 'u' ? double(i % 7 * 40) : double(int(i % 7) - 3);
    };
    const auto in_a = [&](Place at) { return number(product.a, 5 * at.row + 3 * at.column); };
    const auto in_b = [&](Place at) { return number(product.b, at.row + 2 * at.column + 1); };
    const auto in_c = [](Place at) { return double(at.row * 8 + at.column); };
    // The statement has the registers of D, A, B, C.
    std::string text = std::string("mma.sync.aligned.") + product.shape + ".row.col." + product.d + "." + product.a +
                       "." + product.b + "." + product.d + " ";
    unsigned operand = 0;
    for (const unsigned count : {counts[0], counts[1], counts[2], counts[0]}) {
      text += operand == 0 ? "{" : ", {";
      for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + std::to_string(operand++);
      text += "}";
    }
    std::vector<Bits> registers(16 * 32), results(4 * 32);
    const auto fill = [&](char matrix, unsigned first, unsigned count, const Type& type, unsigned per, auto value) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < count * per; ++i) {
          const Place at = place_of(matrix, lane, i / per, i % per, per);
          registers[16 * lane + first + i / per] |= type.encode(value(at)) << i % per * type.bits;
        }
      }
    };
    fill('a', counts[0], counts[1], a, each, in_a);
    fill('b', counts[0] + counts[1], counts[2], b, each, in_b);
    fill('c', counts[0] + counts[1] + counts[2], counts[0], d, each_d, in_c);
    emulate(run_products, {.grid = 1, .block = 32}, texts.emplace_back(text + ";").c_str(), registers.data(), operand,
            results.data());
    INFO(text);
    unsigned wrong = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < counts[0] * each_d; ++i) {
        const Place at = place_of('c', lane, i / each_d, i % each_d, each_d);
        double sum = in_c(at);
        for (unsigned k = 0; k < product.depth; ++k) sum += in_a({at.row, k}) * in_b({k, at.column});
        const Bits result = cut(results[4 * lane + i / each_d] >> i % each_d * d.bits, d.bits);
        wrong += result != cut(d.encode(sum), d.bits);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("emulator/ptx/stopped") {
  for (const auto& [text, why] : stopped_texts) {
    CAPTURE(text);
    const Statement statement{text, 4, {}};
    Bits result = 0;
    const auto diagnosis =
        diagnosis_of([&] { emulate(run_scalars, {.grid = 1, .block = 1}, &statement, 1u, &result); });
    REQUIRE(diagnosis);
    CHECK_THAT(diagnosis->what(), has(why));
  }
}

TEST_CASE("emulator/ptx/every_instruction") {
  using bankwise::emulator::ptx::parse;
  std::set<std::string> tested{"mma", "exit", "trap"}, known;
  const auto add = [&](const std::string& text) {
    for (const auto& instruction : parse(text).instructions) tested.insert(instruction.name);
  };
  for (const Row& row : scalar_rows) add(statement_of(row));
  for (const MemoryRow& row : memory_rows) add(row.text);
  for (const WarpRow& row : warp_rows) add(row.text);
  for (const char* const name : bankwise::emulator::device::ptx_names) known.insert(name);
  CHECK(tested == known);
}
