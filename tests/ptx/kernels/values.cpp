// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lane computes of its own registers, against the same computed by the host: an operation
// has one function for the device and one for the host, or one for both.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

#include "check.hpp"

namespace {

using check::mixed;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

constexpr int count = 512;

// Numbers of a type: bits without pattern, near numbers and small ones.
template <class T> __host__ __device__ T input(int index, int which) {
  u64 const bits = mixed(u64(index) * 4 + u64(which));
  if (index % 4 == 0) return T(s64(bits % 19) - 9);
  if constexpr (std::is_floating_point_v<T>) {
    T const value = T(s64(bits >> 12)) * T(1.0 / (u64(1) << 50)) - T(2);
    return index % 4 == 1 ? value * T(1000) : index % 4 == 2 ? value / T(3000) : value;
  } else {
    return T(bits >> (index % 3 * 16));
  }
}

// The same function for both.
template <class Operation> struct Same {
  using Result = typename Operation::Result;
  __device__ static Result on_device(int i) { return Operation::both(i); }
  static Result on_host(int i) { return Operation::both(i); }
};

template <class Operation> __global__ void evaluate(typename Operation::Result* results) {
  int const index = int(blockIdx.x * blockDim.x + threadIdx.x);
  results[index] = Operation::on_device(index);
}

template <class Operation> void compare(char const* name) {
  using Result = typename Operation::Result;
  check::Array<Result> const results(count);
  evaluate<Operation><<<4, count / 4>>>(results.data());
  auto const got = results.values();
  for (int index = 0; index < count; ++index) {
    Result const expected = Operation::on_host(index);
    if (got[std::size_t(index)] != got[std::size_t(index)] && expected != expected)
      continue;  // NaN
    if (std::memcmp(&got[std::size_t(index)], &expected, sizeof expected) != 0)
      check::equal(name, index, got[std::size_t(index)], expected);
  }
}

// ---- integers: one function for both ----

template <class T> struct Integers {
  using Result = u64;
  __host__ __device__ static u64 both(int i) {
    T const a = input<T>(i, 0), b = input<T>(i, 1), c = input<T>(i, 2);
    T const d = b == 0 || b == T(-1) ? T(7) : b;
    u32 const n = u32(input<u32>(i, 3) % (8 * sizeof(T)));
    u64 const results[] = {u64(a / d),
                           u64(a % d),
                           u64(a < b ? a : b),
                           u64(a > c ? a : c),
                           u64(T(u64(a) * u64(b) + u64(c))),
                           u64(T(a >> n)),
                           u64(T(u64(a) << n)),
                           u64(T(a & b)),
                           u64(T(b | c)),
                           u64(T(a ^ c)),
                           u64(T(~a)),
                           u64(T(0 - u64(b))),
                           u64(a == b),
                           u64(a != c),
                           u64(a <= b),
                           u64(b >= c)};
    return results[i / 4 % 16];
  }
};

// Products and sums of 128 bits are carried from register to register.
struct Long {
  using Result = u64;
  __host__ __device__ static u64 both(int i) {
    using u128 = unsigned __int128;
    u128 const a = u128(input<u64>(i, 0)) << 64 | input<u64>(i, 1);
    u128 const b = u128(input<u64>(i, 2)) << 64 | input<u64>(i, 3);
    u128 const c = a * b + (a - b) + u128(s64(input<u64>(i, 1))) * 3;
    return u64(c >> 64) ^ u64(c);
  }
};

struct Fields {
  using Result = u64;
  __device__ static u64 on_device(int i) {
    u32 const a = input<u32>(i, 0), b = input<u32>(i, 1), n = input<u32>(i, 2);
    u64 const w = input<u64>(i, 3);
    u32 cut, put, high;
    asm("bfe.u32 %0, %1, %2, 9;" : "=r"(cut) : "r"(a), "r"(n % 40));
    asm("bfi.b32 %0, %1, %2, %3, 9;" : "=r"(put) : "r"(a), "r"(b), "r"(n % 40));
    asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(high) : "r"(a), "r"(b), "r"(n));
    return u64(__brev(a)) + __byte_perm(a, b, n & 0x7777) + __funnelshift_l(a, b, n) +
           __funnelshift_r(a, b, n) + __umulhi(a, b) + u64(__mulhi(s32(a), s32(b))) + __popc(a) +
           __popcll(w) + __clz(a) + __clzll(w) + __umul64hi(w, w ^ a) + cut + put + high;
  }
  static u64 on_host(int i) {
    u32 const a = input<u32>(i, 0), b = input<u32>(i, 1), n = input<u32>(i, 2);
    u64 const w = input<u64>(i, 3), pair = u64(b) << 32 | a;
    u32 reversed = 0, permuted = 0, p = n % 40, field = p < 32 ? 511u << p : 0;
    for (int k = 0; k < 32; ++k) reversed |= (a >> k & 1) << (31 - k);
    for (int k = 0; k < 4; ++k) permuted |= u32(pair >> (8 * (n >> (4 * k) & 7)) & 255) << (8 * k);
    u32 const cut = p < 32 ? a >> p & 511 : 0;
    u32 const put = (b & ~field) | (p < 32 ? a << p & field : 0);
    return u64(reversed) + permuted + u32(pair << (n & 31) >> 32) + u32(pair >> (n & 31)) +
           (u64(a) * b >> 32) + u64(s32(s64(s32(a)) * s32(b) >> 32)) + u64(std::popcount(a)) +
           u64(std::popcount(w)) + u64(std::countl_zero(a)) + u64(std::countl_zero(w)) +
           u64(static_cast<unsigned __int128>(w) * (w ^ a) >> 64) + cut + put +
           u32((u64(a) * b >> 32) + n);
  }
};

// ---- floats ----

template <class T> struct Floats {
  using Result = T;
  __host__ __device__ static T both(int i) {
    T const a = input<T>(i, 0), b = input<T>(i, 1), c = input<T>(i, 2);
    T const results[] = {std::fma(a, b, c), a / (b == 0 ? T(3) : b),
                         std::sqrt(a * a),  std::copysign(a, b),
                         std::fmin(a, b),   std::fmax(a, i % 8 == 1 ? T(NAN) : b),
                         std::fabs(a) - b,  a * b};
    return results[i / 4 % 8];
  }
};

struct Rounded {
  using Result = float;
  __device__ static float on_device(int i) {
    float const a = input<float>(i, 0), b = input<float>(i, 1), c = input<float>(i, 2);
    float const results[] = {__fadd_rd(a, b),        __fmul_rd(a, b),    __fmaf_rd(a, b, c),
                             __fdiv_rd(a, 3.0f),     __fadd_ru(a, b),    __fmul_ru(a, b),
                             __fmaf_ru(a, b, c),     __fdiv_ru(a, 3.0f), __fsqrt_rz(a * a),
                             __frcp_rz(a + 3000.0f), __fmaf_rz(a, b, c), __fsub_rz(a, b)};
    return results[i % 12];
  }
  static float on_host(int i) {
    float volatile a = input<float>(i, 0), b = input<float>(i, 1), c = input<float>(i, 2);
    float volatile square = a * a, moved = a + 3000.0f;
    constexpr int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    std::fesetround(modes[i % 12 / 4]);
    float const results[] = {a + b, a * b, std::fma(a, b, c), a / 3.0f};
    float const toward_zero[] = {std::sqrt(square), 1.0f / moved, std::fma(a, b, c), a - b};
    std::fesetround(FE_TONEAREST);
    return i % 12 < 8 ? results[i % 4] : toward_zero[i % 4];
  }
};

// ---- comparisons with a NaN among the numbers ----

struct Comparisons {
  using Result = u32;
  __host__ __device__ static u32 both(int i) {
    float const a = i % 5 == 0 ? NAN : input<float>(i, 0), b = i % 3 == 0 ? a : input<float>(i, 1);
    return u32(a < b) | u32(a <= b) << 1 | u32(a > b) << 2 | u32(a >= b) << 3 | u32(a == b) << 4 |
           u32(a != b) << 5 | u32(!(a < b)) << 6 | u32(!(a <= b)) << 7 | u32(!(a > b)) << 8 |
           u32(!(a >= b)) << 9 | u32(std::isnan(a)) << 10 | u32(!std::isnan(a + b)) << 11;
  }
};

// ---- conversions ----

// Floats of all sizes that the type has, subnormal ones and NaN among them; of others, half are
// where float16 has its numbers, and some in the middle between two narrower ones.
__host__ __device__ float any_float(int i) {
  u32 bits = u32(mixed(u64(i)));
  if (i % 2) bits = (bits & 0x8fffffffu) | 0x30000000u | (bits & 0x00800000u ? 0x08000000u : 0);
  u32 const middles[] = {0x00008000u, 0x00001000u};
  if (i % 7 < 2) bits = (bits & ~(2 * middles[i % 7] - 1)) | middles[i % 7];
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

struct Narrow {
  using Result = u64;
  __device__ static u64 on_device(int i) {
    float const a = any_float(i), b = any_float(i + count);
    u32 brains, halves, cut, tensor;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(brains) : "f"(a), "f"(b));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(a), "f"(b));
    asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(cut) : "f"(a), "f"(b));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tensor) : "f"(a));
    return (u64(brains) << 32 | halves) ^ (u64(tensor) << 16) ^ cut;
  }
  static u32 bits_of(float x) { return std::bit_cast<u32>(x); }
  static u32 brain(float x) { return x != x ? 0x7fff : __nv_bfloat16_raw(__float2bfloat16(x)).x; }
  static u32 half(float x) { return x != x ? 0x7fff : __half_raw(__float2half(x)).x; }
  static u64 on_host(int i) {
    float const a = any_float(i), b = any_float(i + count);
    auto const cut = [](float x) { return x <= 0 ? 0u : brain(x); };
    u32 const tensor = a != a ? 0x7fffffffu : (bits_of(a) + 0x1000u) & 0xffffe000u;
    return (u64(brain(a) << 16 | brain(b)) << 32 | (half(a) << 16 | half(b))) ^ u64(tensor) << 16 ^
           (cut(a) << 16 | cut(b));
  }
};

struct Widen {
  using Result = float;
  __device__ static float on_device(int i) {
    unsigned short const bits = static_cast<unsigned short>(mixed(u64(i)));
    __half const half = __ushort_as_half(bits);
    if (i % 2 == 0) return __half2float(half) + __bfloat162float(__ushort_as_bfloat16(bits / 2));
    return __half2float(half);
  }
  static float on_host(int i) {
    auto const bits = static_cast<unsigned short>(mixed(u64(i)));
    __half_raw raw;
    raw.x = bits;
    float const half = __half2float(__half(raw));
    if (i % 2 == 0) return half + std::bit_cast<float>(u32(bits / 2) << 16);
    return half;
  }
};

struct Whole {
  using Result = s64;
  __device__ static s64 on_device(int i) {
    float const a = any_float(i);
    double const b = double(a) * 0.75;
    s64 const results[] = {__float2int_rn(a),  __float2int_rz(a),       __float2int_rd(a),
                           __float2int_ru(a),  s64(__float2uint_rz(a)), __float2ll_rn(a),
                           __double2int_rz(b), __double2ll_rd(b),       s64(__double2ull_rz(b))};
    return results[i / 2 % 9];
  }
  template <class T> static s64 clamped(double x, bool from_double) {
    if (x != x) return from_double || sizeof(T) == 8 ? s64(T(u64(1) << (8 * sizeof(T) - 1))) : 0;
    if (x >= std::ldexp(1, 8 * sizeof(T) - std::is_signed_v<T>))
      return s64(std::numeric_limits<T>::max());
    if (x <= double(std::numeric_limits<T>::min())) return s64(std::numeric_limits<T>::min());
    return s64(T(x));
  }
  static s64 on_host(int i) {
    float const a = any_float(i);
    double const b = double(a) * 0.75;
    s64 const results[] = {
        clamped<s32>(std::nearbyint(a), false), clamped<s32>(std::trunc(a), false),
        clamped<s32>(std::floor(a), false),     clamped<s32>(std::ceil(a), false),
        clamped<u32>(std::trunc(a), false),     clamped<s64>(std::nearbyint(a), false),
        clamped<s32>(std::trunc(b), true),      clamped<s64>(std::floor(b), true),
        clamped<u64>(std::trunc(b), true)};
    return results[i / 2 % 9];
  }
};

struct FromWhole {
  using Result = double;
  __host__ __device__ static double both(int i) {
    double const results[] = {
        float(input<s32>(i + 1, 0)), float(input<u64>(i, 0)), double(input<s64>(i, 0)),
        double(short(input<u32>(i, 0))) + (input<u32>(i, 1) & 255), float(input<double>(i, 0))};
    return results[i % 5];
  }
};

struct Directed {
  using Result = float;
  __device__ static float on_device(int i) {
    double const x = input<double>(i, 0) / 3;
    return i % 3 == 0   ? __double2float_rd(x)
           : i % 3 == 1 ? __double2float_ru(x)
                        : __double2float_rz(x);
  }
  static float on_host(int i) {
    double const volatile x = input<double>(i, 0) / 3;
    std::fesetround(i % 3 == 0 ? FE_DOWNWARD : i % 3 == 1 ? FE_UPWARD : FE_TOWARDZERO);
    float const volatile result = float(x);
    std::fesetround(FE_TONEAREST);
    return result;
  }
};

}  // namespace

int main() {
  compare<Same<Integers<std::uint16_t>>>("u16");
  compare<Same<Integers<std::int16_t>>>("s16");
  compare<Same<Integers<u32>>>("u32");
  compare<Same<Integers<s32>>>("s32");
  compare<Same<Integers<u64>>>("u64");
  compare<Same<Integers<s64>>>("s64");
  compare<Same<Long>>("128 bits");
  compare<Fields>("fields of bits");
  compare<Same<Floats<float>>>("float");
  compare<Same<Floats<double>>>("double");
  compare<Rounded>("roundings");
  compare<Same<Comparisons>>("comparisons");
  compare<Narrow>("bf16, f16, tf32 of float");
  compare<Widen>("float of f16, bf16");
  compare<Whole>("whole numbers of floats");
  compare<Same<FromWhole>>("floats of whole numbers");
  compare<Directed>("float of double");
  return check::result();
}
