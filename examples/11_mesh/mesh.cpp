// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A graph network learns an implicit step of the heat equation on unstructured meshes.
//
//  1. A finite-element program draws temperatures and conductivities on several meshes, assembles
//     the matrix of an implicit step and solves it. Its matrix, scaled, is the graph of the
//     network.
//  2. The network learns the solution in the same loop: other fields and another mesh in each step.
//  3. On a larger mesh that it has not seen, it is compared with the sweeps of Jacobi's method that
//     multiply by the matrix as often, and with a network of as many parameters without the graph.

#include "heat.hpp"

#include <phyllo/phyllo.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace phyllo;

constexpr int width = 16, layers = 4;

// What a node keeps of itself, and the sum over its neighbours.
using GraphLayer = Residual<Main<GraphConvolution<width>>, Shortcut<Linear<width, Bias<false>>>>;
// The same without neighbours: as many parameters.
using NodeLayer = Residual<Main<Linear<width>>, Shortcut<Linear<width, Bias<false>>>>;

struct GraphNetwork : Network<Input<2>, Repeat<layers, GraphLayer, SiLU>, Linear<1>> {};
struct NodeNetwork : Network<Input<2>, Repeat<layers, NodeLayer, SiLU>, Linear<1>> {};
static_assert(GraphNetwork::parameter_count == NodeNetwork::parameter_count);

using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Space>;  // (nodes, channels)

// A mesh with what the networks read of it.
struct Case {
  Heat heat;
  Numbers sweep;  // entries of one sweep of Jacobi's method: -a_ij / a_ii, zeros on the diagonal
  SparseMatrix<float, Space> graph;
  Rows inputs, targets, outputs;

  Case(Space const& exec, Mesh const& mesh)
      : heat(mesh),
        sweep("sweep", mesh.entries.extent(0)),
        graph(exec, mesh.row_map, mesh.entries, sweep),
        inputs("inputs", std::size_t(mesh.nodes()), 2),
        targets("targets", std::size_t(mesh.nodes()), 1),
        outputs("outputs", std::size_t(mesh.nodes()), 1) {}

  // Other fields: the program assembles and solves, the networks get the change that one sweep
  // finds, and how much of the diagonal is conduction.
  void draw(Space const& exec, std::mt19937& random) {
    heat.draw(exec, random);
    auto const m = heat.mesh;
    auto const a = heat.matrix, d = heat.diagonal, b = heat.source, u = heat.change, s = sweep;
    auto const in = inputs, out = targets;
    Kokkos::parallel_for(
        "inputs", Kokkos::RangePolicy(exec, 0, m.nodes()), KOKKOS_LAMBDA(int i) {
          double row = 0;  // of M + dt K, the sum of row i of M
          for (int k = m.row_map(i); k < m.row_map(i + 1); ++k) {
            row += a(k);
            s(k) = m.entries(k) == i ? 0 : -a(k) / d(i);
          }
          in(i, 0) = float(b(i) / d(i));
          in(i, 1) = float(row / d(i));
          out(i, 0) = float(u(i));
        });
    graph.set_values(exec, sweep);
  }
};

// The error of a field, relative to the change of the temperature in the step.
template <class Field> double error(Space const& exec, Case const& c, Field const& field) {
  auto const u = c.heat.change;
  double difference = 0, square = 0;
  Kokkos::parallel_reduce(
      "error", Kokkos::RangePolicy(exec, 0, c.heat.mesh.nodes()),
      KOKKOS_LAMBDA(int i, double& of_field, double& of_truth) {
        double const off = field(i) - u(i);
        of_field += off * off;
        of_truth += u(i) * u(i);
      },
      difference, square);
  return std::sqrt(difference / square);
}
struct OfNetwork {
  Rows outputs;
  KOKKOS_FUNCTION double operator()(int i) const { return double(outputs(i, 0)); }
};

// Sweeps of Jacobi's method. The first one needs no product.
Numbers jacobi(Space const& exec, Case const& c, int products) {
  auto const size = std::size_t(c.heat.mesh.nodes());
  Numbers u("u", size), next("next", size);
  auto const b = c.heat.source, d = c.heat.diagonal;
  for (int sweep = 0; sweep <= products; ++sweep) {
    c.heat.multiply(exec, c.sweep, u, next);
    Kokkos::parallel_for(
        "sweep", Kokkos::RangePolicy(exec, 0, int(size)),
        KOKKOS_LAMBDA(int i) { u(i) = next(i) + b(i) / d(i); });
  }
  return u;
}

void write(Case const& c, Rows const& graph, Rows const& node, std::string const& path) {
  auto const host = [](auto const& v) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  };
  auto const x = host(c.heat.mesh.x), y = host(c.heat.mesh.y), u = host(c.heat.change);
  auto const a = host(graph), b = host(node);
  auto const corners = host(c.heat.mesh.corners);
  std::ofstream file(path);
  for (int i = 0; i < c.heat.mesh.nodes(); ++i)
    file << x(i) << ',' << y(i) << ',' << c.heat.conductivity(i, x(i), y(i)) << ',' << u(i) << ','
         << a(i, 0) << ',' << b(i, 0) << '\n';
  for (std::size_t t = 0; t < corners.extent(0); ++t)
    file << corners(t, 0) << ',' << corners(t, 1) << ',' << corners(t, 2) << '\n';
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  int cells = 16, squares = 4, meshes = 8, steps = 3000, held_out_cells = 48;
  double at_most = 1;
  std::string fields;
  CLI::App app{"Learns an implicit step of the heat equation on unstructured meshes."};
  app.add_option("--cells", cells, "cells of a training mesh in each direction")
      ->check(CLI::Range(4, 256))
      ->capture_default_str();
  app.add_option("--squares", squares, "meshes of a batch, side by side in one matrix")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--meshes", meshes, "batches of different meshes")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--steps", steps, "training steps")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--held-out-cells", held_out_cells, "cells of the mesh that is held out")
      ->check(CLI::Range(4, 1024))
      ->capture_default_str();
  app.add_option("--fields", fields, "file for plot_mesh.py, written at the end");
  app.add_option("--at-most", at_most, "fail above this relative error of the graph network");
  CLI11_PARSE(app, argc, argv);

  Space exec;
  std::mt19937 random(1);
  std::vector<Case> cases;
  for (int k = 0; k < meshes; ++k) cases.emplace_back(exec, Mesh(squares, cells, unsigned(k)));
  Case held_out(exec, Mesh(1, held_out_cells, 1000000));

  Adam const adam{.rate = 3e-3, .schedule = cosine_schedule(std::uint64_t(steps))};
  ModelOptions const options{
      .batch = std::max(cases[0].heat.mesh.nodes(), held_out.heat.mesh.nodes()), .seed = 1};
  Trainer<GraphNetwork, MeanSquaredError, Adam> graph(exec, adam, options);
  Trainer<NodeNetwork, MeanSquaredError, Adam> node(exec, adam, options);
  std::printf("both networks have %d parameters; %d meshes of %d nodes in a batch\n",
              GraphNetwork::parameter_count, squares, cases[0].heat.mesh.nodes_of_square);
  for (int step = 0; step < steps; ++step) {
    Case& c = cases[std::size_t(step % meshes)];
    c.draw(exec, random);
    graph.model().bind_matrix(c.graph);
    graph.step(c.inputs, c.targets);
    node.step(c.inputs, c.targets);
    if ((step + 1) % ((steps + 4) / 5) == 0 || step + 1 == steps)
      std::printf("step %5d  mean squared error with graph %.1e, without %.1e\n", step + 1,
                  double(graph.loss()), double(node.loss()));
  }

  // Means over other fields on the mesh that is held out.
  constexpr int draws = 20, most_products = 32;
  double with_graph = 0, without = 0, of_sweeps[most_products + 1] = {};
  Rows const outputs("outputs", held_out.outputs.extent(0), 1);
  graph.model().bind_matrix(held_out.graph);
  for (int k = 0; k < draws; ++k) {
    held_out.draw(exec, random);
    graph.model().infer(exec, held_out.inputs, held_out.outputs);
    node.model().infer(exec, held_out.inputs, outputs);
    with_graph += error(exec, held_out, OfNetwork{held_out.outputs}) / draws;
    without += error(exec, held_out, OfNetwork{outputs}) / draws;
    for (int n = layers; n <= most_products; ++n)
      of_sweeps[n] += error(exec, held_out, jacobi(exec, held_out, n)) / draws;
  }
  int equal = layers;
  while (equal < most_products && of_sweeps[equal] > with_graph) ++equal;
  std::printf(
      "relative errors of the change on %d nodes that were held out:\n"
      "  network with the graph, %d products with the matrix  %.3f\n"
      "  Jacobi's method, %d products                         %.3f\n"
      "  Jacobi's method, %2d products                        %.3f\n"
      "  network without the graph                           %.3f\n",
      held_out.heat.mesh.nodes(), layers, with_graph, layers, of_sweeps[layers], equal,
      of_sweeps[equal], without);
  if (!fields.empty()) write(held_out, held_out.outputs, outputs, fields);
  if (!(with_graph <= at_most)) {
    std::fprintf(stderr, "mesh: the relative error with the graph is %g, wanted at most %g.\n",
                 with_graph, at_most);
    return 1;
  }
  return 0;
}
