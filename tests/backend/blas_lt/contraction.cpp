// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of matrices by a library that a GPU's vendor would have, here one of plain loops,
// against the reference; what is done where the library lacks something.

#include <backend/blas_lt/plain_library.hpp>
#include <backend/gpu/host_device.hpp>
#include <core/standard_error.hpp>
#include <phyllo/backend/blas_lt/contraction.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>

#include <doctest/doctest.h>

#include <backend/portable/contraction.hpp>

#include <cmath>
#include <limits>

namespace phyllo::test {

struct Always {
  template <class> static bool takes(blas_lt::Pass, long, long, long) { return true; }
};
template <Lacking lacking, class Op, class P> struct ByLibraryThat;
template <Lacking lacking, class Chain, class P>
struct ByLibraryThat<lacking, op::Contraction<Chain>, P>
    : blas_lt::Contraction<PlainLibrary<lacking>, HostDevice<EmulatedMma>, Chain, P, Always> {};

template <class Op, class P> using ByLibrary = ByLibraryThat<Lacking::nothing, Op, P>;
template <class Op, class P> using ByHiding = ByLibraryThat<Lacking::nan_in_relu, Op, P>;
template <class Op, class P> using WithoutSums = ByLibraryThat<Lacking::sums_of_columns, Op, P>;
template <class Op, class P> using WithoutAny = ByLibraryThat<Lacking::algorithms, Op, P>;
template <class Op, class P> using WithoutLaunches = ByLibraryThat<Lacking::launches, Op, P>;

}  // namespace phyllo::test

using namespace phyllo;
using namespace phyllo::test;
using Way = blas_lt::Epilogue;

#define PHYLLO_TEST_LIBRARY_PRECISIONS \
  Full<float>, Mixed<bf16, float> PHYLLO_IN_VERIFY(, Mixed<fp16, float>)

namespace {

constexpr int runs = 3;  // of each comparison

template <Lacking lacking> long launches(Way e) { return PlainLibrary<lacking>::launches[int(e)]; }
template <Lacking lacking> void forget_launches() {
  for (long& l : PlainLibrary<lacking>::launches) l = 0;
}

// y = ReLU(x weight + bias), a NaN in one row of x.
template <template <class, class> class Tested, class P> void check_nan() {
  using S = typename P::storage;
  using Op = op::Contraction<op::Chain<ReLU>>;
  constexpr int width = 20, batch = 8;
  auto x = numbers<S>(batch * width, 1);
  x.data()[3 * width + 5] = S(std::numeric_limits<float>::quiet_NaN());
  auto const weight = numbers<S>(width * width, 2), bias = numbers<S>(width, 3);
  Guarded<S> y(batch * width);
  typename Op::template Forward<P> work;
  work.batch = batch;
  work.input = work.output = Shape{width};
  work.x = x.data();
  work.weight = weight.data();
  work.bias = bias.data();
  work.y = y.data();
  for (int twice = 0; twice < 2; ++twice) {
    Tested<Op, P>::run(Space(), "test", work);
    Space().fence("test");
    for (int r = 0; r < batch; ++r)
      for (int c = 0; c < width; ++c) {
        float const value = float(y.data()[r * width + c]);
        CHECK(std::isnan(value) == (r == 3));
        CHECK_FALSE(value < 0);
      }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("blas_lt: products of odd extents", P, PHYLLO_TEST_LIBRARY_PRECISIONS) {
  forget_launches<Lacking::nothing>();
  int const extents[] = {1, 3, 17, 33, 100, 130};
  int const batches[] = {0, 1, 5, 49, 120};
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 6; ++j)
      compare_contraction<P, ByLibrary>(
          {batches[i], Shape{extents[j]}, extents[(2 * i + j) % 6], {}}, (i + j) % 2 == 0);
  // Of four batches of six each: forward, twice backward, and the parameters.
  CHECK(launches<Lacking::nothing>(Way::bias) == runs * 12);
  CHECK(launches<Lacking::nothing>(Way::none) == runs * (12 + 2 * 24 + 12));
  CHECK(launches<Lacking::nothing>(Way::sum_of_columns) == runs * 12);
}

TEST_CASE_TEMPLATE("blas_lt: windows of one tap and of all, and such as are no plain products", P,
                   PHYLLO_TEST_LIBRARY_PRECISIONS) {
  Window whole, square;
  whole.size[1] = whole.size[2] = 5;
  square.size[1] = square.size[2] = 3;
  compare_contraction<P, ByLibrary>({3, Shape{17, 5, 7}, 33, {}}, true);
  compare_contraction<P, ByLibrary>({9, Shape{16, 5, 5}, 34, whole}, true);
  forget_launches<Lacking::nothing>();
  compare_contraction<P, ByLibrary>({2, Shape{3, 8, 8}, 5, square}, true, 4);
  for (auto const e : {Way::none, Way::bias, Way::sum_of_columns})
    CHECK(launches<Lacking::nothing>(e) == 0);
}

TEST_CASE_TEMPLATE("blas_lt: products with an epilogue", P, PHYLLO_TEST_LIBRARY_PRECISIONS) {
  for (int i = 0; i < 16; ++i) {
    Epilogue const with{i % 2 == 1, i / 2 % 2 == 1, i / 4 % 2 == 1, i / 8 == 1};
    compare_epilogue<op::Chain<>, P, ByLibrary>(9, Shape{17, 3, 5}, 34, with);
    compare_epilogue<op::Chain<ReLU>, P, ByLibrary>(49, Shape{100}, 33, with);
    compare_epilogue<op::Chain<ReLU>, P, ByHiding>(49, Shape{100}, 33, with);
    if constexpr (all_cases) {
      compare_epilogue<op::Chain<ReLU>, P, WithoutAny>(49, Shape{100}, 33, with);
      compare_epilogue<op::Chain<GELU, Dropout<0.25>>, P, ByLibrary>(49, Shape{100}, 33, with);
    }
  }
}

TEST_CASE_TEMPLATE("blas_lt: a library's ReLU is used if it leaves a NaN one", P,
                   PHYLLO_TEST_LIBRARY_PRECISIONS) {
  forget_launches<Lacking::nothing>();
  check_nan<ByLibrary, P>();
  // Asked once, then in the product.
  CHECK(launches<Lacking::nothing>(Way::bias_relu) == 3);
  CHECK(launches<Lacking::nothing>(Way::bias) == 0);
  forget_launches<Lacking::nan_in_relu>();
  check_nan<ByHiding, P>();
  CHECK(launches<Lacking::nan_in_relu>(Way::bias_relu) == 1);
  CHECK(launches<Lacking::nan_in_relu>(Way::bias) == 2);
}

TEST_CASE_TEMPLATE("blas_lt: what a library has no algorithm for, others compute", P,
                   PHYLLO_TEST_LIBRARY_PRECISIONS) {
  double const parts =
      std::is_same_v<P, Full<float>> ? 4 : 1;  // of a float, as in gpu/contraction.cpp
  forget_launches<Lacking::sums_of_columns>();
  compare_contraction<P, WithoutSums>({120, Shape{33}, 17, {}}, true, parts);
  CHECK(launches<Lacking::sums_of_columns>(Way::sum_of_columns) == 0);
  CHECK(launches<Lacking::sums_of_columns>(Way::none) == runs * 3);
  compare_contraction<P, WithoutSums>({5000, Shape{3}, 2, {}}, true, parts);
  compare_contraction<P, WithoutAny>({120, Shape{33}, 17, {}}, true, parts);
  for (int e = 0; e < 4; ++e) CHECK(PlainLibrary<Lacking::algorithms>::launches[e] == 0);
}

TEST_CASE("blas_lt: an algorithm may take for granted no more than the pointers are aligned") {
  blas_lt::ProductMemory memory;
  auto const at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  memory.left = memory.right = memory.result = at(4096);
  CHECK(memory.alignment() == 256);
  memory.vector = at(4096 + 32);
  CHECK(memory.alignment() == 32);
  memory.right = at(4096 + 6);
  CHECK(memory.alignment() == 2);
}

TEST_CASE("blas_lt: what a library refuses to launch is computed by Phyllo's own kernels") {
  using P = Mixed<bf16, float>;
  std::string const text = standard_error_of(
      [&] { compare_contraction<P, WithoutLaunches>({4, Shape{3}, 2, {}}, true); });
  CHECK(text.find("phyllo: PlainLibrary refuses a product of 4 by 2 over 3 (refused), so Phyllo's "
                  "own kernels compute what it refuses.\n") != std::string::npos);
}

TEST_CASE("blas_lt: wide layers of 16 bits are the library's") {
  using blas_lt::Pass;
  using blas_lt::Wide;
  CHECK(Wide::takes<bf16>(Pass::forward, 16384, 1024, 1024));
  CHECK_FALSE(Wide::takes<bf16>(Pass::forward, 16384, 1024, 128));
  CHECK_FALSE(Wide::takes<bf16>(Pass::forward, 256, 1024, 1024));
  CHECK_FALSE(Wide::takes<float>(Pass::forward, 16384, 1024, 1024));
}
