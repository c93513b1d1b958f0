// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warp.hpp"

#include <bit>
#include <cstring>

#include "block.hpp"
#include "complaint.hpp"
#include "counter.hpp"

namespace ptx {

namespace {

std::vector<Bits*>& constants() {
  static std::vector<Bits*> rows;
  return rows;
}

}  // namespace

Operand constant(Bits bits) {
  static std::map<Bits, int> known;
  auto const [entry, is_new] = known.try_emplace(bits, int(constants().size()));
  if (is_new) {
    auto* const row = new Bits[lanes];
    for (int lane = 0; lane < lanes; ++lane) row[lane] = bits;
    constants().push_back(row);
  }
  return {Operand::constant, entry->second};
}

Warp::Warp(Block& of, int number, Mask threads)
    : block(&of),
      index(number),
      alive(threads),
      turn(next_moment()),
      special_(std::size_t(special_count) * lanes) {
  auto const set = [&](int which, int lane, Bits value) { special_row(which)[lane] = value; };
  auto const& [x, y, z] = of.threads;
  for (int lane = 0; lane < lanes; ++lane) {
    auto const thread = unsigned(number * lanes + lane);
    set(tid, lane, thread % x);
    set(tid + 1, lane, thread / x % y);
    set(tid + 2, lane, thread / x / y);
    for (int k = 0; k < 3; ++k) {
      set(ntid + k, lane, of.threads[std::size_t(k)]);
      set(ctaid + k, lane, of.index[std::size_t(k)]);
      set(nctaid + k, lane, of.blocks[std::size_t(k)]);
    }
    set(lane_id, lane, Bits(lane));
    set(warp_id, lane, Bits(number));
    set(warp_count, lane, (x * y * z + lanes - 1) / lanes);
    set(lane_mask_eq, lane, Mask(1) << lane);
    set(lane_mask_lt, lane, (Mask(1) << lane) - 1);
  }
  groups.push_back({frame_of(0, of.kernel), 0, 0, alive});
}

Bits* Warp::row(Operand operand) {
  switch (operand.kind) {
    case Operand::variable:
      return frame->rows.data() + std::size_t(operand.index) * lanes;
    case Operand::special:
      return special_row(operand.index);
    case Operand::constant:
      return constants()[std::size_t(operand.index)];
    default:
      stop("an operand without a row was asked for its numbers.");
  }
}

Frame* Warp::frame_of(int depth, Function* function) {
  if (int(frames_.size()) <= depth) frames_.resize(std::size_t(depth) + 1);
  auto& known = frames_[std::size_t(depth)][function];
  if (!known) known = std::make_unique<Frame>(function);
  return known.get();
}

bool Warp::is_local(int lane, Bits address, int bytes) const {
  for (auto const& calls : frames_)
    for (auto const& [function, memory] : calls) {
      auto const first = reinterpret_cast<Bits>(memory->local_of(lane));
      if (address >= first && address + Bits(bytes) <= first + Bits(function->local_bytes))
        return true;
    }
  return false;
}

bool Warp::can_run() const {
  for (auto const& group : groups)
    if (group.state != Group::waits_for_block) return true;
  return false;
}

void Warp::merge() {
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t k = i + 1; k < groups.size();) {
      Group &one = groups[i], &other = groups[k];
      bool const at_barriers =
          one.state == Group::waits_for_block && other.state == Group::waits_for_block;
      bool const at_none =
          one.state != Group::waits_for_block && other.state != Group::waits_for_block;
      if (one.place == other.place && one.frame == other.frame && (at_barriers || at_none)) {
        one.mask |= other.mask;
        if (at_none) one.state = Group::runs;
        groups.erase(groups.begin() + long(k));
      } else {
        ++k;
      }
    }
}

// The group that goes first; -1: none can.
int Warp::choose() {
  int best = -1;
  for (int i = 0; i < int(groups.size()); ++i) {
    Group const& group = groups[std::size_t(i)];
    if (group.state != Group::runs) continue;
    Group const* const so_far = best < 0 ? nullptr : &groups[std::size_t(best)];
    if (!so_far || group.depth > so_far->depth ||
        (group.depth == so_far->depth && group.place < so_far->place))
      best = i;
  }
  return best;
}

void Warp::run(long steps) {
  while (steps > 0 && !groups.empty()) {
    if (groups.size() > 1) merge();
    int chosen = choose();
    bool const is_forced = chosen < 0;
    if (is_forced) {  // lanes that wait for others, which are at a barrier or wait elsewhere
      for (int i = 0; i < int(groups.size()); ++i)
        if (groups[std::size_t(i)].state == Group::waits_for_lanes) chosen = i;
      if (chosen < 0) return;
      Group& group = groups[std::size_t(chosen)];
      group.state = Group::runs;
      frame = group.frame;
      complain(*this, group.instruction(), std::countr_zero(group.mask),
               "an instruction of all lanes is met by some of them only");
    }
    bool const is_alone = groups.size() == 1;
    Group group = groups[std::size_t(chosen)];  // a copy: those that part from it are added
    frame = group.frame;
    while (steps-- > 0 && step(group, is_forced) && is_alone) {
    }
    if (group.mask)
      groups[std::size_t(chosen)] = group;
    else
      groups.erase(groups.begin() + chosen);
  }
}

Mask Warp::guarded(Group const& group, Instruction const& instruction) const {
  if (instruction.guard < 0) return group.mask;
  Bits const* const predicate = group.frame->rows.data() + std::size_t(instruction.guard) * lanes;
  Mask taken = 0;
  for (int lane = 0; lane < lanes; ++lane) taken |= Mask(predicate[lane] & 1) << lane;
  return group.mask & (instruction.guard_negated ? ~taken : taken);
}

// Lanes of the group that are not in the mask go on elsewhere.
void Warp::part(Group& group, Mask mask, int other_place) {
  if (Mask const rest = group.mask & ~mask) {
    Group other = group;
    other.mask = rest;
    other.place = other_place;
    groups.push_back(other);
  }
  group.mask = mask;
}

// One instruction; whether the group may go on without looking at others.
bool Warp::step(Group& group, bool is_forced) {
  Instruction const& instruction = group.instruction();
  Mask const mask = guarded(group, instruction);
  ++block->instructions;
  Counter* const counter = Counter::get();
  if (counter && mask) counter->begin(instruction);
  bool const goes_on = step(group, instruction, mask, is_forced);
  // What waits for other lanes has not been executed.
  if (counter && mask && group.state != Group::waits_for_lanes) counter->end();
  return goes_on;
}

bool Warp::step(Group& group, Instruction const& instruction, Mask mask, bool is_forced) {
  switch (instruction.flow) {
    case Flow::next:
      if (mask) instruction.execute(*this, instruction, mask);
      ++group.place;
      return true;
    case Flow::together:
      if (mask && !is_forced && wait_for_lanes(group, instruction, mask)) return false;
      if (mask) instruction.execute(*this, instruction, mask);
      ++group.place;
      return true;
    case Flow::branch:
      if (mask) {
        bool const parts = mask != group.mask;
        part(group, mask, group.place + 1);
        group.place = instruction.target;
        return !parts;
      }
      ++group.place;
      return true;
    case Flow::exit:
      if (mask && instruction.option)
        complain(*this, instruction, std::countr_zero(mask), "the kernel gives up");
      alive &= ~mask;
      group.mask &= ~mask;
      ++group.place;
      return group.mask != 0;
    case Flow::block_barrier: {
      part(group, mask, group.place + 1);
      if (!mask) return false;
      group.state = Group::waits_for_block;
      group.barrier = int(row(instruction.from[0])[std::countr_zero(mask)]);
      ++group.place;
      return false;
    }
    case Flow::call:
      part(group, mask, group.place + 1);
      if (mask) call(group, instruction);
      return false;
    case Flow::leave:
      part(group, mask, group.place + 1);
      if (mask) leave(group);
      return false;
  }
  return false;
}

bool Warp::wait_for_lanes(Group& group, Instruction const& instruction, Mask mask) {
  Mask wanted = alive;
  if (instruction.names_lanes) wanted &= Mask(row(instruction.from.back())[std::countr_zero(mask)]);
  if ((mask & wanted) == wanted) return false;
  group.state = Group::waits_for_lanes;
  return true;
}

void Warp::call(Group& group, Instruction const& instruction) {
  Function* const callee = instruction.callee;
  Frame* const from = group.frame;
  Frame* const to = frame_of(group.depth + 1, callee);
  for_each_lane(group.mask, [&](int lane) {
    returns_[lane].push_back({from, group.depth, group.place});
    for (std::size_t i = 0; i < instruction.arguments.size(); ++i)
      std::memcpy(to->parameters_of(lane) + callee->inputs[i].offset,
                  from->parameters_of(lane) + instruction.arguments[i],
                  std::size_t(callee->inputs[i].bytes));
  });
  group.frame = to;
  group.place = 0;
  ++group.depth;
}

// Each lane to its own caller; those of one caller meet again at once.
void Warp::leave(Group& group) {
  for_each_lane(group.mask, [&](int lane) {
    Return const back = returns_[lane].back();
    returns_[lane].pop_back();
    Instruction const& call = back.frame->function->code[std::size_t(back.place)];
    for (std::size_t i = 0; i < call.results.size(); ++i) {
      auto const& result = group.frame->function->outputs[i];
      std::memcpy(back.frame->parameters_of(lane) + call.results[i],
                  group.frame->parameters_of(lane) + result.offset, std::size_t(result.bytes));
    }
    groups.push_back({back.frame, back.depth, back.place + 1, Mask(1) << lane});
  });
  group.mask = 0;
}

}  // namespace ptx
