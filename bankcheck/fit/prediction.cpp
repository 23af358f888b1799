#include "bankcheck/fit/fit.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "bankcheck/fit/compiled_accesses.hpp"

namespace bankwise::fit {
namespace {

/// The largest power of two that divides the distances between rows: merged accesses can have as many bytes.
std::uint64_t alignment_of(std::uint64_t lengths, unsigned widest) {
  return lengths == 0 ? widest : std::min<std::uint64_t>(widest, std::uint64_t{1} << std::countr_zero(lengths));
}

}  // namespace

std::optional<bool> holds(const Prediction& prediction, std::size_t architecture, std::uint64_t observed) {
  if (prediction.of_recorded) return std::nullopt;
  const bool is_most = !prediction.most || observed <= (*prediction.most)[architecture];
  return observed >= prediction.least[architecture] && is_most;
}

Predictor::Predictor(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays, const ArrayShape& shape,
                     const Architectures& architectures)
    : trace_(trace), arrays_(arrays), shape_(shape), architectures_(architectures) {
  for (const std::uint32_t number : patterns_of(trace, arrays)) {
    patterns_.push_back(trace.patterns[number]);
    is_mixed_ |= !patterns_.back().lane_arrays.empty();
    is_wide_ |= may_be_merged(patterns_.back(), shape);
  }
  const auto is_own = [&](const trace::Excess& excess) { return is_one_of(arrays, excess.array); };
  is_recorded_ = std::ranges::none_of(trace.excess, is_own) && (trace.excess_accesses == 0 || !trace.excess.empty());
}

trace::KernelTrace Predictor::trace_of(std::vector<trace::Pattern> patterns) const {
  return {.warp = trace_.warp, .splits = trace_.splits, .arrays = trace_.arrays, .patterns = std::move(patterns)};
}

Predictor::Passes Predictor::passes_of(const Widths& widths, const Change& change) const {
  std::unique_ptr<OwnAccesses>& part = parts_[widths];
  if (part == nullptr) {
    std::vector<trace::Pattern> patterns;
    for (std::size_t i = 0; i < patterns_.size(); ++i) add_parts(patterns_[i], widths[i], patterns);
    part = std::make_unique<OwnAccesses>(trace_of(std::move(patterns)), arrays_, architectures_);
  }
  return part->accesses.passes_by_architecture(change);
}

/// Parts only those accesses that no compiler can keep: their elements are no neighbours, or not aligned.
Predictor::Widths Predictor::widths_without_torn(const Change& change) const {
  const auto keeps = [&](const trace::Pattern& pattern, unsigned bytes) {
    bool whole = true;
    banks::for_each_lane(pattern.mask, [&](unsigned lane) {
      if (lane >= pattern.addresses.size()) return;
      const std::uint64_t from = pattern.addresses[lane] - trace_.arrays[pattern.array].offset;
      for (unsigned part = 0; part < pattern.width && whole; part += bytes) {
        const std::uint64_t moved = change(from + part);
        whole = moved % bytes == 0;
        for (std::uint64_t byte = shape_.element; byte < bytes; byte += shape_.element) {
          whole = whole && change(from + part + byte) == moved + byte;
        }
      }
    });
    return whole;
  };
  Widths widths;
  std::map<std::uint32_t, unsigned> by_site;  // the accesses of an instruction have one width
  for (const trace::Pattern& pattern : patterns_) {
    unsigned bytes = pattern.width;
    while (may_be_merged(pattern, shape_) && bytes > shape_.element && !keeps(pattern, bytes)) bytes /= 2;
    widths.push_back(bytes);
    if (!trace_.sites[pattern.site].pc) continue;
    unsigned& width = by_site.try_emplace(pattern.site, bytes).first->second;
    width = std::min(width, bytes);
  }
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const auto width = by_site.find(patterns_[i].site);
    if (width != by_site.end()) widths[i] = width->second;
  }
  return widths;
}

Predictor::Widths Predictor::widths_of_parts(unsigned bytes) const {
  Widths widths;
  for (const trace::Pattern& pattern : patterns_) {
    widths.push_back(may_be_merged(pattern, shape_) ? std::min(bytes, pattern.width) : pattern.width);
  }
  return widths;
}

Predictor::Passes Predictor::passes_of_saved_loads(const Change& change) const {
  std::vector<trace::Pattern> loads;
  for (const trace::Pattern& pattern : patterns_) {
    const CompiledLoads::Place place{pattern.site, pattern.operation == banks::Operation::store};
    const bool is_plain = place.by_store || pattern.operation == banks::Operation::load;
    if (!is_plain || !std::ranges::binary_search(shape_.compiled->saved, place)) continue;
    trace::Pattern load = pattern;
    load.operation = banks::Operation::load;
    add_parts(std::move(load), unsigned(shape_.element), loads);
  }
  return OwnAccesses(trace_of(std::move(loads)), arrays_, architectures_).accesses.passes_by_architecture(change);
}

/// Whether accesses to neighbours that were not aligned may be so now.
bool Predictor::may_merge_more(const Change& change, IndexForm form) const {
  constexpr unsigned widest = 16;
  if (form != IndexForm::rows || shape_.lengths.size() < 2) return false;
  const auto after = lengths_after(change, shape_);
  if (!after || alignment_of(after->back() * shape_.element, widest) <= alignment_of(shape_.row_bytes(), widest)) {
    return false;
  }
  using Key = std::tuple<banks::Operation, unsigned, std::uint32_t, std::uint64_t, std::vector<std::uint32_t>>;
  std::set<Key> places;
  const auto key = [](const trace::Pattern& pattern, unsigned distance) {
    std::vector<std::uint32_t> addresses = pattern.addresses;
    banks::for_each_lane(pattern.mask, [&](unsigned lane) {
      if (lane < addresses.size()) addresses[lane] += distance;
    });
    return Key{pattern.operation, pattern.width, pattern.level, pattern.mask, std::move(addresses)};
  };
  for (const trace::Pattern& pattern : patterns_) places.insert(key(pattern, 0));
  return std::ranges::any_of(patterns_, [&](const trace::Pattern& pattern) {
    return pattern.width < widest && places.contains(key(pattern, pattern.width));
  });
}

Prediction Predictor::operator()(const Change& change, const std::vector<std::uint64_t>& passes) const {
  Prediction prediction{passes, passes, false};
  if (change == Change()) return prediction;
  prediction.of_recorded = !is_recorded_;
  const auto form = form_of(change, shape_);
  if (!shape_.compiled || !form || *form == IndexForm::none) return prediction;
  if (is_mixed_ || shape_.element == 0) {
    prediction.most.reset();
    return prediction;
  }
  const bool hides = *form != IndexForm::rows && *form != IndexForm::elements;
  const auto add = [&](const Passes& other) {
    for (std::size_t a = 0; a < other.size(); ++a) {
      prediction.least[a] = std::min(prediction.least[a], other[a]);
      (*prediction.most)[a] = std::max((*prediction.most)[a], other[a]);
    }
  };
  if (is_wide_) {
    add(passes_of(widths_without_torn(change), change));
    add(passes_of(widths_of_parts(merged_bytes(change, shape_, 16)), change));
  }
  if (may_merge_more(change, *form)) {
    for (std::uint64_t& least : prediction.least) least = least * shape_.element / 16;
  }
  if (!hides) return prediction;
  if (!shape_.compiled->saved.empty()) {
    const Passes more = passes_of_saved_loads(change);
    for (std::size_t a = 0; a < more.size(); ++a) (*prediction.most)[a] += more[a];
  }
  if (!shape_.compiled->complete) prediction.most.reset();
  return prediction;
}

Prediction prediction_of(const KernelFit& kernel) {
  Prediction sum{{}, std::vector<std::uint64_t>{}, false};
  for (std::size_t a = 0; a < kernel.before.size(); ++a) {
    std::uint64_t least = kernel.before[a].all.passes, most = least;
    for (const ArrayFit& array : kernel.arrays) {
      const Prediction& part = array.after().prediction;
      least += part.least[a] - array.before().passes[a];
      if (!part.most) {
        sum.most.reset();
      } else {
        most += (*part.most)[a] - array.before().passes[a];
      }
      sum.of_recorded |= part.of_recorded;
    }
    sum.least.push_back(least);
    if (sum.most) sum.most->push_back(most);
  }
  return sum;
}

}  // namespace bankwise::fit
