#include "bankcheck/cuda/cubin/cubin.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace bankwise::cuda {
namespace {

// How instructions that can access shared memory are encoded. NVIDIA does not document this: the table was found by
// changing each bit of instructions that nvcc 13.0 made for each architecture, and reading what nvdisasm 13.5 says.

/// A value of a field that nvdisasm cannot name, or that no compiler was seen to write.
constexpr std::string_view none = "?";

/// A field of the instruction's bits, and what each of its values, from `first` on, adds to the opcode. Values without
/// a word are unknown. Bits without a field are not looked at.
struct Field {
  unsigned bit, width;
  std::span<const std::string_view> words;
  unsigned first = 0;
};

/// An operation of architectures `first_sm` to `last_sm`, its low 12 bits, and its fields in the order of the opcode.
struct OpcodePattern {
  std::string_view name;
  unsigned first_sm, last_sm;
  std::span<const std::uint16_t> codes;
  std::span<const Field> fields;
};

using Words = std::string_view;
// Compute capabilities that begin and end an encoding.
constexpr unsigned first = 75, ampere = 80, ada = 89, hopper = 90, blackwell = 100, last = 121;

// Sizes.
constexpr Words sizes[]{".U8", ".S8", ".U16", ".S16", "", ".64", ".128"};
constexpr Words sizes_u[]{".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".U.128"};
constexpr Words copied[]{"", ".64", ".128"};
constexpr Words integers[]{"", ".S32", ".64"};
constexpr Words integers_twice[]{"", ".S32", ".64", none, "", ".S32", ".64"};  // the highest bit means nothing
constexpr Words integers_128[]{"", ".S32", ".64", none, ".128"};
constexpr Words numbers[]{"", ".S32", ".64", ".F32.FTZ.RN", ".F16x2.RN", ".S64", ".F64.RN"};
constexpr Words numbers_128[]{"", ".S32", ".64", ".S64", ".128"};
constexpr Words floats[]{".F16x2.RN", ".F16x4.RN", ".F16x8.RN", ".BF16x2.RN",  ".BF16x4.RN",    ".BF16x8.RN",
                         none,        none,        none,        ".F32.FTZ.RN", ".F32x2.FTZ.RN", ".F32x4.FTZ.RN",
                         ".F32.RN",   ".F32x2.RN", ".F32x4.RN", ".F64.RN"};

// Operations of atomics.
constexpr Words atomics[]{".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR", ".EXCH"};
constexpr Words float_atomics[]{".ADD", ".MIN", ".MAX"};
constexpr Words reductions[]{".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR"};
constexpr Words swaps[]{".CAS", ".CAST", ".CAS", ".CAST.SPIN"};
constexpr Words casts[]{none, ".CAST", none, ".CAST.SPIN"};

// Orders and scopes, caches, and bits that have to be 0 or 1.
constexpr Words load_scopes_turing[]{".CONSTANT.CTA", ".CONSTANT.SM", ".CONSTANT.GPU", ".CONSTANT.SYS",
                                     ".CTA",          ".SM",          ".GPU",          ".SYS",
                                     ".STRONG.CTA",   ".STRONG.SM",   ".STRONG.GPU",   ".STRONG.SYS",
                                     ".MMIO.CTA",     ".MMIO.SM",     ".MMIO.GPU",     ".MMIO.SYS"};
constexpr std::span store_scopes_turing = std::span(load_scopes_turing).subspan(4);
constexpr std::span scopes_turing = std::span(load_scopes_turing).subspan(4, 8);
constexpr Words load_scopes[]{"",          ".CONSTANT.PRIVATE", ".CONSTANT.CTA",        ".CONSTANT.CTA.PRIVATE",
                              ".CONSTANT", ".STRONG.SM",        ".STRONG.GPU.PRIVATE",  ".STRONG.GPU",
                              ".MMIO.GPU", ".CONSTANT.SM",      ".STRONG.SYS",          ".CONSTANT.SM.PRIVATE",
                              ".MMIO.SYS", ".CONSTANT.VC",      ".CONSTANT.VC.PRIVATE", ".CONSTANT.GPU"};
constexpr auto scopes = [] {
  auto words = std::to_array(load_scopes);
  words[4] = ".STRONG.SM.PRIVATE";
  return words;
}();
constexpr Words caches[]{".EF", "", ".EL", ".LU", ".EU", ".NA"};
constexpr Words prefetches[]{"", ".LTC64B", ".LTC128B", ".LTC256B"};
constexpr Words prefetches_turing[]{"", ".LTC64B", ".LTC128B"};
constexpr Words extended[]{"", ".E"};
constexpr Words is_extended[]{".E"};
constexpr Words bypasses[]{".BYPASS", ""};
constexpr Words fills[]{"", ".ZFILL"};
constexpr Words is_unsigned[]{"", ".U"};
constexpr Words discards[]{"", ".ZD"};
constexpr Words privates[]{"", ".PRIVATE"};
constexpr Words no_word[]{""};  // the value has to be the field's first

// Matrices.
constexpr Words counts[]{"", ".2", ".4"};
constexpr Words elements[]{".16"};
constexpr Words load_elements[]{".16", none, none, none, none, ".U4x16P64TO8", ".U6x16P32TO8", ".8"};
constexpr Words store_elements[]{".16", ".8"};
constexpr Words shapes[]{".M88", ".MT88", ".M816", ".M832"};
constexpr Words load_shapes[]{".M88", ".MT88", ".M816", ".M832", ".MT1616"};
constexpr Words store_shapes_hopper[]{".M88", ".MT88"};
constexpr Words store_shapes[]{".M88", ".MT88", ".MT168"};

constexpr Field lds_turing[]{{76, 1, is_unsigned}, {73, 3, sizes}, {87, 1, discards}};
constexpr Field with_size[]{{73, 3, sizes}};
constexpr Field atoms[]{{87, 4, atomics}, {73, 3, integers_twice}};
constexpr Field atoms_128[]{{87, 4, atomics}, {73, 3, integers_128}};
constexpr Field atoms_swap[]{{87, 2, swaps}, {73, 3, integers_twice}};
constexpr Field atoms_swap_128[]{{87, 2, swaps}, {73, 3, integers_128}};
constexpr Field atoms_cast[]{{87, 2, casts}, {73, 3, integers_128}};
constexpr Field count_ampere[]{{87, 4, no_word, 10}, {73, 3, no_word}};
constexpr Field count[]{{87, 4, no_word, 11}, {73, 3, no_word}};
constexpr Field arrive_ampere[]{{87, 4, no_word, 9}, {73, 3, no_word, 2}};
constexpr Field arrive[]{{87, 4, no_word, 10}, {73, 3, no_word, 2}};
constexpr Field ldsm[]{{75, 3, elements}, {78, 2, shapes}, {72, 2, counts}};
constexpr Field ldsm_blackwell[]{{75, 3, load_elements}, {78, 3, load_shapes}, {72, 2, counts}};
constexpr Field stsm_hopper[]{{75, 1, elements}, {78, 1, store_shapes_hopper}, {72, 2, counts}};
constexpr Field stsm[]{{75, 1, store_elements}, {78, 2, store_shapes}, {72, 2, counts}};
constexpr Field ldgsts[]{{81, 1, bypasses},  {84, 3, caches}, {71, 2, prefetches},
                         {73, 3, copied, 4}, {82, 1, fills},  {77, 4, no_word}};
constexpr Field ldgsts_blackwell[]{{81, 1, bypasses}, {84, 3, caches},  {72, 2, prefetches}, {74, 2, copied},
                                   {82, 1, fills},    {77, 4, no_word}, {83, 1, no_word, 1}};
constexpr Field stas[]{{73, 3, copied, 4}, {77, 4, no_word}};
constexpr Field redas[]{{87, 4, reductions}, {73, 3, integers}, {77, 4, no_word}};

constexpr Field ld_turing[]{
    {72, 1, extended}, {84, 3, caches}, {68, 2, prefetches_turing}, {73, 3, sizes_u}, {77, 4, load_scopes_turing},
    {76, 1, privates}, {87, 1, no_word}};
constexpr Field ld[]{
    {72, 1, is_extended, 1}, {84, 3, caches}, {68, 2, prefetches}, {73, 3, sizes}, {77, 4, load_scopes}};
constexpr Field st_turing[]{
    {72, 1, extended}, {84, 3, caches}, {73, 3, sizes_u}, {77, 4, store_scopes_turing, 4}, {76, 1, privates}};
constexpr Field st[]{{72, 1, is_extended, 1}, {84, 3, caches}, {73, 3, sizes}, {77, 4, scopes}};
constexpr Field atom_turing[]{{72, 1, extended}, {87, 4, atomics},          {84, 3, caches},
                              {73, 3, numbers},  {77, 4, scopes_turing, 4}, {76, 1, privates}};
constexpr Field atom[]{{72, 1, is_extended, 1}, {87, 4, atomics}, {84, 3, caches}, {73, 4, numbers}, {77, 4, scopes}};
constexpr Field atom_128[]{
    {72, 1, is_extended, 1}, {87, 4, atomics}, {84, 3, caches}, {73, 3, numbers_128}, {77, 4, scopes}};
constexpr Field atom_float[]{{72, 1, is_extended, 1}, {88, 2, float_atomics}, {84, 3, caches},
                             {73, 4, floats},         {87, 1, no_word},       {77, 4, scopes}};
constexpr Field atom_swap_turing[]{{72, 1, extended},         {87, 2, swaps},   {84, 3, caches}, {73, 3, integers},
                                   {77, 4, scopes_turing, 4}, {76, 1, privates}};
constexpr Field atom_swap[]{
    {72, 1, is_extended, 1}, {87, 2, swaps}, {84, 3, caches}, {73, 4, integers}, {77, 4, scopes}};
constexpr Field atom_swap_128[]{
    {72, 1, is_extended, 1}, {87, 2, swaps}, {84, 3, caches}, {73, 3, integers_128}, {77, 4, scopes}};

// Two codes differ in whether the address has a part in a uniform register.
constexpr std::uint16_t lds_codes[]{0x984}, sts_codes[]{0x388, 0x988}, atoms_codes[]{0x38C, 0x98C};
constexpr std::uint16_t atoms_swap_codes[]{0x38D}, atoms_cast_codes[]{0x58D}, atoms_count_codes[]{0xF8C};
constexpr std::uint16_t ldsm_codes[]{0x83B}, stsm_codes[]{0x844}, ldgsts_codes[]{0xFAE, 0xDAE};
constexpr std::uint16_t stas_codes[]{0xDBD}, redas_codes[]{0xDBE}, ld_codes[]{0x980}, st_codes[]{0x385, 0x985};
constexpr std::uint16_t utmaldg_codes[]{0x3B4, 0x5B4}, utmastg_codes[]{0x3B5}, utmaredg_codes[]{0x3B6};
constexpr std::uint16_t atom_codes[]{0x38A, 0x98A}, atom_float_codes[]{0x3A2, 0x9A2}, atom_swap_codes[]{0x38B};

constexpr OpcodePattern patterns[]{
    {"LDS", first, first, lds_codes, lds_turing},
    {"LDS", ampere, last, lds_codes, with_size},
    {"STS", first, last, sts_codes, with_size},
    {"ATOMS", first, ada, atoms_codes, atoms},
    {"ATOMS", hopper, last, atoms_codes, atoms_128},
    {"ATOMS", first, ada, atoms_swap_codes, atoms_swap},
    {"ATOMS", hopper, last, atoms_swap_codes, atoms_swap_128},
    {"ATOMS", blackwell, last, atoms_cast_codes, atoms_cast},
    {"ATOMS.POPC.INC.32", ampere, ada, atoms_count_codes, count_ampere},
    {"ATOMS.POPC.INC.32", hopper, last, atoms_count_codes, count},
    {"ATOMS.ARRIVE.64", ampere, ada, atoms_count_codes, arrive_ampere},
    {"ATOMS.ARRIVE.64", hopper, last, atoms_count_codes, arrive},
    {"LDSM", first, hopper, ldsm_codes, ldsm},
    {"LDSM", blackwell, last, ldsm_codes, ldsm_blackwell},
    {"STSM", hopper, hopper, stsm_codes, stsm_hopper},
    {"STSM", blackwell, last, stsm_codes, stsm},
    {"LDGSTS.E", ampere, hopper, ldgsts_codes, ldgsts},
    {"LDGSTS.E", blackwell, last, ldgsts_codes, ldgsts_blackwell},
    {"STAS", hopper, last, stas_codes, stas},
    {"REDAS", hopper, last, redas_codes, redas},
    {"UTMALDG", hopper, last, utmaldg_codes, {}},
    {"UTMASTG", hopper, last, utmastg_codes, {}},
    {"UTMAREDG", hopper, last, utmaredg_codes, {}},
    // generic accesses, which reach shared memory if their address says so
    {"LD", first, first, ld_codes, ld_turing},
    {"LD", ampere, last, ld_codes, ld},
    {"ST", first, first, st_codes, st_turing},
    {"ST", ampere, last, st_codes, st},
    {"ATOM", first, first, atom_codes, atom_turing},
    {"ATOM", ampere, ada, atom_codes, atom},
    {"ATOM", hopper, last, atom_codes, atom_128},
    {"ATOM", first, first, atom_swap_codes, atom_swap_turing},
    {"ATOM", ampere, ada, atom_swap_codes, atom_swap},
    {"ATOM", hopper, last, atom_swap_codes, atom_swap_128},
    {"ATOM", hopper, last, atom_float_codes, atom_float},
};

/// `width` bits from `bit` on, which are all in one half.
std::uint64_t field_of(InstructionBits bits, unsigned bit, unsigned width) {
  const std::uint64_t half = bit < 64 ? bits.low : bits.high;
  return half >> bit % 64 & ((std::uint64_t{1} << width) - 1);
}

bool matches(const OpcodePattern& pattern, unsigned sm, std::uint64_t code) {
  return pattern.first_sm <= sm && sm <= pattern.last_sm &&
         std::find(pattern.codes.begin(), pattern.codes.end(), code) != pattern.codes.end();
}

std::optional<std::string> text_of(const OpcodePattern& pattern, InstructionBits bits) {
  std::string text(pattern.name);
  for (const Field& field : pattern.fields) {
    const std::uint64_t number = field_of(bits, field.bit, field.width) - field.first;
    if (number >= field.words.size() || field.words[number] == none) return {};
    text += field.words[number];
  }
  return text;
}

}  // namespace

std::optional<std::string> shared_opcode(unsigned sm, InstructionBits bits) {
  const std::uint64_t code = field_of(bits, 0, 12);
  for (const OpcodePattern& pattern : patterns) {
    if (!matches(pattern, sm, code)) continue;
    if (auto text = text_of(pattern, bits)) return text;
  }
  return {};
}

// The fields were found in what ptxas 13.0 makes of all types of floating-point numbers, N from 8 to 256, A in
// registers and in shared memory, dense and sparse.
std::uint64_t wgmma_bytes(unsigned sm, InstructionBits bits) {
  constexpr std::uint64_t hgmma = 0x9F0, qgmma = 0x9F3, a_in_registers = 0x400;
  const std::uint64_t code = field_of(bits, 0, 12), kind = code & ~a_in_registers;
  if (sm != 90 || (kind != hgmma && kind != qgmma)) return 0;
  const std::uint64_t n = 8 * (field_of(bits, 53, 5) + 1), sparse = field_of(bits, 73, 1);
  constexpr std::uint64_t m = 64, row = 32;  // bytes of K; sparse: of what A keeps
  return (code == kind ? m * row : 0) + n * row * (sparse + 1);
}

}  // namespace bankwise::cuda
