// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/blas_lt/product_shape.hpp>
#include <phyllo/core/error.hpp>

#include <cstddef>
#include <string>

namespace phyllo::inline PHYLLO_ISA::blas_lt {

/// The library's answer, where it is one that a program cannot go on with.
template <class Library> void check(typename Library::Status status, char const* what) {
  if (status != Library::success)
    throw Error(std::string(Library::name) + ": could not " + what + " a product of matrices (" +
                Library::text(status) +
                "). Remove its backend from the list of backends to use Phyllo's own kernels.");
}

/// Something that the library makes and takes back.
template <class Library, class T> class Owned {
 public:
  template <class... From> explicit Owned(From const&... from) {
    check<Library>(Library::create(&value_, from...), "describe");
  }
  Owned(Owned const&) = delete;
  Owned& operator=(Owned const&) = delete;
  ~Owned() { static_cast<void>(Library::destroy(value_)); }
  T operator*() const { return value_; }

 private:
  T value_{};
};

/// A product of matrices as the library is told of it, with the algorithm that it chose.
///
/// The library's matrices stand by columns. So it computes the transpose of the result: its first
/// factor is our right one, and a matrix that we have by rows is its transpose as it is.
///
/// options  Library: cuda::CublasLt, hip::HipblasLt
/// cost     choosing takes the host some ten microseconds, a call about two
template <class Library> class MatrixProduct {
 public:
  using Handle = typename Library::Handle;

  /// The vector is the bias, or takes the sums of columns; its alignment matters.
  MatrixProduct(Handle handle, ProductShape const& s, std::size_t workspace_bytes,
                void const* vector)
      : right_(matrix(s.factors, s.columns, s.depth, s.right_by_rows)),
        left_(matrix(s.factors, s.depth, s.rows, s.left_by_rows)),
        result_(matrix(s.result, s.columns, s.rows, true)),
        kept_(s.accumulate ? 1.0f : 0.0f),
        has_vector_(s.epilogue != Epilogue::none) {
    auto const way = [](bool as_it_is) {
      return as_it_is ? Library::as_it_is : Library::transposed;
    };
    set(Library::attribute_first, way(s.right_by_rows));
    set(Library::attribute_second, way(s.left_by_rows));
    set(Library::attribute_epilogue, Library::epilogue(s.epilogue));
    if (has_vector_) {
      set(Library::attribute_vector_type,
          Library::type(s.epilogue == Epilogue::sum_of_columns ? s.result : s.factors));
      set(Library::attribute_vector, vector);
    }
    Owned<Library, typename Library::Preference> const preference;
    check<Library>(Library::limit(*preference, workspace_bytes, unsigned(s.alignment)), "limit");
    int found = 0;
    // What it has no algorithm for, it refuses, in one way or another: others compute it.
    is_found_ = Library::choose(handle, *product_, *right_, *left_, *result_, *preference, &choice_,
                                &found) == Library::success &&
                found > 0;
  }

  bool is_found() const { return is_found_; }

  /// One launch on the stream; what the library says.
  typename Library::Status run(Handle handle, typename Library::Stream stream, void* workspace,
                               void const* left, void const* right, void const* vector,
                               void* result) const {
    if (has_vector_) set(Library::attribute_vector, vector);
    return Library::run(handle, *product_, 1.0f, right, *right_, left, *left_, kept_, result,
                        *result_, choice_, workspace, stream);
  }
  /// It cannot be launched after all.
  void refuse() { is_found_ = false; }

 private:
  struct Matrix : Owned<Library, typename Library::Matrix> {
    Matrix(NumberType type, long rows, long columns)
        : Owned<Library, typename Library::Matrix>(Library::type(type), rows, columns) {}
  };
  // (rows, columns) as a library of columns names them, or the other way round in memory.
  static Matrix matrix(NumberType type, long rows, long columns, bool as_it_is) {
    return as_it_is ? Matrix(type, rows, columns) : Matrix(type, columns, rows);
  }
  template <class Attribute, class Value> void set(Attribute attribute, Value const& value) const {
    check<Library>(Library::set(*product_, attribute, value), "describe");
  }

  Owned<Library, typename Library::Product> product_;
  Matrix right_, left_, result_;
  float kept_ = 0;  // of what the result was before
  bool has_vector_ = false;
  bool is_found_ = false;
  typename Library::Choice choice_{};
};

}  // namespace phyllo::inline PHYLLO_ISA::blas_lt
