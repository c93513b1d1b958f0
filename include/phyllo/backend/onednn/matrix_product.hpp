// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/onednn/product_shape.hpp>

#include <oneapi/dnnl/dnnl.hpp>

#include <omp.h>

#include <cstddef>
#include <map>

namespace phyllo::inline PHYLLO_ISA::onednn {

/// A product of matrices as oneDNN compiled it for a shape, with the memory that it works in.
///
/// state    kept from the first product of a shape to the thread's end, because the work memory
///          serves one product at a time; past `most_shapes` shapes, all are made anew
/// cost     making one takes some milliseconds; calling it allocates nothing that stays
class MatrixProduct {
 public:
  MatrixProduct(dnnl::engine const& engine, ProductShape const& s)
      : MatrixProduct(engine, s, describe(engine, s)) {}
  MatrixProduct(MatrixProduct const&) = delete;
  MatrixProduct& operator=(MatrixProduct const&) = delete;

  /// Whether oneDNN multiplies such numbers on this processor: bfloat16 takes AVX-512 or
  /// AVX-NE-CONVERT. ONEDNN_MAX_CPU_ISA says that it has less.
  ///
  /// source  oneDNN's developer guide, data types
  template <class Storage> static bool knows() {
    static bool const known = is_described(data_type<Storage>);
    return known;
  }

  /// The result is written when the call returns.
  static void run(ProductShape const& s, void const* left, void const* right, void const* bias,
                  void* result) {
    thread_local Kept kept;
    Threads const threads(s.threads);
    auto at = kept.products.find(s);
    if (at == kept.products.end()) {
      if (kept.products.size() == most_shapes) kept.products.clear();
      at = kept.products.try_emplace(s, kept.engine, s).first;
    }
    at->second.execute(kept.stream, left, right, bias, result);
  }

 private:
  using memory = dnnl::memory;
  static constexpr std::size_t most_shapes = 256;

  struct Kept {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    std::map<ProductShape, MatrixProduct> products;
  };

  // oneDNN starts as many threads as OpenMP would, when it compiles and when it runs.
  class Threads {
   public:
    explicit Threads(int count) { omp_set_num_threads(count); }
    ~Threads() { omp_set_num_threads(before_); }
    Threads(Threads const&) = delete;
    Threads& operator=(Threads const&) = delete;

   private:
    int before_ = omp_get_max_threads();
  };

  static memory::desc matrix(long rows, long columns, memory::data_type type, bool by_rows) {
    return {{rows, columns}, type, by_rows ? memory::format_tag::ab : memory::format_tag::ba};
  }

  static bool is_described(memory::data_type type) {
    ProductShape s;
    s.rows = s.columns = s.depth = 64;
    s.operands = s.result = type;
    return bool(describe(dnnl::engine(dnnl::engine::kind::cpu, 0), s, true));
  }
  static dnnl::matmul::primitive_desc describe(dnnl::engine const& engine, ProductShape const& s,
                                               bool may_be_empty = false) {
    dnnl::post_ops after;
    if (s.accumulate) after.append_sum(1.0f);
    if (s.activation != dnnl::algorithm::undef) after.append_eltwise(s.activation, 0, 0);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    auto const left = matrix(s.rows, s.depth, s.operands, s.left_by_rows);
    auto const right = matrix(s.depth, s.columns, s.operands, s.right_by_rows);
    auto const result = matrix(s.rows, s.columns, s.result, true);
    if (!s.bias) return {engine, left, right, result, attributes, may_be_empty};
    auto const bias = matrix(1, s.columns, s.operands, true);
    return {engine, left, right, bias, result, attributes, may_be_empty};
  }

  MatrixProduct(dnnl::engine const& engine, ProductShape const& s,
                dnnl::matmul::primitive_desc const& described)
      : product_(described),
        left_(described.src_desc(), engine, nullptr),
        right_(described.weights_desc(), engine, nullptr),
        bias_(s.bias ? described.bias_desc() : memory::desc(), engine, nullptr),
        result_(described.dst_desc(), engine, nullptr),
        work_(described.scratchpad_desc(), engine),
        arguments_{{DNNL_ARG_SRC, left_.get()},
                   {DNNL_ARG_WEIGHTS, right_.get()},
                   {DNNL_ARG_DST, result_.get()},
                   {DNNL_ARG_SCRATCHPAD, work_.get()},
                   {DNNL_ARG_BIAS, bias_.get()}},
        count_(s.bias ? 5 : 4) {}

  // The interface in C: that in C++ copies its arguments into a new vector at every call.
  void execute(dnnl::stream& stream, void const* left, void const* right, void const* bias,
               void* result) const {
    left_.set_data_handle(const_cast<void*>(left));
    right_.set_data_handle(const_cast<void*>(right));
    if (count_ == 5) bias_.set_data_handle(const_cast<void*>(bias));
    result_.set_data_handle(result);
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(product_.get(), stream.get(), count_, arguments_),
        "oneDNN: a product of matrices did not run");
    stream.wait();
  }

  dnnl::matmul product_;
  memory left_, right_, bias_, result_, work_;
  dnnl_exec_arg_t arguments_[5];
  int count_;
};

}  // namespace phyllo::inline PHYLLO_ISA::onednn
