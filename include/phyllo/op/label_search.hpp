// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/finite.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// One class index outside of its range, in device memory until a message has named it.
struct WrongLabel {
  int noted = 0;     // whether the following are set
  int term = 0;      // the loss, of several
  int position = 0;  // in the sample
  long long label = 0;
  long long sample = 0;
};

/// Counts class indices outside of their range. The loss of a sample with one is not a number:
/// kernels of losses report nothing, and only where the sum of a batch is not finite are its labels
/// read again, by one thread.
template <class A> struct LabelSearch {
  WrongLabel* found = nullptr;  // nullptr: the loss has no class indices
  ExternalTensor targets;
  Shape shape;                // of the outputs
  A const* values = nullptr;  // (batch), the losses of samples
  int batch = 0;
  int term = 0;
  long first_sample = 0;  // number of sample 0 in messages
  bool ignores = false;   // whether the loss ignores the class index `ignored`
  long long ignored = 0;

  /// sum: of the values.
  PHYLLO_INLINE A count(A sum) const {
    return found == nullptr || is_finite(sum) ? A(0) : search();
  }

 private:
  PHYLLO_NOINLINE PHYLLO_FUNCTION A search() const {
    long count = 0;
    for (int n = 0; n < batch; ++n) {
      if (is_finite(values[n])) continue;
      for (int p = 0; p < shape.positions(); ++p) {
        int const row = p / shape.spatial[2], h = row % shape.spatial[1];
        auto const label =
            targets.template read<long long>(n, 0, row / shape.spatial[1], h, p % shape.spatial[2]);
        if ((label >= 0 && label < shape.channels) || (ignores && label == ignored)) continue;
        ++count;
        if (found->noted == 0) *found = {1, term, p, label, first_sample + n};
      }
    }
    return A(count);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::op
