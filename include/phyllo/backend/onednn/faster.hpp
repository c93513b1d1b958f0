// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::onednn {

enum class Pass : unsigned char {
  forward,            // with what oneDNN has no function for behind it, or nothing
  activated_forward,  // with Tanh or Sigmoid in the product
  gelu_forward,       // with GELU in the product
  backward_input,
  backward_parameters
};

/// Layers for which oneDNN was measured to be the faster: inclusive ranges.
struct FasterRange {
  Pass pass = Pass::forward;
  bool in_bf16 = false;
  long rows_from = 0, rows_to = 0;
  int width_from = 0, width_to = 0;  // of inputs and of outputs

  constexpr bool holds(Pass p, bool bf16_storage, long rows, long depth, long outputs) const {
    return p == pass && bf16_storage == in_bf16 && rows >= rows_from && rows <= rows_to &&
           depth >= width_from && depth <= width_to && outputs >= width_from && outputs <= width_to;
  }
};

/// Behind each range, backend openmp's speed over oneDNN's in it; measured with 64, 512 and 4096
/// rows, widths 128 to 2048 in bfloat16, to 1024 in float and with an activation. Everywhere else
/// backend openmp runs.
///
/// source   oneDNN 3.12 on one thread of an Emerald Rapids processor, medians of samples in turns
inline constexpr FasterRange faster_ranges[] = {
    // clang-format off
    {Pass::forward,             true,  64, 4096, 128,  512},   // 0.36 to 0.74
    {Pass::forward,             true,  64,  512, 128, 2048},   // 0.36 to 0.78
    {Pass::forward,             false, 64, 4096, 128,  256},   // 0.77 to 0.96
    {Pass::activated_forward,   true,  64, 4096, 128,  256},   // 0.59 to 0.87
    {Pass::gelu_forward,        true,  64, 4096, 128, 1024},   // 0.38 to 0.96
    {Pass::gelu_forward,        false, 64, 4096, 128,  256},   // 0.79 to 0.97
    {Pass::backward_input,      true,  64, 4096, 128, 2048},   // 0.38 to 0.97
    {Pass::backward_input,      false, 64, 4096, 128, 1024},   // 0.87 to 0.99
    {Pass::backward_parameters, true,  64,   64, 128,  256},   // 0.76 to 0.87
    {Pass::backward_parameters, false, 64,   64, 128, 1024},   // 0.84 to 0.91
    // clang-format on
};

/// Which layers oneDNN gets.
struct Faster {
  template <class Storage> static bool takes(Pass pass, long rows, long depth, long outputs) {
    for (FasterRange const& r : faster_ranges)
      if (r.holds(pass, std::is_same_v<Storage, bf16>, rows, depth, outputs)) return true;
    return false;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::onednn
