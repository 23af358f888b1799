#pragma once

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/gpu/session.hpp>

/// All ranks of this test program. Every rank runs the same test cases in the same order. Before a collective call, use
/// CHECK and not REQUIRE: the other ranks would wait for a rank that has left the test case.
bankwise::cluster::Communicator& communicator();

/// The first OpenCL device, in the tests that need one.
bankwise::gpu::Session& opencl_device();
