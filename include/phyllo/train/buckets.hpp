// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/program.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/train/gradient_sum.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Contiguous slices of the gradient arena in the order in which the backward pass completes them:
/// from the last layer to the first. Each is sent as one transfer as soon as its first element is
/// written.
///
/// state    begin[k] .. end of bucket k, in elements; the first bucket includes the tail
template <class Net, long Bytes, int ElementSize> struct Buckets {
  static constexpr auto const& nodes = Net::program::nodes;

  struct Table {
    int begin[Net::program::size + 1] = {};
    int count = 0;
  };
  static constexpr Table table = [] {
    Table t{};
    long end = nodes.arena_size;
    for (int i = Net::program::size - 1; i >= 0; --i) {
      int const at = nodes.node[i].first_parameter();
      if (at < 0) continue;
      bool const full = Bytes > 0 && (end - at) * ElementSize >= Bytes;
      if (full || at == 0) {
        t.begin[t.count++] = at;
        end = at;
      }
    }
    return t;
  }();
  static constexpr int count = table.count;
  static constexpr long parameters = nodes.arena_size;
};

/// Whether the only bucket is sent by a blocking sum.
template <class AllBuckets, class C>
inline constexpr bool sums_at_once = AllBuckets::count == 1 && sums_only_bucket_at_once<C>;

/// Passes the slices that every step sends to a policy that prepares for them.
template <class AllBuckets, class Space, class T, class C>
void plan_buckets(Space const& exec, T* gradients, long size, C& communication) {
  if constexpr (PlansBuckets<C> && !sums_at_once<AllBuckets, C>) {
    long end = size;
    for (int k = 0; k < AllBuckets::count; ++k) {
      long const begin = AllBuckets::table.begin[k];
      communication.plan(exec, gradients + begin, end - begin);
      end = begin;
    }
  }
}

/// Sends each bucket when the backward pass has completed it, with what was accumulated before.
template <class AllBuckets, class Space, class T, class C> struct BucketSender {
  Space const& exec;
  T* gradients;  // (size)
  long end;      // of the elements that have not left yet
  C& communication;
  int next = 0;
  GradientSum<T, Space> const* accumulated = nullptr;
  bool sends = true;  // false: of a pass whose gradients are accumulated

  /// All gradients from element `low` on are complete.
  void operator()(int low) {
    if (sends && next < AllBuckets::count && low <= AllBuckets::table.begin[next]) {
      if (accumulated != nullptr) accumulated->add_to(exec, gradients, low, end - low);
      if constexpr (rounds_on_the_wire<C>) {
        if (next == 0) {
          communication.begin_counts(exec, gradients + AllBuckets::parameters,
                                     end - AllBuckets::parameters);
          end = AllBuckets::parameters;
        }
      }
      if constexpr (sums_at_once<AllBuckets, C>)
        communication.sum(exec, gradients + low, end - low);
      else
        communication.begin(exec, gradients + low, end - low);
      end = low;
      ++next;
    } else {
      communication.progress();
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
