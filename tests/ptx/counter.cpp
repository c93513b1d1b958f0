// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "counter.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "block.hpp"
#include "complaint.hpp"

namespace ptx {

Unit unit_of(Opcode const& opcode) {
  std::string const& name = opcode.name();
  std::string const& type = opcode.type();
  auto const is = [&](std::initializer_list<char const*> names) {
    return std::any_of(names.begin(), names.end(), [&](char const* one) { return name == one; });
  };
  bool const is_integer = type[0] == 's' || type[0] == 'u' || type[0] == 'b' || type == "pred";
  if (is({"mma", "wgmma", "ldmatrix", "movmatrix", "stmatrix"}))
    return name == "mma" || opcode.has("mma_async") ? Unit::matrix : Unit::memory;
  if (is({"ld", "st", "atom", "red", "cp"})) return Unit::memory;
  if (is({"bra", "call", "ret", "exit", "brx", "trap"})) return Unit::branch;
  if (is({"bar", "barrier", "membar", "fence"})) return Unit::barrier;
  if (is({"mov", "cvta", "setp", "selp", "shfl", "vote", "activemask", "match", "prmt"}))
    return Unit::move;
  if (name == "cvt") return Unit::conversion;
  if (is({"sin", "cos", "ex2", "lg2", "rcp", "rsqrt", "sqrt", "tanh"}) ||
      (name == "div" && !is_integer))
    return Unit::special;
  if (is({"div", "rem"})) return Unit::division;
  if (is_integer) return Unit::integer;
  if (type == "f64") return Unit::double_precision;
  return type == "f32" ? Unit::single : Unit::half;
}

Requests shared_request(std::vector<Bits> const& at, int bytes) {
  constexpr int banks = 32, word = 4;
  Requests r;
  r.requests = 1;
  std::size_t const together = bytes <= word ? lanes : std::size_t(lanes * word / bytes);
  for (std::size_t first = 0; first < at.size(); first += together) {
    std::set<Bits> words[banks];
    std::size_t all = 0;
    for (std::size_t k = first; k < std::min(first + together, at.size()); ++k)
      for (Bits w = at[k] / word; w <= (at[k] + Bits(bytes) - 1) / word; ++w)
        all += words[w % banks].insert(w).second;
    std::size_t most = 0;
    for (auto const& bank : words) most = std::max(most, bank.size());
    r.steps += long(most);
    r.floor += long((all + banks - 1) / banks);
  }
  r.bytes = long(at.size()) * bytes;
  return r;
}

Requests global_request(std::vector<Bits> const& at, int bytes) {
  constexpr Bits sector = 32;
  Requests r;
  r.requests = 1;
  std::set<Bits> sectors, touched;
  for (Bits const a : at) {
    for (Bits s = a / sector; s <= (a + Bits(bytes) - 1) / sector; ++s) sectors.insert(s);
    touched.insert(a);
  }
  r.steps = long(sectors.size());
  r.floor = long((Bits(touched.size()) * Bits(bytes) + sector - 1) / sector);
  r.bytes = long(touched.size()) * bytes;
  return r;
}

Counter* Counter::get() {
  static Counter* const counter = [] {
    char const* const path = std::getenv("PHYLLO_PTX_COUNTS");
    if (!path) return static_cast<Counter*>(nullptr);
    static Counter one;
    one.path_ = path;
    return &one;
  }();
  return counter;
}

void Counter::launch(Block const& block) {
  Counts& counts = counts_[readable(block.kernel->name)];
  ++counts.launches;
  counts.blocks += long(block.blocks[0]) * block.blocks[1] * block.blocks[2];
}

void Counter::begin(Block const& block, Instruction const& instruction) {
  now_ = &counts_[readable(block.kernel->name)];
  unit_ = instruction.unit;
  accesses_.clear();
}

void Counter::end() {
  // A product of matrices in scratch memory reads it beside the warps.
  if (accesses_.empty() || unit_ == Unit::matrix) {
    ++now_->instructions[int(unit_)];
    return;
  }
  std::vector<Bits> at;
  for (Access const& a : accesses_) at.push_back(a.at);
  Access const& first = accesses_.front();
  bool const is_shared = first.space == Space::shared, is_local = first.space == Space::local;
  Requests const r = is_shared ? shared_request(at, first.bytes) : global_request(at, first.bytes);
  Requests& sum = is_shared ? now_->shared : is_local ? now_->local : now_->global;
  sum.requests += r.requests;
  sum.steps += r.steps;
  sum.floor += r.floor;
  sum.bytes += r.bytes;
}

Counter::~Counter() {
  if (path_.empty()) return;
  std::FILE* const file = std::fopen(path_.c_str(), "w");
  if (!file) stop("the table of counts \"" + path_ + "\" cannot be written.");
  std::fputs(
      "kernel\tlaunches\tblocks\tinteger\tdivision\tsingle\thalf\tdouble\tspecial\tconversion\tmove"
      "\t"
      "branch\tbarrier\tmatrix\tother_memory\tshared_requests\tshared_cycles\tshared_floor\t"
      "global_requests\tglobal_sectors\tglobal_floor\tglobal_bytes\tlocal_requests\n",
      file);
  for (auto const& [kernel, c] : counts_) {
    std::fprintf(file, "%s\t%ld\t%ld", kernel.c_str(), c.launches, c.blocks);
    for (long const count : c.instructions) std::fprintf(file, "\t%ld", count);
    std::fprintf(file, "\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\n", c.shared.requests,
                 c.shared.steps, c.shared.floor, c.global.requests, c.global.steps, c.global.floor,
                 c.global.bytes, c.local.requests);
  }
  std::fclose(file);
}

}  // namespace ptx
