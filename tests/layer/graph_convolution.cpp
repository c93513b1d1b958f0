// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// SparseProduct and GraphConvolution against products with a dense matrix, in double, and what
// refuses a matrix or a batch.

#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/data/batches.hpp>
#include <phyllo/data/view_source.hpp>
#include <phyllo/fit/fit.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <finite_difference.hpp>
#include <sentence_of.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace phyllo;
using phyllo::test::sentence_of;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Rows = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Numbers = std::vector<double>;
using Graph64 = SparseMatrix<double, Space>;
using Plain = Execution<Space, Backends<ReferenceBackend>, FusionLevel::none>;

struct stiffness;

// Compressed rows, as a caller has them: offsets of 64 bits and entries that are not in order.
struct Crs {
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> row_map;
  Kokkos::View<int*, Kokkos::HostSpace> entries;
  Kokkos::View<double*, Kokkos::HostSpace> values;
};
Crs crs(std::vector<int> const& row_map, std::vector<int> const& entries, double phase = 0.4) {
  Crs a{Kokkos::View<std::int64_t*, Kokkos::HostSpace>("row_map", row_map.size()),
        Kokkos::View<int*, Kokkos::HostSpace>("entries", entries.size()),
        Kokkos::View<double*, Kokkos::HostSpace>("values", entries.size())};
  for (std::size_t i = 0; i < row_map.size(); ++i) a.row_map(i) = row_map[i];
  for (std::size_t i = 0; i < entries.size(); ++i) {
    a.entries(i) = entries[i];
    a.values(i) = std::sin(phase + 1.7 * double(i));
  }
  return a;
}
// Not symmetric; rows 2 and 4 are empty, column 3 is, row 3 has the same entry twice.
Crs irregular(double phase = 0.4) { return crs({0, 3, 4, 4, 7, 7}, {4, 0, 1, 2, 0, 1, 0}, phase); }
Crs ring() { return crs({0, 2, 4, 6}, {1, 2, 2, 0, 0, 1}, 0.9); }

Graph64 matrix_of(Crs const& a) { return {Space(), a.row_map, a.entries, a.values}; }
Numbers dense(Crs const& a) {
  std::size_t const n = a.row_map.extent(0) - 1;
  Numbers d(n * n);
  for (std::size_t r = 0; r < n; ++r)
    for (std::int64_t k = a.row_map(r); k < a.row_map(r + 1); ++k)
      d[r * n + std::size_t(a.entries(k))] += a.values(k);
  return d;
}
// y (m, c) = a (m, n) x (n, c), or the transpose of a (n, m)
Numbers product(Numbers const& a, Numbers const& x, std::size_t m, std::size_t n, std::size_t c,
                bool transposed = false) {
  Numbers y(m * c);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < c; ++k)
        y[i * c + k] += a[transposed ? j * m + i : i * n + j] * x[j * c + k];
  return y;
}
Rows values(std::size_t rows, std::size_t columns, double phase) {
  Rows v("values", rows, columns);
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = std::sin(phase + 1.9 * double(i));
  return v;
}
template <class V> Numbers numbers(V const& v) { return {v.data(), v.data() + v.size()}; }
template <class X, class Y> void check_same(X const& a, Y const& b, double bound = 1e-12) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(bound));
}

constexpr std::size_t nodes = 5, inputs = 3, outputs = 2;
struct OneLayer : Network<Input<inputs>, GraphConvolution<outputs>> {};
// Wider than a block of channels, two matrices, and both orders of product and weights.
struct Deep : Network<Input<3>, GraphConvolution<19>, Tanh,
                      Residual<SparseProduct<stiffness>, Linear<19, Bias<false>>>, SparseProduct<>,
                      Linear<2>> {};

struct Gradients {
  Numbers y, parameters, d_x;
};
template <class Net, class Exec = Execution<Space>>
Gradients run(Crs const& a, Crs const& b, Rows const& x, Rows const& d_y) {
  Space const exec;
  int const batch = int(x.extent(0));
  Model<Net, Full<double>, Exec> model(exec, {.batch = batch, .seed = 3});
  model.bind_matrix(matrix_of(a));
  if constexpr (Matrices<Net>::count > 1) model.template bind_matrix<stiffness>(matrix_of(b));
  Rows y("y", x.extent(0), d_y.extent(1)), d_x("d_x", x.extent(0), x.extent(1));
  Kokkos::deep_copy(d_x, NAN);
  model.forward(exec, x, y);
  model.backward(exec, d_y, d_x);
  exec.fence("gradients");
  return {numbers(y),
          {model.gradients().data(), model.gradients().data() + model.nodes.arena_size},
          numbers(d_x)};
}

}  // namespace

TEST_CASE("graph convolution: values and gradients are those of a dense matrix") {
  Space const exec;
  Crs const a = irregular();
  Rows const x = values(nodes, inputs, 0.1), d_y = values(nodes, outputs, 0.7);
  Model<OneLayer, Full<double>, Execution<Space>> model(exec, {.batch = int(nodes), .seed = 3});
  model.bind_matrix(matrix_of(a));
  for (std::size_t o = 0; o < outputs; ++o)  // a bias that is not zero
    model.parameters()(OneLayer::program::nodes.node[2].parameter[1].offset + int(o)) =
        0.5 + double(o);
  Rows const y("y", nodes, outputs), d_x("d_x", nodes, inputs);
  model.forward(exec, x, y);
  auto const weight = parameter_view(model, "0.weight");
  auto const bias = parameter_view(model, "0.bias");
  Numbers w(inputs * outputs);
  for (std::size_t c = 0; c < inputs; ++c)
    for (std::size_t o = 0; o < outputs; ++o) w[c * outputs + o] = weight(o, c, 0);
  Numbers const a_x = product(dense(a), numbers(x), nodes, nodes, inputs);
  Numbers expected = product(a_x, w, nodes, inputs, outputs);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += bias(i % outputs, 0, 0);
  check_same(numbers(y), expected);

  model.backward(exec, d_y, d_x);
  Numbers const d_w = product(a_x, numbers(d_y), inputs, nodes, outputs, true);
  auto const& node = OneLayer::program::nodes.node[2];
  for (std::size_t i = 0; i < d_w.size(); ++i)
    CHECK(model.gradients()(node.parameter[0].offset + int(i)) ==
          doctest::Approx(d_w[i]).epsilon(1e-12));
  for (std::size_t o = 0; o < outputs; ++o) {
    double sum = 0;
    for (std::size_t i = 0; i < nodes; ++i) sum += d_y(i, o);
    CHECK(model.gradients()(node.parameter[1].offset + int(o)) ==
          doctest::Approx(sum).epsilon(1e-12));
  }
  Numbers d_a_x(nodes * inputs);
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t c = 0; c < inputs; ++c)
      for (std::size_t o = 0; o < outputs; ++o)
        d_a_x[i * inputs + c] += d_y(i, o) * w[c * outputs + o];
  check_same(numbers(d_x), product(dense(a), d_a_x, nodes, nodes, inputs, true));
}

TEST_CASE("graph convolution: gradients are those of reference and of central differences") {
  Space const exec;
  Crs const a = irregular(), b = irregular(2.2);
  Rows const x = values(2 * nodes, 3, 0.1), d_y = values(2 * nodes, 2, 0.7);
  Gradients const own = run<Deep>(a, b, x, d_y), plain = run<Deep, Plain>(a, b, x, d_y);
  check_same(own.y, plain.y, 1e-10);
  check_same(own.parameters, plain.parameters, 1e-10);
  check_same(own.d_x, plain.d_x, 1e-10);

  Model<Deep, Full<double>, Execution<Space>> model(exec, {.batch = 10, .seed = 3});
  model.bind_matrix(matrix_of(a));
  model.bind_matrix<stiffness>(matrix_of(b));
  Rows const y("y", 2 * nodes, 2);
  auto const loss = [&] {
    model.infer(exec, x, y);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y.data()[i] * d_y.data()[i];
    return sum;
  };
  CHECK(test::relative_error(own.d_x, test::central_differences(x.data(), x.size(), loss)) < 1e-8);
  auto const parameters = std::size_t(Deep::program::nodes.arena_size);
  CHECK(test::relative_error(own.parameters, test::central_differences(model.parameters().data(),
                                                                       parameters, loss)) < 1e-8);
}

TEST_CASE_TEMPLATE("graph convolution: kernels of processors and of devices", P, Full<double>,
                   Full<float>, Mixed<bf16, float>) {
  using S = typename P::storage;
  using A = typename P::accumulate;
  using Product = op::SparseProduct::Product<P>;
  Space const exec;
  Crs const a = irregular();
  SparseMatrix<A, Space> const matrix(exec, a.row_map, a.entries, a.values);
  for (int const channels : {1, 2, 3, 5, 8, 19, 32, 79})
    for (int const graphs : {0, 1, 3})
      for (bool const accumulate : {false, true})
        for (auto const& rows : {matrix.by_rows(), matrix.transposed()}) {
          std::size_t const size = nodes * std::size_t(graphs * channels);
          std::vector<S> x(size), before(size);
          for (std::size_t i = 0; i < size; ++i) {
            x[i] = S(std::sin(1.9 * double(i)));
            before[i] = S(std::cos(0.7 * double(i)));
          }
          std::vector<S> expected = before, of_rows = before, of_numbers = before;
          Product work{rows, graphs, channels, x.data(), expected.data(), accumulate};
          reference::Kernels<op::SparseProduct, P>::run(exec, "test", work);
          work.y = of_rows.data();
          portable::Kernels<op::SparseProduct, P>::run(exec, "test", work);
          work.y = of_numbers.data();  // what a device launches
          portable::launch(exec, "test", long(size), portable::sparse_product_numbers<P>{{work}});
          exec.fence("test");
          double const bound = sizeof(S) == 8 ? 1e-13 : sizeof(S) == 4 ? 1e-5 : 1e-2;
          for (std::size_t i = 0; i < size; ++i) {
            CHECK(double(of_rows[i]) == doctest::Approx(double(expected[i])).epsilon(bound));
            CHECK(double(of_numbers[i]) == double(of_rows[i]));
          }
        }
}

TEST_CASE("graph convolution: several graphs are one block-diagonal matrix") {
  Crs const both = [] {
    Crs const a = irregular(), b = ring();
    std::vector<int> row_map(9), entries(13);
    for (int r = 0; r < 6; ++r) row_map[std::size_t(r)] = int(a.row_map(r));
    for (int r = 0; r < 4; ++r) row_map[std::size_t(5 + r)] = int(b.row_map(r)) + 7;
    for (int k = 0; k < 7; ++k) entries[std::size_t(k)] = a.entries(k);
    for (int k = 0; k < 6; ++k) entries[std::size_t(7 + k)] = b.entries(k) + 5;
    Crs const c = crs(row_map, entries);
    for (int k = 0; k < 7; ++k) c.values(k) = a.values(k);
    for (int k = 0; k < 6; ++k) c.values(7 + k) = b.values(k);
    return c;
  }();
  Rows const x = values(8, inputs, 0.1), d_y = values(8, outputs, 0.7);
  auto const part = [](Rows const& v, std::size_t first, std::size_t last) {
    return Rows(Kokkos::subview(v, std::pair(first, last), Kokkos::ALL));
  };
  Gradients const all = run<OneLayer>(both, both, x, d_y);
  Gradients const first = run<OneLayer>(irregular(), ring(), part(x, 0, 5), part(d_y, 0, 5));
  Gradients const last = run<OneLayer>(ring(), ring(), part(x, 5, 8), part(d_y, 5, 8));
  Numbers y = first.y, d_x = first.d_x, sum = first.parameters;
  y.insert(y.end(), last.y.begin(), last.y.end());
  d_x.insert(d_x.end(), last.d_x.begin(), last.d_x.end());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += last.parameters[i];
  check_same(all.y, y);
  check_same(all.d_x, d_x);
  check_same(all.parameters, sum);
}

TEST_CASE("graph convolution: nodes may be the positions of samples; batches keep graphs whole") {
  Space const exec;
  Crs const a = irregular();
  struct Images : Network<Input<inputs, 5>, GraphConvolution<outputs>> {};
  Model<Images, Full<double>, Execution<Space>> images(exec, {.batch = 2, .seed = 3});
  // Seven rows of room: a pass of inference takes the five of a graph.
  Model<OneLayer, Full<double>, Execution<Space>> rows(exec, {.batch = 7, .seed = 3});
  images.bind_matrix(matrix_of(a));
  rows.bind_matrix(matrix_of(a));
  Rows const x = values(15, inputs, 0.1), y("y", 15, outputs);
  using Samples = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;
  Samples const x3("x", 3, inputs, nodes), y3("y", 3, outputs, nodes);
  for (std::size_t i = 0; i < x.size(); ++i)
    x3(i / inputs / nodes, i % inputs, i / inputs % nodes) = x.data()[i];
  rows.infer(exec, x, y);
  images.infer(exec, x3, y3);
  exec.fence();
  for (std::size_t i = 0; i < y.size(); ++i)
    CHECK(y3(i / outputs / nodes, i % outputs, i / outputs % nodes) == y.data()[i]);
}

TEST_CASE("graph convolution: other values, clones, sessions and moves") {
  Space const exec;
  using M = Model<OneLayer, Full<double>, Execution<Space>>;
  Crs const a = irregular(), b = irregular(2.2);
  Rows const x = values(nodes, inputs, 0.1), y("y", nodes, outputs), z("z", nodes, outputs);
  M first(exec, {.batch = 5, .seed = 3});
  Graph64 matrix = matrix_of(a);
  first.bind_matrix(matrix);
  first.infer(exec, x, y);
  Numbers const of_a = numbers(y);
  auto session = first.inference_session(exec);
  M const copy = first.clone(exec);
  M moved = std::move(first);
  moved.bind_matrix(matrix_of(b));
  moved.infer(exec, x, y);
  CHECK(numbers(y) != of_a);
  session.infer(x, z);
  CHECK(numbers(z) == of_a);
  copy.infer(exec, x, z);
  CHECK(numbers(z) == of_a);
  session.bind_matrix(matrix_of(b));
  session.infer(x, z);
  CHECK(numbers(z) == numbers(y));
  // The clone reads what its matrix gets.
  matrix.set_values(exec, b.values);
  copy.infer(exec, x, z);
  CHECK(numbers(z) == numbers(y));
  // And so does its backward pass, by the transpose.
  Rows const d_y = values(nodes, outputs, 0.7), d_x("d_x", nodes, inputs);
  M trained = moved.clone(exec);
  trained.bind_matrix(matrix);
  trained.forward(exec, x, y);
  trained.backward(exec, d_y, d_x);
  check_same(numbers(d_x), run<OneLayer>(b, b, x, d_y).d_x);
}

TEST_CASE("graph convolution: a trainer, and shards that are samples") {
  Space const exec;
  struct Samples : Network<Input<inputs, 5>, GraphConvolution<4>, ReLU, Linear<1, PerPosition>> {};
  using Images = Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace>;
  Images const x("x", 8, inputs, nodes), t("t", 8, 1, nodes);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = float(std::sin(1.9 * double(i)));
  Crs const a = irregular();
  Numbers const d = dense(a);  // the targets are a product that the network can be
  for (std::size_t i = 0; i < t.size(); ++i)
    for (std::size_t j = 0; j < nodes; ++j)
      t.data()[i] += float(d[i % nodes * nodes + j]) * x(i / nodes, 0, j);
  SparseMatrix<float, Space> const matrix(exec, a.row_map, a.entries, a.values);
  auto const losses = [&](auto& trainer) {
    trainer.model().bind_matrix(matrix);
    double const before = trainer.evaluate(x, t).loss;
    for (int step = 0; step < 100; ++step) trainer.step(x, t);
    return std::pair(before, double(trainer.evaluate(x, t).loss));
  };
  Trainer<Samples, MeanSquaredError, Adam, Full<float>, Local, Execution<Space>> fast(
      exec, Adam{.rate = 1e-2}, {.batch = 8, .seed = 2});
  auto const [before, after] = losses(fast);
  CHECK(after < 0.2 * before);
  using Same = Execution<Space, DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>;
  Trainer<Samples, MeanSquaredError, Adam, Full<float>, Local, Same> same(exec, Adam{.rate = 1e-2},
                                                                          {.batch = 8, .seed = 2});
  CHECK(losses(same).second == doctest::Approx(after).epsilon(1e-3));
  // Samples that are graphs are shuffled and trained on by fit.
  Batches<Images, Images, Space> batches(exec, ViewSource(x, t), {.batch = 3});
  auto const report = fit(fast, batches, {.epochs = 5});
  CHECK(report.epochs.size() == 5);
  CHECK(fast.evaluate(x, t).loss < after);
}

TEST_CASE("graph convolution: no nodes") {
  Space const exec;
  Model<OneLayer, Full<double>, Execution<Space>> model(exec, {.batch = 5});
  Rows const x("x", 0, inputs), y("y", 0, outputs), d_x("d_x", 0, inputs);
  model.bind_matrix(matrix_of(crs({0}, {})));
  model.forward(exec, x, y);
  model.backward(exec, y, d_x);
  model.bind_matrix(matrix_of(irregular()));
  model.infer(exec, x, y);
}

TEST_CASE("graph convolution: refusals") {
  Space const exec;
  auto const refused = [](std::vector<int> const& row_map, std::vector<int> const& entries) {
    return sentence_of([&] { matrix_of(crs(row_map, entries)); });
  };
  CHECK(refused({}, {}) ==
        "SparseMatrix: expected a row_map of one number more than rows, got an empty one.");
  CHECK(refused({1, 2}, {0, 0}) == "SparseMatrix: expected a row_map that begins with 0, got 1.");
  CHECK(refused({0, 2, 1}, {0}) ==
        "SparseMatrix: expected a row_map that never decreases, got 1 after 2 at row 1.");
  CHECK(refused({0, 1, 2}, {0}) ==
        "SparseMatrix: expected 2 entries, the last number of row_map, got 1.");
  CHECK(refused({0, 1, 2}, {0, 2}) ==
        "SparseMatrix: expected columns of 0 to 1 of a square matrix, got 2 in row 1.");
  CHECK(refused({0, 1, 2}, {0, -1}) ==
        "SparseMatrix: expected numbers of 0 to 2147483647 in entries, got -1 at 1.");
  Crs const a = irregular();
  Kokkos::View<double*, Kokkos::HostSpace> const few("few", 6);
  CHECK(sentence_of([&] { Graph64(exec, a.row_map, a.entries, few); }) ==
        "SparseMatrix: expected 7 values, one for each entry, got 6.");
  Graph64 matrix = matrix_of(a);
  CHECK(sentence_of([&] { matrix.set_values(exec, few); }) ==
        "SparseMatrix, set_values: expected 7 values, one for each entry, got 6.");

  Model<OneLayer, Full<double>, Execution<Space>> model(exec, {.batch = 12});
  Rows const x = values(10, inputs, 0.1), y("y", 10, outputs);
  Rows const x7 = values(7, inputs, 0.1), y7("y", 7, outputs);
  CHECK(sentence_of([&] { model.infer(exec, x, y); })
            .find(": expected the matrix adjacency, which is not bound. Call "
                  "bind_matrix<adjacency>(matrix) of the model before.") != std::string::npos);
  CHECK(sentence_of([&] { model.forward(exec, x, y); }).find("which is not bound") !=
        std::string::npos);
  model.bind_matrix(matrix);
  char const* const whole =
      ": expected a batch of whole graphs, a multiple of the 5 rows of the matrix "
      "adjacency, got 7 samples of 1 nodes. Bind the matrix of this batch by bind_matrix, "
      "or pass whole graphs; ModelOptions::batch holds at least one.";
  CHECK(sentence_of([&] { model.infer(exec, x7, y7); }).find(whole) != std::string::npos);
  CHECK(sentence_of([&] { model.forward(exec, x7, y7); }).find(whole) != std::string::npos);
  // Nothing was lost.
  model.forward(exec, x, y);
  model.backward(exec, y);

  // Graphs of 5 and of 3 nodes: no pass of 12 samples has whole ones of both.
  Model<Deep, Full<double>, Execution<Space>> two(exec, {.batch = 12});
  two.bind_matrix(matrix);
  two.bind_matrix<stiffness>(matrix_of(ring()));
  Rows const x15 = values(15, 3, 0.1), y15("y", 15, 2);
  CHECK(sentence_of([&] { two.infer(exec, x15, y15); })
            .find(": expected ModelOptions::batch of at least 15, so that a pass has whole graphs "
                  "of every matrix, got 12.") != std::string::npos);

  using Same = Execution<Space, DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>;
  Trainer<OneLayer, MeanSquaredError, Sgd, Full<double>, Local, Same> shards(
      exec, Sgd{.rate = 1e-2}, {.batch = 12});
  shards.model().bind_matrix(matrix);
  CHECK(sentence_of([&] { shards.step(x, y); }).find("expected a batch of whole graphs") !=
        std::string::npos);
}
