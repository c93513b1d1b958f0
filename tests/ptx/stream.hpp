// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <deque>
#include <functional>
#include <limits>

namespace ptx {

/// Work in the order in which it was asked for, done as late as CUDA may: when somebody waits for
/// it. So what is read before, or changed while it is needed, is not what it should be.
class Stream {
 public:
  static constexpr long everything = std::numeric_limits<long>::max();

  void ask(std::function<void()> work);
  long asked() const { return asked_; }
  /// Of all that was ever asked for, the first `count` pieces.
  void finish(long count = everything);

 private:
  friend void finish_all();
  std::deque<std::function<void()>> waiting_;
  long asked_ = 0;
};

/// These are there until the program ends: events keep their places in them.
Stream* new_stream();

/// One piece after the other, of streams drawn from PHYLLO_PTX_SEED.
void finish_all();

}  // namespace ptx
