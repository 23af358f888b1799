#include <bankwise/emulator/core/faults.hpp>

#include <fmt/ranges.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <mutex>
#include <utility>

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/core/program_symbols.hpp>

namespace bankwise::emulator {

LaneFault fault_of(const Lane& lane, trace::Fault fault, std::string text, std::uintptr_t other_pc) {
  return {fault, lane.pc, {lane.identity.rank}, std::move(text), other_pc};
}

// --- Findings ---

FaultReports::FaultReports(const Launch& launch, const RunningBlock& block) : launch_(launch), block_(block) {
  for (const trace::Fault fault : launch.allow) allowed_ |= std::uint64_t{1} << int(fault);
  if (!launch.fatal) return;
  for (const trace::FaultRow& row : trace::faults()) {
    if (row.is_remark) allowed_ |= std::uint64_t{1} << int(row.fault);  // a remark must not end a launch
  }
}

FaultReports::FaultPlace FaultReports::in_order(FaultPlace place) {
  if (place.other != 0 && place.other < place.pc) std::swap(place.pc, place.other);
  return place;
}

bool FaultReports::is_news(const FaultPlace& place, bool within_warp) {
  if (!place.ended && (allowed_ >> int(place.fault) & 1) != 0) return false;
  const auto known = found_.find(in_order(place));
  if (known == found_.end()) return true;
  ++known->second.count;
  return known->second.within_warp && !within_warp;
}

void FaultReports::add(const LaneFault& fault, const FaultPlace& place) {
  const unsigned warp = fault.lanes.front() / launch_.warp;
  const auto known = found_.find(in_order(place));
  const std::uint64_t count = known == found_.end() ? 1 : known->second.count;
  found_.insert_or_assign(in_order(place),
                          Finding{count, block_.number, warp, sentence(fault), place, fault.within_warp});
}

void FaultReports::put_into(trace::Builder& builder) const {
  for (const auto& [key, finding] : found_) {
    const FaultPlace& place = finding.place;
    trace::DiagnosisRecord record{.fault = place.fault, .site = builder.site({.pc = place.pc})};
    if (place.other != 0) record.other = builder.site({.pc = place.other});
    record.ended = place.ended;
    record.text = finding.text;
    record.count = finding.count;
    record.first = {finding.block, finding.warp, 0, 0};
    builder.add(record);
  }
}

// --- Reports ---

namespace {

/// "thread 7", "threads 0-31 and 40".
std::string listed(std::vector<unsigned> lanes) {
  std::sort(lanes.begin(), lanes.end());
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < lanes.size();) {
    std::size_t end = i + 1;
    while (end < lanes.size() && lanes[end] == lanes[end - 1] + 1) ++end;
    runs.push_back(end - i == 1   ? fmt::format("{}", lanes[i])
                   : end - i == 2 ? fmt::format("{}, {}", lanes[i], lanes[i + 1])
                                  : fmt::format("{}-{}", lanes[i], lanes[end - 1]));
    i = end;
  }
  constexpr std::size_t max_runs = 6;
  if (runs.size() > max_runs) {
    runs.resize(max_runs);
    runs.emplace_back("...");
  }
  return fmt::format("{} {}", lanes.size() == 1 ? "thread" : "threads", fmt::join(runs, ", "));
}

}  // namespace

/// "threads 3, 4 of block (0, 0, 0) of reduce_naive reads ... [switch]".
std::string FaultReports::sentence(const LaneFault& fault) const {
  // For a race, the text names the second lane.
  const bool names_one = fault.fault == Fault::race || fault.fault == Fault::lanes_collide;
  std::string sentence = fmt::format("{} of block ({}, {}, {}) of {} {}",
                                     listed(names_one ? std::vector{fault.lanes.front()} : fault.lanes), block_.index.x,
                                     block_.index.y, block_.index.z, function_at(block_.in_kernel), fault.text);
  std::vector<std::string_view> switches{fault.silenced_by.member, fault.silenced_by.flag};
  if (launch_.names_flags) switches.erase(switches.begin());
  std::erase(switches, "");
  return switches.empty() ? sentence : fmt::format("{} [{}]", sentence, fmt::join(switches, " or "));
}

void FaultReports::report(const LaneFault& fault) {
  if (launch_.fatal) end(fault);
  add(fault, {fault.fault, fault.pc, fault.other_pc, false});
}

void FaultReports::end(const LaneFault& fault) {
  const FaultPlace place(fault.fault, fault.pc, fault.other_pc, true);
  if (launch_.fatal) {
    const trace::Site site = place.pc == 0 ? trace::Site{.file = "?", .function = "?"} : site_of(place.pc);
    const std::string where = site.line == 0 ? "?" : fmt::format("{}:{}", site.file, site.line);
    throw Diagnosis(fault.fault, site, block_.index, fault.lanes,
                    fmt::format("{}: {}: {}", where, to_string(fault.fault), sentence(fault)));
  }
  if (is_news(place)) add(fault, place);
  throw LaunchEnded();
}

// --- Signals ---

namespace {

constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM};
constexpr std::size_t stack_bytes = 64 << 10;

// Handlers belong to the process; several launches may run in it.
std::mutex guards_mutex;
unsigned guards = 0;
std::array<struct sigaction, signals.size()> previous;

void hand_on(int signal, siginfo_t* info, void* context) {
  std::size_t i = 0;
  while (signals[i] != signal) ++i;
  const struct sigaction& action = previous[i];
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
    action.sa_handler(signal);
  } else {
    // The instruction runs again, now with the default handler.
    sigaction(signal, &action, nullptr);
  }
}

/// An unsigned index below 0, for instance, which a GPU adds to an address of 32 bits.
std::string where_it_wraps(BlockRunner& runner, const void* address) {
  const std::byte* const storage = runner.block().storage;
  const auto offset = std::uint32_t(std::uintptr_t(address) - std::uintptr_t(storage));
  const auto& arrays = runner.block().layout.arrays;
  const auto after = std::ranges::upper_bound(arrays, offset, {}, &ThreadLocalArray::offset);
  if (!runner.is_shared(storage + offset) || after == arrays.begin()) return "";
  const ThreadLocalArray& array = *std::prev(after);
  return fmt::format(", {} GiB from byte {} of {}: on a GPU, where shared addresses have 32 bits, it may access that",
                     (std::int64_t(std::uintptr_t(address) - std::uintptr_t(storage)) - offset) >> 30,
                     offset - array.offset, array.name);
}

void handle(int signal, siginfo_t* info, void* context) {
  Lane* lane = BlockRunner::current;
  if (signal == SIGVTALRM && info->si_code == SI_TIMER) {
    SignalStack::Watch now;
    if (lane != nullptr && !lane->store.waits) {
      const Dim3& block = lane->identity.block;
      now = {lane, {block.x, block.y, block.z}, lane->runner->steps(), lane->noted};
    }
    if (now != std::exchange(*static_cast<SignalStack::Watch*>(info->si_value.sival_ptr), now) || lane == nullptr ||
        lane->store.waits)
      return;
  } else if (lane == nullptr) {
    hand_on(signal, info, context);
    return;
  }
  // From here the thread continues on the runner's stack. It was in a kernel's code, which holds no lock, or in a
  // function of the C library that the kernel called; the lane never continues.
  const auto* machine = static_cast<const ucontext_t*>(context);
  const auto pc = std::uintptr_t(machine->uc_mcontext.gregs[REG_RIP]) + 1;
  BlockRunner& runner = *lane->runner;
  if (signal == SIGVTALRM) {
    // g++ knows no line of such a loop, only the step before it.
    const std::uintptr_t before = lane->noted > 0 ? pc_of(lane->notes[lane->noted - 1]) : lane->pc;
    runner.fail(*lane, Fault::step_limit, before != 0 ? before : pc, "does not end the empty loop that follows");
  } else if (signal == SIGFPE) {
    runner.fail(*lane, Fault::division_by_zero, pc, "divides an integer by zero");
  } else if (signal == SIGILL) {
    runner.fail(*lane, Fault::trap, pc, "stops: reaches code that __builtin_unreachable() excludes");
  } else if (runner.stacks().in_guard(info->si_addr)) {
    runner.fail(*lane, Fault::invalid_address, pc, "has no stack left, after too deep a recursion");
  } else {
    runner.fail(*lane, Fault::invalid_address, pc,
                "accesses memory that does not exist" + where_it_wraps(runner, info->si_addr));
  }
}

}  // namespace

FaultGuard::FaultGuard() {
  const std::lock_guard lock(guards_mutex);
  if (guards++ > 0) return;
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &previous[i]);
}

FaultGuard::~FaultGuard() {
  const std::lock_guard lock(guards_mutex);
  if (--guards > 0) return;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction now {};
    sigaction(signals[i], nullptr, &now);
    if (now.sa_sigaction == handle) sigaction(signals[i], &previous[i], nullptr);  // not replaced since
  }
}

SignalStack::SignalStack() : memory_(std::make_unique<std::byte[]>(stack_bytes)) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGVTALRM;
  event.sigev_value.sival_ptr = &watch_;
  event._sigev_un._tid = pid_t(syscall(SYS_gettid));
  has_timer_ = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
  const itimerspec second{.it_interval = {1, 0}, .it_value = {1, 0}};
  if (has_timer_) timer_settime(timer_, 0, &second, nullptr);
  stack_t old{};
  if (sigaltstack(nullptr, &old) == 0 && (old.ss_flags & SS_DISABLE) == 0) return;  // the thread has a stack already
  const stack_t mine{.ss_sp = memory_.get(), .ss_flags = 0, .ss_size = stack_bytes};
  installed_ = sigaltstack(&mine, nullptr) == 0;
}

SignalStack::~SignalStack() {
  if (has_timer_) timer_delete(timer_);
  if (!installed_) return;
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
}

}  // namespace bankwise::emulator
