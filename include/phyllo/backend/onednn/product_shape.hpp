// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>

#include <oneapi/dnnl/dnnl.hpp>

#include <compare>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::onednn {

/// Numbers of a type, as oneDNN names them.
template <class T>
inline constexpr dnnl::memory::data_type data_type =
    std::is_same_v<T, bf16> ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;

/// All of a product of matrices that oneDNN compiles code for:
/// result (rows, columns) = activation(bias + left (rows, depth) right (depth, columns)).
struct ProductShape {
  long rows = 0;
  long columns = 0;
  long depth = 0;
  dnnl::memory::data_type operands = dnnl::memory::data_type::f32;
  dnnl::memory::data_type result = dnnl::memory::data_type::f32;
  bool left_by_rows = true;  // else by columns, as the transpose stands in memory
  bool right_by_rows = true;
  bool bias = false;
  bool accumulate = false;  // add to the result
  dnnl::algorithm activation = dnnl::algorithm::undef;
  int threads = 1;

  auto operator<=>(ProductShape const&) const = default;
};

}  // namespace phyllo::inline PHYLLO_ISA::onednn
