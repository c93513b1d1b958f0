// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>

#include "block.hpp"
#include "complaint.hpp"
#include "counter.hpp"
#include "global_memory.hpp"
#include "number.hpp"

namespace ptx {

namespace {

Access known(Access access, std::byte const* here, void const* value, int bytes) {
  bool const is_same =
      access == Access::write && value && !std::memcmp(here, value, std::size_t(bytes));
  return is_same ? Access::rewrite : access;
}

std::byte* place_shared(Warp& warp, Instruction const& instruction, int lane, Bits at, int bytes,
                        Access access, void const* value) {
  Block& block = *warp.block;
  if (!block.is_shared(at, bytes)) {
    complain(warp, instruction, lane,
             "scratch memory has " + std::to_string(block.dynamic_bytes) +
                 " bytes for this launch, and the access begins at byte " +
                 std::to_string(long(at) - Block::dynamic_begin));
    return nullptr;
  }
  std::byte* const here = block.shared.data() + at;
  if (Counter* const counter = Counter::get()) counter->access(Space::shared, at, bytes);
  check_race(warp, instruction, lane, block.cells.data() + at / 2, at, bytes,
             known(access, here, value, bytes), false);
  return here;
}

// Of a lane: its own in local memory.
Bits address(Warp& warp, Instruction const& instruction, int lane) {
  Operand const operand = instruction.address;
  switch (operand.kind) {
    case Operand::local_address:
      return reinterpret_cast<Bits>(warp.frame->local_of(lane)) + Bits(operand.index);
    case Operand::entry_parameter:
    case Operand::call_parameter:
      return Bits(operand.index);
    default:
      break;
  }
  Bits const at = warp.row(operand)[lane];
  return instruction.space == Space::shared ? Bits(std::uint32_t(at)) : at;
}

std::byte* place(Warp& warp, Instruction const& instruction, int lane, int bytes, Access access,
                 void const* value = nullptr) {
  return ptx::place(warp, instruction, lane,
                    address(warp, instruction, lane) + Bits(instruction.offset), bytes,
                    instruction.atomic ? Access::atomic : access, value);
}

constexpr int most_numbers = 8;  // of a vector

// Signed numbers get their sign (PTX ISA 9.0, 9.4.1); a register of 32 bits has zeros behind.
Bits extended(Bits bits, int bytes, bool is_signed, bool is_wide) {
  if (!is_signed || bytes >= (is_wide ? 8 : 4)) return bits;
  int const shift = 64 - 8 * bytes;
  return Bits(std::int64_t(bits << shift) >> shift);
}

void load(Warp& warp, Instruction const& in, Mask mask) {
  Bits numbers[most_numbers][lanes];
  auto const size = std::size_t(in.bytes);
  for_each_lane(mask, [&](int lane) {
    auto const* const at = place(warp, in, lane, in.bytes * int(in.to.size()), Access::read);
    for (std::size_t k = 0; k < in.to.size(); ++k) {
      Bits bits = at ? 0 : ~Bits(0);
      if (at) std::memcpy(&bits, at + k * size, size);
      numbers[k][lane] = extended(bits, in.bytes, in.option, in.to[k].is_wide);
    }
  });
  for (std::size_t k = 0; k < in.to.size(); ++k)
    if (in.to[k].kind != Operand::none) {
      Bits* const to = warp.row(in.to[k]);
      for_each_lane(mask, [&](int lane) { to[lane] = numbers[k][lane]; });
    }
}

void store(Warp& warp, Instruction const& in, Mask mask) {
  Bits const* from[most_numbers];
  for (std::size_t k = 0; k < in.from.size(); ++k) from[k] = warp.row(in.from[k]);
  auto const size = std::size_t(in.bytes), all = size * in.from.size();
  for_each_lane(mask, [&](int lane) {
    std::byte value[most_numbers * sizeof(Bits)];
    for (std::size_t k = 0; k < in.from.size(); ++k)
      std::memcpy(value + k * size, &from[k][lane], size);
    if (auto* const at = place(warp, in, lane, int(all), Access::write, value))
      std::memcpy(at, value, all);
  });
}

constexpr char const* atomic_names[] = {"add", "exch", "cas", "min", "max", "and", "or", "xor"};

template <class T> T combined(std::string const& name, T old, T b, T c) {
  if (name == "add") {
    if constexpr (std::is_integral_v<T>)
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
    else
      return old + b;
  }
  if (name == "exch") return b;
  if (name == "cas") return old == b ? c : old;
  if (name == "min") return std::min(old, b);
  if (name == "max") return std::max(old, b);
  if constexpr (std::is_integral_v<T>) {
    if (name == "and") return old & b;
    if (name == "or") return old | b;
    if (name == "xor") return old ^ b;
  }
  stop("atomic " + name + " is not one of this type.");
}

template <class T> void change(Warp& warp, Instruction const& in, Mask mask) {
  Bits const* const b = warp.row(in.from[0]);
  Bits const* const c = in.from.size() > 1 ? warp.row(in.from[1]) : b;
  Bits* const to = in.to.empty() || in.to[0].kind == Operand::none ? nullptr : warp.row(in.to[0]);
  for_each_lane(mask, [&](int lane) {
    auto* const at = place(warp, in, lane, sizeof(T), Access::atomic);
    if (!at) return;
    T old;
    std::memcpy(&old, at, sizeof old);
    T const changed =
        combined(atomic_names[in.option], old, from_bits<T>(b[lane]), from_bits<T>(c[lane]));
    std::memcpy(at, &changed, sizeof changed);
    if (to) to[lane] = to_bits(old);
  });
}

// A number, or the address that a name stands for.
Bits value(Warp& warp, Instruction const& in, Operand operand, int lane) {
  auto const offset = Bits(in.offset);
  switch (operand.kind) {
    case Operand::local_address:
      return reinterpret_cast<Bits>(warp.frame->local_of(lane)) + Bits(operand.index) + offset;
    case Operand::entry_parameter:
      return reinterpret_cast<Bits>(warp.block->parameters) + Bits(operand.index) + offset;
    case Operand::call_parameter:
      return reinterpret_cast<Bits>(warp.frame->parameters_of(lane)) + Bits(operand.index) + offset;
    default:
      return warp.row(operand)[lane] + offset;
  }
}

// Also packs several registers into one, and takes one apart.
void move(Warp& warp, Instruction const& in, Mask mask) {
  std::size_t const parts = std::max(in.to.size(), in.from.size());
  int const width = 8 * in.bytes / int(parts);
  Bits const ones = ~Bits(0) >> (64 - width);
  Bits whole[lanes] = {};
  for (std::size_t k = 0; k < in.from.size(); ++k)
    for_each_lane(mask, [&](int lane) {
      Bits const part = value(warp, in, in.from[k], lane);
      whole[lane] |= in.from.size() > 1 ? (part & ones) << (width * int(k)) : part;
    });
  for (std::size_t k = 0; k < in.to.size(); ++k) {
    if (in.to[k].kind == Operand::none) continue;
    Bits* const to = warp.row(in.to[k]);
    bool const takes_apart = in.to.size() > 1;
    for_each_lane(mask, [&](int lane) {
      to[lane] = takes_apart ? whole[lane] >> (width * int(k)) & ones
                             : whole[lane] & (~Bits(0) >> (64 - 8 * in.bytes));
    });
  }
}

enum Address : int { unchanged, of_shared, to_shared };

void change_address(Warp& warp, Instruction const& in, Mask mask) {
  Bits* const to = warp.row(in.to[0]);
  auto const shared = reinterpret_cast<Bits>(warp.block->shared.data());
  for_each_lane(mask, [&](int lane) {
    Bits const at = value(warp, in, in.from[0], lane);
    to[lane] = in.option == of_shared ? at + shared : in.option == to_shared ? at - shared : at;
  });
}

void nothing(Warp&, Instruction const&, Mask) {}

Execute change_of(std::string const& type) {
  static std::map<std::string, Execute> const all = {
      {"f32", change<float>},         {"f64", change<double>},
      {"s32", change<std::int32_t>},  {"s64", change<std::int64_t>},
      {"u32", change<std::uint32_t>}, {"u64", change<std::uint64_t>},
      {"b32", change<std::uint32_t>}, {"b64", change<std::uint64_t>},
      {"b16", change<std::uint16_t>}};
  auto const found = all.find(type);
  return found == all.end() ? nullptr : found->second;
}

void set_space(Instruction& instruction, Opcode const& opcode) {
  if (instruction.address.kind == Operand::entry_parameter)
    instruction.space = Space::entry;
  else if (instruction.address.kind == Operand::call_parameter)
    instruction.space = Space::call;
  else if (opcode.has("shared") || opcode.has("shared::cta"))
    instruction.space = Space::shared;
  else if (opcode.has("global"))
    instruction.space = Space::global;
  else if (opcode.has("local"))
    instruction.space = Space::local;
  else if (opcode.has("const"))
    instruction.space = Space::constant;
}

}  // namespace

int bytes_of(std::string const& type) {
  auto const digits = type.find_first_of("123468");
  return digits == std::string::npos ? 1 : std::max(1, std::atoi(type.c_str() + digits) / 8);
}

std::byte* place(Warp& warp, Instruction const& instruction, int lane, Bits at, int bytes,
                 Access access, void const* value) {
  if (at % Bits(bytes)) {
    complain(warp, instruction, lane,
             "the address " + std::to_string(at) + " is no multiple of " + std::to_string(bytes));
    return nullptr;
  }
  auto const here = reinterpret_cast<std::byte*>(at);
  switch (instruction.space) {
    case Space::entry:
      return warp.block->parameters + at;
    case Space::call:
      return warp.frame->parameters_of(lane) + at;
    case Space::shared:
      return place_shared(warp, instruction, lane, at, bytes, access, value);
    case Space::local:
    case Space::generic: {
      if (warp.is_local(lane, at, bytes)) {
        if (Counter* const counter = Counter::get()) counter->access(Space::local, at, bytes);
        return here;
      }
      if (instruction.space == Space::local) break;
      auto const shared = reinterpret_cast<Bits>(warp.block->shared.data());
      if (at >= shared && at < shared + warp.block->shared.size())
        return place_shared(warp, instruction, lane, at - shared, bytes, access, value);
      auto const parameters = reinterpret_cast<Bits>(warp.block->parameters);
      if (access == Access::read && at >= parameters &&
          at + Bits(bytes) <= parameters + Bits(warp.block->kernel->entry_bytes))
        return here;
      break;
    }
    default:
      break;
  }
  auto* const piece =
      instruction.space == Space::local ? nullptr : global_memory().find(at, std::size_t(bytes));
  if (!piece) {
    complain(warp, instruction, lane,
             "the " + std::string(access == Access::read ? "read" : "write") + " of " +
                 std::to_string(bytes) + " bytes at " + std::to_string(at) +
                 " is outside of all memory that the program has asked for");
    return nullptr;
  }
  std::byte* const there = piece->place(at);
  if (Counter* const counter = Counter::get()) counter->access(Space::global, at, bytes);
  if (Cell* const cell = piece->cell(at))
    check_race(warp, instruction, lane, cell, at, bytes, known(access, there, value, bytes), true);
  return there;
}

bool decode_memory(Instruction& instruction, Opcode const& opcode) {
  std::string const& name = opcode.name();
  instruction.bytes = bytes_of(opcode.type());
  for (char const* word : {"volatile", "relaxed", "acquire", "release"})
    instruction.atomic = instruction.atomic || opcode.has(word);
  if (name == "ld" || name == "st" || name == "atom" || name == "red")
    set_space(instruction, opcode);
  if (name == "ld") {
    instruction.option = opcode.type()[0] == 's';
    instruction.execute = load;
  } else if (name == "st") {
    instruction.execute = store;
  } else if (name == "atom" || name == "red") {
    instruction.option = -1;
    for (int k = 0; k < int(std::size(atomic_names)); ++k)
      if (opcode.has(atomic_names[k])) instruction.option = k;
    if (instruction.option >= 0) instruction.execute = change_of(opcode.type());
  } else if (name == "mov") {
    instruction.execute = move;
  } else if (name == "cvta") {
    bool const is_shared = opcode.has("shared") || opcode.has("shared::cta");
    instruction.option = !is_shared ? unchanged : opcode.has("to") ? to_shared : of_shared;
    instruction.execute = change_address;
  } else if (name == "membar" || name == "fence") {
    instruction.execute = nothing;
  }
  return instruction.execute != nullptr;
}

}  // namespace ptx
