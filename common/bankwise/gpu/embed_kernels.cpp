// The build runs this once per folder of kernels. It turns the .cl files into bytes in a C++ source, and generates the
// CUDA sources that compile the .cuh files.
//
//   bankwise_embed_kernels NAME PREFIX OUTPUT_DIRECTORY FORMS TOGETHER LIBRARY KERNEL...
//   bankwise_embed_kernels emulated NAME PREFIX OUTPUT_DIRECTORY TOGETHER WHY_NONE KERNEL...
//
// NAME      of the folder as the program shows it, and of the KernelSet: "reduction" gives reduction_kernels
// PREFIX    of the kernels' names: "reduce_" for reduce_naive in naive.cuh and naive.cl; may be empty
// FORMS     of the CUDA kernels: 0 none, 1 as they are, 2 with their sections repeated, too
// TOGETHER  1: all kernels of a form in one CUDA source   LIBRARY  1: the folder has a library.cu
// WHY_NONE  why no kernel is emulated; empty if there is an emulator
// KERNEL    paths of .cl and .cuh files
//
// Writes NAME_kernels.cpp; NAME_shapes.hpp, which declares the KernelSet and the emulator::NamedKernels, and has the
// block of each kernel, as its Contract states it; and for CUDA NAME_kernels.cu and NAME_kernels_repeated.cu if
// TOGETHER, else STEM.cu and STEM_repeated.cu for each .cuh. With `emulated`: list.cpp with the emulator::NamedKernels
// NAME_emulated, and NAME_kernels.cpp or a STEM.cpp for each .cuh. A file that would not change is not written. Errors:
// one sentence, exit 2.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <bankwise/gpu/kernel_remarks.hpp>

namespace {

namespace fs = std::filesystem;
using bankwise::gpu::Api;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && text_of(path) == text) return;  // what depends on it stays up to date
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) throw std::runtime_error("cannot write " + path.string());
}

/// A kernel in one language. Without a path: there is no such file.
struct File {
  fs::path path;
  std::string text;

  bool exists() const { return !path.empty(); }
  std::string include() const { return "#include \"" + fs::absolute(path).string() + "\"\n"; }
};

/// The files of one stem, and the kernels in them without their prefix.
struct Source {
  File cl, cuh;
  std::vector<std::string> kernels;
  std::optional<bankwise::gpu::GroupShape> block;

  const File& any() const { return cl.exists() ? cl : cuh; }
};

/// By stem.
std::map<std::string, Source> sources_of(std::span<char*> paths) {
  std::map<std::string, Source> sources;
  for (const fs::path path : paths) {
    const std::string stem = path.stem().string();
    Source& source = sources[stem];
    const bool first = !source.any().exists();
    File& file = path.extension() == ".cl" ? source.cl : source.cuh;
    file = {path, text_of(path)};
    const auto kernels = bankwise::gpu::kernel_stems(file.text, stem);
    std::optional<bankwise::gpu::GroupShape> block;
    try {
      block = bankwise::gpu::block_of_contract(file.text);
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error(path.filename().string() + ": " + error.what());
    }
    if (!first && kernels != source.kernels) throw std::runtime_error(stem + ".cl and .cuh have different kernels");
    if (!first && block != source.block) throw std::runtime_error(stem + ".cl and .cuh have different blocks");
    source.kernels = kernels;
    source.block = block;
  }
  return sources;
}

/// The kernel's text as a C array: string literals have a maximum length and need escapes.
std::string bytes_of(const std::string& text) {
  std::string bytes;
  for (const char c : text) bytes += std::to_string(int(c)) + ',';
  return bytes;
}

/// A part of a source for nvcc: kernels, and their addresses under names that plain C++ can use. The repeated form gets
/// another name, because both forms are linked into one program.
std::string cuda_source(const std::vector<std::string>& kernels, const std::string& text, const std::string& ending) {
  std::string before, addresses, after;
  for (const std::string& kernel : kernels) {
    const std::string name = kernel + ending;
    if (!ending.empty()) {
      before += "#define " + kernel + ' ' + name + '\n';
      after += "#undef " + kernel + '\n';
    }
    addresses += "extern const void* const bankwise_" + name + ";\nconst void* const bankwise_" + name +
                 " = reinterpret_cast<const void*>(&" + name + ");\n";
  }
  return before + text + '\n' + after + "extern \"C\" {\n" + addresses + "}\n";
}

std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) literal += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return literal + '"';
}

struct KernelFolder {
  std::string folder, prefix;
  fs::path output;
  bool together;
};

std::vector<std::string> names_of(const KernelFolder& job, const Source& source) {
  std::vector<std::string> names;
  for (const std::string& kernel : source.kernels) names.push_back(job.prefix + kernel);
  return names;
}

/// The CUDA sources by the name of their file. A repeated form without kernels is empty.
std::map<std::string, std::string> cuda_sources(const KernelFolder& job, const std::map<std::string, Source>& sources,
                                                bool repeats) {
  std::map<std::string, std::string> texts;
  for (const auto& [stem, source] : sources) {
    if (!source.cuh.exists()) continue;
    const std::string file = job.together ? job.folder + "_kernels" : stem;
    texts[file + ".cu"] += cuda_source(names_of(job, source), source.cuh.include(), "");
    if (!repeats) continue;
    std::string& repeated = texts[file + "_repeated.cu"];
    if (!bankwise::gpu::has_section(source.any().text)) continue;
    repeated += cuda_source(names_of(job, source),
                            "#line 1 \"" + fs::absolute(source.cuh.path).string() + "\"\n" +
                                bankwise::gpu::repeat_section(source.cuh.text, Api::cuda),
                            "_repeated");
  }
  return texts;
}

/// The endings of the CUDA forms of a file's kernels.
std::vector<std::string> endings_of(const Source& source, int forms) {
  if (!source.cuh.exists() || forms < 1) return {};
  if (forms < 2 || !bankwise::gpu::has_section(source.any().text)) return {""};
  return {"", "_repeated"};
}

/// `bytes` is the name of the array with the OpenCL source.
std::string image_of(const KernelFolder& job, const Source& source, const std::string& name, const std::string& bytes,
                     int forms) {
  const auto& [cl, cuh, kernels, block] = source;
  std::ostringstream image;
  image << "    {.name = \"" << name << '"';
  if (cl.exists()) {
    image << ", .opencl_file = \"" << job.folder << '/' << cl.path.filename().string() << "\", .opencl_source = {"
          << bytes << ", sizeof " << bytes << " - 1}";
  }
  for (const std::string& ending : endings_of(source, forms)) {
    image << ", .cuda" << ending << " = bankwise_" << name << ending;
  }
  image << ", .has_section = " << (bankwise::gpu::has_section(source.any().text) ? "true" : "false");
  if (!cl.exists() || !cuh.exists()) {
    image << ", .why_not_ported = " << quoted(bankwise::gpu::why_not_ported(source.any().text));
  }
  image << ", .cuda_capability = " << bankwise::gpu::needed_capability(cuh.text)
        << ", .opencl_capability = " << bankwise::gpu::needed_capability(cl.text) << "},\n";
  return image.str();
}

/// The KernelImage of each kernel, with what it refers to.
std::string images_of(const KernelFolder& job, const std::map<std::string, Source>& sources, int forms) {
  std::string declarations, images;
  for (const auto& [stem, source] : sources) {
    const std::string bytes = job.folder + '_' + stem + "_cl";
    if (source.cl.exists()) declarations += "const char " + bytes + "[] = {" + bytes_of(source.cl.text) + "0};\n";
    for (const std::string& name : names_of(job, source)) {
      for (const std::string& ending : endings_of(source, forms)) {
        declarations += "extern \"C\" const void* const bankwise_" + name + ending + ";\n";
      }
      images += image_of(job, source, name, bytes, forms);
    }
  }
  return declarations + "\nnamespace bankwise::gpu {\nnamespace {\nconst KernelImage images_of_" + job.folder +
         "[] = {\n" + images + "};\n}  // namespace\n";
}

/// The block of each kernel, for the plans that launch it, and the names of the sets of kernels.
std::string shapes_of(const KernelFolder& job, const std::map<std::string, Source>& sources) {
  std::string text =
      "// Generated by bankwise_embed_kernels from the kernels' contracts.\n#pragma once\n\n"
      "#include <bankwise/gpu/kernel_image.hpp>\n\n"
      "namespace bankwise::gpu {\nextern const struct KernelSet " +
      job.folder + "_kernels;\n}\nnamespace bankwise::emulator {\nextern const struct NamedKernels " + job.folder +
      "_emulated;\n}\nnamespace bankwise::" + job.folder + "::shapes {\n";
  for (const auto& [stem, source] : sources) {
    if (!source.block) continue;
    for (const std::string& kernel : source.kernels) {
      text += "inline constexpr gpu::GroupShape " + kernel + '{' + std::to_string(source.block->x) + ", " +
              std::to_string(source.block->y) + "};\n";
    }
  }
  return text + "}\n";
}

void embed(const KernelFolder& job, const std::map<std::string, Source>& sources, int forms, bool library) {
  const std::string set = job.folder + "_kernels", set_library = job.folder + "_library";
  write(job.output / (set + ".cpp"),
        "// Generated by bankwise_embed_kernels.\n#include <bankwise/gpu/kernel_image.hpp>\n\n" +
            images_of(job, sources, forms) + (library ? "extern const Library " + set_library + ";\n" : "") +
            "extern const KernelSet " + set + ";\nconst KernelSet " + set + "{images_of_" + job.folder + ", " +
            (library ? '&' + set_library : "nullptr") + "};\n}  // namespace bankwise::gpu\n");
  write(job.output / (job.folder + "_shapes.hpp"), shapes_of(job, sources));
  if (forms < 1) return;
  for (const auto& [name, text] : cuda_sources(job, sources, forms > 1)) write(job.output / name, text);
}

/// A C++ source that compiles kernels for the emulator, and defines them as the emulator::NamedKernel of their name.
std::string emulated_source(const KernelFolder& job, const std::string& includes, const std::string& definitions) {
  return "#include <bankwise/emulator/cuda.hpp>\n#include <bankwise/emulator/core/emulate.hpp>\n\n"
         "namespace bankwise::emulated_" +
         job.folder + " {\n" + includes + "}\n\nnamespace bankwise::emulator::list_of_" + job.folder + " {\n" +
         definitions + "}\n";
}

void emulate(const KernelFolder& job, const std::map<std::string, Source>& sources, const std::string& why_none) {
  std::map<std::string, std::pair<std::string, std::string>> parts;  // includes and definitions, by the file's name
  std::string declarations, list;
  for (const auto& [stem, source] : sources) {
    auto& [includes, definitions] = parts[(job.together ? job.folder + "_kernels" : stem) + ".cpp"];
    const std::string remark = bankwise::gpu::remark(source.cuh.text, "Not emulated: ");
    const std::string& why_not = remark.empty() ? why_none : remark;
    if (why_not.empty()) includes += source.cuh.include();
    for (const std::string& name : names_of(job, source)) {
      list += '&' + name + ", ";
      const std::string kernel = "const NamedKernel " + name;
      if (!why_not.empty()) {
        declarations += kernel + "{\"" + name + "\", nullptr, " + quoted(why_not) + "};\n";
        continue;
      }
      declarations += "extern " + kernel + ";\n";
      definitions += "extern constinit " + kernel + "{\"" + name + "\", run_by_list<&emulated_" + job.folder +
                     "::" + name + ">, \"\"};\n";
    }
  }
  for (const auto& [name, part] : parts) {
    if (why_none.empty()) write(job.output / name, emulated_source(job, part.first, part.second));
  }
  const std::string set = job.folder + "_emulated", scope = "list_of_" + job.folder;
  write(job.output / "list.cpp",
        "#include <bankwise/emulator/core/emulate.hpp>\n\nnamespace bankwise::emulator {\nnamespace " + scope + " {\n" +
            declarations + "constexpr const NamedKernel* kernels[]{" + list + "};\n}\nextern const NamedKernels " +
            set + ";\nconst NamedKernels " + set + '{' + scope + "::kernels};\n}  // namespace bankwise::emulator\n");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::span<char*> command_line(argv, std::size_t(argc));
  const bool emulated = argc > 1 && argv[1] == std::string("emulated");
  const std::span<char*> arguments = command_line.subspan(emulated ? 2 : 1);
  const std::size_t options = emulated ? 5 : 6;
  if (arguments.size() < options) throw std::runtime_error("usage: the first lines of embed_kernels.cpp");
  const auto sources = sources_of(arguments.subspan(options));
  fs::create_directories(arguments[2]);
  const auto is_set = [&](std::size_t i) { return arguments[i] == std::string("1"); };
  const KernelFolder job{arguments[0], arguments[1], arguments[2], is_set(emulated ? 3 : 4)};
  if (emulated) {
    emulate(job, sources, arguments[4]);
  } else {
    embed(job, sources, std::stoi(arguments[3]), is_set(5));
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "bankwise_embed_kernels: " << error.what() << '\n';
  return 2;
}
