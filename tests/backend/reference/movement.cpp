// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cstdint>
#include <finite_difference.hpp>
#include <phyllo/backend/reference/move.hpp>
#include <phyllo/backend/reference/movement.hpp>
#include <phyllo/policy/precision.hpp>
#include <type_traits>
#include <vector>

using namespace phyllo;

namespace {

using Double = Full<double>;
using Copy = op::Copy::Forward<Double>;
using Numbers = std::vector<double>;

template <class T> constexpr ElementType type_of() {
  if (std::is_same_v<T, double>) return ElementType::f64;
  if (std::is_same_v<T, float>) return ElementType::f32;
  if (std::is_same_v<T, bf16>) return ElementType::bf16;
  if (std::is_same_v<T, fp16>) return ElementType::f16;
  if (std::is_same_v<T, std::int64_t>) return ElementType::i64;
  return std::is_same_v<T, std::int32_t> ? ElementType::i32 : ElementType::u8;
}

void copy(Copy const& work) { test::run<op::Copy, Double>(work); }
void move(op::Move::Forward<Double> const& work) { test::run<op::Move, Double>(work); }
// One axis alone.
MoveMap along(MoveAxis const& axis) {
  MoveMap m;
  m.source_size = axis.source_extent;
  m.target_size = axis.extent;
  m.append(axis);
  return m;
}

}  // namespace

TEST_CASE("reference copy: two values side by side, and back") {
  Numbers const a{1, 2, 3, 4}, b{5, 6};  // (2, 2) and (2, 1)
  Numbers both(6, -1), part(4, 10);
  copy({2, 2, 2, 0, 3, 0, a.data(), both.data(), false});
  CHECK(both == Numbers{1, 2, -1, 3, 4, -1});
  copy({2, 1, 1, 0, 3, 2, b.data(), both.data(), false});
  CHECK(both == Numbers{1, 2, 5, 3, 4, 6});
  copy({2, 2, 3, 1, 2, 0, both.data(), part.data(), true});
  CHECK(part == Numbers{12, 15, 14, 16});
  copy({0, 2, 3, 1, 2, 0, both.data(), part.data(), false});
  CHECK(part == Numbers{12, 15, 14, 16});
}

TEST_CASE("reference copy: the copy with both sides exchanged is the adjoint") {
  int const rows = 5;
  auto const x = test::numbers(rows * 4, 1), d_y = test::numbers(rows * 7, 2);
  Numbers y(d_y.size()), d_x(x.size());
  copy({rows, 3, 4, 1, 7, 2, x.data(), y.data(), false});
  copy({rows, 3, 7, 2, 4, 1, d_y.data(), d_x.data(), false});
  CHECK(test::dot(y, d_y) == doctest::Approx(test::dot(x, d_x)).epsilon(1e-14));
  CHECK(test::dot(y, d_y) != 0);
}

TEST_CASE("reference move: a transposition by hand, and its inverse, added") {
  Numbers const x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};  // (2, 2, 3)
  Numbers y(12), back(12, 100);
  MoveMap const map = MoveMap::reshaped({3, 2}, {6});
  move({2, map, 0, x.data(), y.data(), false});
  CHECK(y == Numbers{1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12});
  move({2, map.inverse(), 0, y.data(), back.data(), true});
  CHECK(back == test::sum(x, Numbers(12, 100)));
  move({0, map, 0, x.data(), back.data(), false});
  CHECK(back == test::sum(x, Numbers(12, 100)));
}

TEST_CASE("reference move: copies and what is beyond a border by hand") {
  Numbers const x{1, 2, 3, 4};
  Numbers y(7), d_x(4, 1);
  MoveAxis axis{.extent = 7, .source_extent = 4, .source_stride = 1, .begin = -2};
  move({1, along(axis), 9, x.data(), y.data(), false});
  CHECK(y == Numbers{9, 9, 1, 2, 3, 4, 9});
  axis.mode = PaddingMode::reflect;
  move({1, along(axis), 9, x.data(), y.data(), false});
  CHECK(y == Numbers{3, 2, 1, 2, 3, 4, 3});
  y = {1, 2, 4, 8, 16, 32, 64};
  test::run<op::Move, Double>(
      op::Move::Backward<Double>{1, along(axis), y.data(), d_x.data(), true});
  CHECK(d_x == Numbers{1 + 4, 1 + 8 + 2, 1 + 16 + 1 + 64, 1 + 32});
  axis = {.extent = 8, .source_extent = 4, .source_stride = 1, .repeat = 2};
  y.resize(8);
  move({1, along(axis), 0, x.data(), y.data(), false});
  CHECK(y == Numbers{1, 1, 2, 2, 3, 3, 4, 4});
  test::run<op::Move, Double>(
      op::Move::Backward<Double>{1, along(axis), y.data(), d_x.data(), false});
  CHECK(d_x == Numbers{2, 4, 6, 8});
}

TEST_CASE("reference move: gradients are central differences") {
  MoveMap const image = MoveMap::of({2, 3, 4});
  MoveAxis circular = image.axis[1], copied = image.axis[2], sliced = image.axis[3];
  circular.begin = -2, circular.extent = 8, circular.mode = PaddingMode::circular;
  copied.repeat = 3, copied.extent = 12;
  sliced.begin = 1, sliced.extent = 2, sliced.step = -1;
  MoveMap const maps[] = {image.with(1, circular).with(2, copied), image.with(3, sliced)};
  int const batch = 2;
  for (MoveMap const& map : maps) {
    auto x = test::numbers(batch * map.source_size, 1);
    auto const probe = test::numbers(batch * map.target_size, 2);
    auto const before = test::numbers(batch * map.source_size, 3);
    Numbers y(probe.size()), d_x(x.size(), 1e9), added = before;
    auto const value = [&] {
      move({batch, map, 5, x.data(), y.data(), false});
      return test::dot(probe, y);
    };
    auto const gradient = [&](Numbers& to, bool adds) {
      if (map.is_one_to_one())
        move({batch, map.inverse(), 0, probe.data(), to.data(), adds});
      else
        test::run<op::Move, Double>(
            op::Move::Backward<Double>{batch, map, probe.data(), to.data(), adds});
    };
    gradient(d_x, false);
    CHECK(test::relative_error(d_x, test::central_differences(x.data(), x.size(), value)) <= 1e-6);
    gradient(added, true);
    CHECK(test::largest_difference(added, test::sum(d_x, before)) < 1e-14);
  }
}

TEST_CASE("reference transfer: any strides, both ways") {
  // (2 samples, 2 channels, 2 x 3 positions) in the caller's memory: left-most index fastest, and a
  // gap after each sample's first index.
  Shape const shape{2, 2, 3};
  Numbers external(60);
  for (std::size_t i = 0; i < external.size(); ++i) external[i] = double(i);
  ExternalTensor tensor;
  tensor.data[0] = external.data();
  tensor.type = ElementType::f64;
  tensor.sample_stride = 2;
  tensor.channel_stride = 5;
  tensor.spatial_stride[1] = 10;
  tensor.spatial_stride[2] = 20;
  Numbers slot(24, -1);
  test::run<op::Transfer, Double>(op::Transfer::Load<Double>{2, shape, tensor, slot.data()});
  // (N, H, W, C)
  CHECK(slot == Numbers{0, 5, 20, 25, 40, 45, 10, 15, 30, 35, 50, 55,
                        2, 7, 22, 27, 42, 47, 12, 17, 32, 37, 52, 57});
  Numbers before = external;
  external.assign(60, 0);
  test::run<op::Transfer, Double>(op::Transfer::Store<Double>{2, shape, slot.data(), tensor});
  for (double const v : slot) CHECK(external[std::size_t(v)] == v);
  CHECK(test::norm(external) == doctest::Approx(test::norm(slot)));
  test::run<op::Transfer, Double>(op::Transfer::Store<Double>{0, shape, before.data(), tensor});
  CHECK(test::norm(external) == doctest::Approx(test::norm(slot)));
}

TEST_CASE("reference transfer: depth, and one array for each channel") {
  Shape const shape{2, 2, 1, 2};
  Numbers first{1, 2, 3, 4}, second{5, 6, 7, 8};
  ExternalTensor tensor;
  tensor.data[0] = first.data();
  tensor.data[1] = second.data();
  tensor.variables = 2;
  tensor.type = ElementType::f64;
  tensor.sample_stride = 4;
  tensor.spatial_stride[0] = 2;
  tensor.spatial_stride[2] = 1;
  Numbers slot(8);
  test::run<op::Transfer, Double>(op::Transfer::Load<Double>{1, shape, tensor, slot.data()});
  CHECK(slot == Numbers{1, 5, 2, 6, 3, 7, 4, 8});
  for (double& v : slot) v *= 10;
  test::run<op::Transfer, Double>(op::Transfer::Store<Double>{1, shape, slot.data(), tensor});
  CHECK(first == Numbers{10, 20, 30, 40});
  CHECK(second == Numbers{50, 60, 70, 80});
}

TEST_CASE_TEMPLATE("reference transfer: element types are converted", T, double, float, bf16, fp16,
                   std::int64_t, std::int32_t, std::uint8_t) {
  T external[] = {T(1.0f), T(2.0f), T(200.0f)};
  ExternalTensor tensor;
  tensor.data[0] = external;
  tensor.type = type_of<T>();
  tensor.channel_stride = 1;
  std::vector<float> slot(3);
  test::run<op::Transfer, Full<float>>(
      op::Transfer::Load<Full<float>>{1, {3}, tensor, slot.data()});
  CHECK(slot == std::vector<float>{1, 2, 200});
  std::vector<bf16> half(3);
  using P = Mixed<bf16, float>;
  test::run<op::Transfer, P>(op::Transfer::Load<P>{1, {3}, tensor, half.data()});
  CHECK(test::widened(half) == Numbers{1, 2, 200});
}

TEST_CASE_TEMPLATE("reference movement: sixteen bits are added in float and rounded once", S, bf16,
                   fp16) {
  using P = Mixed<S, float>;
  float const large = 2 / S::epsilon;  // the next number is large + 2: a single one is lost
  std::vector<S> const d_y{S(1.0f), S(1.0f), S(1.0f), S(1.0f)};
  std::vector<S> d_x{S(large)}, y(4), t{S(large), S(2.0f)};
  MoveMap const copies = along({.extent = 4, .source_stride = 1, .repeat = 4});
  test::run<op::Move, P>(op::Move::Backward<P>{1, copies, d_y.data(), d_x.data(), true});
  CHECK(float(d_x[0]) == large + 4);
  test::run<op::Move, P>(op::Move::Forward<P>{1, copies, 0, d_x.data(), y.data()});
  CHECK(test::widened(y) == Numbers(4, double(large + 4)));
  test::run<op::Copy, P>(op::Copy::Forward<P>{2, 1, 1, 0, 1, 0, d_y.data(), t.data(), true});
  CHECK(test::widened(t) == Numbers{double(large), 3});
  MoveMap const same = MoveMap::of({2});
  test::run<op::Move, P>(op::Move::Forward<P>{1, same, 0, d_y.data(), t.data(), true});
  CHECK(test::widened(t) == Numbers{double(large), 4});
}
