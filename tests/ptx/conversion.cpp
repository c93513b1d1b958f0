// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "number.hpp"
#include "warp.hpp"

// cvt (PTX ISA 9.0, 9.7.9.21), of one number and of two floats into a pair.

namespace ptx {

namespace {

constexpr char const* roundings[] = {"", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna"};
enum Rounding : int { exact, rn, rz, rm, rp, rni, rzi, rmi, rpi, rna, saturated = 16, cut = 32 };

double whole(double x, int rounding) {
  switch (rounding) {
    case rni:
      return std::nearbyint(x);
    case rzi:
      return std::trunc(x);
    case rmi:
      return std::floor(x);
    case rpi:
      return std::ceil(x);
    default:
      return x;
  }
}

template <class To> To clamped(double x, bool from_double) {
  constexpr int bits = 8 * sizeof(To);
  if (x != x) return from_double || bits == 64 ? To(std::uint64_t(1) << (bits - 1)) : To(0);
  if (x <= double(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (x >= double(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return To(x);
}

// A double has room for each product of the roundings, so that one step to the neighbour is enough.
float directed(double x, int rounding) {
  auto const result = float(x);
  bool const is_above = result > x, is_below = result < x;
  if (is_above && (rounding == rm || (rounding == rz && x > 0)))
    return std::nextafter(result, -std::numeric_limits<float>::infinity());
  if (is_below && (rounding == rp || (rounding == rz && x < 0)))
    return std::nextafter(result, std::numeric_limits<float>::infinity());
  return result;
}

template <class T> constexpr bool is_float = !std::is_integral_v<T>;

template <class To, class From> To converted(From from, int option) {
  int const rounding = option & 15;
  if constexpr (is_float<From>) {
    double x = whole(value_of(from), rounding);
    if constexpr (is_float<To>) {
      if (option & saturated) x = x != x ? 0.0 : std::clamp(x, 0.0, 1.0);
      if (option & cut && x <= 0) x = 0;
      if constexpr (std::is_same_v<To, float>)
        return directed(x, rounding);
      else
        return nearest<To>(x);
    } else {
      return clamped<To>(x, std::is_same_v<From, double>);
    }
  } else if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>) {
    return To(from);
  } else if constexpr (is_float<To>) {
    return nearest<To>(double(from));
  } else {
    return To(from);
  }
}

template <class To, class From> void convert(Warp& warp, Instruction const& in, Mask mask) {
  Bits* const to = warp.row(in.to[0]);
  Bits const* const from = warp.row(in.from[0]);
  for_each_lane(mask, [&](int lane) {
    auto const result = converted<To>(from_bits<From>(from[lane]), in.option);
    if constexpr (std::is_integral_v<To> && sizeof(To) < 4)  // a wider register gets the sign
      to[lane] = to_bits(std::int64_t(result));
    else
      to[lane] = to_bits(result);
  });
}

// The first operand becomes the upper half.
template <class To> void convert_pair(Warp& warp, Instruction const& in, Mask mask) {
  Bits* const to = warp.row(in.to[0]);
  Bits const *const upper = warp.row(in.from[0]), *const lower = warp.row(in.from[1]);
  for_each_lane(mask, [&](int lane) {
    auto const half = [&](Bits bits) {
      return to_bits(converted<To>(from_bits<float>(bits), in.option));
    };
    to[lane] = half(upper[lane]) << 16 | half(lower[lane]);
  });
}

// f<T>() for the type of that name; nullptr: there is none.
template <class F> Execute of_type(std::string const& name, F f) {
  if (name == "f32") return f.template operator()<float>();
  if (name == "f64") return f.template operator()<double>();
  if (name == "f16") return f.template operator()<Half>();
  if (name == "bf16") return f.template operator()<Brain>();
  if (name == "u8") return f.template operator()<std::uint8_t>();
  if (name == "s8") return f.template operator()<std::int8_t>();
  if (name == "u16") return f.template operator()<std::uint16_t>();
  if (name == "s16") return f.template operator()<std::int16_t>();
  if (name == "u32") return f.template operator()<std::uint32_t>();
  if (name == "s32") return f.template operator()<std::int32_t>();
  if (name == "u64") return f.template operator()<std::uint64_t>();
  if (name == "s64") return f.template operator()<std::int64_t>();
  return nullptr;
}

template <class To> Execute pick(std::string const& from, int rounding) {
  return of_type(from, [&]<class From>() -> Execute {
    constexpr bool widens = is_float<To> && is_float<From> && sizeof(To) >= sizeof(From);
    bool const is_known =
        std::is_integral_v<To> && std::is_integral_v<From> ? rounding == exact
        : std::is_integral_v<To>                           ? rounding >= rni && rounding <= rpi
        : widens ? rounding == exact || (rounding >= rni && rounding <= rpi)
        : std::is_same_v<To, float> && is_float<From> ? rounding >= rn && rounding <= rp
        // From double a float would be rounded first.
        : std::is_same_v<To, Brain> ? rounding == rn && std::is_same_v<From, float>
                                    : rounding == rn;
    return is_known ? convert<To, From> : nullptr;
  });
}

}  // namespace

bool decode_conversion(Instruction& instruction, Opcode const& opcode) {
  auto const& words = opcode.words;
  if (opcode.name() != "cvt" || words.size() < 3) return false;
  std::string const &to = words[words.size() - 2], &from = words.back();
  int rounding = exact;
  for (std::size_t k = 1; k + 2 < words.size(); ++k) {
    auto const* const found = std::find(std::begin(roundings), std::end(roundings), words[k]);
    if (found != std::end(roundings))
      rounding = int(found - roundings);
    else if (words[k] == "sat" && to[0] == 'f')
      instruction.option |= saturated;
    else if (words[k] == "relu")
      instruction.option |= cut;
    else if (words[k] != "ftz")
      return false;
  }
  instruction.option |= rounding;
  bool const is_pair = to == "bf16x2" || to == "f16x2";
  if (instruction.to.size() != 1 || instruction.from.size() != (is_pair ? 2 : 1)) return false;
  if (is_pair) {
    if (rounding == rn && from == "f32")
      instruction.execute = to == "bf16x2" ? convert_pair<Brain> : convert_pair<Half>;
  } else if (to == "tf32") {
    if (rounding == rna && from == "f32") instruction.execute = convert<Tensor32, float>;
  } else {
    instruction.execute = of_type(to, [&]<class To>() { return pick<To>(from, rounding); });
  }
  return instruction.execute != nullptr;
}

}  // namespace ptx
