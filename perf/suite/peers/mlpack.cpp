// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mlpack on the workloads of perf/run: its layers, and the steps of its training by hand.

#include "peer.hpp"

// Debian's package lacks the headers for sound and pictures that mlpack bundles. With these guards
// set nothing asks for them; the order of the includes is that of mlpack's own.
// clang-format off
#define MLPACK_CORE_AUDIO_AUDIO_HPP
#define MLPACK_CORE_STB_STB_HPP
#define MLPACK_CORE_DATA_IMAGE_BOUNDING_BOX_HPP
#define MLPACK_CORE_DATA_IMAGE_RESIZE_CROP_HPP
#define MLPACK_CORE_DATA_LOAD_IMAGE_HPP
#define MLPACK_CORE_DATA_SAVE_IMAGE_HPP
#define MLPACK_CORE_DATA_LOAD_AUDIO_HPP
#define MLPACK_CORE_DATA_SAVE_AUDIO_HPP
#include <mlpack/prereqs.hpp>
#include <mlpack/core/util/log.hpp>
#include <mlpack/core/data/audio_options.hpp>
#include <mlpack/core.hpp>
#include <mlpack/methods/ann/ann.hpp>
// clang-format on

#include <memory>

namespace {

template <class Matrix>
using Net = mlpack::FFN<mlpack::MeanSquaredErrorType<Matrix>, mlpack::HeInitialization, Matrix>;

template <class Matrix> std::shared_ptr<Net<Matrix>> mlp(std::vector<int> const& widths) {
  auto net = std::make_shared<Net<Matrix>>();
  for (std::size_t l = 1; l < widths.size(); ++l) {
    net->template Add<mlpack::Linear<Matrix>>(std::size_t(widths[l]));
    if (l + 1 < widths.size()) net->template Add<mlpack::ReLU<Matrix>>();
  }
  net->Reset(std::size_t(widths[0]));
  return net;
}

// The same parameters in float64.
double error_of(Net<arma::fmat>& net, std::vector<int> const& widths, arma::fmat const& x) {
  auto const exact = mlp<arma::mat>(widths);
  // In place: the layers point into this memory.
  std::copy(net.Parameters().begin(), net.Parameters().end(), exact->Parameters().begin());
  arma::fmat const few = x.cols(0, std::min<arma::uword>(x.n_cols, 64) - 1);
  arma::fmat got;
  arma::mat expected;
  net.SetNetworkMode(false);
  net.Forward(few, got);
  exact->Forward(arma::conv_to<arma::mat>::from(few), expected);
  return arma::norm(arma::conv_to<arma::mat>::from(got) - expected, "fro") /
         arma::norm(expected, "fro");
}

peer::Case inference(std::string const& name, std::vector<int> const& widths, long batch) {
  auto const net = mlp<arma::fmat>(widths);
  auto const x =
      std::make_shared<arma::fmat>(std::size_t(widths[0]), std::size_t(batch), arma::fill::randn);
  auto const y = std::make_shared<arma::fmat>();
  double const error = error_of(*net, widths, *x);
  return {name, batch, error, [=] { net->Forward(*x, *y); }};
}

}  // namespace

int main(int argc, char* argv[]) {
  peer::Request const request(argc, argv);
  std::vector<peer::Case> cases;
  std::vector<int> const widths{16, 64, 64, 64, 64, 16};
  if (request.dtype == "f32") {
    if (request.workload == "mlp-infer") cases.push_back(inference("", widths, 65536));
    if (request.workload == "mlp-infer-64")
      cases.push_back(inference("", {64, 64, 64, 64, 64}, 65536));
    if (request.workload == "mlp-latency")
      for (int const width : {64, 32})
        for (long const batch : {1, 16, 64})
          cases.push_back(inference(std::to_string(width), std::vector<int>(5, width), batch));
    if (request.workload == "mlp-train") {
      auto const net = mlp<arma::fmat>(widths);
      auto const x = std::make_shared<arma::fmat>(16, 16384, arma::fill::randn);
      auto const t = std::make_shared<arma::fmat>(16, 16384, arma::fill::randn);
      double const error = error_of(*net, widths, *x);
      net->SetNetworkMode(true);
      net->ResetData(*x, *t);
      auto const gradient = std::make_shared<arma::fmat>(arma::size(net->Parameters()));
      auto const velocity =
          std::make_shared<arma::fmat>(arma::size(net->Parameters()), arma::fill::zeros);
      cases.push_back({"", 16384, error, [=] {
                         net->EvaluateWithGradient(net->Parameters(), 0, *gradient, 16384);
                         *velocity = 0.9f * *velocity + *gradient;
                         net->Parameters() -= 1e-3f * *velocity;
                       }});
    }
  }
  return peer::serve(request, "mlpack", cases);
}
