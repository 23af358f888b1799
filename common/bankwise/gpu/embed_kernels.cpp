// SPDX-License-Identifier: MIT
//
// The build runs this once per folder of kernels. It turns the .cl files into bytes in a C++ source, and generates the
// CUDA sources that compile the .cuh files.
//
//   bankwise_embed_kernels NAME PREFIX OUTPUT_DIRECTORY FORMS TOGETHER LIBRARY KERNEL...
//
// NAME      of the folder as the program shows it, and of the KernelSet: "reduction" gives reduction_kernels
// PREFIX    of the kernels' names: "reduce_" for reduce_naive in naive.cuh and naive.cl; may be empty
// FORMS     of the CUDA kernels: 0 none, 1 as they are, 2 with their sections repeated, too
// TOGETHER  1: all kernels of a form in one CUDA source   LIBRARY  1: the folder has a library.cu
// KERNEL    paths of .cl and .cuh files
//
// Writes NAME_kernels.cpp; and for CUDA NAME_kernels.cu and NAME_kernels_repeated.cu if TOGETHER, else STEM.cu and
// STEM_repeated.cu for each .cuh. Errors: one sentence, exit 2.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include <bankwise/gpu/kernel_remarks.hpp>
#include <bankwise/gpu/repeat_section.hpp>

namespace {

namespace fs = std::filesystem;
using bankwise::gpu::Api;

struct Sources {
  fs::path cl, cuh;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) throw std::runtime_error("cannot write " + path.string());
}

/// The kernel's text as a C array: string literals have a maximum length and need escapes.
std::string bytes_of(const std::string& text) {
  std::string bytes;
  for (const char c : text) bytes += std::to_string(int(c)) + ',';
  return bytes;
}

/// A part of a source for nvcc: the kernel, and its address under a name that plain C++ can use. The repeated form gets
/// another name, because both forms are linked into one program.
std::string cuda_source(const std::string& kernel, const std::string& text, const std::string& name) {
  const bool renamed = kernel != name;
  return (renamed ? "#define " + kernel + " " + name + "\n" : "") + text + (renamed ? "\n#undef " + kernel : "") +
         "\nextern \"C\" {\nextern const void* const bankwise_" + name + ";\nconst void* const bankwise_" + name +
         " = reinterpret_cast<const void*>(&" + name + ");\n}\n";
}

/// 0 if the kernel needs none, or there is no such file.
unsigned capability_of(const fs::path& kernel) {
  return kernel.empty() ? 0 : bankwise::gpu::needed_capability(text_of(kernel));
}

std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) literal += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return literal + '"';
}

struct Job {
  std::string folder, prefix;
  fs::path output;
  int forms;
  bool together, library;
};

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a text in its order
void embed(const Job& job, const std::map<std::string, Sources>& kernels) {
  const auto& [folder, prefix, output, forms, together, library] = job;
  std::ostringstream declarations, images;
  std::map<std::string, std::string> cuda_sources;  // by the name of their file
  for (const auto& [stem, sources] : kernels) {
    const std::string name = prefix + stem;
    const std::string any = text_of(sources.cl.empty() ? sources.cuh : sources.cl);
    const bool section = bankwise::gpu::has_section(any);
    images << "    {.name = \"" << name << '"';
    if (!sources.cl.empty()) {
      declarations << "const char " << folder << '_' << stem << "_cl[] = {" << bytes_of(text_of(sources.cl)) << "0};\n";
      images << ", .opencl_file = \"" << folder << '/' << sources.cl.filename().string() << "\", .opencl_source = {"
             << folder << '_' << stem << "_cl, sizeof " << folder << '_' << stem << "_cl - 1}";
    }
    if (forms > 0 && !sources.cuh.empty()) {
      const std::string text = text_of(sources.cuh);
      const std::string path = '"' + fs::absolute(sources.cuh).string() + "\"\n";
      const std::string file = together ? folder + "_kernels" : stem;
      cuda_sources[file + ".cu"] += cuda_source(name, "#include " + path, name);
      declarations << "extern \"C\" const void* const bankwise_" << name << ";\n";
      images << ", .cuda = bankwise_" << name;
      if (forms > 1) {
        std::string& source = cuda_sources[file + "_repeated.cu"];  // empty if no kernel has a section
        if (section) {
          const std::string repeated = name + "_repeated";
          source += cuda_source(name, "#line 1 " + path + bankwise::gpu::repeat_section(text, Api::cuda), repeated);
          declarations << "extern \"C\" const void* const bankwise_" << repeated << ";\n";
          images << ", .cuda_repeated = bankwise_" << repeated;
        }
      }
    }
    images << ", .has_section = " << (section ? "true" : "false");
    if (sources.cl.empty() || sources.cuh.empty()) {
      images << ", .why_not_ported = " << quoted(bankwise::gpu::why_not_ported(any));
    }
    images << ", .cuda_capability = " << capability_of(sources.cuh)
           << ", .opencl_capability = " << capability_of(sources.cl) << "},\n";
  }
  std::ostringstream source;
  source << "// Generated by bankwise_embed_kernels.\n#include <bankwise/gpu/kernel_image.hpp>\n\n"
         << declarations.str() << "\nnamespace bankwise::gpu {\n";
  if (library) source << "extern const Library " << folder << "_library;\n";
  source << "namespace {\nconst KernelImage images_of_" << folder << "[] = {\n"
         << images.str() << "};\n}  // namespace\n"
         << "extern const KernelSet " << folder << "_kernels;\n"
         << "const KernelSet " << folder << "_kernels{images_of_" << folder << ", "
         << (library ? "&" + folder + "_library" : "nullptr") << "};\n}  // namespace bankwise::gpu\n";
  write(output / (folder + "_kernels.cpp"), source.str());
  for (const auto& [name, text] : cuda_sources) write(output / name, text);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 8) throw std::runtime_error("usage: NAME PREFIX OUTPUT_DIRECTORY FORMS TOGETHER LIBRARY KERNEL...");
  std::map<std::string, Sources> kernels;
  for (int i = 7; i < argc; ++i) {
    const fs::path path = argv[i];
    (path.extension() == ".cl" ? kernels[path.stem().string()].cl : kernels[path.stem().string()].cuh) = path;
  }
  fs::create_directories(argv[3]);
  const auto is_set = [&](int i) { return argv[i] == std::string("1"); };
  embed({argv[1], argv[2], argv[3], std::stoi(argv[4]), is_set(5), is_set(6)}, kernels);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "bankwise_embed_kernels: " << error.what() << '\n';
  return 2;
}
