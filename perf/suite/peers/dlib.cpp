// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// dlib on the workloads of perf/run, on tensors that are filled before.

#include "peer.hpp"

#include <dlib/dnn.h>

#include <memory>
#include <random>

namespace {

using Input = dlib::input<dlib::matrix<float>>;
template <int W, class Below> using Hidden = dlib::relu<dlib::fc<W, Below>>;
template <int W, int Out>
using Mlp = dlib::fc<Out, Hidden<W, Hidden<W, Hidden<W, Hidden<W, Input>>>>>;
template <int W> using Mlp3 = dlib::fc<W, Hidden<W, Hidden<W, Hidden<W, Input>>>>;
using LeNet = dlib::loss_multiclass_log<dlib::fc<
    10,
    Hidden<84,
           Hidden<120, dlib::max_pool<
                           2, 2, 2, 2,
                           dlib::relu<dlib::add_layer<
                               dlib::con_<16, 5, 5, 1, 1, 0, 0>,
                               dlib::max_pool<2, 2, 2, 2,
                                              dlib::relu<dlib::add_layer<
                                                  dlib::con_<6, 5, 5, 1, 1, 2, 2>, Input>>>>>>>>>>;

dlib::resizable_tensor random_tensor(long n, long k, long rows, long columns) {
  dlib::resizable_tensor x(n, k, rows, columns);
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& v : x) v = uniform(random);
  return x;
}

// The layers that have weights, (inputs + 1, outputs) with the bias last, from the input on.
template <class Net> std::vector<std::vector<double>> weights_of(Net& net) {
  std::vector<std::vector<double>> all;
  dlib::visit_layers_backwards(net, [&](std::size_t, auto& layer) {
    if constexpr (requires { layer.layer_details().get_layer_params(); }) {
      auto const& p = layer.layer_details().get_layer_params();
      if (p.size() > 0) all.emplace_back(p.begin(), p.end());
    }
  });
  return all;
}

// Until it has seen a sample, a network takes no tensors.
template <class Net> void show_sample(Net& net) {
  dlib::matrix<float> const sample = dlib::zeros_matrix<float>(1, 1);
  dlib::resizable_tensor ignored;
  net.to_tensor(&sample, &sample + 1, ignored);
}

template <class Net>
double error_of(Net& net, std::vector<int> const& widths, dlib::tensor const& x, long rows) {
  show_sample(net);
  auto const& y = net.forward(x);
  auto const weights = weights_of(net);
  std::vector<double> expected, got;
  for (long n = 0; n < rows; ++n) {
    std::vector<double> value(x.host() + n * widths[0], x.host() + (n + 1) * widths[0]);
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      auto const in = std::size_t(widths[l]), out = std::size_t(widths[l + 1]);
      std::vector<double> next(weights.at(l).end() - long(out), weights[l].end());
      for (std::size_t o = 0; o < out; ++o) {
        for (std::size_t i = 0; i < in; ++i) next[o] += value[i] * weights[l][i * out + o];
        if (l + 2 < widths.size()) next[o] = std::max(next[o], 0.0);
      }
      value = next;
    }
    for (std::size_t o = 0; o < value.size(); ++o) {
      expected.push_back(value[o]);
      got.push_back(double(y.host()[std::size_t(n) * value.size() + o]));
    }
  }
  return peer::relative_error(expected, got);
}

template <class Net>
peer::Case inference(std::string const& name, std::vector<int> const& widths, long batch) {
  auto const net = std::make_shared<Net>();
  auto const x = std::make_shared<dlib::resizable_tensor>(random_tensor(batch, widths[0], 1, 1));
  double const error = error_of(*net, widths, *x, std::min(batch, 64L));
  return {name, batch, error, [net, x] { net->forward(*x); }};
}

template <class Net, class Labels>
peer::Case training(std::shared_ptr<Net> net, double error, dlib::resizable_tensor const& x,
                    Labels const& labels) {
  auto const solvers =
      std::make_shared<std::vector<dlib::sgd>>(Net::num_computational_layers, dlib::sgd(0, 0.9f));
  return {"", x.num_samples(), error, [=] {
            net->compute_parameter_gradients(x, labels.begin());
            net->update_parameters(dlib::make_sstack(*solvers), 1e-3);
          }};
}

}  // namespace

int main(int argc, char* argv[]) {
  peer::Request const request(argc, argv);
  std::vector<peer::Case> cases;
  std::vector<int> const mlp{16, 64, 64, 64, 64, 16};
  if (request.dtype == "f32") {
    if (request.workload == "mlp-infer") cases.push_back(inference<Mlp<64, 16>>("", mlp, 65536));
    if (request.workload == "mlp-infer-64")
      cases.push_back(inference<Mlp3<64>>("", {64, 64, 64, 64, 64}, 65536));
    if (request.workload == "mlp-latency")
      for (long const batch : {1, 16, 64}) {
        cases.push_back(inference<Mlp3<64>>("64", std::vector<int>(5, 64), batch));
        cases.push_back(inference<Mlp3<32>>("32", std::vector<int>(5, 32), batch));
      }
    if (request.workload == "mlp-train") {
      using Net = dlib::loss_mean_squared_multioutput<Mlp<64, 16>>;
      auto const net = std::make_shared<Net>();
      auto const x = random_tensor(16384, 16, 1, 1);
      std::vector<dlib::matrix<float>> const targets(
          16384, dlib::matrix<float>(dlib::uniform_matrix<float>(16, 1, 0.5f)));
      cases.push_back(training(net, error_of(net->subnet(), mlp, x, 64), x, targets));
    }
    if (request.workload == "lenet-train") {
      auto const net = std::make_shared<LeNet>();
      show_sample(*net);
      std::vector<unsigned long> labels;
      for (unsigned long n = 0; n < 128; ++n) labels.push_back(n * 7 % 10);
      auto const x = random_tensor(128, 1, 28, 28);
      // Its loss, which starts near that of equal chances, falls.
      auto const timed = training(net, -1, x, labels);
      double const first = net->compute_loss(x, labels.begin());
      for (int step = 0; step < 50; ++step) timed.call();
      double const last = net->compute_loss(x, labels.begin());
      cases.push_back(timed);
      if (!(first > 1.5 && first < 4 && last < first)) cases.back().relative_error = 1;
    }
  }
  return peer::serve(request, "dlib", cases);
}
