// SPDX-License-Identifier: MIT
#include <bankwise/emulator/core/findings.hpp>

#include <utility>

namespace bankwise::emulator {
namespace {

std::uint32_t site_at(std::uintptr_t pc, trace::Builder& builder) {
  trace::Site site;
  site.pc = pc;
  return builder.site(site);
}

FaultPlace in_order(FaultPlace place) {
  if (place.other != 0 && place.other < place.pc) std::swap(place.pc, place.other);
  return place;
}

}  // namespace

Findings::Findings(const Launch& launch) {
  for (const trace::Fault fault : launch.allow) allowed_ |= std::uint64_t{1} << int(fault);
  if (!launch.fatal) return;
  for (const trace::FaultRow& row : trace::faults()) {
    if (row.is_remark) allowed_ |= std::uint64_t{1} << int(row.fault);  // a remark must not end a launch
  }
}

bool Findings::is_news(const FaultPlace& place) {
  if (!place.ended && (allowed_ >> int(place.fault) & 1) != 0) return false;
  const auto known = found_.find(in_order(place));
  if (known == found_.end()) return true;
  ++known->second.count;
  return false;
}

void Findings::add(const FaultPlace& place, std::uint64_t block, unsigned warp, std::string text) {
  found_.emplace(in_order(place), Finding{1, block, warp, std::move(text), place});
}

void Findings::put_into(trace::Builder& builder) const {
  for (const auto& [key, finding] : found_) {
    const FaultPlace& place = finding.place;
    trace::DiagnosisRecord one{.fault = place.fault, .site = site_at(place.pc, builder)};
    if (place.other != 0) one.other = site_at(place.other, builder);
    one.ended = place.ended;
    one.text = finding.text;
    one.count = finding.count;
    one.first = {finding.block, finding.warp, 0, 0};
    builder.add(one);
  }
}

}  // namespace bankwise::emulator
