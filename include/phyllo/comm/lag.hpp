// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/policy_name.hpp>
#include <phyllo/comm/transport/workspace.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/policy/stored_state.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Uses gradients one step after they were computed, so that their sum may take a whole step. The
/// host waits only if it takes longer.
///
/// options  Steps: 1 · Inner = a Communication that sums gradients
/// state    two copies of the gradients, and two Inners
/// threads  as the policy inside
/// errors   those of Inner
/// numerics the first step changes nothing; each later step uses the gradients of the step before.
///          Trainer::loss is that of the gradients used. The last gradients are not used.
/// cost     Inner's messages, hidden behind one step; two copies of the gradients on the device
/// source   Kurth et al., Exascale Deep Learning for Climate Analytics, arXiv:1810.01993, §V-B4
template <int Steps, Communication Inner> class Lag {
  static_assert(Steps == 1, "Lag<Steps, Inner>: Steps must be 1: gradients are one step late.");
  static_assert(sums_in_step<Inner>,
                "Lag<Steps, Inner>: Inner must sum gradients, as AllReduce and Hierarchical do.");

 public:
  using inner_type = Inner;
  static constexpr std::string_view title = "Lag";
  static constexpr char const* name = policy_name<Lag, Inner>.text;
  static constexpr long bucket_bytes = Inner::bucket_bytes;
  static constexpr bool rounds_on_the_wire = phyllo::rounds_on_the_wire<Inner>;
  static constexpr bool gradients_are_late = true;

  template <class First, class... Rest>
    requires(!std::same_as<std::remove_cvref_t<First>, Lag> &&
             std::constructible_from<Inner, First const&, Rest const&...>)
  Lag(First const& first, Rest const&... rest)
      : turn_{Turn(Inner(first, rest...)), Turn(Inner(first, rest...))} {}

  int rank() const { return turn_[0].inner.rank(); }
  int size() const { return turn_[0].inner.size(); }

  template <class Space> void reserve(Space const& exec, long bytes) {
    for (Turn& turn : turn_) {
      turn.inner.reserve(exec, bytes);
      turn.copies.reserve(exec, bytes);
      turn.parts.reserve(std::size_t(bytes / (bucket_bytes > 0 ? bucket_bytes : bytes) + 2));
    }
  }
  template <class Space, Summable Number> void sum(Space const& exec, Number* data, long count) {
    turn_[0].inner.sum(exec, data, count);
  }
  template <class Space, Summable Number> void begin(Space const& exec, Number* data, long count) {
    Number* const copy = keep(exec, data, count);
    turn_[now_].inner.begin(exec, copy, count);
  }
  template <class Space, Summable Number>
  void begin_counts(Space const& exec, Number* data, long count)
    requires rounds_on_the_wire
  {
    Number* const copy = keep(exec, data, count);
    turn_[now_].inner.begin_counts(exec, copy, count);
  }
  /// Finishes the sums that the step before began.
  template <class Space> void finish(Space const& exec) {
    Turn& before = turn_[1 - now_];
    before.inner.finish(exec);
    if (before.parts.empty())  // the first step: no samples, so that it does not count
      for (Part const& part : turn_[now_].parts)
        Kokkos::deep_copy(exec, bytes<Space>(part.data, part.bytes), std::byte{});
    for (Part const& part : before.parts)
      Kokkos::deep_copy(exec, bytes<Space>(part.data, part.bytes),
                        bytes<Space>(before.copies.data() + part.at, part.bytes));
    before.parts.clear();
    now_ = 1 - now_;
  }
  void progress() {
    for (Turn& turn : turn_) turn.inner.progress();
  }
  long exclusive_sum(long count) { return turn_[0].inner.exclusive_sum(count); }

  /// See StoresState: the sums of the last step's gradients, the same on all ranks.
  template <class Space, class State>
  std::vector<double> own_state(Space const& exec, State const& state) {
    Turn& before = turn_[1 - now_];
    before.inner.finish(exec);
    std::vector<double> numbers = {double(before.parts.size())};
    auto const* const gradients = reinterpret_cast<std::byte const*>(state.gradients);
    for (Part const& part : before.parts) {
      numbers.push_back(double(static_cast<std::byte const*>(part.data) - gradients));
      numbers.push_back(double(part.bytes));
      detail::append_words(exec, numbers, before.copies.data() + part.at, part.bytes);
    }
    return numbers;
  }
  template <class State> bool is_own_state(State const&, std::vector<double> const& numbers) const {
    long const most = turn_[0].copies.bytes();
    std::size_t const parts = numbers.empty() || !detail::is_count(numbers[0], most)
                                  ? numbers.size()
                                  : std::size_t(numbers[0]);
    std::size_t at = 1;
    long used = 0;
    for (std::size_t k = 0; k < parts; ++k) {
      if (at + 2 > numbers.size() || !detail::is_count(numbers[at], most) ||
          !detail::is_count(numbers[at + 1], most - used) ||
          long(numbers[at]) + long(numbers[at + 1]) > most)
        return false;
      used += long(numbers[at + 1]);
      at += 2 + std::size_t(detail::words_in(long(numbers[at + 1])));
    }
    return at == numbers.size();
  }
  template <class Space, class State>
  void set_own_state(Space const& exec, State const& state, std::vector<double> const& numbers) {
    Turn& before = turn_[1 - now_];
    before.inner.finish(exec);
    before.parts.clear();
    std::size_t at = 1;
    long used = 0;
    for (int k = 0; !numbers.empty() && k < int(numbers[0]); ++k) {
      long const offset = long(numbers[at]), size = long(numbers[at + 1]);
      at += 2;
      before.parts.push_back({reinterpret_cast<std::byte*>(state.gradients) + offset, used, size});
      detail::take_words(exec, numbers, at, before.copies.data() + used, size);
      used += size;
    }
  }

 private:
  struct Part {
    void* data = nullptr;  // in the gradients
    long at = 0;           // in the copies
    long bytes = 0;
  };
  struct Turn {
    explicit Turn(Inner&& from) : inner(std::move(from)) {}
    Workspace copies{"phyllo::Lag/gradients on their way"};
    std::vector<Part> parts;  // begun and not used
    Inner inner;              // behind what it may still write to
  };
  template <class Space>
  using Bytes = Kokkos::View<std::byte*, Kokkos::LayoutRight, typename Space::memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  template <class Space> static Bytes<Space> bytes(void* data, long count) {
    return Bytes<Space>(static_cast<std::byte*>(data), std::size_t(count));
  }

  template <class Space, class Number> Number* keep(Space const& exec, Number* data, long count) {
    Turn& turn = turn_[now_];
    long const at = turn.parts.empty() ? 0 : turn.parts.back().at + turn.parts.back().bytes;
    Part const part{data, at, count * long(sizeof(Number))};
    if (turn.parts.empty()) turn.copies.reserve(exec, part.bytes);
    turn.parts.push_back(part);
    std::byte* const copy = turn.copies.data() + at;
    Kokkos::deep_copy(exec, bytes<Space>(copy, part.bytes), bytes<Space>(data, part.bytes));
    return reinterpret_cast<Number*>(copy);
  }

  Turn turn_[2];
  int now_ = 0;  // whose sums begin in this step
};

}  // namespace phyllo::inline PHYLLO_ISA
