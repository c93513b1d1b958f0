// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ceiling.hpp"
#include "samples.hpp"

#include <phyllo/backend/select.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>

namespace perf {

/// What fits into the cache that a device's multiprocessors share.
inline constexpr double cache_bytes = 16 << 20;

namespace detail {

#if defined(PHYLLO_HAS_CUDA_BACKEND)
using Device = phyllo::cuda::Device;
#elif defined(PHYLLO_HAS_HIP_BACKEND)
using Device = phyllo::hip::Device;
#else
#error "perf/run measures devices that have matrix instructions: sm_80, gfx90a, or newer."
#endif

/// Products of matrices in registers, `count` for each of 8 independent sums of a warp.
template <class MmaAtom> struct multiply_fragments {
  static constexpr int warps = 8, threads = warps * MmaAtom::lanes, scratch_bytes = 16;
  static constexpr int emulated_lanes = MmaAtom::emulated_lanes, chains = 8;
  float* result = nullptr;
  int count = 0;

  static double flops(long blocks, int count) {
    return 2.0 * 16 * 16 * (16 / MmaAtom::blocks) * chains * count * warps * double(blocks);
  }
  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    using S = typename MmaAtom::storage;
    phyllo::gpu::Pack4<S> four;
    for (int i = 0; i < 4; ++i) four.value[i] = S(1e-3f * float(team.first_thread() % 7 + i));
    typename MmaAtom::Values values[emulated_lanes];
    typename MmaAtom::Weights weights[chains][emulated_lanes];
    typename MmaAtom::Sums sums[chains][emulated_lanes] = {};
    for (int l = 0; l < emulated_lanes; ++l)
      for (int c = 0; c < chains; ++c) {
        weights[c][l] = MmaAtom::weights(four);
        four.value[c % 4] = S(float(four.value[c % 4]) + 1e-3f);
      }
    for (int i = 0; i < count; ++i) {
      // No two products are the same, or a compiler would compute one of them.
      four.value[0] = S(1e-6f * float(i));
      for (int l = 0; l < emulated_lanes; ++l)
        for (int p = 0; p < MmaAtom::parts; ++p) MmaAtom::put(values[l], p, four);
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < chains; ++c) MmaAtom::multiply(sums[c], values, weights[c]);
    }
    float sum = 0;
    for (int c = 0; c < chains; ++c) sum += sums[c][0].value[0];
    if (team.first_thread() == 0) result[team.block()] = sum;
  }
};

/// Multiply-adds of the vector units in float, 16 chains for each thread.
struct multiply_add {
  static constexpr int chains = 16;
  float* result = nullptr;
  int count = 0;

  PHYLLO_FUNCTION void operator()(long i) const {
    float sum[chains];
    for (int c = 0; c < chains; ++c) sum[c] = 1e-3f * float(c) + 1e-6f * float(i % 13);
    for (int k = 0; k < count; ++k) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < chains; ++c) sum[c] = sum[c] * 0.999f + 1e-4f;
    }
    float all = 0;
    for (int c = 0; c < chains; ++c) all += sum[c];
    result[i] = all;
  }
};

/// to = from, four numbers at a time, `repeat` times.
struct copy_numbers {
  phyllo::gpu::Pack4<float> const* from = nullptr;
  phyllo::gpu::Pack4<float>* to = nullptr;
  PHYLLO_FUNCTION void operator()(long i) const { to[i] = from[i]; }
};

struct do_nothing {
  PHYLLO_FUNCTION void operator()(long) const {}
};

}  // namespace detail

/// What the device can do at most, measured in the process that is measured against it.
struct DeviceCeilings {
  using Space = Kokkos::DefaultExecutionSpace;
  static constexpr int threads = 0;  // of the host: none of the work is its
  std::string device;
  double fma = 0;                          // FLOP/s of the vector units in float
  double float32 = 0, bf16 = 0, fp16 = 0;  // FLOP/s of the matrix instructions as kernels use them
  double copy = 0;                         // byte/s, read and written, of 1 GiB to another
  double shared = 0;                       // byte/s, read and written, of 4 MiB to another
  double cache_bytes = perf::cache_bytes;  // of the cache that multiprocessors share
  double launch = 0;                       // seconds from one empty kernel to the next
  double graph = 0;  // seconds of a launch of a recorded empty kernel, with the wait for it

  template <class P> Ceiling peak() const {
    if (std::is_same_v<typename P::storage, phyllo::bf16>) return {bf16, "matrix"};
    if (std::is_same_v<typename P::storage, phyllo::fp16>) return {fp16, "matrix"};
    return {float32, "matrix"};
  }
  Ceiling vectors() const { return {fma, "fma"}; }
  Ceiling memory() const { return {copy, "copy"}; }
  Ceiling cache() const { return {shared, "cache"}; }

  void print() const {
    std::printf(
        "{\"workload\": \"ceiling\", \"threads\": %d, \"device\": \"%s\", \"fma\": %.6g, "
        "\"matrix_f32\": %.6g, \"matrix_bf16\": %.6g, \"matrix_f16\": %.6g, \"copy\": %.6g, "
        "\"cache\": %.6g, \"launch\": %.6g, \"graph\": %.6g}\n",
        threads, device.c_str(), fma, float32, bf16, fp16, copy, shared, launch, graph);
  }
};

/// The seconds of one of several calls without a wait between them: the shortest of ten trials.
template <class Call>
double shortest(DeviceCeilings::Space const& exec, int calls, Call const& call) {
  double best = 1e9;
  for (int trial = 0; trial < 10; ++trial) {
    exec.fence("perf");
    double const start = now();
    for (int i = 0; i < calls; ++i) call();
    exec.fence("perf");
    best = std::min(best, (now() - start) / calls);
  }
  return best;
}

template <class S> double matrix_rate(DeviceCeilings::Space const& exec) {
  using Kernel = detail::multiply_fragments<typename detail::Device::template MmaAtom<S>>;
  constexpr int count = 20000;
  long const blocks = 4L * detail::Device::multiprocessors(exec);
  Kokkos::View<float*, DeviceCeilings::Space> result("result", std::size_t(blocks));
  int launched = 0;
  double const seconds = shortest(exec, 1, [&] {
    launched =
        detail::Device::launch(exec, "matrix instructions", Kernel{result.data(), count}, blocks);
  });
  return Kernel::flops(launched, count) / seconds;
}

inline double copy_rate(DeviceCeilings::Space const& exec, long fours, int calls) {
  Kokkos::View<float*, DeviceCeilings::Space> from("from", std::size_t(4 * fours)),
      to("to", std::size_t(4 * fours));
  Kokkos::deep_copy(exec, from, 1.5f);
  detail::copy_numbers const kernel{reinterpret_cast<phyllo::gpu::Pack4<float> const*>(from.data()),
                                    reinterpret_cast<phyllo::gpu::Pack4<float>*>(to.data())};
  return 32.0 * double(fours) /
         shortest(exec, calls, [&] { phyllo::portable::launch(exec, "copy", fours, kernel); });
}

inline DeviceCeilings measure_ceilings() {
  DeviceCeilings c;
  using Space = DeviceCeilings::Space;
  Space const exec = Kokkos::Experimental::partition_space(Space(), 1)[0];
#if defined(PHYLLO_HAS_CUDA_BACKEND)
  c.device = exec.cuda_device_prop().name;
#else
  c.device = exec.hip_device_prop().name;
#endif
  {
    constexpr long lanes = 1 << 20;
    constexpr int count = 4000;
    Kokkos::View<float*, Space> result("result", lanes);
    c.fma = 2.0 * lanes * count * detail::multiply_add::chains / shortest(exec, 1, [&] {
              phyllo::portable::launch(exec, "multiply-add", lanes,
                                       detail::multiply_add{result.data(), count});
            });
  }
  c.float32 = matrix_rate<float>(exec);
  c.bf16 = matrix_rate<phyllo::bf16>(exec);
  c.fp16 = matrix_rate<phyllo::fp16>(exec);
  c.copy = copy_rate(exec, 1L << 26, 4);
  c.shared = copy_rate(exec, 1L << 18, 200);
  auto const nothing = [&] { phyllo::portable::launch(exec, "nothing", 1, detail::do_nothing{}); };
  c.launch = shortest(exec, 1000, nothing);
  typename phyllo::Recorder<Space>::type const recorded(exec, "nothing", nothing);
  c.graph = shortest(exec, 1, [&] { recorded.launch(exec, "nothing"); });
  return c;
}

}  // namespace perf
