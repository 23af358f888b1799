// Case studies whose ranks exchange the wrong words: verification must find each.
#pragma once

#include <span>
#include <string_view>

#include <bankwise/study/case_study.hpp>

/// A fault in the plans of the variants for several ranks.
struct Fault {
  std::string_view name;
  const bankwise::study::CaseStudy* sound;
  bankwise::study::Plan (*plan)(const bankwise::study::Variant&, bankwise::study::Extent, bankwise::study::Rank,
                                unsigned units);
};
std::span<const Fault> all_faults();

/// The case study with the fault.
class BrokenStudy {
 public:
  explicit BrokenStudy(const Fault& fault) : ranks_(*fault.sound->ranks), study_(*fault.sound) {
    ranks_.plan = fault.plan;
    study_.ranks = &ranks_;
  }
  BrokenStudy(const BrokenStudy&) = delete;
  BrokenStudy& operator=(const BrokenStudy&) = delete;
  const bankwise::study::CaseStudy& study() const { return study_; }

 private:
  bankwise::study::RankStudy ranks_;
  bankwise::study::CaseStudy study_;
};
