#include <bankwise/banks/address_shape.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include <bankwise/banks/access.hpp>

namespace bankwise::banks {
namespace {

/// The active lanes of an access, in order.
struct ActiveLanes {
  std::int64_t width = 0, sector_bytes = 0;
  std::vector<std::int64_t> lanes, addresses;
  std::vector<std::int64_t> different;  ///< the different addresses, sorted

  std::size_t count() const { return lanes.size(); }
  std::int64_t span() const { return different.back() + width - different.front(); }
  /// Whether the address of each lane is what `address_of(lane)` adds to that of the first.
  template <class AddressOf>
  bool follow(AddressOf address_of) const {
    for (std::size_t i = 0; i < count(); ++i) {
      if (addresses[i] - addresses[0] != address_of(lanes[i]) - address_of(lanes[0])) return false;
    }
    return true;
  }
};

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(std::size_t(at), 1, ',');
  return digits;
}

std::string bytes_apart(std::int64_t bytes) { return grouped(std::abs(bytes)) + " bytes apart"; }

/// The text, and how many more sectors the lanes touch than if their lowest address were the beginning of a sector.
std::string with_misalignment(const ActiveLanes& access, std::string text) {
  const std::int64_t past = access.different.front() % access.sector_bytes;
  const auto sectors_at = [&](std::int64_t shift) {
    std::set<std::int64_t> sectors;
    for (const std::int64_t address : access.different) {
      const std::int64_t last = (address - shift + access.width - 1) / access.sector_bytes;
      for (auto sector = (address - shift) / access.sector_bytes; sector <= last; ++sector) sectors.insert(sector);
    }
    return std::int64_t(sectors.size());
  };
  const std::int64_t more = sectors_at(0) - sectors_at(past);
  if (more <= 0) return text;
  return text + ", misaligned by " + grouped(past) + (past == 1 ? " byte: " : " bytes: ") +
         (more == 1 ? "one sector" : grouped(more) + " sectors") + " more";
}

/// Lanes that are a constant number of bytes apart, not that of consecutive ones.
std::string stride(std::int64_t bytes, std::int64_t width) {
  constexpr std::int64_t row_of_a_matrix = 128;  // structures are usually smaller, rows of matrices larger
  const std::int64_t size = std::abs(bytes);
  const std::string order = bytes < 0 ? ", in reverse order" : "";
  if (size < width) return "overlapping lanes " + bytes_apart(bytes) + order;
  if (size >= row_of_a_matrix) return "lanes " + bytes_apart(bytes) + " (a column)" + order;
  if (width == 4 && size % 4 == 0) return "stride of " + grouped(size / 4) + " words (array of structures)" + order;
  return grouped(width) + " of every " + grouped(size) + " bytes (array of structures)" + order;
}

// The rules. Each returns its text, or nothing if the access is not like that.
using Shape = std::optional<std::string>;

Shape single_lane(const ActiveLanes& access) { return access.count() == 1 ? Shape("one lane") : std::nullopt; }

Shape one_address(const ActiveLanes& access) {
  return access.different.size() == 1 ? Shape("broadcast") : std::nullopt;
}

Shape consecutive_lanes(const ActiveLanes& access) {
  const bool in_order = access.follow([&](std::int64_t lane) { return lane * access.width; });
  const bool dense = access.span() == std::int64_t(access.different.size()) * access.width;
  if (in_order && !dense) return with_misalignment(access, "consecutive, with inactive lanes between");
  if (!dense || access.different.size() < access.count()) return std::nullopt;
  if (std::is_sorted(access.addresses.begin(), access.addresses.end())) return with_misalignment(access, "consecutive");
  const bool reversed = std::is_sorted(access.addresses.begin(), access.addresses.end(), std::greater<>());
  return with_misalignment(access, reversed ? "consecutive, in reverse order" : "consecutive, permuted");
}

Shape two_addresses(const ActiveLanes& access) {
  if (access.different.size() != 2) return std::nullopt;
  return (access.count() == 2 ? "two lanes " : "two addresses ") +
         bytes_apart(access.different[1] - access.different[0]);
}

Shape constant_stride(const ActiveLanes& access) {
  const std::int64_t bytes = (access.addresses[1] - access.addresses[0]) / (access.lanes[1] - access.lanes[0]);
  if (!access.follow([&](std::int64_t lane) { return lane * bytes; })) return std::nullopt;
  return stride(bytes, access.width);
}

/// Lane n is in row (n + before) / lanes.
struct Rows {
  std::int64_t lanes = 0, before = 0, step = 0, pitch = 0;  ///< bytes from lane to lane, and from row to row

  std::int64_t operator()(std::int64_t lane) const {
    return (lane + before) % lanes * step + (lane + before) / lanes * pitch;
  }
};

/// The lanes that do not continue the one before them, as consecutive lanes do.
std::vector<std::int64_t> begins_of_runs(const ActiveLanes& access) {
  std::vector<std::int64_t> begins;
  for (std::size_t i = 1; i < access.count(); ++i) {
    const std::int64_t expected = access.width * (access.lanes[i] - access.lanes[i - 1]);
    if (access.addresses[i] - access.addresses[i - 1] != expected) begins.push_back(access.lanes[i]);
  }
  return begins;
}

/// Rows that the lanes can lie in if they are of this length: from two lanes of one row, and two of different rows.
std::optional<Rows> rows_of(const ActiveLanes& access, std::int64_t lanes, std::int64_t before) {
  Rows rows{lanes, before};
  const auto place = [&](std::size_t i) { return access.lanes[i] + before; };
  std::size_t i = 1;
  while (i < access.count() && place(i) / lanes != place(i - 1) / lanes) ++i;
  if (i == access.count()) return std::nullopt;
  rows.step = (access.addresses[i] - access.addresses[i - 1]) / (access.lanes[i] - access.lanes[i - 1]);
  const std::int64_t crossed = place(access.count() - 1) / lanes - place(0) / lanes;
  if (crossed == 0) return std::nullopt;
  rows.pitch = (access.addresses.back() - access.addresses.front() -
                rows.step * (place(access.count() - 1) % lanes - place(0) % lanes)) /
               crossed;
  return access.follow(rows) ? std::optional(rows) : std::nullopt;
}

std::optional<Rows> find_rows(const ActiveLanes& access) {
  for (std::int64_t lanes = 2; lanes < max_lanes; lanes *= 2) {
    if (const auto rows = rows_of(access, lanes, 0)) return rows;
  }
  // Rows of another length: the places where the step changes are one row apart.
  const std::vector<std::int64_t> begins = begins_of_runs(access);
  if (begins.size() < 2) return std::nullopt;
  const std::int64_t lanes = begins[1] - begins[0];
  return lanes < 2 ? std::nullopt : rows_of(access, lanes, (lanes - begins[0] % lanes) % lanes);
}

Shape lanes_in_rows(const ActiveLanes& access) {
  const auto rows = find_rows(access);
  if (!rows) return std::nullopt;
  const std::string lanes = grouped(rows->lanes) + " lanes";
  const std::int64_t step = rows->step, pitch = rows->pitch, width = access.width;
  if (step == 0 && pitch == width) return with_misalignment(access, "consecutive, " + lanes + " per address");
  if (step == 0) return lanes + " per address, addresses " + bytes_apart(pitch);
  if (pitch == 0 && step == width) return "every " + lanes + " the same consecutive addresses";
  if (pitch == 0) return "every " + lanes + " the same addresses, " + bytes_apart(step);
  if (step == width) return with_misalignment(access, "rows of " + lanes + ' ' + bytes_apart(pitch));
  if (pitch == width) return "columns side by side: " + lanes + ' ' + bytes_apart(step);
  return "rows of " + lanes + ' ' + bytes_apart(pitch) + ", with lanes " + bytes_apart(step);
}

Shape few_addresses(const ActiveLanes& access) {
  const std::size_t addresses = access.different.size();
  return 4 * addresses <= access.count() ? Shape(grouped(std::int64_t(addresses)) + " addresses") : std::nullopt;
}

Shape consecutive_runs(const ActiveLanes& access) {
  const std::vector<std::int64_t> begins = begins_of_runs(access);
  if (4 * begins.size() > access.count()) return std::nullopt;
  const bool are_two = begins.size() == 1 && begins[0] - access.lanes.front() > 1 && access.lanes.back() > begins[0];
  if (are_two) return "two runs of consecutive lanes";
  // The first and the last run may be parts.
  for (std::size_t i = 2; i < begins.size(); ++i) {
    if (begins[i] - begins[i - 1] != begins[1] - begins[0]) return "mostly consecutive";
  }
  const bool equal = begins.size() > 2 && begins[1] - begins[0] >= begins[0] - access.lanes[0];
  return equal ? "runs of " + grouped(begins[1] - begins[0]) + " consecutive lanes" : "mostly consecutive";
}

Shape ascending(const ActiveLanes& access) {
  const bool grows =
      access.different.size() == access.count() && std::is_sorted(access.addresses.begin(), access.addresses.end());
  return grows ? Shape("ascending, with irregular gaps") : std::nullopt;
}

Shape no_pattern(const ActiveLanes& access) {
  constexpr std::int64_t near_by = 4096;
  return access.span() <= near_by ? "random within " + grouped(access.span()) + " bytes" : "random";
}

/// The first that fits names the access.
constexpr Shape (*shapes[])(const ActiveLanes&){single_lane,     one_address,   consecutive_lanes, two_addresses,
                                                constant_stride, lanes_in_rows, few_addresses,     consecutive_runs,
                                                ascending,       no_pattern};

}  // namespace

std::string shape_in_words(unsigned width, std::uint64_t mask, std::span<const std::uint32_t> addresses,
                           unsigned sector_bytes) {
  if (mask == 0 || unsigned(std::bit_width(mask)) > addresses.size()) return "";
  ActiveLanes access{width, sector_bytes, {}, {}, {}};
  for_each_lane(mask, [&](unsigned lane) {
    access.lanes.push_back(lane);
    access.addresses.push_back(addresses[lane]);
  });
  std::vector<std::int64_t>& different = access.different = access.addresses;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  for (const auto shape : shapes) {
    if (auto text = shape(access)) return *text;
  }
  return "";
}

}  // namespace bankwise::banks
