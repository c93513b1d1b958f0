// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>

#include "number.hpp"
#include "warp.hpp"

// What lanes compute of their own registers (PTX ISA 9.0, 9.7.1 to 9.7.8): a table from the opcode
// to a function of numbers, whose types say how registers are read and written.

namespace ptx {

namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> struct Twice;
template <> struct Twice<u16> : std::type_identity<u32> {};
template <> struct Twice<s16> : std::type_identity<s32> {};
template <> struct Twice<u32> : std::type_identity<u64> {};
template <> struct Twice<s32> : std::type_identity<s64> {};
template <> struct Twice<u64> : std::type_identity<u128> {};
template <> struct Twice<s64> : std::type_identity<s128> {};
template <class T> using Wide = typename Twice<T>::type;

template <class T> constexpr char const* name_of = "";
template <> constexpr char const* name_of<bool> = ".pred";
template <> constexpr char const* name_of<u16> = ".u16";
template <> constexpr char const* name_of<s16> = ".s16";
template <> constexpr char const* name_of<u32> = ".u32";
template <> constexpr char const* name_of<s32> = ".s32";
template <> constexpr char const* name_of<u64> = ".u64";
template <> constexpr char const* name_of<s64> = ".s64";
template <> constexpr char const* name_of<float> = ".f32";
template <> constexpr char const* name_of<double> = ".f64";

template <class F, int rounding, class... A, std::size_t... k>
void run(Warp& warp, Instruction const& in, Mask mask, std::index_sequence<k...>) {
  Bits* const to = warp.row(in.to[0]);
  Bits const* const from[] = {warp.row(in.from[k])...};
  if constexpr (rounding != FE_TONEAREST) std::fesetround(rounding);
  for_each_lane(mask, [&](int lane) { to[lane] = to_bits(F{}(from_bits<A>(from[k][lane])...)); });
  if constexpr (rounding != FE_TONEAREST) std::fesetround(FE_TONEAREST);
}

struct Entry {
  Execute execute;
  std::size_t sources;
};

template <class F, int rounding, class R, class... A> Entry entry(R (F::*)(A...) const) {
  return {[](Warp& warp, Instruction const& in, Mask mask) {
            run<F, rounding, A...>(warp, in, mask, std::index_sequence_for<A...>{});
          },
          sizeof...(A)};
}

using Table = std::map<std::string, Entry>;

/// A function of one type, under that type's name or those of untyped bits.
template <class F> void enter(Table& table, std::string const& name, F) {
  table[name] = entry<F, FE_TONEAREST>(&F::operator());
}
template <class... T, class F> void enter_each(Table& table, std::string const& name, F) {
  ((table[name + name_of<T>] = entry<F, FE_TONEAREST>(&F::template operator()<T>)), ...);
}
template <class F> void enter_integers(Table& table, std::string const& name, F f) {
  enter_each<u16, s16, u32, s32, u64, s64>(table, name, f);
}
template <class F> void enter_bits(Table& table, std::string const& name, F) {
  table[name + ".b16"] = entry<F, FE_TONEAREST>(&F::template operator()<u16>);
  table[name + ".b32"] = entry<F, FE_TONEAREST>(&F::template operator()<u32>);
  table[name + ".b64"] = entry<F, FE_TONEAREST>(&F::template operator()<u64>);
}
template <class T, class F> void enter_roundings_of(Table& table, std::string const& name) {
  auto const function = &F::template operator()<T>;
  table[name + name_of<T>] = entry<F, FE_TONEAREST>(function);
  table[name + ".rz" + name_of<T>] = entry<F, FE_TOWARDZERO>(function);
  table[name + ".rm" + name_of<T>] = entry<F, FE_DOWNWARD>(function);
  table[name + ".rp" + name_of<T>] = entry<F, FE_UPWARD>(function);
}
template <class F> void enter_rounded(Table& table, std::string const& name, F) {
  enter_roundings_of<float, F>(table, name);
  enter_roundings_of<double, F>(table, name);
}

void enter_floats(Table& table) {
  enter_rounded(table, "add", []<class T>(T a, T b) -> T { return a + b; });
  enter_rounded(table, "sub", []<class T>(T a, T b) -> T { return a - b; });
  enter_rounded(table, "mul", []<class T>(T a, T b) -> T { return a * b; });
  enter_rounded(table, "div", []<class T>(T a, T b) -> T { return a / b; });
  enter_rounded(table, "fma", []<class T>(T a, T b, T c) -> T { return std::fma(a, b, c); });
  enter_rounded(table, "rcp", []<class T>(T a) -> T { return T(1) / a; });
  enter_rounded(table, "sqrt", []<class T>(T a) -> T { return std::sqrt(a); });
  enter_each<float, double>(table, "neg", []<class T>(T a) -> T { return -a; });
  enter_each<float, double>(table, "abs", []<class T>(T a) -> T { return std::fabs(a); });
  enter_each<float, double>(table, "copysign",
                            []<class T>(T a, T b) -> T { return std::copysign(b, a); });
  // A NaN gives way to a number, and -0 is less than 0.
  enter_each<float, double>(table, "min", []<class T>(T a, T b) -> T {
    return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
  });
  enter_each<float, double>(table, "max", []<class T>(T a, T b) -> T {
    return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
  });
  // Approximations of the device; here they are as exact as the type.
  enter_each<float>(table, "ex2", []<class T>(T a) -> T { return std::exp2(a); });
  enter_each<float>(table, "lg2", []<class T>(T a) -> T { return std::log2(a); });
  enter_each<float, double>(table, "rsqrt", []<class T>(T a) -> T { return T(1) / std::sqrt(a); });
}

void enter_integers(Table& table) {
  enter_integers(table, "add",
                 []<class T>(T a, T b) -> T { return T(Unsigned<T>(a) + Unsigned<T>(b)); });
  enter_integers(table, "sub",
                 []<class T>(T a, T b) -> T { return T(Unsigned<T>(a) - Unsigned<T>(b)); });
  enter_integers(table, "mul.lo", []<class T>(T a, T b) -> T { return T(u64(a) * u64(b)); });
  enter_integers(table, "mul.hi", []<class T>(T a, T b) -> T {
    return T((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
  });
  enter_integers(table, "mad.lo",
                 []<class T>(T a, T b, T c) -> T { return T(u64(a) * u64(b) + u64(c)); });
  enter_integers(table, "mad.hi", []<class T>(T a, T b, T c) -> T {
    return T(u64((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T))) + u64(c));
  });
  enter_each<u16, s16, u32, s32>(
      table, "mul.wide", []<class T>(T a, T b) -> Wide<T> { return Wide<T>(a) * Wide<T>(b); });
  enter_each<u16, s16, u32, s32>(table, "mad.wide", []<class T>(T a, T b, Wide<T> c) -> Wide<T> {
    return Wide<T>(u64(Wide<T>(a) * Wide<T>(b)) + u64(c));
  });
  // By zero, and where the quotient has no place, nothing is said of the result.
  enter_integers(table, "div", []<class T>(T a, T b) -> T {
    if (b == 0) return T(-1);
    return b == T(-1) && std::is_signed_v<T> ? T(0 - u64(a)) : T(a / b);
  });
  enter_integers(table, "rem", []<class T>(T a, T b) -> T {
    if (b == 0) return a;
    return b == T(-1) && std::is_signed_v<T> ? T(0) : T(a % b);
  });
  enter_integers(table, "min", []<class T>(T a, T b) -> T { return std::min(a, b); });
  enter_integers(table, "max", []<class T>(T a, T b) -> T { return std::max(a, b); });
  enter_each<s16, s32, s64>(table, "neg", []<class T>(T a) -> T { return T(0 - u64(a)); });
  enter_each<s16, s32, s64>(table, "abs",
                            []<class T>(T a) -> T { return T(a < 0 ? 0 - u64(a) : u64(a)); });
  enter_integers(table, "shr", []<class T>(T a, u32 n) -> T {
    u32 const bits = 8 * sizeof(T);
    return n < bits ? T(a >> n) : std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
  });
}

void enter_bits(Table& table) {
  enter_bits(table, "and", []<class T>(T a, T b) -> T { return a & b; });
  enter_bits(table, "or", []<class T>(T a, T b) -> T { return a | b; });
  enter_bits(table, "xor", []<class T>(T a, T b) -> T { return a ^ b; });
  enter_bits(table, "not", []<class T>(T a) -> T { return T(~a); });
  enter(table, "and.pred", [](bool a, bool b) -> bool { return a && b; });
  enter(table, "or.pred", [](bool a, bool b) -> bool { return a || b; });
  enter(table, "xor.pred", [](bool a, bool b) -> bool { return a != b; });
  enter(table, "not.pred", [](bool a) -> bool { return !a; });
  enter_bits(table, "shl",
             []<class T>(T a, u32 n) -> T { return n < 8 * sizeof(T) ? T(a << n) : T(0); });
  enter_bits(table, "popc", []<class T>(T a) -> u32 { return u32(std::popcount(a)); });
  enter_bits(table, "clz", []<class T>(T a) -> u32 { return u32(std::countl_zero(a)); });
  enter(table, "brev.b32", [](u32 a) -> u32 {
    u32 reversed = 0;
    for (int k = 0; k < 32; ++k) reversed |= (a >> k & 1) << (31 - k);
    return reversed;
  });
  // n bits of a from bit p on, and a's n last bits into b there.
  auto const ones = []<class T>(T, u32 n) -> T {
    return n >= 8 * sizeof(T) ? T(~T(0)) : T((T(1) << n) - 1);
  };
  static_assert(std::is_empty_v<decltype(ones)>);
  enter_each<u32, u64>(table, "bfe", []<class T>(T a, u32 p, u32 n) -> T {
    p &= 255, n &= 255;
    return p >= 8 * sizeof(T) ? T(0) : T(a >> p) & decltype(ones){}(a, n);
  });
  enter_bits(table, "bfi", []<class T>(T a, T b, u32 p, u32 n) -> T {
    p &= 255, n &= 255;
    if (p >= 8 * sizeof(T)) return b;
    T const field = T(decltype(ones){}(a, n) << p);
    return T((b & ~field) | (T(a << p) & field));
  });
  enter(table, "prmt.b32", [](u32 a, u32 b, u32 selectors) -> u32 {
    u64 const pair = u64(b) << 32 | a;
    u32 result = 0;
    for (int k = 0; k < 4; ++k) {
      u32 const selector = selectors >> (4 * k) & 15;
      u32 const byte = u32(pair >> (8 * (selector & 7))) & 255;
      result |= (selector & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * k);
    }
    return result;
  });
  enter(table, "shf.l.wrap.b32",
        [](u32 a, u32 b, u32 n) -> u32 { return u32((u64(b) << 32 | a) << (n & 31) >> 32); });
  enter(table, "shf.r.wrap.b32",
        [](u32 a, u32 b, u32 n) -> u32 { return u32((u64(b) << 32 | a) >> (n & 31)); });
}

void enter_choices(Table& table) {
  auto const compare = [&](std::string const& word, auto function) {
    enter_integers(table, "setp." + word, function);
    enter_each<float, double>(table, "setp." + word, function);
    enter_bits(table, "setp." + word, function);
  };
  compare("eq", []<class T>(T a, T b) -> bool { return a == b; });
  compare("ne", []<class T>(T a, T b) -> bool { return a < b || a > b; });
  compare("lt", []<class T>(T a, T b) -> bool { return a < b; });
  compare("le", []<class T>(T a, T b) -> bool { return a <= b; });
  compare("gt", []<class T>(T a, T b) -> bool { return a > b; });
  compare("ge", []<class T>(T a, T b) -> bool { return a >= b; });
  auto const compare_floats = [&](std::string const& word, auto function) {
    enter_each<float, double>(table, "setp." + word, function);
  };
  // True also of a NaN.
  compare_floats("equ", []<class T>(T a, T b) -> bool { return !(a < b || a > b); });
  compare_floats("neu", []<class T>(T a, T b) -> bool { return !(a == b); });
  compare_floats("ltu", []<class T>(T a, T b) -> bool { return !(a >= b); });
  compare_floats("leu", []<class T>(T a, T b) -> bool { return !(a > b); });
  compare_floats("gtu", []<class T>(T a, T b) -> bool { return !(a <= b); });
  compare_floats("geu", []<class T>(T a, T b) -> bool { return !(a < b); });
  compare_floats("num", []<class T>(T a, T b) -> bool { return a == a && b == b; });
  compare_floats("nan", []<class T>(T a, T b) -> bool { return a != a || b != b; });
  auto const select = []<class T>(T a, T b, bool first) -> T { return first ? a : b; };
  enter_integers(table, "selp", select);
  enter_each<float, double>(table, "selp", select);
  enter_bits(table, "selp", select);
}

// Sums and products of numbers longer than a register (9.7.2). What is carried out of subtraction
// is what was borrowed.
enum Carry : int { takes = 1, gives = 2, subtracts = 4, multiplies = 8, high = 16 };

void carry_on(Warp& warp, Instruction const& in, Mask mask) {
  Bits* const to = warp.row(in.to[0]);
  Bits* const from[] = {warp.row(in.from[0]), warp.row(in.from[1]), warp.row(in.from.back())};
  Bits* const carried = warp.special_row(carry);
  int const bits = 8 * in.bytes;
  Bits const ones = ~Bits(0) >> (64 - bits);
  for_each_lane(mask, [&](int lane) {
    u128 const a = from[0][lane] & ones, b = from[1][lane] & ones, c = from[2][lane] & ones;
    u128 const carried_in = in.option & takes ? carried[lane] : 0;
    u128 const product = in.option & high ? (a * b) >> bits : (a * b) & ones;
    u128 const sum = in.option & multiplies  ? product + c + carried_in
                     : in.option & subtracts ? a - b - carried_in
                                             : a + b + carried_in;
    to[lane] = Bits(sum) & ones;
    if (in.option & gives) carried[lane] = Bits(sum >> bits) & 1;
  });
}

bool decode_carry(Instruction& instruction, Opcode const& opcode) {
  std::string const& name = opcode.name();
  bool const has_carry = name == "addc" || name == "subc" || name == "madc";
  if (!has_carry && !opcode.has("cc")) return false;
  instruction.option = (has_carry ? takes : 0) | (opcode.has("cc") ? gives : 0) |
                       (name.starts_with("sub") ? subtracts : 0) |
                       (name.starts_with("mad") ? multiplies : 0) | (opcode.has("hi") ? high : 0);
  instruction.bytes = bytes_of(opcode.type());
  instruction.execute = carry_on;
  return true;
}

Table filled() {
  Table table;
  enter_floats(table);
  enter_integers(table);
  enter_bits(table);
  enter_choices(table);
  return table;
}

}  // namespace

bool decode_arithmetic(Instruction& instruction, Opcode const& opcode) {
  static Table const table = filled();
  if (decode_carry(instruction, opcode)) return true;
  std::string key;
  for (auto const& word : opcode.words)
    if (word != "rn" && word != "approx" && word != "full" && word != "ftz")
      key += (key.empty() ? "" : ".") + word;
  auto const found = table.find(key);
  if (found == table.end() || found->second.sources != instruction.from.size() ||
      instruction.to.size() != 1)
    return false;
  instruction.execute = found->second.execute;
  return true;
}

}  // namespace ptx
