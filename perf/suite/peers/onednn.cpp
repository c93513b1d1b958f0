// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// oneDNN by hand on the inference workloads of perf/run: one matrix product a layer with weights in
// the layout that oneDNN asks for, bias, and ReLU as a post-op.

#include "peer.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using dnnl::memory;

class Mlp {
 public:
  Mlp(std::vector<int> const& widths, long batch, memory::data_type type) : widths_(widths) {
    std::mt19937 random(1);
    // In float as well, for the check.
    auto const filled = [&](memory::desc const& wanted, memory::dims const& extents,
                            memory::format_tag tag) {
      memory plain({extents, memory::data_type::f32, tag}, engine_);
      std::uniform_real_distribution<float> uniform(-0.2f, 0.2f);
      auto* const numbers = static_cast<float*>(plain.get_data_handle());
      long count = 1;
      for (auto const e : extents) count *= e;
      for (long i = 0; i < count; ++i) numbers[i] = uniform(random);
      plain_.emplace_back(numbers, numbers + count);
      memory m(wanted, engine_);
      dnnl::reorder(plain, m).execute(stream_, plain, m);
      stream_.wait();
      return m;
    };
    using tag = memory::format_tag;
    memory::desc const first({batch, widths[0]}, type, tag::ab);
    value_.push_back(filled(first, {batch, widths[0]}, tag::ab));
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      memory::desc const x({batch, widths[l]}, type, tag::ab),
          y({batch, widths[l + 1]}, type, tag::ab);
      memory::desc const w({widths[l], widths[l + 1]}, type, tag::any);
      memory::desc const b({1, widths[l + 1]}, memory::data_type::f32, tag::ab);
      dnnl::primitive_attr attributes;
      if (l + 2 < widths.size()) {
        dnnl::post_ops relu;
        relu.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
        attributes.set_post_ops(relu);
      }
      dnnl::matmul::primitive_desc const product(engine_, x, w, b, y, attributes);
      weight_.push_back(filled(product.weights_desc(), {widths[l], widths[l + 1]}, tag::ab));
      bias_.push_back(filled(b, {1, widths[l + 1]}, tag::ab));
      value_.emplace_back(y, engine_);
      layer_.emplace_back(product);
      arguments_.push_back({{DNNL_ARG_SRC, value_[l]},
                            {DNNL_ARG_WEIGHTS, weight_[l]},
                            {DNNL_ARG_BIAS, bias_[l]},
                            {DNNL_ARG_DST, value_[l + 1]}});
    }
  }
  void operator()() {
    for (std::size_t l = 0; l < layer_.size(); ++l) layer_[l].execute(stream_, arguments_[l]);
    stream_.wait();
  }

  /// Of the first samples, against plain loops in float64.
  double relative_error() {
    (*this)();
    long const batch = std::min(value_[0].get_desc().get_dims()[0], dnnl::memory::dim(64));
    int const outputs = widths_.back();
    memory result({{value_.back().get_desc().get_dims()[0], outputs},
                   memory::data_type::f32,
                   memory::format_tag::ab},
                  engine_);
    dnnl::reorder(value_.back(), result).execute(stream_, value_.back(), result);
    stream_.wait();
    auto const* const got = static_cast<float const*>(result.get_data_handle());
    std::vector<double> expected;
    for (long n = 0; n < batch; ++n) {
      std::vector<double> x(plain_[0].begin() + n * widths_[0],
                            plain_[0].begin() + (n + 1) * widths_[0]);
      for (std::size_t l = 0; l + 1 < widths_.size(); ++l) {
        auto const& weight = plain_[1 + 2 * l];  // (in, out)
        std::vector<double> y(plain_[2 + 2 * l].begin(), plain_[2 + 2 * l].end());
        for (std::size_t i = 0; i < x.size(); ++i)
          for (std::size_t o = 0; o < y.size(); ++o)
            y[o] += x[i] * double(weight[i * y.size() + o]);
        if (l + 2 < widths_.size())
          for (double& v : y) v = v > 0 ? v : 0;
        x = y;
      }
      expected.insert(expected.end(), x.begin(), x.end());
    }
    return peer::relative_error(expected, {got, got + expected.size()});
  }

 private:
  std::vector<int> widths_;
  std::vector<std::vector<float>> plain_;  // input, then weight and bias of each layer
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<memory> value_, weight_, bias_;
  std::vector<dnnl::matmul> layer_;
  std::vector<std::unordered_map<int, memory>> arguments_;
};

peer::Case of(std::string name, std::vector<int> const& widths, long batch,
              memory::data_type type) {
  auto const mlp = std::make_shared<Mlp>(widths, batch, type);
  return {std::move(name), batch, mlp->relative_error(), [mlp] { (*mlp)(); }};
}

std::vector<peer::Case> cases(peer::Request const& request) {
  auto const type = request.dtype == "bf16" ? memory::data_type::bf16 : memory::data_type::f32;
  std::vector<peer::Case> all;
  if (request.workload == "mlp-infer") all.push_back(of("", {16, 64, 64, 64, 64, 16}, 65536, type));
  if (request.workload == "mlp-infer-64") all.push_back(of("", {64, 64, 64, 64, 64}, 65536, type));
  if (request.workload == "linear-infer")
    for (int const width : {64, 128, 256, 512, 1024, 2048})
      all.push_back(of(std::to_string(width), {width, width}, 2048, type));
  if (request.workload == "mlp-latency")
    for (int const width : {64, 32})
      for (long const batch : {1, 16, 64})
        all.push_back(of(std::to_string(width), {width, width, width, width, width}, batch, type));
  return all;
}

}  // namespace

int main(int argc, char* argv[]) {
  peer::Request const request(argc, argv);
  try {
    return peer::serve(request, "oneDNN by hand", cases(request));
  } catch (dnnl::error const& e) {  // bfloat16 on a processor with AVX2
    std::printf("absent: oneDNN: %s\n", e.what());
    return 0;
  }
}
