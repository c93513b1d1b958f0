// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tensors.hpp"

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/mpi.hpp>

#include <limits>
#include <vector>

namespace perf {

/// AllReduce<Mpi> whose buckets are chosen at run time, so that one program compares them: the
/// trainer hands over the gradients of one layer after the other, from the last to the first, and
/// neighbours leave together. Gradients are float.
class Rebucketed : public AllReduce<Mpi, 1> {
 public:
  enum class When {
    never,       // every rank trains alone
    at_the_end,  // all buckets leave when the backward pass is over
    at_once,     // each as soon as it is complete
    by_tensor,   // at the end, one blocking sum for each tensor
  };
  static constexpr char const* name = "AllReduce<Mpi> by buckets chosen at run time";

  using AllReduce<Mpi, 1>::AllReduce;

  When when = When::at_once;
  long bytes = default_bucket_bytes;
  std::vector<Tensor> tensors;

  template <class Space, Summable T> void begin(Space const& exec, T* data, long count) {
    static_assert(std::same_as<T, float>, "Rebucketed: gradients are float.");
    front_ = data;
    pending_ += count;
    bool const full = pending_ * long(sizeof(T)) >= bytes;
    if (full && (when == When::at_the_end || when == When::at_once)) leave(exec);
  }
  template <class Space> void finish(Space const& exec) {
    if (when == When::by_tensor)
      for (Tensor const& t : tensors) this->sum(exec, front_ + t.offset, t.size);
    else if (pending_ > 0 && when != When::never && left_ == 0)
      this->sum(exec, front_, pending_);  // as the trainer does with an only bucket
    else if (pending_ > 0 && when != When::never)
      leave(exec);
    pending_ = left_ = 0;
    for (Bucket const& b : late_) AllReduce<Mpi, 1>::begin(exec, b.data, b.count);
    late_.clear();
    AllReduce<Mpi, 1>::finish(exec);
  }

 private:
  struct Bucket {
    float* data;
    long count;
  };
  template <class Space> void leave(Space const& exec) {
    if (when == When::at_the_end)
      late_.push_back({front_, pending_});
    else
      AllReduce<Mpi, 1>::begin(exec, front_, pending_);
    pending_ = 0;
    ++left_;
  }

  float* front_ = nullptr;  // of the gradients that are complete; in the end of all
  long pending_ = 0;        // elements from there on that have not left
  int left_ = 0;            // buckets of this step
  std::vector<Bucket> late_;
};

}  // namespace perf
