// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/blas_lt/product_shape.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace phyllo::test {

/// What a library may lack.
enum class Lacking {
  nothing,
  nan_in_relu,
  sums_of_columns,
  algorithms,
  launches,
  handle,
  workspace,
  alignment  // of matrices that have less than 16 bytes
};

/// A library of matrix products by plain loops: matrices by columns, each of which begins `rows`
/// numbers after the one before, and attributes as the manuals of cuBLASLt and hipBLASLt say.
///
/// source   cuBLAS Library 13, 3.3 and 3.4; hipBLASLt 1.0, API reference
template <Lacking lacking> struct PlainLibrary {
  static constexpr char const* name = "PlainLibrary";
  using space = Kokkos::DefaultHostExecutionSpace;
  using Stream = int;
  enum class Status { success, refused };
  struct Handle {};
  struct ProductDescription {
    std::int32_t transposed[2] = {};
    std::uint32_t epilogue = 0;
    void* vector = nullptr;
    std::int32_t vector_type = -1;
  };
  struct MatrixDescription {
    blas_lt::NumberType type = blas_lt::NumberType::float32;
    long rows = 0, columns = 0;

    float get(void const* numbers, long row, long column, bool swapped) const {
      return get_number(type, numbers, swapped ? row * rows + column : column * rows + row);
    }
  };
  struct Limits {
    unsigned alignment = 0;
  };
  using Product = ProductDescription*;
  using Matrix = MatrixDescription*;
  using Preference = Limits*;
  struct Choice {
    unsigned alignment = 0;
  };
  enum class Attribute { first, second, epilogue, vector, vector_type };

  static constexpr Status success = Status::success;
  // What no machine has, where it is lacking.
  static constexpr long workspace_bytes = lacking == Lacking::workspace ? 1L << 47 : 32L << 20;
  static constexpr int least_alignment = lacking == Lacking::alignment ? 16 : 1;
  static constexpr std::int32_t as_it_is = 0, transposed = 1;
  static constexpr Attribute attribute_first = Attribute::first,
                             attribute_second = Attribute::second,
                             attribute_epilogue = Attribute::epilogue,
                             attribute_vector = Attribute::vector,
                             attribute_vector_type = Attribute::vector_type;
  /// Launches by epilogue.
  static inline long launches[4] = {};
  static inline unsigned last_alignment = 0;
  static inline bool recording = false;

  static Stream stream(space const&) { return 0; }
  static inline int now = 0, handles = 0;  // the device of all instances; made by now
  static int device(space const&) { return now; }
  static void select(space const&) {}
  static bool records(space const&) { return recording; }
  static std::string text(Status) { return "refused"; }
  static std::int32_t type(blas_lt::NumberType t) { return std::int32_t(t); }
  static std::uint32_t epilogue(blas_lt::Epilogue e) { return std::uint32_t(e); }

  static Status create(Handle*) {
    ++handles;
    return lacking == Lacking::handle ? Status::refused : success;
  }
  static Status create(Product* product) { return make(product, {}); }
  static Status create(Matrix* matrix, std::int32_t type, long rows, long columns) {
    return make(matrix, {blas_lt::NumberType(type), rows, columns});
  }
  static Status create(Preference* preference) { return make(preference, {}); }
  static Status destroy(Handle) { return success; }
  template <class T> static Status destroy(T* made) {
    delete made;
    return success;
  }
  template <class Value> static Status set(Product p, Attribute attribute, Value const& value) {
    switch (attribute) {
      case Attribute::first:
        return copy(p->transposed[0], value);
      case Attribute::second:
        return copy(p->transposed[1], value);
      case Attribute::epilogue:
        return copy(p->epilogue, value);
      case Attribute::vector:
        return copy(p->vector, value);
      case Attribute::vector_type:
        return copy(p->vector_type, value);
    }
    return Status::refused;
  }
  static Status limit(Preference preference, std::uint64_t, std::uint32_t alignment) {
    preference->alignment = last_alignment = alignment;
    return success;
  }
  static Status choose(Handle, Product product, Matrix first, Matrix second, Matrix result,
                       Preference preference, Choice* choice, int* found) {
    choice->alignment = preference->alignment;
    bool const fits = depth(product, first) == depth(product, second, 1) &&
                      rows(product, first) == result->rows &&
                      columns(product, second) == result->columns;
    bool const sums = blas_lt::Epilogue(product->epilogue) == blas_lt::Epilogue::sum_of_columns;
    *found =
        fits && lacking != Lacking::algorithms && !(sums && lacking == Lacking::sums_of_columns);
    return success;
  }
  static Status run(Handle, Product product, float one, void const* first, Matrix a,
                    void const* second, Matrix b, float kept, void* result, Matrix d,
                    Choice const& choice, void*, Stream) {
    auto const way = blas_lt::Epilogue(product->epilogue);
    if (lacking == Lacking::launches) return Status::refused;
    ++launches[int(way)];
    for (void const* const p : {first, second, static_cast<void const*>(result)})
      if (reinterpret_cast<std::uintptr_t>(p) % choice.alignment != 0) return Status::refused;
    auto const vector_type = blas_lt::NumberType(product->vector_type);
    for (long column = 0; column < d->columns; ++column)
      for (long row = 0; row < d->rows; ++row) {
        float sum = 0;
        for (long k = 0; k < depth(product, a); ++k)
          sum += a->get(first, row, k, product->transposed[0]) *
                 b->get(second, k, column, product->transposed[1]);
        sum *= one;
        if (kept != 0) sum += kept * d->get(result, row, column, false);
        if (way == blas_lt::Epilogue::bias || way == blas_lt::Epilogue::bias_relu)
          sum += get_number(vector_type, product->vector, row);
        if (way == blas_lt::Epilogue::bias_relu && (sum < 0 || hides(sum))) sum = 0;
        set_number(d->type, result, column * d->rows + row, sum);
      }
    for (long row = 0; way == blas_lt::Epilogue::sum_of_columns && row < d->rows; ++row) {
      float sum = 0;
      for (long k = 0; k < depth(product, a); ++k)
        sum += a->get(first, row, k, product->transposed[0]);
      set_number(vector_type, product->vector, row, sum);
    }
    return success;
  }

 private:
  static bool hides(float x) { return lacking == Lacking::nan_in_relu && std::isnan(x); }
  template <class T> static Status make(T** to, T const& value) {
    *to = new T(value);
    return success;
  }
  template <class T, class Value> static Status copy(T& to, Value const& from) {
    if (sizeof(T) != sizeof(Value)) return Status::refused;
    std::memcpy(&to, &from, sizeof(T));
    return success;
  }
  static long rows(Product p, Matrix m) { return p->transposed[0] ? m->columns : m->rows; }
  static long columns(Product p, Matrix m) { return p->transposed[1] ? m->rows : m->columns; }
  static long depth(Product p, Matrix m, int factor = 0) {
    return (p->transposed[factor] != 0) == (factor == 0) ? m->rows : m->columns;
  }
  static float get_number(blas_lt::NumberType type, void const* numbers, long at) {
    switch (type) {
      case blas_lt::NumberType::bfloat16:
        return float(static_cast<bf16 const*>(numbers)[at]);
      case blas_lt::NumberType::float16:
        return float(static_cast<fp16 const*>(numbers)[at]);
      case blas_lt::NumberType::float32:
        break;
    }
    return static_cast<float const*>(numbers)[at];
  }
  static void set_number(blas_lt::NumberType type, void* numbers, long at, float value) {
    switch (type) {
      case blas_lt::NumberType::bfloat16:
        static_cast<bf16*>(numbers)[at] = bf16(value);
        break;
      case blas_lt::NumberType::float16:
        static_cast<fp16*>(numbers)[at] = fp16(value);
        break;
      case blas_lt::NumberType::float32:
        static_cast<float*>(numbers)[at] = value;
        break;
    }
  }
};

}  // namespace phyllo::test
