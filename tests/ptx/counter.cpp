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

void Requests::operator+=(Requests const& other) {
  requests += other.requests;
  steps += other.steps;
  floor += other.floor;
  bytes += other.bytes;
}

Counter* Counter::get() {
  static Counter* const counter = [] {
    static Counter one;
    bool const counts = std::getenv("PHYLLO_PTX_COUNTS") || std::getenv("PHYLLO_PTX_ACCESSES");
    return counts ? &one : static_cast<Counter*>(nullptr);
  }();
  return counter;
}

void Counter::launch(Block const& block) {
  kernel_ = readable(block.kernel->name);
  now_ = &counts_[kernel_];
  ++now_->launches;
  now_->blocks += long(block.blocks[0]) * block.blocks[1] * block.blocks[2];
  auto const& threads = block.threads;
  now_->most_threads = std::max(now_->most_threads, long(threads[0]) * threads[1] * threads[2]);
  now_->most_bytes = std::max(now_->most_bytes, block.dynamic_bytes);
}

void Counter::begin(Instruction const& instruction) {
  instruction_ = &instruction;
  now_->multiply_adds += instruction.multiply_adds;
  accesses_.clear();
}

void Counter::end() {
  // A product of matrices in scratch memory reads it beside the warps.
  if (accesses_.empty() || instruction_->unit == Unit::matrix) {
    ++now_->instructions[int(instruction_->unit)];
    return;
  }
  std::vector<Bits> at;
  for (Access const& a : accesses_) at.push_back(a.at);
  Access const& first = accesses_.front();
  bool const is_shared = first.space == Space::shared, is_local = first.space == Space::local;
  Requests const r = is_shared ? shared_request(at, first.bytes) : global_request(at, first.bytes);
  (is_shared ? now_->shared : is_local ? now_->local : now_->global) += r;
  of_instructions_.try_emplace(instruction_, Accesses{kernel_, first.space, {}})
      .first->second.sum += r;
}

Counter::~Counter() {
  if (char const* const path = std::getenv("PHYLLO_PTX_COUNTS")) write_counts(path);
  if (char const* const path = std::getenv("PHYLLO_PTX_ACCESSES")) write_accesses(path);
}

namespace {
std::FILE* opened(char const* path) {
  std::FILE* const file = std::fopen(path, "w");
  if (!file) stop("the table \"" + std::string(path) + "\" cannot be written.");
  return file;
}
}  // namespace

void Counter::write_counts(char const* path) const {
  std::FILE* const file = opened(path);
  std::fputs(
      "kernel\tlaunches\tblocks\tthreads\tscratch_bytes\tinteger\tdivision\tsingle\thalf\t"
      "double\tspecial\tconversion\tmove\tbranch\tbarrier\tmatrix\tother_memory\t"
      "multiply_adds\tshared_requests\tshared_cycles\tshared_floor\tglobal_requests\t"
      "global_sectors\tglobal_floor\tglobal_bytes\tlocal_requests\n",
      file);
  for (auto const& [kernel, c] : counts_) {
    std::fprintf(file, "%s\t%ld\t%ld\t%ld\t%ld", kernel.c_str(), c.launches, c.blocks,
                 c.most_threads, c.most_bytes);
    for (long const count : c.instructions) std::fprintf(file, "\t%ld", count);
    std::fprintf(file, "\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\t%ld\n", c.multiply_adds,
                 c.shared.requests, c.shared.steps, c.shared.floor, c.global.requests,
                 c.global.steps, c.global.floor, c.global.bytes, c.local.requests);
  }
  std::fclose(file);
}

// Those first that lose most to conflicts of banks or to sectors that are read in part.
void Counter::write_accesses(char const* path) const {
  std::FILE* const file = opened(path);
  std::fputs("lost\tmemory\trequests\tsteps\tfloor\tinstruction\tkernel\n", file);
  std::vector<std::pair<Instruction const*, Accesses>> all(of_instructions_.begin(),
                                                           of_instructions_.end());
  std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) {
    return a.second.sum.steps - a.second.sum.floor > b.second.sum.steps - b.second.sum.floor;
  });
  for (auto const& [instruction, a] : all)
    std::fprintf(file, "%ld\t%s\t%ld\t%ld\t%ld\t%s\t%s\n", a.sum.steps - a.sum.floor,
                 a.space == Space::shared  ? "scratch"
                 : a.space == Space::local ? "local"
                                           : "global",
                 a.sum.requests, a.sum.steps, a.sum.floor, instruction->text.c_str(),
                 a.kernel.c_str());
  std::fclose(file);
}

}  // namespace ptx
