// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/element_type.hpp>
#include <phyllo/core/fp16.hpp>
#include <phyllo/core/macros.hpp>

#include <cstddef>
#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// The caller's data as a kernel sees it: pointer, run-time strides and element type, so that one
/// instantiation serves every layout, element type and rank of View.
///
/// shape    logical order (sample, channel, depth, height, width); strides in elements
/// units    the caller's
/// errors   none here; model/bind.hpp checks extents before it makes one
struct ExternalTensor {
  /// Most variables in one gathered tensor (one View per variable); bounds the size of functors.
  static constexpr int max_variables = 16;

  void* data[max_variables] = {};  // one pointer, or one for each channel when gathered
  int variables = 0;               // 0: data[0] with the channel stride below; n: n pointers
  ElementType type = ElementType::f32;
  std::ptrdiff_t sample_stride = 0;
  std::ptrdiff_t channel_stride = 0;
  std::ptrdiff_t spatial_stride[3] = {0, 0, 0};

  PHYLLO_FUNCTION bool is_null() const { return data[0] == nullptr; }

  /// Element offset from its base pointer; the base is data[channel] when gathered.
  PHYLLO_FUNCTION std::ptrdiff_t offset(long n, int c, int d, int h, int w) const {
    return n * sample_stride + (variables == 0 ? c * channel_stride : 0) + d * spatial_stride[0] +
           h * spatial_stride[1] + w * spatial_stride[2];
  }
  // The mask tells compilers what binding makes sure of: there are no more channels than variables.
  PHYLLO_FUNCTION void* base(int c) const {
    static_assert((max_variables & (max_variables - 1)) == 0);
    return data[variables == 0 ? 0 : c & (max_variables - 1)];
  }

  /// Element (n, c, d, h, w) converted to T (float, double or a 64-bit integer).
  template <class T> PHYLLO_FUNCTION T read(long n, int c, int d, int h, int w) const {
    std::ptrdiff_t const at = offset(n, c, d, h, w);
    void const* from = base(c);
    switch (type) {
      case ElementType::f64:
        return T(static_cast<double const*>(from)[at]);
      case ElementType::f32:
        return T(static_cast<float const*>(from)[at]);
      case ElementType::bf16:
        return T(float(static_cast<bf16 const*>(from)[at]));
      case ElementType::f16:
        return T(float(static_cast<fp16 const*>(from)[at]));
      case ElementType::i64:
        return T(static_cast<std::int64_t const*>(from)[at]);
      case ElementType::i32:
        return T(static_cast<std::int32_t const*>(from)[at]);
      case ElementType::u8:
        return T(static_cast<std::uint8_t const*>(from)[at]);
      default:
        return T(0);  // refused on the host when the tensor is bound
    }
  }
  /// Writes a floating-point value; integer tensors are refused when they are bound.
  template <class T> PHYLLO_FUNCTION void write(long n, int c, int d, int h, int w, T value) const {
    std::ptrdiff_t const at = offset(n, c, d, h, w);
    void* to = base(c);
    switch (type) {
      case ElementType::f64:
        static_cast<double*>(to)[at] = double(value);
        break;
      case ElementType::f32:
        static_cast<float*>(to)[at] = float(value);
        break;
      case ElementType::bf16:
        static_cast<bf16*>(to)[at] = bf16(value);
        break;
      case ElementType::f16:
        static_cast<fp16*>(to)[at] = fp16(value);
        break;
      default:
        break;
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
