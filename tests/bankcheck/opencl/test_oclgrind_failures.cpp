#include "bankcheck/opencl/recorder.hpp"

#include "tests/catch_any.hpp"

using bankwise::opencl::logged_fatal_error;
using bankwise::opencl::OclgrindMessages;

namespace {

const std::string origin = "OCLGRIND FATAL ERROR (/build/oclgrind/src/core/WorkItem.cpp:1681)\n";
const std::string reason = "Undefined external function: f\n";
const std::string creating = "When creating kernel 'k'\n";

/// Reads the text in pieces of `size` bytes.
OclgrindMessages messages_in(const std::string& text, std::size_t size) {
  OclgrindMessages messages;
  for (std::size_t at = 0; at < text.size(); at += size) messages.read(std::string_view(text).substr(at, size));
  return messages;
}

bool has_fatal_error(const std::string& text) { return messages_in(text, text.size()).fatal_error.has_value(); }

}  // namespace

TEST_CASE("opencl/oclgrind_messages/between_megabytes") {
  for (const std::size_t size : {1, 7, 4096}) {
    const std::size_t length = std::min<std::size_t>(size << 16, 2 << 20);
    const std::string lines(length / 16, '\n'), line(length, 'x');
    const auto messages = messages_in(lines + line + '\n' + origin + reason + creating + line + lines, size);
    CHECK(messages.fatal_error == "Undefined external function: f, when creating kernel 'k'");
    CHECK_FALSE(messages.failed_assertion);
    CHECK_FALSE(messages.lost_plugin);
  }
  CHECK(messages_in(origin + reason + "When initializing program scope global variables\n", 9).fatal_error ==
        "Undefined external function: f, when initializing program scope global variables");
  const auto two = messages_in(origin + "first\n" + creating + origin + "second\n" + creating, 5);
  CHECK(two.fatal_error == "first, when creating kernel 'k'");
}

TEST_CASE("opencl/oclgrind_messages/other_text") {
  REQUIRE(has_fatal_error(origin + reason + creating));
  for (const std::string& text :
       {origin + reason, origin + creating, reason + creating, "> " + origin + reason + creating,
        origin + reason + "> " + creating, "OCLGRIND FATAL ERROR\n" + reason + creating,
        "OCLGRIND FATAL ERROR (in WorkItem.cpp)\n" + reason + creating, origin + reason + "When in doubt\n"}) {
    INFO(text);
    CHECK_FALSE(has_fatal_error(text));
  }
}

TEST_CASE("opencl/oclgrind_messages/other_messages") {
  const std::string lost = "Loading Oclgrind plugin failed (dlopen): p.so: undefined symbol: f";
  const std::string assertion = "a: Queue.cpp:9: void oclgrind::Queue::f(): Assertion `x' failed.";
  const auto messages = messages_in("text\n" + lost + '\n' + assertion + '\n', 3);
  CHECK(messages.lost_plugin == lost);
  CHECK(messages.failed_assertion == assertion);
  const auto none = messages_in("> " + lost + '\n' + assertion + " Why?\n", 3);
  CHECK_FALSE(none.lost_plugin);
  CHECK_FALSE(none.failed_assertion);
}

TEST_CASE("opencl/oclgrind_messages/logged_error") {
  CHECK(logged_fatal_error(origin + reason + "\tKernel: k\n") == "Undefined external function: f");
  CHECK_FALSE(logged_fatal_error("Invalid write of size 4\n" + origin + reason));
  CHECK_FALSE(logged_fatal_error("OCLGRIND FATAL ERROR\n" + reason));
}
