// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library that cannot be used in this process: its layers have the bits of backend/gpu, and one
// sentence says why.

#include <backend/blas_lt/plain_library.hpp>
#include <backend/gpu/host_device.hpp>
#include <backend/portable/comparison.hpp>
#include <core/refused_memory.hpp>
#include <core/standard_error.hpp>
#include <phyllo/backend/blas_lt/contraction.hpp>
#include <phyllo/layer/relu.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

using P = Mixed<bf16, float>;
using Device = HostDevice<EmulatedMma>;
using Op = op::Contraction<op::Chain<ReLU>>;
using Own = gpu::ContractionKernels<Device, op::Chain<ReLU>, P>;

struct Always {
  template <class> static bool takes(blas_lt::Pass, long, long, long) { return true; }
};
template <Lacking lacking>
using ByLibrary = blas_lt::Contraction<PlainLibrary<lacking>, Device, op::Chain<ReLU>, P, Always>;

// All that the three passes of a layer write.
struct OneLayer {
  static constexpr int batch = 49, inputs = 33, outputs = 20;
  Guarded<bf16> y{batch * outputs}, d_x{batch * inputs};
  Guarded<float> d_weight{inputs * outputs}, d_bias{outputs};

  template <class Kernels> void run() {
    auto const x = numbers<bf16>(batch * inputs, 1), d_z = numbers<bf16>(batch * outputs, 2),
               weight = numbers<bf16>(inputs * outputs, 3), bias = numbers<bf16>(outputs, 4);
    auto partial = std::vector<float>(std::size_t(Kernels::traits.partial_count));
    typename Op::template Forward<P> forward;
    typename Op::template BackwardInput<P> backward;
    typename Op::template BackwardParameters<P> parameters;
    auto const extents = [](auto& work) {
      work.batch = batch;
      work.input = Shape{inputs};
      work.output = Shape{outputs};
    };
    extents(forward);
    extents(backward);
    extents(parameters);
    forward.x = parameters.x = x.data();
    forward.weight = backward.weight = weight.data();
    forward.bias = bias.data();
    forward.y = y.data();
    backward.d_z = parameters.d_z = d_z.data();
    backward.d_x = d_x.data();
    parameters.d_weight = d_weight.data();
    parameters.d_bias = d_bias.data();
    parameters.partial = partial.data();
    Kernels::run(Space(), "test", forward);
    Kernels::run(Space(), "test", backward);
    Kernels::run(Space(), "test", parameters);
    Space().fence("test");
  }
  bool has_bits_of(OneLayer const& other) const {
    return y.has_bits_of(other.y) && d_x.has_bits_of(other.d_x) &&
           d_weight.has_bits_of(other.d_weight) && d_bias.has_bits_of(other.d_bias);
  }
};

template <Lacking lacking> void check_own_kernels(std::string const& reason) {
  OneLayer own, first, second;
  own.run<Own>();
  std::string const text = standard_error_of([&] {
    first.run<ByLibrary<lacking>>();
    second.run<ByLibrary<lacking>>();
  });
  CHECK(first.has_bits_of(own));
  CHECK(second.has_bits_of(own));
  // AddressSanitizer speaks of the memory as well.
  auto const begin = text.find("phyllo: ");
  REQUIRE(begin != std::string::npos);
  CHECK(
      text.substr(begin) ==
      "phyllo: PlainLibrary cannot be used (" + reason +
          "), so Phyllo's own kernels compute wide layers. Check that it fits the driver and that "
          "memory is free, or remove its backend from the list of backends.\n");
  for (long const l : PlainLibrary<lacking>::launches) CHECK(l == 0);
}

}  // namespace

TEST_CASE("Products: a library that cannot begin leaves all to Phyllo's own kernels") {
  check_own_kernels<Lacking::handle>("refused");
}

TEST_CASE("Products: so does one without room for what it works in") {
  check_own_kernels<Lacking::workspace>("no room for the 128.0 TiB that it works in");
}

TEST_CASE("Products: a library that can be used says nothing, and is used") {
  OneLayer layer;
  CHECK(standard_error_of([&] { layer.run<ByLibrary<Lacking::nothing>>(); }).empty());
  long launches = 0;
  for (long const l : PlainLibrary<Lacking::nothing>::launches) launches += l;
  CHECK(launches >= 3);
}

// A product of 2 by 3 over 4 with a bias and a ReLU.
struct SmallProduct {
  alignas(64) bf16 left[9] = {}, right[13] = {}, bias[4] = {}, result[7] = {};
  blas_lt::ProductShape shape;

  SmallProduct() {
    shape.rows = 2;
    shape.columns = 3;
    shape.depth = 4;
    shape.factors = shape.result = blas_lt::number_type<bf16>;
    shape.epilogue = blas_lt::Epilogue::bias_relu;
  }
  /// All of them so many numbers behind where they are aligned.
  blas_lt::ProductMemory memory(int shift = 0) {
    return {left + shift, right + shift, bias + shift, result + shift};
  }
};

TEST_CASE("Products: while a stream records, no algorithm is asked what it makes of NaN") {
  using Library = PlainLibrary<Lacking::nothing>;
  OneLayer().run<ByLibrary<Lacking::nothing>>();  // what products work in is there
  auto& products = blas_lt::Products<Library>::of(Space());
  SmallProduct small;
  long const before = Library::launches[int(blas_lt::Epilogue::bias_relu)];
  Library::recording = true;
  CHECK_FALSE(products.keeps_nan<bf16>(Space(), small.shape, small.memory()));
  Library::recording = false;
  CHECK(Library::launches[int(blas_lt::Epilogue::bias_relu)] == before);
  CHECK(products.keeps_nan<bf16>(Space(), small.shape, small.memory()));
}

TEST_CASE("Products: what is not aligned as a library requires is not its own") {
  SmallProduct small;
  small.shape.epilogue = blas_lt::Epilogue::bias;
  auto& products = blas_lt::Products<PlainLibrary<Lacking::alignment>>::of(Space());
  CHECK(products.run(Space(), small.shape, small.memory()));
  CHECK_FALSE(products.run(Space(), small.shape, small.memory(1)));
}

TEST_CASE("Products: each device of a process has a handle of its own") {
  using Library = PlainLibrary<Lacking::nan_in_relu>;
  OneLayer first, second, third;
  first.run<ByLibrary<Lacking::nan_in_relu>>();
  CHECK(Library::handles == 1);
  Library::now = 3;
  second.run<ByLibrary<Lacking::nan_in_relu>>();
  CHECK(Library::handles == 2);
  Library::now = 0;
  third.run<ByLibrary<Lacking::nan_in_relu>>();
  CHECK(Library::handles == 2);
  CHECK(second.has_bits_of(first));
}

TEST_CASE(
    "Products: the first product of a stream that records is an error, the next is recorded") {
  using Library = PlainLibrary<Lacking::sums_of_columns>;
  OneLayer own, layer;
  own.run<ByLibrary<Lacking::nothing>>();
  Library::recording = true;
  try {
    layer.run<ByLibrary<Lacking::sums_of_columns>>();
    FAIL("nothing was said");
  } catch (Error const& error) {
    CHECK(
        std::string(error.what()) ==
        "PlainLibrary: expected a product on this instance before its stream is captured, because "
        "the first one allocates memory, got none. Run the work once before the capture.");
  }
  Library::recording = false;
  layer.run<ByLibrary<Lacking::sums_of_columns>>();
  Library::recording = true;
  CHECK(standard_error_of([&] { layer.run<ByLibrary<Lacking::sums_of_columns>>(); }).empty());
  CHECK(layer.y.has_bits_of(own.y));
  CHECK(Library::launches[int(blas_lt::Epilogue::none)] > 0);
  Library::recording = false;
}
