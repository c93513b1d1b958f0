// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// PyTorch from C++ on the workloads of perf/run.

#include "peer.hpp"

#include <torch/torch.h>

#include <memory>

namespace {

namespace nn = torch::nn;

nn::Sequential mlp(std::vector<int> const& widths) {
  nn::Sequential model;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    model->push_back(nn::Linear(widths[l], widths[l + 1]));
    if (l + 2 < widths.size()) model->push_back(nn::ReLU());
  }
  return model;
}

nn::Sequential lenet() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)), nn::ReLU(),
                        nn::MaxPool2d(2), nn::Conv2d(6, 16, 5), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Flatten(), nn::Linear(400, 120), nn::ReLU(), nn::Linear(120, 84),
                        nn::ReLU(), nn::Linear(84, 10));
}

double error_of(nn::Sequential model, torch::Tensor const& few) {
  torch::NoGradGuard const no_gradients;
  auto const type = few.scalar_type();
  auto const got = model->forward(few).to(torch::kDouble);
  model->to(torch::kDouble);
  auto const exact = model->forward(few.to(torch::kDouble));
  model->to(type);
  return ((got - exact).norm() / exact.norm()).item<double>();
}

peer::Case inference(std::string const& name, std::vector<int> const& widths, long batch,
                     torch::ScalarType type) {
  auto model = mlp(widths);
  model->to(type);
  model->eval();
  auto const x = torch::randn({batch, widths[0]}).to(type);
  return {name, batch, error_of(model, x.slice(0, 0, std::min(batch, 64L))), [model, x]() mutable {
            c10::InferenceMode const guard;
            model->forward(x);
          }};
}

template <class Loss>
peer::Case training(nn::Sequential model, torch::Tensor const& x, torch::Tensor const& targets,
                    Loss const& loss) {
  double const error = error_of(model, x.slice(0, 0, 32));
  auto const optimizer = std::make_shared<torch::optim::SGD>(
      model->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
  return {"", x.size(0), error, [=]() mutable {
            optimizer->zero_grad();
            loss(model->forward(x), targets).backward();
            optimizer->step();
          }};
}

}  // namespace

int main(int argc, char* argv[]) {
  peer::Request const request(argc, argv);
  torch::set_num_threads(request.threads);
  torch::manual_seed(1);
  bool const f32 = request.dtype == "f32";
  auto const type = f32 ? torch::kFloat : torch::kBFloat16;
  std::vector<peer::Case> cases;
  if (request.workload == "mlp-infer")
    cases.push_back(inference("", {16, 64, 64, 64, 64, 16}, 65536, type));
  if (request.workload == "mlp-infer-64")
    cases.push_back(inference("", {64, 64, 64, 64, 64}, 65536, type));
  if (request.workload == "mlp-latency")
    for (int const width : {64, 32})
      for (long const batch : {1, 16, 64})
        cases.push_back(inference(std::to_string(width), std::vector<int>(5, width), batch, type));
  if (request.workload == "mlp-train" && f32)
    cases.push_back(training(mlp({16, 64, 64, 64, 64, 16}), torch::randn({16384, 16}),
                             torch::randn({16384, 16}),
                             [](auto const& y, auto const& t) { return torch::mse_loss(y, t); }));
  if (request.workload == "lenet-train" && f32)
    cases.push_back(
        training(lenet(), torch::randn({128, 1, 28, 28}), torch::randint(10, {128}, torch::kLong),
                 [](auto const& y, auto const& t) { return torch::cross_entropy_loss(y, t); }));
  return peer::serve(request, "libtorch", cases);
}
