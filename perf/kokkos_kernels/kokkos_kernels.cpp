// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kokkos Kernels against Phyllo's own kernels on the default execution space: products of matrices
// in double, and products with the sparse matrix of a mesh of triangles. Medians of calls in turns.

#include <phyllo/backend/kokkos_kernels/backend.hpp>
#include <phyllo/phyllo.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;
template <class T> using Numbers = Kokkos::View<T*, Space>;

struct Always {
  static bool takes(long, long, long) { return true; }
};

// Time of the library over that of the own kernel.
struct Ratio {
  double ratio, own_seconds;
};
template <class Own, class Library>
Ratio compare(Space const& exec, Own const& own, Library const& library) {
  auto const time = [&](auto const& call) {
    Kokkos::Timer timer;
    call();
    exec.fence("perf");
    return timer.seconds();
  };
  time(own), time(library);
  std::vector<double> of_own, of_library;
  Kokkos::Timer all;
  while (all.seconds() < 0.3 || of_own.size() < 7) {
    of_own.push_back(time(own));
    of_library.push_back(time(library));
  }
  auto const median = [](std::vector<double>& v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  };
  return {median(of_library) / median(of_own), median(of_own)};
}

void products(Space const& exec) {
  using P = Full<double>;
  using Op = op::Contraction<op::Chain<>>;
  using Own = SelectedKernels<Op, P, typename DefaultBackends<Space>::type>;
  using Library = kokkos_kernels::Contraction<op::Chain<>, P, Always>;
  ThreadMemory<Space> const memory(exec, "memory", exec.concurrency(),
                                   kernel_traits<Own>.thread_bytes);
  std::puts(
      "time of KokkosBlas::gemm over that of Phyllo's product, double\n"
      " rows width  forward  input  parameters");
  for (int const rows : {64, 512, 4096})
    for (int const width : {128, 256, 512, 1024, 2048}) {
      auto const size = std::size_t(width);
      Numbers<double> const x("x", size * std::size_t(rows)), y("y", size * std::size_t(rows)),
          w("w", size * size), d_w("d_w", size * size);
      Kokkos::deep_copy(exec, x, 0.5);
      Kokkos::deep_copy(exec, w, 0.25);
      auto const begin = [&]<class Work>(Work work) {
        work.batch = rows;
        work.input = work.output = Shape(width);
        work.memory = memory.memory();
        return work;
      };
      auto f = begin(typename Op::template Forward<P>{});
      f.x = x.data(), f.weight = w.data(), f.y = y.data();
      auto b = begin(typename Op::template BackwardInput<P>{});
      b.d_z = x.data(), b.weight = w.data(), b.d_x = y.data();
      auto p = begin(typename Op::template BackwardParameters<P>{});
      p.x = x.data(), p.d_z = y.data(), p.d_weight = d_w.data();
      auto const ratio = [&](auto const& work) {
        return compare(
                   exec, [&] { Own::run(exec, "own", work); },
                   [&] { Library::run(exec, "library", work); })
            .ratio;
      };
      std::printf("%5d %5d %8.2f %6.2f %11.2f\n", rows, width, ratio(f), ratio(b), ratio(p));
    }
}

template <class T> void sparse_products(Space const& exec, char const* name) {
  using P = Full<T>;
  std::printf(
      "time of KokkosSparse::spmv over that of Phyllo's sparse product, %s\n"
      "  nodes channels  ratio  microseconds of Phyllo\n",
      name);
  for (int const n : {32, 200}) {
    std::vector<int> row_map(1, 0), entries;
    int const neighbours[][2] = {{-1, -1}, {-1, 0}, {0, -1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        for (auto const& d : neighbours)
          if (i + d[0] >= 0 && i + d[0] < n && j + d[1] >= 0 && j + d[1] < n)
            entries.push_back((i + d[0]) * n + j + d[1]);
        row_map.push_back(int(entries.size()));
      }
    using Host = Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    Numbers<T> const values("values", entries.size());
    Kokkos::deep_copy(exec, values, T(0.1));
    SparseMatrix<T, Space> const matrix(exec, Host(row_map.data(), row_map.size()),
                                        Host(entries.data(), entries.size()), values);
    for (int const channels : {1, 2, 3, 4, 8, 16, 20, 32, 64}) {
      auto const size = std::size_t(n * n) * std::size_t(channels);
      Numbers<T> const x("x", size), y("y", size);
      Kokkos::deep_copy(exec, x, T(1));
      op::SparseProduct::Product<P> const work{matrix.by_rows(), 1,        channels,
                                               x.data(),         y.data(), false};
      Ratio const r = compare(
          exec, [&] { portable::Kernels<op::SparseProduct, P>::run(exec, "own", work); },
          [&] { kokkos_kernels::SparseProduct<P>::run(exec, "library", work); });
      std::printf("%7d %8d %6.2f %11.1f\n", n * n, channels, r.ratio, 1e6 * r.own_seconds);
    }
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  Space const exec;
  sparse_products<double>(exec, "double");
  sparse_products<float>(exec, "float");
  products(exec);
}
