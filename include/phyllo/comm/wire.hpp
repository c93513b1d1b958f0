// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/policy_name.hpp>
#include <phyllo/comm/transport/transport.hpp>
#include <phyllo/comm/transport/workspace.hpp>
#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class Narrow> struct NarrowName {
  static constexpr char const* name = std::same_as<Narrow, bf16> ? "bf16" : "fp16";
};

/// Numbers of this rank, rounded; behind them zeros up to whole pieces.
template <class Narrow> struct RoundNumbers {
  float const* numbers = nullptr;  // (count)
  long count = 0;
  Narrow* rounded = nullptr;
  KOKKOS_FUNCTION void operator()(long i) const {
    rounded[i] = Narrow(i < count ? numbers[i] : 0.0f);
  }
};

/// One piece of all ranks, added in the order of the ranks, and rounded once more.
template <class Narrow> struct SumPieces {
  Narrow const* pieces = nullptr;  // (ranks, piece)
  int ranks = 0;
  long piece = 0;
  Narrow* sums = nullptr;  // (piece)
  KOKKOS_FUNCTION void operator()(long i) const {
    float sum = 0;
    for (int r = 0; r < ranks; ++r) sum += float(pieces[r * piece + i]);
    sums[i] = Narrow(sum);
  }
};

template <class Narrow> struct WidenNumbers {
  Narrow const* rounded = nullptr;
  float* numbers = nullptr;
  KOKKOS_FUNCTION void operator()(long i) const { numbers[i] = float(rounded[i]); }
};

}  // namespace detail

/// A transport that sends gradients in half the bytes: each rank rounds its numbers once, they are
/// added in FP32, and the sum is rounded once.
///
/// options  Narrow: bf16 or fp16 · T = a Transport that can scatter and gather
/// state    three times the gradients in Narrow
/// threads  as the transport inside
/// errors   those of T; fp16 overflows above 65504 -> an infinite gradient, a skipped step
/// numerics relative error of a sum at most 2^-8 of the sum of magnitudes (bf16), 2^-11 (fp16); the
///          order of the sum is that of the ranks, the same on all. Counts and everything that
///          `sum` adds are sent unrounded, double precision too.
/// cost     half the bytes of T's sum; one message to each rank and back instead of a tree
template <class Narrow, Transport T> class Wire {
  static_assert(std::same_as<Narrow, bf16> || std::same_as<Narrow, fp16>,
                "Wire<Narrow, T>: Narrow must be bf16 or fp16. Leave Wire out to send numbers as "
                "they are stored.");
  static_assert(
      moves_shares<T>,
      "Wire<Narrow, T>: this T cannot send a share to each rank. Use Mpi or GpuAwareMpi.");

 public:
  using inner_type = T;
  static constexpr std::string_view title = "Wire";
  static constexpr char const* name = policy_name<Wire, detail::NarrowName<Narrow>, T>.text;
  static constexpr bool rounds_on_the_wire = true;

  template <class First, class... Rest>
    requires(!std::same_as<std::remove_cvref_t<First>, Wire> &&
             std::constructible_from<T, First, Rest...>)
  Wire(First&& first, Rest&&... rest)
      : transport_(std::forward<First>(first), std::forward<Rest>(rest)...) {}

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }

  template <class Space> void reserve(Space const& exec, long bytes, long transfers) {
    if (size() == 1) return;
    long const most = bytes / long(sizeof(float)) + transfers * size() * Shares::unit;
    transport_.reserve(exec, 3 * most * long(sizeof(Narrow)), 3 * transfers);
    narrow_.reserve(exec, 3 * most * long(sizeof(Narrow)));
    transits_.reserve(std::size_t(transfers));
  }
  template <class Space, Summable Number> void sum(Space const& exec, Number* data, long count) {
    transport_.sum(exec, data, count);
  }
  template <class Space> void begin(Space const& exec, double* data, long count) {
    transport_.begin(exec, data, count);
  }
  template <class Space> void begin(Space const& exec, float* data, long count) {
    if (size() == 1 || count == 0) return;
    long const ranks = size(), unit = Shares::unit;
    long const piece = ((count + ranks - 1) / ranks + unit - 1) / unit * unit,
               whole = piece * ranks;
    if ((used_ + 2 * whole) * long(sizeof(Narrow)) > narrow_.bytes()) {
      // Without reserve, or beyond it: what is under way comes in first, on every rank alike.
      long const needed = used_ + 2 * whole;
      finish(exec);
      narrow_.reserve(exec, needed * long(sizeof(Narrow)));
    }
    Narrow* const sent = narrow_.template numbers<Narrow>() + used_;
    Narrow* const received = sent + whole;
    used_ += 2 * whole;
    launch(exec, "phyllo::Wire/round", whole, detail::RoundNumbers<Narrow>{data, count, sent});
    transits_.push_back({data, count, piece, sent, received});
    transport_.begin_all_to_all(exec, sent, received, piece);
  }
  template <class Space, Summable Number>
  void begin_counts(Space const& exec, Number* data, long count) {
    transport_.begin(exec, data, count);
  }
  template <class Space> void finish(Space const& exec) {
    transport_.finish(exec);
    for (Transit const& t : transits_) {
      launch(exec, "phyllo::Wire/sum", t.piece,
             detail::SumPieces<Narrow>{t.received, size(), t.piece, t.sent + rank() * t.piece});
      transport_.begin_all_gather(exec, t.sent, Shares(t.piece * size(), size()));
    }
    transport_.finish(exec);
    for (Transit const& t : transits_)
      launch(exec, "phyllo::Wire/widen", t.count, detail::WidenNumbers<Narrow>{t.sent, t.data});
    transits_.clear();
    used_ = 0;
  }
  void progress() { transport_.progress(); }
  long exclusive_sum(long count) { return transport_.exclusive_sum(count); }
  Wire split(int color) { return Wire(transport_.split(color)); }

 private:
  struct Transit {
    float* data = nullptr;  // (count)
    long count = 0;
    long piece = 0;              // numbers that one rank adds
    Narrow* sent = nullptr;      // (ranks, piece), later the sums
    Narrow* received = nullptr;  // (ranks, piece)
  };
  template <class Space, class Functor>
  static void launch(Space const& exec, char const* label, long count, Functor const& functor) {
    Kokkos::parallel_for(launch_label(label),
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>(exec, 0, count),
                         functor);
  }

  Workspace narrow_{"phyllo::Wire/rounded gradients"};
  T transport_;                    // behind what it may still write to
  std::vector<Transit> transits_;  // begun and not finished
  long used_ = 0;                  // of narrow_, in numbers
};

}  // namespace phyllo::inline PHYLLO_ISA
