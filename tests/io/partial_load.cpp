// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Weights under other names and parts of them, from files and from other models; models without the
// memory of training; fine-tuning.

#include <phyllo/phyllo.hpp>
#include <sentence_of.hpp>

#include <doctest/doctest.h>

#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace phyllo;
using phyllo::test::sentence_of;
using Space = Kokkos::DefaultExecutionSpace;
using HostModel = Execution<Kokkos::DefaultHostExecutionSpace>;
using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Space>;

// The same layers in front of two heads; `Tuned` has one layer more before them.
struct Trained : Network<Input<2, 4, 4>, Conv2d<3>, BatchNorm<>, ReLU, Flatten, Linear<5>> {};
struct Tuned
    : Network<Input<2, 4, 4>, Normalise<>, Conv2d<3>, BatchNorm<>, ReLU, Flatten, Linear<7>> {};

template <class V> std::vector<double> numbers(V const& view) {
  Kokkos::fence();
  std::vector<double> all;
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  for (std::size_t i = 0; i < host.extent(0); ++i) all.push_back(double(host(i)));
  return all;
}
// By its name in files, in the order of files.
template <class M> std::vector<double> tensor(M const& model, std::string const& name) {
  auto const file = to_tensors(typename M::space{}, model);
  StoredTensor const* const found = file.find(name);
  REQUIRE(found != nullptr);
  std::vector<double> all;
  for (long i = 0; i < long(found->bytes.size() / element_size(found->type)); ++i)
    all.push_back(detail::stored_value(*found, i));
  return all;
}
using Names = std::vector<std::string>;

// What Kokkos has allocated for a network, but for the work memory of threads, which has whole
// pages.
long allocated = 0;
void count_bytes(Kokkos::Profiling::SpaceHandle, char const* label, void const*,
                 std::uint64_t bytes) {
  std::string const text = label;
  if (text.find("Trained/") != std::string::npos && !text.ends_with("work memory"))
    allocated += long(bytes);
}

}  // namespace

TEST_CASE("load: patterns rename and skip; what must not match is stated") {
  Space exec;
  Model<Trained> const from(exec, {.batch = 2, .seed = 1});
  Model<Tuned> to(exec, {.batch = 2, .seed = 2});
  std::string const path = (std::filesystem::temp_directory_path() /
                            ("phyllo_" + std::to_string(getpid()) + "partial.safetensors"))
                               .string();
  save(exec, from, path);
  auto const head = tensor(to, "5.weight");
  LoadReport const report =
      load(exec, to, path,
           {.rename = {{"0.*", "1.*"}, {"1.*", "2.*"}}, .skip = {"4.*"}, .allow_missing = true});
  std::filesystem::remove(path);
  CHECK(report.loaded ==
        Names{"1.weight", "1.bias", "2.weight", "2.bias", "2.running_mean", "2.running_var"});
  CHECK(report.missing == Names{"0.mean", "0.std", "5.weight", "5.bias"});
  CHECK(report.surplus.empty());
  CHECK(tensor(to, "1.weight") == tensor(from, "0.weight"));
  CHECK(tensor(to, "2.running_var") == tensor(from, "1.running_var"));
  CHECK(tensor(to, "5.weight") == head);

  auto const file = to_tensors(exec, from);
  auto const before = numbers(to.parameters());
  auto const refusal = [&](LoadOptions const& options) {
    std::string const sentence =
        sentence_of([&] { from_tensors(exec, to, file, "test", options); });
    CHECK(numbers(to.parameters()) == before);
    return sentence;
  };
  auto const says = [](std::string const& text, std::string const& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  says(refusal({}), "expected a tensor \"0.mean\" of network");
  says(refusal({.rename = {{"0.*", "1.*"}, {"1.*", "2.*"}}, .allow_missing = true}),
       "got \"4.weight\", \"4.bias\" as well");
  says(refusal({.rename = {{"0.*", "1.*"}, {"1.*", "2.*"}, {"4.*", "5.*"}}, .allow_missing = true}),
       "tensor \"5.weight\" of network ");
  says(refusal({.rename = {{"0.*", "1.*"}, {"1.*", "2.*"}, {"4.*", "5.*"}}, .allow_missing = true}),
       ", \"4.weight\" of the file: expected extents (7, 12), got (5, 12)");
  says(refusal({.rename = {{"encoder.*", "1.*"}}}),
       "expected a tensor that \"encoder.*\" of LoadOptions::rename matches, got none. The file "
       "has \"0.weight\", ");
  says(refusal({.skip = {"5.weight"}}), "\"5.weight\" of LoadOptions::skip matches, got none.");
  says(refusal({.rename = {{"0.*", "4.*"}}}),
       "expected one tensor for each name, got \"0.weight\", \"4.weight\" for \"4.weight\".");
  says(refusal({.rename = {{"*", "backbone.*"}}, .allow_missing = true, .allow_surplus = true}),
       "expected at least one tensor of network ");
  // A module in front of all names, and tensors that the model lacks.
  auto module = file;
  for (auto& t : module.tensors) t.name = "module." + t.name;
  module.tensors.push_back({"optimizer", ElementType::f32, {}, std::vector<std::byte>(4)});
  Model<Trained> again(exec, {.batch = 2, .seed = 3});
  auto const all = from_tensors(exec, again, module, "test",
                                {.rename = {{"module.*", "*"}}, .allow_surplus = true});
  CHECK(all.surplus == Names{"optimizer"});
  module.tensors.back().name = "module.optimizer";
  LoadOptions const renamed{.rename = {{"module.*", "*"}}};
  says(sentence_of([&] { from_tensors(exec, again, module, "test", renamed); }),
       ", got \"module.optimizer\" as well.");
  // What torch counts is left out under any name, and no name is there twice.
  module.tensors.back().name = "module.num_batches_tracked";
  from_tensors(exec, again, module, "test", renamed);
  auto twice = file;
  twice.tensors.push_back(twice.tensors.front());
  says(sentence_of([&] { from_tensors(exec, again, twice, "test"); }),
       "expected one tensor for each name");
  CHECK(numbers(again.parameters()) == numbers(from.parameters()));
}

TEST_CASE("copy_parameters: to another precision, execution and network; parameters as Views") {
  Space exec;
  Model<Trained, Full<double>> from(exec, {.batch = 2, .seed = 1});
  Kokkos::deep_copy(exec, from.buffers(), 0.75f);
  from.weights_changed(exec);
  Model<Trained, Mixed<bf16, float>, HostModel> to({},
                                                   {.batch = 2, .seed = 2, .inference_only = true});
  CHECK(copy_parameters({}, to, from).loaded.size() == 8);
  auto const exact = tensor(from, "4.weight"), rounded = tensor(to, "4.weight");
  for (std::size_t i = 0; i < exact.size(); ++i) CHECK(rounded[i] == double(float(exact[i])));
  CHECK(tensor(to, "1.running_mean") == std::vector<double>(3, 0.75));

  // (outputs, channels, taps), as files have it.
  auto const weight = parameter_view(from, "0.weight");
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, weight);
  REQUIRE(host.extent(0) == 3);
  REQUIRE(host.extent(1) == 2);
  REQUIRE(host.extent(2) == 9);
  std::vector<double> in_order;
  for (std::size_t o = 0; o < 3; ++o)
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t t = 0; t < 9; ++t) in_order.push_back(host(o, c, t));
  CHECK(in_order == tensor(from, "0.weight"));
  CHECK(buffer_view(from, "1.running_var").extent(0) == 3);
  CHECK(sentence_of([&] { parameter_view(from, "0.weigth"); }) ==
        "parameter_view: expected the name of a parameter as files have it, got \"0.weigth\". The "
        "network has "
        "0.weight, 0.bias, 1.weight, 1.bias, 4.weight, 4.bias.");
}

TEST_CASE("inference_only: the memory of parameters and of inference, and nothing of training") {
  Space exec;
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_bytes);
  int const batch = 64;
  Model<Trained> const trainable(exec, {.batch = batch, .seed = 1});
  long const of_training = std::exchange(allocated, 0);
  Model<Trained> model(exec, {.batch = batch, .seed = 1, .inference_only = true});
  long const of_inference = std::exchange(allocated, 0);
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  using Plan = Model<Trained>::Training;
  long const gradients = 4L * Model<Trained>::gradient_size;
  CHECK(of_training - of_inference >= batch * long(Plan::memory.bytes) + gradients);
  // Parameters, buffers, activations, and the state of a step.
  long const needed =
      4L * (Trained::program::nodes.arena_size + Trained::program::nodes.buffer_size) +
      batch * long(Model<Trained>::Inference::memory.bytes) + long(sizeof(StepState));
  CHECK(of_inference <= needed + 1024);  // what Kokkos adds to each View
  CHECK(of_inference >= needed);

  Kokkos::View<float****, Kokkos::LayoutRight, Space> x("x", 70, 2, 4, 4);
  Kokkos::deep_copy(x, 0.5f);
  Rows y("y", 70, 5), z("z", 70, 5);
  trainable.infer(exec, x, y);
  model.infer(exec, x, z);
  model.clone(exec).infer(exec, x, z);
  exec.fence();
  CHECK(numbers(Kokkos::subview(y, 69, Kokkos::ALL)) ==
        numbers(Kokkos::subview(z, 69, Kokkos::ALL)));
  std::string const refused = "expected a model with gradients, got one that was built with";
  CHECK(sentence_of([&] { model.forward(exec, x, y); }).find("forward: " + refused) !=
        std::string::npos);
  CHECK(sentence_of([&] { model.backward(exec, y); }).find("backward: " + refused) !=
        std::string::npos);
  CHECK(sentence_of([&] { Optimizer(exec, model, Sgd{}); }).find(refused) != std::string::npos);
  CHECK(sentence_of([&] {
          Trainer<Trained, CrossEntropy, Adam>(exec, Adam{}, {.batch = 4, .inference_only = true});
        }).find(refused) != std::string::npos);
}

TEST_CASE("fine-tuning: a part is loaded and frozen, the rest is trained") {
  Space exec;
  Model<Trained> const from(exec, {.batch = 2, .seed = 1});
  Trainer<Tuned, CrossEntropy, Adam> trainer(exec, Adam{.rate = 0.01}, {.batch = 8, .seed = 2});
  copy_parameters(
      exec, trainer.model(), from,
      {.rename = {{"0.*", "1.*"}, {"1.*", "2.*"}}, .skip = {"4.*"}, .allow_missing = true});
  trainer.set_frozen(ParameterSelection::named("1.*") | ParameterSelection::named("2.*"));
  auto const head = tensor(trainer.model(), "5.weight");
  Kokkos::View<float****, Kokkos::LayoutRight, Space> x("x", 8, 2, 4, 4);
  Kokkos::View<int*, Space> labels("labels", 8);
  auto const host = Kokkos::create_mirror_view(x);
  for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] = float(std::sin(double(i)));
  Kokkos::deep_copy(x, host);
  for (int i = 0; i < 5; ++i) trainer.step(x, labels);
  for (char const* name : {"weight", "bias"})
    CHECK(tensor(trainer.model(), std::string("1.") + name) ==
          tensor(from, std::string("0.") + name));
  CHECK(tensor(trainer.model(), "5.weight") != head);
}
