// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>

#include <compare>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::blas_lt {

enum class NumberType : unsigned char { float32, bfloat16, float16 };

template <class T>
inline constexpr NumberType number_type = std::is_same_v<T, bf16>   ? NumberType::bfloat16
                                          : std::is_same_v<T, fp16> ? NumberType::float16
                                                                    : NumberType::float32;

/// What a library does in the product itself.
enum class Epilogue : unsigned char {
  none,
  bias,            // adds a number to each column
  bias_relu,       // and makes zero of what is negative
  sum_of_columns,  // writes the sums over the depth of each column of the right factor
};

/// All of a product of matrices by which a library chooses an algorithm:
/// result (rows, columns) = epilogue(left (rows, depth) right (depth, columns)), summed in float.
struct ProductShape {
  long rows = 0;
  long columns = 0;
  long depth = 0;
  NumberType factors = NumberType::float32;
  NumberType result = NumberType::float32;
  bool left_by_rows = true;  // else by columns, as the transpose stands in memory
  bool right_by_rows = true;
  bool accumulate = false;  // add to the result
  Epilogue epilogue = Epilogue::none;
  int alignment = 256;  // bytes, of all four pointers

  auto operator<=>(ProductShape const&) const = default;
};

}  // namespace phyllo::inline PHYLLO_ISA::blas_lt
