# Homebrew formula, for Linux. To publish: fill in the digest of the release's source tarball, then put this file into the
# folder Formula of a repository OWNER/homebrew-bankwise; users type `brew install OWNER/bankwise/bankwise`.
class Bankwise < Formula
  desc "Shared-memory bank conflict checker for CUDA, HIP and OpenCL"
  homepage "https://github.com/OWNER/bankwise"
  url "https://github.com/OWNER/bankwise/releases/download/v1.0.0/bankwise-1.0.0-source.tar.gz"
  sha256 "DIGEST"
  license all_of: ["MIT", "MIT-0"]

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "boost"
  depends_on "capstone"
  depends_on "fmt"
  depends_on "gcc"
  depends_on :linux

  fails_with :clang

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-D", "BANKWISE_TESTS=OFF", "-D", "BANKWISE_CUDA=OFF",
           "-D", "BANKWISE_OPENCL=OFF", "-D", "BANKWISE_MPI=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match "passes 32", shell_output("#{bin}/bankcheck predict --index 32*tid")
  end
end
