// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "block.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "complaint.hpp"
#include "counter.hpp"
#include "seed.hpp"

namespace ptx {

std::uint32_t next_moment() {
  static std::uint32_t moment = 0;
  return ++moment;
}

Block::Block(Function* of, std::byte* with, std::array<unsigned, 3> grid,
             std::array<unsigned, 3> block, long scratch)
    : kernel(of),
      parameters(with),
      blocks(grid),
      threads(block),
      dynamic_bytes(scratch),
      shared(std::size_t(dynamic_begin + scratch)),
      cells(shared.size() / 2 + 1),
      launched(next_moment()) {}

bool Block::is_shared(Bits at, int bytes) const {
  auto const within = [&](long begin, long size) {
    return at >= Bits(begin) && at + Bits(bytes) <= Bits(begin + size);
  };
  return within(static_begin, kernel->module->static_shared) ||
         within(dynamic_begin, dynamic_bytes);
}

void Block::launch() {
  if (Counter* const counter = Counter::get()) counter->launch(*this);
  auto& [x, y, z] = index;
  for (z = 0; z < blocks[2]; ++z)
    for (y = 0; y < blocks[1]; ++y)
      for (x = 0; x < blocks[0]; ++x) run();
}

void Block::run() {
  std::memset(shared.data(), 0xff, shared.size());  // NaN patterns
  started = moment = next_moment();
  int const count = int(threads[0] * threads[1] * threads[2]);
  warps.clear();
  for (int first = 0; first < count; first += lanes) {
    int const here = std::min(lanes, count - first);
    warps.push_back(std::make_unique<Warp>(*this, first / lanes, all_lanes >> (lanes - here)));
  }
  std::vector<Warp*> order;
  for (auto const& warp : warps) order.push_back(warp.get());
  bool goes_on = true;
  while (goes_on) {
    std::shuffle(order.begin(), order.end(), drawn());
    bool has_run = false;
    for (Warp* const warp : order)
      if (warp->can_run()) {
        has_run = true;
        warp->run(200 + long(drawn()() % 4000));
      }
    goes_on = has_run || release();
  }
}

// All threads wait or are done: those at a complete barrier go on. False: the block is done.
bool Block::release() {
  int alive = 0;
  std::map<int, int> waiting;  // threads at a barrier
  for (auto const& warp : warps) {
    alive += std::popcount(warp->alive);
    for (auto const& group : warp->groups) {
      waiting[group.barrier] += std::popcount(group.mask);
      Warp::Group const& other = warp->groups.front();
      if (group.barrier != other.barrier || group.place == other.place) continue;
      warp->frame = group.frame;
      complain(*warp, group.frame->function->code[std::size_t(group.place) - 1],
               std::countr_zero(group.mask),
               "lanes of a warp wait for the block at different places");
    }
  }
  if (!alive) return false;
  if (waiting.size() > 1)
    stop("the threads of a block wait for each other for ever, at different barriers, in " +
         readable(kernel->name) + ".");
  reduce(alive);
  moment = next_moment();
  for (auto const& warp : warps)
    for (auto& group : warp->groups) group.state = Warp::Group::runs;
  return true;
}

// What barriers make of a predicate of each thread: all, any, how many.
void Block::reduce(int threads_here) {
  Bits yes = 0;
  auto const for_each = [&](auto const& take) {
    for (auto const& warp : warps)
      for (auto const& group : warp->groups) {
        Instruction const& barrier = group.frame->function->code[std::size_t(group.place) - 1];
        if (barrier.to.empty()) continue;
        warp->frame = group.frame;
        take(*warp, barrier, group.mask);
      }
  };
  for_each([&](Warp& warp, Instruction const& barrier, Mask mask) {
    Bits const* const predicate = warp.row(barrier.from[1]);
    for_each_lane(mask, [&](int lane) { yes += predicate[lane] & 1; });
  });
  for_each([&](Warp& warp, Instruction const& barrier, Mask mask) {
    Bits const results[] = {yes == Bits(threads_here), yes != 0, yes};
    Bits* const to = warp.row(barrier.to[0]);
    for_each_lane(mask, [&](int lane) { to[lane] = results[barrier.option]; });
  });
}

}  // namespace ptx
