// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "block.hpp"
#include "complaint.hpp"
#include "memory.hpp"
#include "number.hpp"

// Products of matrices that a warp's lanes hold in parts: lane 4 g + t has rows g and g + 8 (PTX
// ISA 9.0, 9.7.14.5 mma, ldmatrix; 9.7.15 wgmma). The sum of an instruction is rounded towards
// zero, once: what an H100 does is not told, but sums of many instructions come out as small there
// (Ootomo and Yokota, arXiv:2203.03341).

namespace ptx {

namespace {

constexpr int rows = 16;

template <class T> float number(Bits bits) { return float(value_of(from_bits<T>(bits))); }

void check_all(Warp const& warp, Instruction const& in, Mask mask) {
  if (mask != all_lanes)
    complain(warp, in, std::countr_zero(mask),
             "an instruction of all lanes is executed by some of them only");
}

// 16 rows of 16 numbers of 16 bits: four registers with two each.
template <class T> void gather(Warp& warp, Operand const* from, float (&a)[rows][16]) {
  for (int pair = 0; pair < 4; ++pair) {
    Bits const* const bits = warp.row(from[pair]);
    for (int lane = 0; lane < lanes; ++lane)
      for (int k = 0; k < 2; ++k)
        a[lane / 4 + pair % 2 * 8][lane % 4 * 2 + k + pair / 2 * 8] =
            number<T>(bits[lane] >> (16 * k));
  }
}

float towards_zero(double x) {
  auto const near = float(x);
  bool const is_larger = !std::isinf(near) && std::abs(double(near)) > std::abs(x);
  return is_larger ? std::nextafter(near, 0.0f) : near;
}

// sums += a b: column n of sums is in lanes t = n % 8 / 2, in registers of n / 8 and n % 2.
template <int inner>
void add_product(Warp& warp, Operand const* sums, Operand const* to, float const (*a)[inner],
                 float const* b, int columns) {
  for (int block = 0; block < columns / 8; ++block)
    for (int e = 0; e < 4; ++e) {
      Bits const* const from = warp.row(sums[block * 4 + e]);
      Bits* const result = warp.row(to[block * 4 + e]);
      for (int lane = 0; lane < lanes; ++lane) {
        float const* const row = a[lane / 4 + e / 2 * 8];
        float const* const column = b + (block * 8 + lane % 4 * 2 + e % 2) * inner;
        double sum = from_bits<float>(from[lane]);
        for (int k = 0; k < inner; ++k) sum += double(row[k]) * double(column[k]);
        result[lane] = to_bits(towards_zero(sum));
      }
    }
}

// m16n8k16: sums, then four registers of a, two of b and four of sums.
template <class T> void multiply_16(Warp& warp, Instruction const& in, Mask mask) {
  check_all(warp, in, mask);
  float a[rows][16], b[8][16];
  gather<T>(warp, in.from.data(), a);
  for (int pair = 0; pair < 2; ++pair) {
    Bits const* const bits = warp.row(in.from[std::size_t(4 + pair)]);
    for (int lane = 0; lane < lanes; ++lane)
      for (int k = 0; k < 2; ++k)
        b[lane / 4][lane % 4 * 2 + k + pair * 8] = number<T>(bits[lane] >> (16 * k));
  }
  add_product(warp, in.from.data() + 6, in.to.data(), a, b[0], 8);
}

// m16n8k8 of tf32: a register has one number.
void multiply_8(Warp& warp, Instruction const& in, Mask mask) {
  check_all(warp, in, mask);
  float a[rows][8], b[8][8];
  for (int e = 0; e < 4; ++e) {
    Bits const* const bits = warp.row(in.from[std::size_t(e)]);
    for (int lane = 0; lane < lanes; ++lane)
      a[lane / 4 + e % 2 * 8][lane % 4 + e / 2 * 4] = number<Tensor32>(bits[lane]);
  }
  for (int e = 0; e < 2; ++e) {
    Bits const* const bits = warp.row(in.from[std::size_t(4 + e)]);
    for (int lane = 0; lane < lanes; ++lane)
      b[lane / 4][lane % 4 + e * 4] = number<Tensor32>(bits[lane]);
  }
  add_product(warp, in.from.data() + 6, in.to.data(), a, b[0], 8);
}

// Lane 8 q + r gives the address of row r of matrix q: 8 numbers.
void load_matrices(Warp& warp, Instruction const& in, Mask mask) {
  check_all(warp, in, mask);
  Bits const* const addresses = warp.row(in.address);
  Bits result[4][lanes];
  for (std::size_t q = 0; q < in.to.size(); ++q) {
    std::uint16_t matrix[8][8];
    for (int r = 0; r < 8; ++r) {
      int const lane = int(q) * 8 + r;
      Bits const address = std::uint32_t(addresses[lane]) + Bits(in.offset);
      auto const* const at = place(warp, in, lane, address, 16, Access::read);
      std::memset(matrix[r], 0xff, 16);
      if (at) std::memcpy(matrix[r], at, 16);
    }
    for (int lane = 0; lane < lanes; ++lane) {
      int const r = lane / 4, c = lane % 4 * 2;
      bool const is_transposed = in.option;
      std::uint16_t const lower = is_transposed ? matrix[c][r] : matrix[r][c];
      std::uint16_t const upper = is_transposed ? matrix[c + 1][r] : matrix[r][c + 1];
      result[q][lane] = Bits(upper) << 16 | lower;
    }
  }
  for (std::size_t q = 0; q < in.to.size(); ++q)
    std::memcpy(warp.row(in.to[q]), result[q], sizeof result[q]);
}

// m64nNk16, a warp's quarter: sums, four registers of a, the descriptor of b in scratch memory
// without swizzling, whether sums are added to, signs of a and b, transposition of b.
template <class T> void multiply_64(Warp& warp, Instruction const& in, Mask mask) {
  check_all(warp, in, mask);
  int const columns = in.option;
  Operand const* const from = in.from.data() + columns / 2;
  auto const same = [&](int operand) {
    Bits const* const row = warp.row(from[operand]);
    for (int lane = 1; lane < lanes; ++lane)
      if (row[lane] != row[0]) complain(warp, in, lane, "lanes differ in what all must say alike");
    return row[0];
  };
  Bits const descriptor = same(4);
  if (descriptor >> 62 || !(same(5) & 1) || same(6) != 1 || same(7) != 1 || same(8) != 0)
    stop("wgmma is known without swizzling, signs and transposition, onto sums: " + in.text);
  auto const bytes = [&](int bit) { return (descriptor >> bit & 0x3fff) << 4; };
  Bits const first = bytes(0), next_inputs = bytes(16), next_outputs = bytes(32);
  float a[rows][16];
  gather<T>(warp, from, a);
  std::vector<float> b(std::size_t(columns) * 16);
  for (int n = 0; n < columns; ++n)
    for (int half = 0; half < 2; ++half) {
      Bits const address =
          first + Bits(n / 8) * next_outputs + Bits(half) * next_inputs + Bits(n % 8) * 16;
      auto const* const at = place(warp, in, n % lanes, address, 16, Access::read);
      for (int k = 0; at && k < 8; ++k) {
        Bits bits = 0;
        std::memcpy(&bits, at + k * 2, 2);
        b[std::size_t(n * 16 + half * 8 + k)] = number<T>(bits);
      }
    }
  add_product(warp, in.from.data(), in.from.data(), a, b.data(), columns);
}

void nothing(Warp&, Instruction const&, Mask) {}

// Of m16n8k16; a warp has a quarter of the 64 rows of wgmma.
long multiply_adds(Opcode const& opcode) {
  int m = 0, n = 0, k = 0;
  for (auto const& word : opcode.words)
    if (std::sscanf(word.c_str(), "m%dn%dk%d", &m, &n, &k) == 3)
      return long(m == 64 ? 16 : m) * n * k;
  return 0;
}

}  // namespace

bool decode_matrix(Instruction& instruction, Opcode const& opcode) {
  auto const is = [&](char const* shape, char const* type) {
    return opcode.has(shape) && opcode.has(type) && opcode.has("f32");
  };
  instruction.option = 0;
  instruction.space = Space::shared;
  std::size_t const sources = instruction.from.size();
  if (opcode.name() == "mma" && opcode.has("row") && opcode.has("col") && sources == 10) {
    if (is("m16n8k16", "bf16"))
      instruction.execute = multiply_16<Brain>;
    else if (is("m16n8k16", "f16"))
      instruction.execute = multiply_16<Half>;
    else if (is("m16n8k8", "tf32"))
      instruction.execute = multiply_8;
  } else if (opcode.name() == "ldmatrix" && opcode.has("m8n8") && opcode.type() == "b16") {
    instruction.option = opcode.has("trans");
    instruction.execute = load_matrices;
  } else if (opcode.name() == "wgmma" && opcode.has("mma_async")) {
    for (auto const& word : opcode.words)
      if (word.starts_with("m64n")) instruction.option = std::atoi(word.c_str() + 4);
    // A matrix a in scratch memory, too, has fewer operands.
    if (sources == std::size_t(instruction.option) / 2 + 9)
      instruction.execute = opcode.has("bf16")  ? multiply_64<Brain>
                            : opcode.has("f16") ? multiply_64<Half>
                                                : nullptr;
  } else if (opcode.name() == "wgmma") {
    instruction.execute = nothing;
  }
  if (instruction.execute) instruction.flow = Flow::together;
  instruction.multiply_adds = multiply_adds(opcode);
  return instruction.execute != nullptr;
}

}  // namespace ptx
