#include <sys/stat.h>

#include <fstream>

#include "bankcheck/driver/source_finder.hpp"
#include "tests/catch_any.hpp"
#include "tests/scratch_directory.hpp"

using namespace bankwise::driver;

namespace fs = std::filesystem;

namespace {

const std::string kernel =
    "kernel void k(global int* out) {\n"
    "  local int tile[64];\n"
    "  int i = get_local_id(0);\n"
    "  tile[i] = i;\n"
    "  out[i] = tile[63 - i];\n"
    "}\n";

/// A directory of files, and a search in it.
class Folder {
 public:
  explicit Folder(std::initializer_list<std::pair<const char*, std::string>> files = {}) {
    for (const auto& [path, text] : files) put(path, text);
  }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((scratch_.path() / path).parent_path());
    std::ofstream(scratch_.path() / path, std::ios::binary) << text;
  }
  fs::path path() const { return scratch_.path(); }

  /// "file:line:column", or "none".
  std::string find(const std::string& source, const SourcePlace& place = {"input.cl", 4, 11},
                   const SearchLimits& limits = {}) const {
    SourceFinder finder(scratch_.path(), limits);
    return told(finder.find(SourceText(source), place).place);
  }
  std::string told(const std::optional<SourcePlace>& place) const {
    if (!place) return "none";
    const std::string folder = scratch_.path().string() + "/";
    const bool inside = place->file.starts_with(folder);
    return place->file.substr(inside ? folder.size() : 0) + ":" + std::to_string(place->line) + ":" +
           std::to_string(place->column);
  }

 private:
  ScratchDirectory scratch_;
};

/// Each line as a string literal, indented by two blanks.
std::string as_literals(const std::string& text) {
  std::string literals = "const char* source =\n";
  for (const std::string& line : lines_of(text)) {
    literals += "  \"";
    for (const char c : line) literals += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    literals += "\\n\"\n";
  }
  return literals + "  \"\";\n";
}

}  // namespace

TEST_CASE("driver/source_finder/own_file") {
  const Folder folder({{"kernels/k.cl", kernel}, {"other.cl", "kernel void other() {\n  int x = 0;\n  x++;\n}\n"}});
  CHECK(folder.find(kernel) == "kernels/k.cl:4:11");
  CHECK(folder.find(kernel, {"/tmp/input.cl", 5, 12}) == "kernels/k.cl:5:12");
  CHECK(folder.find(kernel, {"input.cl", 1, 1}) == "kernels/k.cl:1:1");
  // No line.
  CHECK(folder.find(kernel, {"input.cl", 0, 0}) == "none");
  CHECK(folder.find(kernel, {"?", 0, 0}) == "none");
  CHECK(folder.find(kernel, {"input.cl", 100, 1}) == "none");
  CHECK(folder.find("", {"input.cl", 1, 1}) == "none");
}

TEST_CASE("driver/source_finder/in_no_file") {
  const Folder folder;
  CHECK(folder.find(kernel) == "none");
  folder.put("k.cl", "kernel void k(global int* out) {\n  out[0] = 1;\n}\n");
  CHECK(folder.find(kernel) == "none");
  folder.put("notes.txt", kernel);  // not an extension of source files
  CHECK(folder.find(kernel) == "none");
  SourceFinder finder("/nowhere/at/all");
  CHECK_FALSE(finder.find(SourceText(kernel), {"input.cl", 4, 11}).place);
}

TEST_CASE("driver/source_finder/several_files") {
  const Folder folder({{"a/k.cl", kernel}, {"b/k.cl", kernel}});
  SourceFinder finder(folder.path());
  const auto places = finder.find(SourceText(kernel), {"input.cl", 4, 11});
  CHECK_FALSE(places.place);
  REQUIRE(places.files.size() == 2);
  CHECK(places.files[0].ends_with("a/k.cl"));
  CHECK(places.files[1].ends_with("b/k.cl"));
  // The controls: a file that contains less does not count, nor does a second copy in the same file.
  folder.put("b/k.cl", "// changed\n" + kernel.substr(kernel.find('\n')));
  CHECK(folder.find(kernel) == "a/k.cl:4:11");
  folder.put("a/k.cl", kernel + kernel);
  CHECK(folder.find(kernel) == "a/k.cl:4:11");
}

TEST_CASE("driver/source_finder/raw_string") {
  const Folder folder({{"main.cpp", "#include <x>\nconst char* source = R\"(" + kernel + ")\";\nint main() {}\n"}});
  CHECK(folder.find(kernel) == "main.cpp:5:11");
  std::string indented = "auto source = R\"CLC(\n";
  for (const std::string& line : lines_of(kernel)) indented += "      " + line + "\n";
  const Folder indenting({{"main.cc", indented + ")CLC\";\n"}});
  CHECK(indenting.find(kernel) == "main.cc:5:17");
}

TEST_CASE("driver/source_finder/string_literals") {
  const Folder folder({{"main.c", as_literals(kernel)}});
  //   "  tile[i] = i;\n"
  CHECK(folder.find(kernel) == "main.c:5:14");
  CHECK(folder.find(kernel, {"input.cl", 1, 1}) == "main.c:2:4");
  // Escapes.
  const std::string quoting =
      "kernel void k(global int* out) {\n"
      "  printf(\"a \\\\ b\");\n"
      "  out[0] = 1; // it's \"quoted\"\n"
      "}\n";
  const Folder quotes({{"main.c", as_literals(quoting)}});
  CHECK(quotes.find(quoting, {"input.cl", 2, 3}) == "main.c:3:6");
  CHECK(quotes.find(quoting, {"input.cl", 3, 3}) == "main.c:4:6");
  const std::string tabbed = "kernel void k() {\n\tlocal int x;\n\tx = 1;\n}\n";
  const Folder tabs(
      {{"main.c", "  \"kernel void k() {\\n\"\n  \"\\tlocal int x;\\n\"\n  \"\\tx = 1;\\n\"\n  \"}\\n\";\n"}});
  CHECK(tabs.find(tabbed, {"input.cl", 3, 2}) == "main.c:3:6");
  // The first one in the line of its variable.
  std::string beside = as_literals(kernel);
  beside = "int n;\nconst char* source = " + beside.substr(beside.find('"'));
  CHECK(Folder({{"main.c", beside}}).find(kernel) == "main.c:5:14");
  CHECK(Folder({{"main.c", beside}}).find(kernel, {"input.cl", 1, 1}) == "main.c:2:23");
  const std::string compares = "kernel void k(global char* out) {\n  int x;\n  x = out[0] == \"\"[0];\n  x += 1;\n}\n";
  CHECK(Folder({{"main.cl", compares}}).find(compares, {"input.cl", 3, 3}) == "main.cl:3:3");
}

TEST_CASE("driver/source_finder/blanks") {
  const Folder folder;
  std::string text;
  for (const std::string& line : lines_of(kernel)) text += line + " \r\n";
  folder.put("k.cl", text);
  CHECK(folder.find(kernel) == "k.cl:4:11");
  const Folder unix_folder({{"k.cl", kernel}});
  CHECK(unix_folder.find(text) == "k.cl:4:11");
  const Folder unfinished({{"k.cl", kernel.substr(0, kernel.size() - 1)}});
  CHECK(unfinished.find(kernel, {"input.cl", 6, 1}) == "k.cl:6:1");
}

TEST_CASE("driver/source_finder/surrounding_text") {
  const Folder folder({{"k.cl", "// SPDX-License-Identifier: MIT\n" + kernel + "// the end\n"}});
  const std::string text = "#define N 32\n#define TYPE int\n" + kernel + "kernel void generated() {}\n";
  CHECK(folder.find(text, {"input.cl", 6, 11}) == "k.cl:5:11");
  CHECK(folder.find(text, {"input.cl", 1, 1}) == "none");
}

TEST_CASE("driver/source_finder/few_equal_lines") {
  const Folder folder({{"k.cl", "x\n  tile[i] = i;\n  out[i] = tile[63 - i];\ny\n"}});
  CHECK(folder.find(kernel) == "none");
  folder.put("k.cl", "x\n  int i = get_local_id(0);\n  tile[i] = i;\n  out[i] = tile[63 - i];\ny\n");
  CHECK(folder.find(kernel) == "k.cl:3:11");
  const Folder short_folder({{"short.cl", "kernel void k() { local int x; x = 1; }\n"}});
  CHECK(short_folder.find("kernel void k() { local int x; x = 1; }", {"input.cl", 1, 33}) == "short.cl:1:33");
  // The longest match.
  const Folder two({{"b/k.cl", kernel}, {"a.cl", kernel.substr(0, kernel.size() - 2) + "// other end\n"}});
  CHECK(two.find(kernel) == "b/k.cl:4:11");
}

TEST_CASE("driver/source_finder/identical_lines") {
  const std::string twice = kernel + "kernel void second(global int* out) {\n" + kernel.substr(kernel.find('\n') + 1);
  const Folder folder({{"k.cl", "\n" + twice}});
  CHECK(folder.find(twice, {"input.cl", 4, 11}) == "k.cl:5:11");
  CHECK(folder.find(twice, {"input.cl", 10, 11}) == "k.cl:11:11");
}

TEST_CASE("driver/source_finder/skipped_directories") {
  const Folder folder({{".git/k.cl", kernel},
                       {"sub/.cache/deep/k.cl", kernel},
                       {"out/CMakeCache.txt", ""},
                       {"out/share/k.cl", kernel}});
  CHECK(folder.find(kernel) == "none");
  folder.put("zzz/k.cl", kernel);
  CHECK(folder.find(kernel) == "zzz/k.cl:4:11");
  // A directory that is named explicitly is searched in any case.
  SourceFinder finder(folder.path() / "out");
  CHECK(folder.told(finder.find(SourceText(kernel), {"input.cl", 4, 11}).place) == "out/share/k.cl:4:11");
}

TEST_CASE("driver/source_finder/skipped_files") {
  const Folder folder(
      {{"large.cl", kernel + std::string(5 << 20, ' ')}, {"bytes.c", std::string("\0\xFF\"\\\n\"\n\"\\", 8)}});
  fs::create_directory_symlink(folder.path(), folder.path() / "loop");
  fs::create_symlink("nowhere", folder.path() / "gone.cl");
  CHECK(folder.find(kernel) == "none");
  folder.put("z.cl", kernel);
  CHECK(folder.find(kernel) == "z.cl:4:11");
}

TEST_CASE("driver/source_finder/near_files_first") {
  const Folder folder;
  const SourcePlace place{"input.cl", 4, 11};
  folder.put("a/b/k.cl", kernel);
  folder.put("a/first.c", std::string(1000, ' '));
  const auto bytes = [&](std::uintmax_t limit) { return folder.find(kernel, place, {.bytes = limit}); };
  CHECK(bytes(kernel.size()) == "a/b/k.cl:4:11");
  CHECK(bytes(kernel.size() - 1) == "none");

  const Folder hosts({{"z.c", as_literals(kernel)}, {"a/first.c", std::string(1000, ' ')}});
  CHECK(hosts.find(kernel, place, {.bytes = 1000}) == "z.c:5:14");
  CHECK(hosts.find(kernel, place, {.entries = 0}) == "none");
  CHECK(hosts.find(kernel, place, {.entries = 3}) == "z.c:5:14");
}

TEST_CASE("driver/source_finder/line_directive") {
  const Folder folder({{"a/first.cl", kernel}, {"b/second.cl", "//\n" + kernel}});
  const std::string text = "#define N 1\n#line 1 \"second.cl\"\n" + kernel;
  CHECK(folder.find(text, {"second.cl", 4, 11}) == "b/second.cl:5:11");
  CHECK(folder.find("#line 1 \"third.cl\"\n" + kernel, {"third.cl", 4, 11}) == "none");
}

TEST_CASE("driver/source_finder/named_with_directory") {
  const Folder folder({{"include/a.h", "inline int f(local int* x) { return *x; }\n"}});
  const std::string text = "#include \"a.h\"\n" + kernel, header = (folder.path() / "include/a.h").string();
  CHECK(folder.find(text, {header, 1, 37}) == "include/a.h:1:37");
  CHECK(folder.find(text, {(folder.path() / "include/gone.h").string(), 1, 37}) == "none");
  const ScratchDirectory elsewhere;
  std::ofstream(elsewhere.path() / "a.h") << "x\n";
  CHECK(folder.find(text, {(elsewhere.path() / "a.h").string(), 1, 37}) == "none");
}

TEST_CASE("driver/source_finder/relative_directory") {
  const Folder folder({{"sub/k.cl", kernel}, {"sub/a.h", "int x;\n"}});
  const fs::path before = fs::current_path();
  const std::string here = (fs::canonical(folder.path()) / "sub/a.h").string();
  const std::string parent = "../" + folder.path().filename().string() + "/sub";
  fs::current_path(folder.path());
  std::vector<std::string> places;
  for (const char* root : {".", "sub", "sub/", "./sub", parent.c_str(), "sub/../sub"}) {
    for (const SourcePlace& place : {SourcePlace{"input.cl", 4, 11}, SourcePlace{here, 1, 1}}) {
      SourceFinder finder(root);
      places.push_back(folder.told(finder.find(SourceText(kernel), place).place));
    }
  }
  fs::current_path(before);
  REQUIRE(places.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) CHECK(places[i] == (i % 2 == 0 ? "sub/k.cl:4:11" : "sub/a.h:1:1"));
}

TEST_CASE("driver/source_finder/unknown_column") {
  std::string flat = "\n";
  for (const std::string& line : lines_of(kernel)) flat += std::string(trimmed(line)) + "\n";
  for (const std::string& text : {as_literals(kernel), "\n" + kernel, flat}) {
    INFO(text);
    CHECK(Folder({{"main.c", text}}).find(kernel, {"input.cl", 4, 0}) == "main.c:5:0");
  }
}

TEST_CASE("driver/source_finder/files_that_a_trace_names") {
  const Folder folder({{"in/k.cu", "one\n"}, {"in/id_rsa", "key\n"}, {"out.cu", "key\n"}, {"in/deep/k.cl", "two\n"}});
  const fs::path in = folder.path() / "in";
  fs::create_symlink(folder.path() / "out.cu", in / "link.cu");
  fs::create_symlink(in / "id_rsa", in / "key.cu");
  REQUIRE(mkfifo((in / "pipe.cu").c_str(), 0600) == 0);  // reading it would never end
  SourceFinder finder(in);
  for (const std::string& name : {std::string("k.cu"), (in / "k.cu").string(), std::string("deep/../k.cu")}) {
    CHECK(finder.text_at({name, 1, 0}) == "one");
  }
  CHECK(finder.text_at({"deep/k.cl", 1, 0}) == "two");
  for (const std::string name : {"id_rsa", "../out.cu", "link.cu", "key.cu", "pipe.cu", "deep", "/proc/self/environ"}) {
    INFO(name);
    CHECK(finder.text_at({name, 1, 0}).empty());
    CHECK(finder.lines_of_file(name, false).empty());
    CHECK(finder.path_of(name, false).empty());
    CHECK(finder.path_of((in / name).string(), true).empty());
  }
  SourceFinder of_own_run(in, {.elsewhere = true});
  CHECK(of_own_run.text_at({"../out.cu", 1, 0}) == "key");
  CHECK(of_own_run.text_at({"id_rsa", 1, 0}).empty());
}

// The lines of a source, and what directives say of them.

namespace {

/// "file:number text" of each line.
std::vector<std::string> told(std::string_view text) {
  const SourceText source(text);
  std::vector<std::string> lines;
  for (const auto& line : source.lines())
    lines.push_back(std::string(line.file) + ":" + std::to_string(line.number) + " " + std::string(line.text));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("driver/source_text/trimmed_and_path_suffix") {
  CHECK(trimmed("") == "");
  CHECK(trimmed(" \t\r") == "");
  CHECK(trimmed("\t a  b \r") == "a  b");
  CHECK(trimmed("a") == "a");
  CHECK(ends_with_path("input.cl", "input.cl"));
  CHECK(ends_with_path("/tmp/input.cl", "input.cl"));
  CHECK(ends_with_path("/a/b/c.cl", "b/c.cl"));
  CHECK_FALSE(ends_with_path("/tmp/my_input.cl", "input.cl"));
  CHECK_FALSE(ends_with_path("input.cl", "/tmp/input.cl"));
  CHECK_FALSE(ends_with_path("", "input.cl"));
}

TEST_CASE("driver/source_text/lines") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("a") == Lines{"a"});
  CHECK(lines_of("a\n") == Lines{"a"});
  CHECK(lines_of("a\nb") == Lines{"a", "b"});
  CHECK(lines_of("\n\na\n\n") == Lines{"", "", "a", ""});
  CHECK(lines_of("a\r\nb\r\n") == Lines{"a\r", "b\r"});
  CHECK(lines_of(std::string_view("a\0b\nc", 5)) == Lines{std::string("a\0b", 3), "c"});
  CHECK(told("").empty());
  CHECK(told("one\n\n three") == Lines{"input.cl:1 one", "input.cl:2 ", "input.cl:3  three"});
  CHECK(told("#define N 32\n#pragma unroll\n# if 5\nx") ==
        Lines{"input.cl:1 #define N 32", "input.cl:2 #pragma unroll", "input.cl:3 # if 5", "input.cl:4 x"});
}

TEST_CASE("driver/source_text/line_directive") {
  CHECK(told("a\n#line 10\nb\nc") == Lines{"input.cl:1 a", "input.cl:2 #line 10", "input.cl:10 b", "input.cl:11 c"});
  CHECK(told("#line 7 \"dir/k.cl\"\nb\n#line 3\nc") ==
        Lines{"input.cl:1 #line 7 \"dir/k.cl\"", "dir/k.cl:7 b", "dir/k.cl:8 #line 3", "dir/k.cl:3 c"});
  CHECK(told("  #  line\t9 \"a b.cl\" \r\nx")[1] == "a b.cl:9 x");
  // The directive may be followed by other text.
  CHECK(told("#line 2 \"a.cl\"\n#line 5 \"b.cl\"\nx") ==
        Lines{"input.cl:1 #line 2 \"a.cl\"", "a.cl:2 #line 5 \"b.cl\"", "b.cl:5 x"});
  // The preprocessor's own form.
  CHECK(told("# 12 \"x.h\"\nb")[1] == "x.h:12 b");
  CHECK(told("# 12 \"x.h\" 3 4\nb")[1] == "x.h:12 b");
  CHECK(told("# 1 \"<built-in>\"\n# 4 \"k.cl\" 2\nb")[2] == "k.cl:4 b");
  // Not a directive.
  for (const char* line :
       {"#line", "#line N", "#line \"x.cl\"", "# \"x.cl\"", "#line 99999999999", "line 5", "#", "5"}) {
    INFO(line);
    CHECK(told(std::string(line) + "\nb")[1] == "input.cl:2 b");
  }
  CHECK(told("#line 5 \"unclosed\nb")[1] == "input.cl:5 b");
}

TEST_CASE("driver/source_text/place") {
  const SourceText source("zero\n#line 1 \"dir/k.cl\"\none\r\ntwo\n#line 2 \"other.cl\"\nthree");
  REQUIRE(source.find("/tmp/input.cl", 1) != nullptr);
  CHECK(source.find("/tmp/input.cl", 1)->text == "zero");
  CHECK(source.find("dir/k.cl", 1)->text == "one\r");
  CHECK(source.find("/home/me/dir/k.cl", 2)->text == "two");
  CHECK(source.find("other.cl", 2)->text == "three");
  CHECK(source.find("k.cl", 1) == nullptr);  // another file
  CHECK(source.find("input.cl", 3) == nullptr);
  CHECK(source.find("input.cl", 0) == nullptr);
  CHECK(source.find("included.h", 1) == nullptr);
  CHECK(SourceText("").find("input.cl", 1) == nullptr);
  const SourceText twice("#line 1 \"a.cl\"\nfirst\n#line 1 \"a.cl\"\nsecond");
  CHECK(twice.find("a.cl", 1)->text == "first");
}
