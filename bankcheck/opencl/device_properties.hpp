// What the simulated OpenCL device says about itself, where that differs from Oclgrind's answers or can be overridden.
// bankcheck passes the values to its OpenCL driver in support::OpenclRequest::device.
#pragma once

#include <cstdint>
#include <string_view>

namespace bankwise::opencl {

struct DeviceProperty {
  std::string_view key;    ///< its name in --device-info
  std::uint32_t query;     ///< the cl_device_info; for preferred-multiple the cl_kernel_work_group_info
  unsigned bytes;          ///< size of the answer; 0: a text
  std::string_view value;  ///< by default; empty: Oclgrind's answer
};

/// A small GPU. Libraries start a number of work-groups for each compute unit, so a large one takes long to simulate.
/// Name and vendor stay Oclgrind's: for GPUs that they know, libraries rely on more than OpenCL promises.
inline constexpr DeviceProperty device_properties[]{
    {"name", 0x102b, 0, ""},
    {"vendor", 0x102c, 0, ""},
    {"vendor-id", 0x1001, 4, ""},
    {"version", 0x102f, 0, ""},
    {"driver-version", 0x102d, 0, ""},
    {"extensions", 0x1030, 0, ""},
    {"compute-units", 0x1002, 4, "16"},
    {"clock-mhz", 0x100c, 4, "1000"},
    {"group-size", 0x1004, sizeof(std::size_t), ""},
    {"cache-type", 0x101c, 4, "2"},  // CL_READ_WRITE_CACHE
    {"cache-line", 0x101d, 4, "128"},
    {"cache-bytes", 0x101e, 8, "1048576"},
    {"preferred-multiple", 0x11b3, sizeof(std::size_t), "32"},
};

/// Null for an unknown key.
constexpr const DeviceProperty* property_of(std::string_view key) {
  for (const DeviceProperty& property : device_properties) {
    if (property.key == key) return &property;
  }
  return nullptr;
}

}  // namespace bankwise::opencl
