// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of matrices and with sparse matrices by Kokkos Kernels against plain loops. The backend
// serves devices; its kernels are executed on a processor here.

#include <phyllo/backend/kokkos_kernels/backend.hpp>
#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <KokkosSparse_CrsMatrix.hpp>

#include <backend/portable/contraction.hpp>

#include <cmath>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <vector>

namespace phyllo::test {

struct Always {
  static bool takes(long, long, long) { return true; }
};
template <class Op, class P> struct ByKokkosKernels;
template <class Chain, class P>
struct ByKokkosKernels<op::Contraction<Chain>, P> : kokkos_kernels::Contraction<Chain, P, Always> {
};
template <class P>
struct ByKokkosKernels<op::SparseProduct, P> : kokkos_kernels::SparseProduct<P> {};
template <> inline constexpr bool same_bits_on_any_threads<ByKokkosKernels> = false;
template <> inline constexpr bool same_bits_on_any_threads<kokkos_kernels::Kernels> = false;

// As on a device.
struct EverywhereBackend {
  static constexpr char const* name = "everywhere";
  template <class Op, class P> using kernels = ByKokkosKernels<Op, P>;
};

}  // namespace phyllo::test

using namespace phyllo;
using namespace phyllo::test;

using Precise = Full<double>;

static_assert(!KokkosKernelsBackend::serves<Kokkos::DefaultHostExecutionSpace>);

TEST_CASE("kokkos_kernels: products of odd extents") {
  int const extents[] = {1, 3, 17, 33, 100, 130, 300};
  int const batches[] = {0, 1, 5, 49, 300};
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j)
      compare_contraction<Precise, ByKokkosKernels>(
          {batches[i], Shape{extents[j]}, extents[(2 * i + j) % 7], {}}, (i + j) % 2 == 0);
  // Of every position, of a whole image, and what is left to backend portable.
  Window five, three;
  five.size[1] = five.size[2] = 5;
  three.size[1] = three.size[2] = 3;
  compare_contraction<Precise, ByKokkosKernels>({3, Shape{17, 5, 7}, 33, {}}, true);
  compare_contraction<Precise, ByKokkosKernels>({49, Shape{16, 5, 5}, 34, five}, true);
  compare_contraction<Precise, ByKokkosKernels>({2, Shape{3, 8, 8}, 5, three}, true);
}

TEST_CASE("kokkos_kernels: on both sides of the border") {
  CHECK(kokkos_kernels::Wide::takes(256, 64, 64));
  CHECK_FALSE(kokkos_kernels::Wide::takes(255, 64, 64));
  CHECK_FALSE(kokkos_kernels::Wide::takes(256, 63, 64));
  CHECK_FALSE(kokkos_kernels::Wide::takes(256, 64, 63));
  for (int const batch : {3, 256})
    compare_contraction<Precise, kokkos_kernels::Kernels>({batch, Shape{64}, 64, {}}, true);
}

TEST_CASE("kokkos_kernels: products with an epilogue") {
  for (int i = 0; i < 16; ++i) {
    Epilogue const with{i % 2 == 1, i / 2 % 2 == 1, i / 4 % 2 == 1, i / 8 == 1};
    compare_epilogue<op::Chain<ReLU>, Precise, ByKokkosKernels>(49, Shape{100}, 33, with);
    compare_epilogue<op::Chain<GELU, Dropout<0.25>>, Precise, ByKokkosKernels>(7, Shape{17, 3, 5},
                                                                               34, with);
  }
}

namespace {

// A matrix of the library's, not symmetric, with an empty row and an entry that is repeated.
template <class T> auto library_matrix() {
  using Device = Space::device_type;
  using Matrix = KokkosSparse::CrsMatrix<T, int, Device, void, std::size_t>;
  typename Matrix::row_map_type::non_const_type const row_map("row_map", 6);
  typename Matrix::index_type::non_const_type const entries("entries", 7);
  typename Matrix::values_type::non_const_type const values("values", 7);
  std::size_t const rows[] = {0, 3, 4, 4, 7, 7};
  int const columns[] = {4, 0, 1, 2, 0, 1, 0};
  for (int i = 0; i < 6; ++i) row_map(i) = rows[i];
  for (int i = 0; i < 7; ++i) entries(i) = columns[i], values(i) = T(std::sin(0.4 + 1.7 * i));
  return Matrix("matrix", 5, 5, 7, values, row_map, entries);
}

}  // namespace

TEST_CASE_TEMPLATE("kokkos_kernels: sparse products", T, double, float) {
  using P = Full<T>;
  SparseMatrix<T, Space> const matrix(Space(), library_matrix<T>());
  for (int const channels : {1, 3, 16, 33})
    for (int const groups : {0, 1, 3})
      for (bool const accumulate : {false, true})
        for (SparseRows<T> const& rows : {matrix.by_rows(), matrix.transposed()}) {
          auto const size = std::size_t(groups * 5 * channels);
          std::vector<T> x(size), expected(size), y(size);
          for (std::size_t i = 0; i < size; ++i) {
            x[i] = T(std::sin(1.9 * double(i)));
            expected[i] = y[i] = T(std::cos(0.7 * double(i)));
          }
          op::SparseProduct::Product<P> work{rows,     groups,          channels,
                                             x.data(), expected.data(), accumulate};
          reference::Kernels<op::SparseProduct, P>::run(Space(), "test", work);
          work.y = y.data();
          ByKokkosKernels<op::SparseProduct, P>::run(Space(), "test", work);
          Space().fence("test");
          for (std::size_t i = 0; i < size; ++i)
            CHECK(y[i] == doctest::Approx(expected[i]).epsilon(sizeof(T) == 8 ? 1e-13 : 1e-5));
        }
}

namespace {

struct Mesh : Network<Input<3>, GraphConvolution<70>, SiLU, GraphConvolution<2>> {};

template <class Backend> std::vector<double> gradients() {
  Space const exec;
  using Exec = Execution<Space, Backends<Backend, PortableBackend>, FusionLevel::epilogue>;
  static_assert(std::string_view(
                    SelectedBackend<op::SparseProduct, Precise, typename Exec::backends>::name) ==
                Backend::name);
  Model<Mesh, Precise, Exec> model(exec, {.batch = 10, .seed = 4});
  model.bind_matrix(SparseMatrix<double, Space>(exec, library_matrix<double>()));
  using Rows = Kokkos::View<double**, Kokkos::LayoutRight, Space>;
  Rows const x("x", 10, 3), y("y", 10, 2), d_y("d_y", 10, 2), d_x("d_x", 10, 3);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(1.9 * double(i));
  for (std::size_t i = 0; i < d_y.size(); ++i) d_y.data()[i] = std::cos(1.3 * double(i));
  model.forward(exec, x, y);
  model.backward(exec, d_y, d_x);
  exec.fence("test");
  std::vector<double> all(model.gradients().data(),
                          model.gradients().data() + model.nodes.arena_size);
  all.insert(all.end(), y.data(), y.data() + y.size());
  all.insert(all.end(), d_x.data(), d_x.data() + d_x.size());
  return all;
}

}  // namespace

TEST_CASE("kokkos_kernels: a whole network") {
  auto const own = gradients<EverywhereBackend>(), plain = gradients<ReferenceBackend>();
  REQUIRE(own.size() == plain.size());
  for (std::size_t i = 0; i < own.size(); ++i)
    CHECK(own[i] == doctest::Approx(plain[i]).epsilon(1e-11));
}
