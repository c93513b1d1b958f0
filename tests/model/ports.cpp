// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients of networks whose values have several readers or none: outputs that share a value, an
// output that is an input, sums and concatenations of a value with itself, inputs and layers that
// no output depends on. Each is compared with an equivalent network that has one reader per value.

#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Numbers = std::vector<double>;
constexpr int batch = 5;

struct a;
struct b;
struct c;
struct unread;

using Plain = Execution<Space, Backends<ReferenceBackend>, FusionLevel::none>;
template <class Net, class Exec = Execution<Space>> using ModelOf = Model<Net, Full<double>, Exec>;

Matrix values(int columns, double phase) {
  Matrix v("values", batch, std::size_t(columns));
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = std::sin(phase + 1.9 * double(i));
  return v;
}
Matrix sum(Matrix const& x, Matrix const& y) {
  Matrix s("sum", x.extent(0), x.extent(1));
  for (std::size_t i = 0; i < s.size(); ++i) s.data()[i] = x.data()[i] + y.data()[i];
  return s;
}
template <class V> Numbers numbers(V const& v) { return {v.data(), v.data() + v.size()}; }

double distance(Numbers const& x, Numbers const& y) {
  REQUIRE(x.size() == y.size());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    norm += y[i] * y[i];
  }
  return std::sqrt(difference / norm);
}

struct Gradients {
  Numbers parameters, input;
};

// What was stored before a pass must not show in its result.
template <class M> void spoil(M& model) {
  for (Node const& n : M::nodes.node) {
    for (int i = 0; i < n.parameter[0].count; ++i)
      model.gradients()(n.parameter[0].offset + i) = NAN;
    for (int i = 0; i < n.parameter[1].count; ++i)
      model.gradients()(n.parameter[1].offset + i) = NAN;
  }
}
template <class M> Numbers parameter_gradients(M const& model) {
  return {model.gradients().data(), model.gradients().data() + M::nodes.arena_size};
}

// Forward and backward of a network with one input; Y and D: one View, or several by name.
template <class Net, class Exec = Execution<Space>, class Y, class D>
Gradients gradients(Matrix const& x, Y const& y, D const& d_y) {
  Space const exec;
  ModelOf<Net, Exec> model(exec, {.batch = batch, .seed = 3});
  Matrix d_x("d_x", x.extent(0), x.extent(1));
  Kokkos::deep_copy(d_x, NAN);
  spoil(model);
  model.forward(exec, x, y);
  model.backward(exec, d_y, d_x);
  exec.fence("gradients");
  return {parameter_gradients(model), numbers(d_x)};
}
template <class Net, class Exec = Execution<Space>>
Gradients of_one_output(Matrix const& x, Matrix const& d_y) {
  return gradients<Net, Exec>(x, values(int(d_y.extent(1)), 0), d_y);
}

void check_same(Gradients const& given, Gradients const& expected) {
  if (!expected.parameters.empty()) CHECK(distance(given.parameters, expected.parameters) < 1e-13);
  CHECK(distance(given.input, expected.input) < 1e-13);
}

struct One : Network<Input<5>, Linear<4>> {};
struct Twice : Network<Input<5>, Linear<4>, Output<a>, Output<b>> {};
struct TwiceBehindFlatten : Network<Input<5>, Linear<4>, Output<a>, Flatten, Output<b>> {};

template <class Net, class Exec> void check_two_outputs_of_one_value() {
  Matrix const x = values(5, 0.1), d_a = values(4, 0.7), d_b = values(4, 1.1);
  auto const y = tensors(named<a>(values(4, 0)), named<b>(values(4, 0)));
  check_same(gradients<Net, Exec>(x, y, tensors(named<b>(d_b), named<a>(d_a))),
             of_one_output<One>(x, sum(d_a, d_b)));
}

// The input itself is an output, and is read by what follows.
struct InputIsOutput : Network<Input<4>, Output<a>, Linear<4>, Output<b>> {};
struct InputIsNoOutput : Network<Input<4>, Linear<4>> {};
// An output in the middle, and three of the last value.
struct Middle : Network<Input<5>, Linear<4>, Tanh, Output<a>, Linear<3>, Output<b>, Output<c>> {};
struct MiddleAdded : Network<Input<5>, Linear<4>, Tanh, Linear<3>> {};

struct ConcatSelf : Network<Input<3>, Linear<4>, Save<a>, ConcatFrom<a>, Linear<2>> {};
struct AddSelf : Network<Input<3>, Linear<4>, Save<a>, AddFrom<a>, Tanh, Linear<2>> {};
struct ResidualOfNothing : Network<Input<3>, Linear<4>, Residual<Dropout<0.0>>, Tanh, Linear<2>> {};
struct NormalizedResidual : Network<Input<3>, Linear<4>, Residual<BatchNorm<>>, Linear<2>> {};
struct InputAdded : Network<Input<3>, Save<a>, AddFrom<a>, Linear<2>> {};

// The gradient along a direction, from values of the network, with which that of backward agrees.
template <class Net, class Exec> void check_differences() {
  Space const exec;
  ModelOf<Net, Exec> model(exec, {.batch = batch, .seed = 3});
  Matrix const x = values(3, 0.2), d_y = values(2, 0.4), y("y", batch, 2), d_x("d_x", batch, 3);
  auto const value = [&](double step) {
    Matrix moved("moved", batch, 3);
    for (std::size_t i = 0; i < x.size(); ++i)
      moved.data()[i] = x.data()[i] + step * std::cos(double(i));
    model.forward(exec, moved, y);
    exec.fence("value");
    double v = 0;
    for (std::size_t i = 0; i < y.size(); ++i) v += y.data()[i] * d_y.data()[i];
    return v;
  };
  double const difference = (value(1e-5) - value(-1e-5)) / 2e-5;
  value(0);
  spoil(model);
  model.backward(exec, d_y, d_x);
  exec.fence("gradient");
  double gradient = 0;
  for (std::size_t i = 0; i < x.size(); ++i) gradient += d_x.data()[i] * std::cos(double(i));
  CHECK(gradient == doctest::Approx(difference).epsilon(1e-7));
  if constexpr (ModelOf<Net, Exec>::nodes.buffer_size == 0) {
    Matrix const inferred("inferred", batch, 2);
    model.infer(exec, x, inferred);
    exec.fence("infer");
    CHECK(distance(numbers(inferred), numbers(y)) < 1e-13);
  }
}

// Neither the input `unread` nor the layers that read it, nor those behind the output, matter.
struct Dead : Network<NamedInput<a, 5>, Linear<4>, Output<b>, Linear<3>, BatchNorm<>, Tanh,
                      NamedInput<unread, 6>, Linear<2>, From<a>, Linear<7>> {};
struct DeadBehindInput : Network<Input<4>, Output<a>, Linear<3>, Tanh, Linear<4>> {};
// The same for images, whose Views have another order of elements than the slots.
struct Image : Network<Input<2, 3, 4>, Conv2d<3, KernelSize<2>>> {};
struct Images : Network<NamedInput<a, 2, 3, 4>, Conv2d<3, KernelSize<2>>, Output<a>, Output<b>,
                        NamedInput<unread, 2, 2, 3>> {};
struct TwoInputs : Network<NamedInput<a, 2>, Save<c>, NamedInput<b, 2>, AddFrom<c>, Linear<1>> {};

// The sentence of a call that is refused.
template <class Action> std::string message_of(Action const& action) {
  try {
    action();
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE_TEMPLATE("ports: the gradients of all outputs of one value are added", Exec,
                   Execution<Space>, Plain) {
  check_two_outputs_of_one_value<Twice, Exec>();
  check_two_outputs_of_one_value<TwiceBehindFlatten, Exec>();
}

TEST_CASE("ports: an output that is an input, and outputs that later layers read") {
  {
    Matrix const x = values(4, 0.1), d_a = values(4, 0.7), d_b = values(4, 1.1);
    auto const y = tensors(named<a>(values(4, 0)), named<b>(values(4, 0)));
    auto const given = gradients<InputIsOutput>(x, y, tensors(named<a>(d_a), named<b>(d_b)));
    auto expected = of_one_output<InputIsNoOutput>(x, d_b);
    for (std::size_t i = 0; i < d_a.size(); ++i) expected.input[i] += d_a.data()[i];
    check_same(given, expected);
  }
  Matrix const x = values(5, 0.1), d_a = values(4, 0.7), d_b = values(3, 1.1), d_c = values(3, 2.3);
  auto const y = tensors(named<a>(values(4, 0)), named<b>(values(3, 0)), named<c>(values(3, 0)));
  auto const all = gradients<Middle>(x, y, tensors(named<a>(d_a), named<b>(d_b), named<c>(d_c)));
  Matrix const none("none", batch, 4), nothing("nothing", batch, 3);
  auto const first =
      gradients<Middle>(x, y, tensors(named<a>(d_a), named<b>(nothing), named<c>(nothing)));
  auto const last = of_one_output<MiddleAdded>(x, sum(d_b, d_c));
  Gradients expected = last;
  for (std::size_t i = 0; i < expected.parameters.size(); ++i)
    expected.parameters[i] += first.parameters[i];
  for (std::size_t i = 0; i < expected.input.size(); ++i) expected.input[i] += first.input[i];
  check_same(all, expected);
}

TEST_CASE_TEMPLATE("ports: a value that is read twice by one step", Net, ConcatSelf, AddSelf,
                   ResidualOfNothing, NormalizedResidual, InputAdded) {
  check_differences<Net, Execution<Space>>();
  if constexpr (test::all_cases) {
    check_differences<Net, Execution<Space, Backends<PortableBackend>>>();
    check_differences<Net, Plain>();
  }
}

TEST_CASE("ports: two losses of one value train as their sum") {
  Space const exec;
  Matrix const x = values(5, 0.1), t = values(4, 0.7), u = values(4, 1.3);
  using Both = Losses<On<a, MeanSquaredError>, On<b, MeanSquaredError, 3>>;
  using TwoLosses = Trainer<TwiceBehindFlatten, Both, Sgd, Full<double>, Local, Execution<Space>>;
  TwoLosses trainer(exec, Sgd{.rate = 1}, {.batch = batch, .seed = 3});
  Matrix y("y", batch, 4), d_y("d_y", batch, 4);
  ModelOf<One> model(exec, {.batch = batch, .seed = 3});
  model.forward(exec, x, y);
  exec.fence("forward");
  double loss = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double const to_t = y.data()[i] - t.data()[i], to_u = y.data()[i] - u.data()[i];
    d_y.data()[i] = (to_t + 3 * to_u) / 2;
    loss += (to_t * to_t + 3 * to_u * to_u) / double(y.size());
  }
  auto const targets = tensors(named<b>(u), named<a>(t));
  CHECK(trainer.evaluate(x, targets).loss == doctest::Approx(loss).epsilon(1e-13));
  trainer.step(x, targets);
  CHECK(trainer.loss() == doctest::Approx(loss).epsilon(1e-13));
  model.backward(exec, d_y);
  exec.fence("backward");
  CHECK(distance(parameter_gradients(trainer.model()), parameter_gradients(model)) < 1e-13);
}

TEST_CASE_TEMPLATE("ports: what no output depends on has a gradient of zero", Exec,
                   Execution<Space>, Plain) {
  Space const exec;
  Matrix const x = values(5, 0.1), d_y = values(4, 0.7);
  auto const expected = of_one_output<One>(x, d_y);
  ModelOf<Dead, Exec> model(exec, {.batch = batch, .seed = 3});
  Matrix const y("y", batch, 4), d_x("d_x", batch, 5), d_unread("d_unread", batch, 6);
  Kokkos::deep_copy(d_unread, NAN);
  spoil(model);
  model.forward(exec, tensors(named<a>(x), named<unread>(values(6, 1))), tensors(named<b>(y)));
  model.backward(exec, tensors(named<b>(d_y)), tensors(named<unread>(d_unread), named<a>(d_x)));
  exec.fence("backward");
  Numbers parameters = expected.parameters;
  parameters.resize(std::size_t(ModelOf<Dead, Exec>::nodes.arena_size));
  check_same({parameter_gradients(model), numbers(d_x)}, {parameters, expected.input});
  CHECK(numbers(d_unread) == Numbers(d_unread.size()));
}

TEST_CASE("ports: images are added and zeroed in the layout of their Views") {
  using Pixels = Kokkos::View<double****, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  Space const exec;
  Matrix const x = values(24, 0.1), d_a = values(18, 0.7), d_b = values(18, 1.1);
  auto const expected = of_one_output<Image>(x, sum(d_a, d_b));
  Pixels const pixels("d_b", batch, 3, 2, 3), d_unread("d_unread", batch, 2, 2, 3);
  for (int n = 0; n < batch; ++n)
    for (int i = 0; i < 18; ++i) pixels(n, i / 6, i / 3 % 2, i % 3) = d_b(n, i);
  Kokkos::deep_copy(d_unread, NAN);
  ModelOf<Images> model(exec, {.batch = batch, .seed = 3});
  Matrix const d_x("d_x", batch, 24), y("y", batch, 18), z("z", batch, 18);
  model.forward(exec, tensors(named<a>(x), named<unread>(d_unread)),
                tensors(named<a>(y), named<b>(z)));
  model.backward(exec, tensors(named<a>(d_a), named<b>(pixels)),
                 tensors(named<a>(d_x), named<unread>(d_unread)));
  exec.fence("images");
  check_same({parameter_gradients(model), numbers(d_x)}, expected);
  CHECK(numbers(d_unread) == Numbers(d_unread.size()));
}

TEST_CASE_TEMPLATE("ports: training leaves layers alone on which no output depends", Net, Dead,
                   DeadBehindInput) {
  Space const exec;
  using Loss = Losses<On<At<TypeList<a, b>, std::is_same_v<Net, Dead>>, MeanSquaredError>>;
  using Training = Trainer<Net, Loss, Sgd, Full<double>, Local, Execution<Space>>;
  Training trainer(exec, Sgd{.rate = 1}, {.batch = batch, .seed = 3});
  auto const& model = trainer.model();
  auto const before = numbers(model.parameters());
  Matrix const x = values(5, 0.1), t = values(4, 0.7), u = values(6, 1.3), x4 = values(4, 0.9);
  double expected = 0;
  for (int n = 0; n < 2; ++n) {
    spoil(trainer.model());
    if constexpr (std::is_same_v<Net, Dead>) {
      trainer.step(tensors(named<a>(x), named<unread>(u)), tensors(named<b>(t)));
    } else {
      trainer.step(x4, tensors(named<a>(t)));
      for (std::size_t i = 0; i < t.size(); ++i)
        expected += std::pow(x4.data()[i] - t.data()[i], 2) / double(t.size()) / 2;
    }
  }
  exec.fence("step");
  auto const after = numbers(model.parameters());
  auto const live = std::size_t(std::is_same_v<Net, Dead> ? ModelOf<One>::nodes.arena_size : 0);
  CHECK(Numbers(before.begin() + long(live), before.end()) ==
        Numbers(after.begin() + long(live), after.end()));
  if (live > 0)
    CHECK(before != after);
  else
    CHECK(trainer.loss() == doctest::Approx(expected).epsilon(1e-13));
}

TEST_CASE("ports: Views that do not fit each other are refused with one sentence") {
  Space const exec;
  ModelOf<TwoInputs> model(exec, {.batch = batch});
  Matrix const x = values(2, 0.1), y("y", batch, 1), d("d", batch, 2);
  model.forward(exec, tensors(named<a>(x), named<b>(x)), y);  // read only: one View may be both
  auto const same = message_of([&] { model.backward(exec, y, tensors(named<a>(d), named<b>(d))); });
  CHECK(same.find("d_input 0 and 1: expected memory of its own for each") != std::string::npos);
  auto const shorter = Kokkos::subview(values(2, 0), std::pair<int, int>(1, batch), Kokkos::ALL);
  auto const uneven =
      message_of([&] { model.backward(exec, y, tensors(named<a>(shorter), named<b>(d))); });
  CHECK(uneven.find("expected 4 samples as before, got 5") != std::string::npos);

  ModelOf<Twice> twice(exec, {.batch = batch});
  Matrix const in = values(5, 0.1), out("out", batch, 4);
  auto const outputs =
      message_of([&] { twice.infer(exec, in, tensors(named<a>(out), named<b>(out))); });
  CHECK(outputs.find("output 0 and 1: expected memory of its own for each") != std::string::npos);
  CHECK(outputs.find('\n') == std::string::npos);
  // Columns of one table share memory, but no element.
  Matrix const table("table", batch, 8);
  auto const left = Kokkos::subview(table, Kokkos::ALL, std::pair<int, int>(0, 4));
  auto const right = Kokkos::subview(table, Kokkos::ALL, std::pair<int, int>(4, 8));
  twice.infer(exec, in, tensors(named<a>(left), named<b>(right)));
  exec.fence("infer");
  for (int n = 0; n < batch; ++n) CHECK(table(n, 1) == table(n, 5));
}
