// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/backend/select.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/op/work_memory.hpp>
#include <phyllo/policy/precision.hpp>

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <rings.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::test {

using Space = Kokkos::DefaultHostExecutionSpace;

/// Numbers between two guards that nothing may touch.
template <class T> class Guarded {
 public:
  explicit Guarded(long size) : all_(std::size_t(size) + 2 * guard_, sentinel()) {}

  T* data() { return all_.data() + guard_; }
  T const* data() const { return all_.data() + guard_; }
  long size() const { return long(all_.size() - 2 * guard_); }
  bool is_intact() const {
    for (std::size_t i = 0; i < guard_; ++i)
      if (!is_same(all_[i], sentinel()) || !is_same(all_[all_.size() - 1 - i], sentinel()))
        return false;
    return true;
  }
  bool has_bits_of(Guarded const& other) const {
    return all_.size() == other.all_.size() &&
           std::memcmp(all_.data(), other.all_.data(), all_.size() * sizeof(T)) == 0;
  }

 private:
  static constexpr std::size_t guard_ = 64;
  static T sentinel() { return T(77.0f); }
  static bool is_same(T a, T b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

  std::vector<T> all_;
};

/// Numbers in [-1, 1); each stream has its own.
template <class T> Guarded<T> numbers(long size, unsigned stream) {
  Guarded<T> v(size);
  for (long i = 0; i < size; ++i)
    v.data()[i] = T(2 * random_uniform(7, 0, stream, std::uint64_t(i), 0) - 1);
  return v;
}

/// What an output holds before the kernel runs: a NaN, which a kernel must overwrite; numbers, to
/// which it adds; or a NaN in a workspace, whose contents afterwards are the backend's own
/// business.
enum class Before { poison, numbers, workspace };

/// One output of a work: `place(work, pointer)` tells the work where it is.
template <class T, class Place> struct Output {
  long size;
  Before before;
  Place place;

  Guarded<T> fresh() const {
    if (before == Before::numbers) return numbers<T>(size, 99);
    Guarded<T> v(size);
    for (long i = 0; i < size; ++i) v.data()[i] = T(std::numeric_limits<float>::quiet_NaN());
    return v;
  }
};
template <class T, class Place> Output<T, Place> output(long size, Place place) {
  return {size, Before::poison, place};
}
template <class T, class Place> Output<T, Place> output(long size, bool added, Place place) {
  return {size, added ? Before::numbers : Before::poison, place};
}
template <class T, class Place> Output<T, Place> workspace(long size, Place place) {
  return {size, Before::workspace, place};
}

/// Largest relative difference, in norm, of two results that differ by the order of their sums
/// only; in 16 bits: one step of the storage type, into which almost equal sums are rounded.
template <class P> constexpr double bound() {
  if (std::is_same_v<P, Full<double>>) return 1e-13;
  if (std::is_same_v<P, Full<float>>) return 4e-6;
  if (std::is_same_v<P, Mixed<fp16, float>>) return 0x1p-10;
  return 0x1p-7;
}

/// |expected - got| / |expected| in norm; infinite where either is not finite.
template <class T> double distance(Guarded<T> const& expected, Guarded<T> const& got) {
  double difference = 0, norm = 0;
  for (long i = 0; i < expected.size(); ++i) {
    double const e = double(expected.data()[i]), g = double(got.data()[i]);
    if (!std::isfinite(e) || !std::isfinite(g)) return INFINITY;
    difference += (e - g) * (e - g);
    norm += e * e;
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

/// The instance with all threads, and one with a single thread.
struct Instances {
  Space all;
  Space single = Kokkos::Experimental::partition_space(
      all, std::vector<int>(std::size_t(all.concurrency()), 1))[0];
};

/// Whether a backend adds up in an order that no number of threads changes.
template <template <class, class> class Kernels>
inline constexpr bool same_bits_on_any_threads = true;

/// Work memory for a launch on a host, kept for later ones.
inline op::WorkMemory work_memory(long bytes, int slices) {
  static std::vector<std::byte> kept;
  constexpr auto line = std::size_t(op::WorkMemory::line);
  std::size_t const lines = (std::size_t(bytes) + line - 1) / line;
  if (kept.size() < (lines * std::size_t(slices) + 1) * line)
    kept.assign((lines * std::size_t(slices) + 1) * line, std::byte(0xff));  // not-a-numbers
  auto const at = reinterpret_cast<std::uintptr_t>(kept.data());
  return {kept.data() + (line - at % line) % line, int(lines), slices};
}

/// Tells a work where its outputs are. Not a lambda inside `compare`: nvcc pairs the packs wrongly
/// there, outputs of one type with memory of another.
template <class Work, class Memory, std::size_t... I, class... Outputs>
void place_outputs(Work& work, Memory& memory, std::index_sequence<I...>,
                   Outputs const&... outputs) {
  (outputs.place(work, std::get<I>(memory).data()), ...);
}

/// A backend, the portable unless said, against the reference: every output written, nothing beyond
/// it, the same bits again and with another number of threads, and within `bound` of the reference.
template <class Op, class P, template <class, class> class Kernels = portable::Kernels, class Work,
          class... T, class... Place>
void compare(Work const& work, double bound, Output<T, Place> const&... outputs) {
  Instances const instances;
  auto const results = [&](auto const& run) {
    std::tuple<Guarded<T>...> memory{outputs.fresh()...};
    Work placed = work;
    place_outputs(placed, memory, std::index_sequence_for<T...>{}, outputs...);
    run(placed);
    return memory;
  };
  op::WorkMemory const memory =
      work_memory(kernel_traits<Kernels<Op, P>>.thread_bytes, instances.all.concurrency());
  auto const by_backend = [&memory](Space const& exec) {
    return [&exec, &memory](Work w) {
      static_cast<void>(memory);
      if constexpr (requires { w.memory; }) w.memory = memory;
      Kernels<Op, P>::run(exec, "backend", w);
      exec.fence("backend");
    };
  };
  auto const expected = results([&](Work const& w) {
    reference::Kernels<Op, P>::run(instances.all, "reference", w);
    instances.all.fence("reference");
  });
  auto const got = results(by_backend(instances.all));
  auto const again = results(by_backend(instances.all));
  auto const single = results(by_backend(instances.single));
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto const check = [&](auto const& e, auto const& g, auto const& a, auto const& s,
                           Before before) {
      CHECK(e.is_intact());
      CHECK(g.is_intact());
      CHECK(a.has_bits_of(g));
      CHECK(s.is_intact());
      if (same_bits_on_any_threads<Kernels>) CHECK(s.has_bits_of(g));
      if (before != Before::workspace) CHECK(distance(e, g) <= bound);
      if (before != Before::workspace) CHECK(distance(e, s) <= bound);
    };
    (check(std::get<I>(expected), std::get<I>(got), std::get<I>(again), std::get<I>(single),
           outputs.before),
     ...);
  }(std::index_sequence_for<T...>{});
}

/// Sizes at and around blocks of registers and vectors.
inline constexpr int sizes[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33};

/// Visits 121 rows of up to twelve sizes in which every pair of sizes meets in every two columns:
/// the orthogonal array i, j, i + k j modulo the prime 11.
struct SizeRow {
  int row, i, j;
  int operator()(int column) const {
    if (column == 0) return sizes[i];
    return sizes[(j + (column - 1) * i) % 11];
  }
  /// The size of a column folded into 1..largest.
  int operator()(int column, int largest) const { return 1 + ((*this)(column)-1) % largest; }
};
template <class Visit> void for_size_rows(Visit const& visit) {
  for (int row = 0; row < 121; ++row) visit(SizeRow{row, row / 11, row % 11});
}

#define PHYLLO_TEST_PRECISIONS                                              \
  phyllo::Full<float>, phyllo::Mixed<phyllo::bf16, float> PHYLLO_IN_VERIFY( \
                           , phyllo::Full<double>, phyllo::Mixed<phyllo::fp16, float>)

}  // namespace phyllo::test
