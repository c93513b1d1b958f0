// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/element_type.hpp>
#include <phyllo/io/hdf5_lock.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace phyllo::inline PHYLLO_ISA::detail {

// The fields of a binary floating number of IEEE 754 with an implied leading bit.
struct FloatFields {
  std::size_t bytes, exponent_bits, mantissa_bits, bias;
};
inline constexpr FloatFields half_fields{2, 5, 10, 15}, single_fields{4, 8, 23, 127},
    double_fields{8, 11, 52, 1023};

inline bool has_fields(hid_t type, FloatFields const& fields) {
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  H5T_order_t const order = H5Tget_order(type);
  return H5Tget_size(type) == fields.bytes && H5Tget_precision(type) == 8 * fields.bytes &&
         (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
         H5Tget_norm(type) == H5T_NORM_IMPLIED &&
         H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
         sign == 8 * fields.bytes - 1 && exponent == fields.mantissa_bits &&
         exponent_bits == fields.exponent_bits && mantissa == 0 &&
         mantissa_bits == fields.mantissa_bits && H5Tget_ebias(type) == fields.bias;
}

// What the elements of a dataset are read as; nothing where Phyllo does not read them. The file may
// have another byte order, or fewer bits in an integer.
inline std::optional<ElementType> element_type_of_hdf5(hid_t type) {
  H5T_class_t const kind = H5Tget_class(type);
  if (kind == H5T_FLOAT) {
    if (has_fields(type, half_fields)) return ElementType::f16;
    if (has_fields(type, single_fields)) return ElementType::f32;
    if (has_fields(type, double_fields)) return ElementType::f64;
  }
  if (kind != H5T_INTEGER) return std::nullopt;
  bool const is_signed = H5Tget_sign(type) == H5T_SGN_2;
  switch (H5Tget_size(type)) {
    case 1:
      return is_signed ? ElementType::i8 : ElementType::u8;
    case 2:
      return is_signed ? ElementType::i16 : ElementType::u16;
    case 4:
      return is_signed ? ElementType::i32 : ElementType::u32;
    case 8:
      return is_signed ? ElementType::i64 : ElementType::u64;
    default:
      return std::nullopt;
  }
}

// The same in memory: a copy that the caller closes.
inline hid_t hdf5_type_of(ElementType type) {
  switch (type) {
    case ElementType::f16: {
      hid_t const half = H5Tcopy(H5T_NATIVE_FLOAT);
      H5Tset_fields(half, 15, 10, 5, 0, 10);
      H5Tset_size(half, 2);
      H5Tset_ebias(half, 15);
      return half;
    }
    case ElementType::f32:
      return H5Tcopy(H5T_NATIVE_FLOAT);
    case ElementType::f64:
      return H5Tcopy(H5T_NATIVE_DOUBLE);
    case ElementType::u8:
      return H5Tcopy(H5T_NATIVE_UINT8);
    case ElementType::i8:
      return H5Tcopy(H5T_NATIVE_INT8);
    case ElementType::u16:
      return H5Tcopy(H5T_NATIVE_UINT16);
    case ElementType::i16:
      return H5Tcopy(H5T_NATIVE_INT16);
    case ElementType::u32:
      return H5Tcopy(H5T_NATIVE_UINT32);
    case ElementType::i32:
      return H5Tcopy(H5T_NATIVE_INT32);
    case ElementType::u64:
      return H5Tcopy(H5T_NATIVE_UINT64);
    case ElementType::i64:
      return H5Tcopy(H5T_NATIVE_INT64);
    default:
      return H5I_INVALID_HID;
  }
}

// A type that is not read, as the part of a sentence.
inline std::string hdf5_type_text(hid_t type) {
  std::string const bytes = " of " + std::to_string(H5Tget_size(type)) + " bytes";
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return "integers" + bytes;
    case H5T_FLOAT:
      return "floating numbers" + bytes + " with other fields";
    case H5T_STRING:
      return "strings";
    case H5T_COMPOUND:
      return "a compound type";
    case H5T_ENUM:
      return "an enumeration";
    case H5T_ARRAY:
      return "an array type";
    case H5T_VLEN:
      return "sequences of variable length";
    case H5T_REFERENCE:
      return "references";
    case H5T_BITFIELD:
      return "bit fields";
    case H5T_OPAQUE:
      return "opaque bytes";
    default:
      return "another type";
  }
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
