// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>
#include <phyllo/backend/in_order.hpp>
#include <phyllo/backend/run_here.hpp>
#include <phyllo/core/allocate.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Adds one array to another, or copies it. One work item: Run elements.
template <class T, int Run> struct AddGradients {
  T const* from = nullptr;
  T* to = nullptr;
  long size = 0;
  bool copies = false;
  KOKKOS_FUNCTION void operator()(int item) const {
    long const first = long(item) * Run, last = first + Run < size ? first + Run : size;
    if (copies)
      for (long i = first; i < last; ++i) to[i] = from[i];
    else
      for (long i = first; i < last; ++i) to[i] += from[i];
  }
};

/// The sum of the gradients of several backward passes, for steps of larger batches than memory
/// holds. Trainer::accumulate_gradients uses it. With a loop of your own: backward,
/// add(exec, gradients), backward, add_to(exec, gradients), Optimizer::step.
///
/// shape    rows of `size` elements: those of Model::gradients(), behind whose parameters stand the
///          samples, so that the step is one on the mean of all passes by their weights
/// options  T: the precision's accumulate · Space: the model's
/// state    none before the first `add`, which allocates
/// errors   run: no room in memory -> Error
/// numerics added in the order of the calls
/// cost     one pass over the gradients for each call
template <class T, class Space> class GradientSum {
 public:
  GradientSum(std::string const& label, long size, int rows = 1)
      : label_(label), size_(size), rows_(rows) {}

  /// Elements from `first` on of a row, of the pass that `begin` has counted.
  void add(Space const& exec, T const* from, long first, long count, int row = 0) {
    add_ = &run;
    run(exec, label_, {from, sum_.data() + row * size_ + first, count, parts_ == 1});
  }
  /// A whole row of one more pass.
  void add(Space const& exec, T const* from) {
    begin(exec);
    add(exec, from, 0, size_);
  }
  /// Counts one more pass.
  void begin(Space const& exec) {
    if (parts_ == 0 && long(sum_.size()) == 0)
      sum_ = allocate<View>(label_, size_ * rows_,
                            "Sums of gradients need as much memory as the gradients. Train with "
                            "larger batches instead.",
                            exec);
    ++parts_;
  }
  /// Adds elements [first, first + count) of the sum, if there is one, to gradients + first.
  void add_to(Space const& exec, T* gradients, long first, long count, int row = 0) const {
    if (parts_ > 0)
      add_(exec, label_, {sum_.data() + row * size_ + first, gradients + first, count, false});
  }
  /// The same with the whole row; the next `add` begins a new sum.
  void add_to(Space const& exec, T* gradients) {
    add_to(exec, gradients, 0, size_);
    clear();
  }
  /// Backward passes in the sum.
  int parts() const { return parts_; }
  void clear() { parts_ = 0; }

 private:
  using View = Kokkos::View<T*, typename Space::memory_space>;
  static constexpr bool on_host = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
  static constexpr int items_run = on_host ? 1024 : 1;
  using Add = AddGradients<T, items_run>;

  static void run(Space const& exec, std::string const& label, Add const& work) {
    int const items = int((work.size + items_run - 1) / items_run);
    if constexpr (in_order<Space>) {
      if (items <= 32) return run_here(exec, label, items, work);
    }
    Kokkos::parallel_for(launch_label(label),
                         by_argument(Kokkos::RangePolicy<Space>(exec, 0, items)), work);
  }

  std::string label_;
  long size_ = 0;
  int rows_ = 1;
  View sum_;
  int parts_ = 0;
  // Set by `add`, so that trainers that never call it do not compile the kernel.
  void (*add_)(Space const&, std::string const&, Add const&) = nullptr;
};

}  // namespace phyllo::inline PHYLLO_ISA
