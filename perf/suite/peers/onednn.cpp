// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// oneDNN by hand on the inference workloads of perf/run: one matrix product a layer with weights in
// the layout that oneDNN asks for, bias, and ReLU as a post-op.

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using dnnl::memory;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Mlp {
 public:
  Mlp(std::vector<int> const& widths, long batch, memory::data_type type) {
    std::mt19937 random(1);
    auto const filled = [&](memory::desc const& wanted, memory::dims const& extents,
                            memory::format_tag tag) {
      memory plain({extents, memory::data_type::f32, tag}, engine_);
      std::uniform_real_distribution<float> uniform(-0.2f, 0.2f);
      auto* const numbers = static_cast<float*>(plain.get_data_handle());
      long count = 1;
      for (auto const e : extents) count *= e;
      for (long i = 0; i < count; ++i) numbers[i] = uniform(random);
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

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<memory> value_, weight_, bias_;
  std::vector<dnnl::matmul> layer_;
  std::vector<std::unordered_map<int, memory>> arguments_;
};

struct Case {
  std::string name;
  long batch;
  Mlp call;
};

}  // namespace

int main(int argc, char* argv[]) {
  std::string workload, dtype;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string(argv[i]) == "--workload") workload = argv[i + 1];
    if (std::string(argv[i]) == "--dtype") dtype = argv[i + 1];
  }
  auto const type = dtype == "bf16" ? memory::data_type::bf16 : memory::data_type::f32;
  std::vector<Case> cases;
  if (workload == "mlp-infer")
    cases.push_back({"", 65536, Mlp({16, 64, 64, 64, 64, 16}, 65536, type)});
  if (workload == "mlp-infer-64")
    cases.push_back({"", 65536, Mlp({64, 64, 64, 64, 64}, 65536, type)});
  if (workload == "mlp-latency")
    for (int const width : {64, 32})
      for (long const batch : {1, 16, 64})
        cases.push_back(
            {std::to_string(width), batch, Mlp({width, width, width, width, width}, batch, type)});
  if (cases.empty()) {
    std::printf("absent: oneDNN by hand has no program for %s\n", workload.c_str());
    return 0;
  }
  std::vector<int> repeat;
  for (Case& c : cases) {
    for (int warm = 0; warm < 3; ++warm) c.call();
    double const start = now();
    c.call();
    repeat.push_back(std::max(1, int(5e-3 / std::max(now() - start, 1e-8))));
    std::printf(
        "{\"workload\": \"%s\", \"case\": \"%s\", \"batch\": %ld, \"relative_error\": null}\n",
        workload.c_str(), c.name.c_str(), c.batch);
  }
  std::printf("ready\n");
  std::fflush(stdout);
  std::string command;
  while (std::cin >> command && command == "sample") {
    std::size_t k = 0;
    std::cin >> k;
    cases.at(k).call();  // threads wake and caches fill
    double const start = now();
    for (int r = 0; r < repeat.at(k); ++r) cases[k].call();
    std::printf("%.9g\n", (now() - start) / repeat[k]);
    std::fflush(stdout);
  }
  return 0;
}
