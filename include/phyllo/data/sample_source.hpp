// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/element_type.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/io/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// One array of a source: what it has of each sample, such as the inputs or the targets.
///
/// shape    extents of one sample, row-major; no extents: one number
struct SampleArray {
  std::string name = {};  // in messages
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape = {};

  long elements() const {
    long count = 1;
    for (std::int64_t const extent : shape) count *= long(extent);
    return count;
  }
  long bytes() const { return elements() * long(element_size(type)); }
};

/// Where samples come from.
///   samples()  their number, which stays the same
///   block()    samples that are stored together, so that one read of them is fast; 1: any order is
///   arrays()   the arrays; the inputs of the network come first, then the targets
///   read(first, count, to)
///              samples [first, first + count) of array a into to[a], host memory of
///              count * arrays()[a].bytes() bytes
///   chunk()    optional: samples that are read together even where fewer are wanted, such as those
///              of a compressed chunk; blocks of batches are multiples of it
/// `read` calls neither Kokkos nor MPI, because a reader thread may call it; one thread at a time
/// does. It throws phyllo::Error with a sentence that names file and sample.
template <class S>
concept SampleSource = requires(S& source, S const& constant, long count, std::byte* const* to) {
  { constant.samples() } -> std::convertible_to<long>;
  { constant.block() } -> std::convertible_to<long>;
  { constant.arrays() } -> std::convertible_to<std::vector<SampleArray>>;
  source.read(count, count, to);
};

namespace detail {

template <SampleSource S> long chunk_of(S const& source) {
  if constexpr (requires {
                  { source.chunk() } -> std::convertible_to<long>;
                })
    return long(source.chunk());
  else
    return 1;
}

}  // namespace detail

}  // namespace phyllo::inline PHYLLO_ISA
