#include <unistd.h>

#include <cstdlib>

#include <bankwise/support/progress.hpp>
#include "bankcheck/driver/child_process.hpp"
#include "bankcheck/driver/kernel_report.hpp"
#include "tests/catch_any.hpp"
#include "tests/scratch_directory.hpp"

using bankwise::driver::without_folders;

TEST_CASE("driver/build_options/kept") {
  CHECK(without_folders("") == "");
  CHECK(without_folders("-DPITCH=33") == "-DPITCH=33");
  CHECK(without_folders("  -DPITCH=33\t-cl-std=CL1.2  ") == "-DPITCH=33 -cl-std=CL1.2");
  for (const char* option :
       {"-D PITCH=33", "-D PITCH", "-U PITCH", "-DRATIO=1/2", "-DRATIO=1./2", "-DF(x)=x/2", "-DNAME=a/b", "-Werror",
        "-D", "-DTEXT=\"a b\"", "-DTEXT='a b'", R"(-DTEXT=\"a\ b\")", "-cl-fast-relaxed-math"}) {
    CHECK(without_folders(option) == option);
    CHECK(without_folders("-Ix " + std::string(option)) == option);
  }
  CHECK(without_folders("-DA \"-DB -DC") == "-DA \"-DB -DC");
  CHECK(without_folders("-DA \\") == "-DA \\");
}

TEST_CASE("driver/build_options/folders_left_out") {
  // clang-format off
  for (const char* option :
       {"-I /home/me/include", "-I/home/me/include", "-I kernels", "-Ikernels", "-I .", "-I \"/with a/blank\"",
        "-I'/with a/blank'", "-isystem /usr", "-iquote x", "-include /a/config.h", "-DROOT=/home/me",
        "-D ROOT=/home/me", "-DROOT=\"/home/me\"", R"(-DROOT=\"/home/me\")", "-DROOT=./data", "-DROOT=../data",
        "-DROOT=~/data", "-DROOT=/", "-DPATHS=a:/b", "-D \"ROOT=/with a/blank\"", "/home/me/x.cl", "-I"}) {
    // clang-format on
    INFO(option);
    CHECK(without_folders(option) == "");
    if (option != std::string("-I")) CHECK(without_folders("-DA " + std::string(option) + " -DB") == "-DA -DB");
  }
}

TEST_CASE("driver/progress_file/one_line") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "progress";
  const bankwise::driver::Progress file(path, "blocks");
  CHECK(file.text().empty());
  setenv("BANKWISE_PROGRESS", path.c_str(), 1);
  bankwise::support::RunProgress* const progress = bankwise::support::progress_of_environment();
  REQUIRE(progress != nullptr);
  bankwise::support::begin_launch(*progress, "scan<\x1b>", 7);
  progress->done = 3;
  CHECK(file.text() == "bankcheck: scan<?>, launch 1: 3 of 7 blocks");
  CHECK(file.text(11.6) == "bankcheck: scan<?>, launch 1: 3 of 7 blocks, 12 s left");
  progress->done = 7;
  CHECK(file.text().empty());
  bankwise::support::begin_launch(*progress, std::string(500, 'k'), 2);
  CHECK(file.text() == "bankcheck: " + std::string(103, 'k') + ", launch 2: 0 of 2 blocks");

  CHECK(bankwise::support::map_progress((scratch.path() / "none").c_str()) == nullptr);
  const int input = dup(STDIN_FILENO);  // without stdin the file gets its number
  close(STDIN_FILENO);
  CHECK(bankwise::support::map_progress(path.c_str()) != nullptr);
  if (input >= 0) dup2(input, STDIN_FILENO);
  close(input);
}
