// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stream.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "seed.hpp"

namespace ptx {

namespace {

std::vector<std::unique_ptr<Stream>>& streams() {
  static auto* const all = new std::vector<std::unique_ptr<Stream>>;
  return *all;
}

}  // namespace

void Stream::ask(std::function<void()> work) {
  waiting_.push_back(std::move(work));
  ++asked_;
}

// Work may wait for an event behind other work of its own stream, which is done then.
void Stream::finish(long count) {
  while (!waiting_.empty() && asked_ - long(waiting_.size()) < count) {
    auto const work = std::move(waiting_.front());
    waiting_.pop_front();
    work();
  }
}

Stream* new_stream() { return streams().emplace_back(std::make_unique<Stream>()).get(); }

void finish_all() {
  for (;;) {
    std::vector<Stream*> busy;
    for (auto const& stream : streams())
      if (!stream->waiting_.empty()) busy.push_back(stream.get());
    if (busy.empty()) return;
    Stream& next = *busy[drawn()() % busy.size()];
    next.finish(next.asked_ - long(next.waiting_.size()) + 1);
  }
}

}  // namespace ptx
