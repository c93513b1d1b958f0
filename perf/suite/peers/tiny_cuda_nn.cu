// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tiny-cuda-nn by its public interface on the perceptrons of perf/run, in float16 and without
// biases, which it has none of. --jit: with kernels that it compiles at run time.

#include "peer.hpp"

#include <tiny-cuda-nn/common_device.h>
#include <tiny-cuda-nn/config.h>
#include <tiny-cuda-nn/random.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Number = tcnn::network_precision_t;
using Options = nlohmann::json;

std::vector<float> on_host(Number const* numbers, std::size_t count) {
  std::vector<Number> there(count);
  CUDA_CHECK_THROW(
      cudaMemcpy(there.data(), numbers, count * sizeof(Number), cudaMemcpyDeviceToHost));
  return {there.begin(), there.end()};
}

/// A perceptron with hidden layers of 64 and a trainer around it.
class Perceptron {
 public:
  Perceptron(std::uint32_t ends, std::uint32_t hidden, std::uint32_t batch, bool jit)
      : ends_(ends),
        hidden_(hidden),
        batch_(batch),
        network_(tcnn::create_network<Number>(Options{{"otype", "FullyFusedMLP"},
                                                      {"n_input_dims", ends},
                                                      {"n_output_dims", ends},
                                                      {"n_neurons", width},
                                                      {"n_hidden_layers", hidden},
                                                      {"activation", "ReLU"},
                                                      {"output_activation", "None"}})),
        trainer_(network_,
                 std::shared_ptr<tcnn::Optimizer<Number>>(tcnn::create_optimizer<Number>(
                     Options{{"otype", "SGD"}, {"learning_rate", 1e-3}})),
                 std::shared_ptr<tcnn::Loss<Number>>(
                     tcnn::create_loss<Number>(Options{{"otype", "L2"}}))),
        // What its two ways of computing read fastest.
        x_(ends, batch, jit ? tcnn::RM : tcnn::CM),
        y_(ends, batch, jit ? tcnn::RM : tcnn::CM),
        target_(ends, batch) {
    CUDA_CHECK_THROW(cudaStreamCreate(&stream_));
    network_->set_jit_fusion(jit);
    tcnn::default_rng_t random(1);
    tcnn::generate_random_uniform<Number>(stream_, random, ends * batch, x_.data(), -1.0f, 1.0f);
    tcnn::generate_random_uniform<float>(stream_, random, ends * batch, target_.data(), -1.0f,
                                         1.0f);
    wait();
  }

  void infer() {
    network_->inference_mixed_precision(stream_, x_, y_);
    wait();
  }
  void step() {
    trainer_.training_step(stream_, x_, target_);
    wait();
  }

  /// It goes on without where a kernel did not compile.
  bool compiles_at_run_time() const { return network_->jit_fusion(); }

  /// Of the first samples, against the same products in float64.
  double relative_error() {
    constexpr std::size_t samples = 64;
    infer();
    auto const x = on_host(x_.data(), std::size_t(ends_) * batch_);
    auto const y = on_host(y_.data(), std::size_t(ends_) * batch_);
    auto const weights = on_host(trainer_.params(), trainer_.n_params());
    std::vector<double> expected, got;
    for (std::size_t n = 0; n < samples; ++n) {
      std::vector<double> values(ends_);
      for (std::size_t c = 0; c < ends_; ++c) values[c] = x[place(c, n)];
      float const* weight = weights.data();  // of each layer (outputs, inputs)
      for (std::uint32_t layer = 0; layer <= hidden_; ++layer) {
        bool const last = layer == hidden_;
        std::vector<double> next(last ? ends_ : width);
        for (std::size_t o = 0; o < next.size(); ++o) {
          for (std::size_t i = 0; i < values.size(); ++i)
            next[o] += double(weight[o * values.size() + i]) * values[i];
          if (!last && next[o] < 0) next[o] = 0;
        }
        weight += next.size() * values.size();
        values = std::move(next);
      }
      for (std::size_t c = 0; c < ends_; ++c) {
        expected.push_back(values[c]);
        got.push_back(y[place(c, n)]);
      }
    }
    return peer::relative_error(expected, got);
  }

 private:
  static constexpr std::uint32_t width = 64;

  void wait() { CUDA_CHECK_THROW(cudaStreamSynchronize(stream_)); }
  std::size_t place(std::size_t channel, std::size_t sample) const {
    return x_.layout() == tcnn::CM ? sample * ends_ + channel : channel * batch_ + sample;
  }

  std::uint32_t ends_, hidden_, batch_;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<tcnn::Network<Number>> network_;
  tcnn::Trainer<Number, Number, Number> trainer_;
  tcnn::GPUMatrixDynamic<Number> x_, y_;
  tcnn::GPUMatrix<float> target_;
};

std::vector<peer::Case> cases(peer::Request const& request, bool jit) {
  std::vector<peer::Case> all;
  if (request.dtype != "f16") return all;
  bool const training = request.workload == "mlp-train", narrow = request.workload == "mlp-infer";
  if (!training && !narrow && request.workload != "mlp-infer-64") return all;
  std::uint32_t const batch = training ? 1u << 18 : 1u << 20;
  auto const net = narrow || training ? std::make_shared<Perceptron>(16u, 4u, batch, jit)
                                      : std::make_shared<Perceptron>(64u, 3u, batch, jit);
  double const error = net->relative_error();
  if (training) net->step();
  if (net->compiles_at_run_time() != jit)
    throw std::runtime_error("tiny-cuda-nn could not compile a kernel at run time");
  all.push_back({"", long(batch), error, [net, training] {
                   if (training)
                     net->step();
                   else
                     net->infer();
                 }});
  return all;
}

}  // namespace

int main(int argc, char* argv[]) {
  bool jit = false;
  for (int i = 1; i < argc; ++i) jit |= std::strcmp(argv[i], "--jit") == 0;
  try {
    peer::Request const request(argc, argv);
    return peer::serve(request, "tiny-cuda-nn", cases(request, jit));
  } catch (std::exception const& e) {
    std::printf("absent: %s\n", e.what());
    return 0;
  }
}
