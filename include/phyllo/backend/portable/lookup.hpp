// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/lookup.hpp>

#include <cstdint>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::portable {

template <class P> struct lookup_forward {
  op::Lookup::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    long const r = at / work.channels, c = at % work.channels;
    long const e = work.x[r];
    work.y[at] = e >= 0 && e < work.entries
                     ? work.weight[e * work.channels + c]
                     : typename P::storage(Kokkos::Experimental::quiet_NaN_v<float>);
  }
};

/// One pass of a stable radix sort of rows by index, least significant digit first: blocks of rows
/// count their digits, a scan over (digit, block) turns counts into places, blocks move their rows.
/// Indices outside of the table are sorted behind all others, as `entries`.
///
/// source   Knuth, The Art of Computer Programming, volume 3, section 5.2.5
struct lookup_sort {
  static constexpr int digits = op::Lookup::digits;
  std::int32_t const* x;     // (rows)
  std::int32_t const* from;  // (rows) their order so far; nullptr: rising
  std::int32_t* to;          // (rows)
  std::int32_t* counts;      // (digits, blocks)
  long rows;
  int entries;
  int blocks;
  int shift;

  PHYLLO_INLINE std::int32_t row(long i) const {
    return from != nullptr ? from[i] : std::int32_t(i);
  }
  PHYLLO_INLINE int key(std::int32_t r) const {
    return x[r] >= 0 && x[r] < entries ? int(x[r]) : entries;
  }
  PHYLLO_INLINE std::int32_t& count(std::int32_t r, long b) const {
    return counts[long((key(r) >> shift) % digits) * blocks + b];
  }
};

/// One work item: one block.
struct lookup_count {
  lookup_sort sort;
  PHYLLO_FUNCTION void operator()(long b) const {
    for (int d = 0; d < sort.digits; ++d) sort.counts[long(d) * sort.blocks + b] = 0;
    for (long i = sort.rows * b / sort.blocks; i < sort.rows * (b + 1) / sort.blocks; ++i)
      ++sort.count(sort.row(i), b);
  }
};

struct lookup_places {
  std::int32_t* counts;
  PHYLLO_FUNCTION void operator()(long i, std::int32_t& sum, bool last) const {
    std::int32_t const count = counts[i];
    if (last) counts[i] = sum;
    sum += count;
  }
};

/// One work item: one block.
struct lookup_move {
  lookup_sort sort;
  PHYLLO_FUNCTION void operator()(long b) const {
    for (long i = sort.rows * b / sort.blocks; i < sort.rows * (b + 1) / sort.blocks; ++i) {
      std::int32_t const r = sort.row(i);
      sort.to[sort.count(r, b)++] = r;
    }
  }
};

/// One work item: one entry, and one behind the last; where its rows begin.
struct lookup_first {
  lookup_sort sort;  // `from`: sorted
  std::int32_t* first;
  PHYLLO_FUNCTION void operator()(long entry) const {
    long low = 0, high = sort.rows;
    while (low < high) {
      long const middle = (low + high) / 2;
      if (sort.key(sort.from[middle]) < entry)
        low = middle + 1;
      else
        high = middle;
    }
    first[entry] = std::int32_t(low);
  }
};

/// One work item: one number of the gradient.
template <class P> struct lookup_backward {
  using A = typename P::accumulate;
  op::Lookup::BackwardParameters<P> work;
  std::int32_t const* order;
  std::int32_t const* first;

  PHYLLO_FUNCTION void operator()(long at) const {
    long const entry = at / work.channels, c = at % work.channels;
    A sum = 0;
    for (std::int32_t i = first[entry]; i < first[entry + 1]; ++i)
      sum += A(work.d_y[long(order[i]) * work.channels + c]);
    work.d_weight[at] = sum;
  }
};

template <class P> struct Kernels<op::Lookup, P> {
  static constexpr bool sorts_rows = true;

  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Lookup::Forward<P> const& work) {
    launch(exec, label, work.rows * work.channels, lookup_forward<P>{work});
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Lookup::BackwardParameters<P> const& work) {
    std::int32_t *to = work.work, *spare = to + work.rows;
    std::int32_t* const first = spare + work.rows;
    lookup_sort sort{work.x,
                     nullptr,
                     nullptr,
                     first + work.entries + 1,
                     work.rows,
                     work.entries,
                     op::Lookup::blocks_of(work.rows),
                     0};
    // At least one pass: it also gives the order a place.
    for (; sort.shift == 0 || long(work.entries) >> sort.shift > 0; sort.shift += 8) {
      sort.to = to;
      launch(exec, label, sort.blocks, lookup_count{sort});
      Kokkos::parallel_scan(launch_label(label),
                            Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>(
                                exec, 0, long(sort.digits) * sort.blocks),
                            lookup_places{sort.counts});
      launch(exec, label, sort.blocks, lookup_move{sort});
      sort.from = to;
      std::swap(to, spare);
    }
    launch(exec, label, work.entries + 1L, lookup_first{sort, first});
    launch(exec, label, long(work.entries) * work.channels,
           lookup_backward<P>{work, sort.from, first});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
