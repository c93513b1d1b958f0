// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <unistd.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "networks/readme.hpp"

namespace {

struct Small : phyllo::Network<phyllo::Input<2, 4, 4>, phyllo::Conv2d<3>, phyllo::BatchNorm<>,
                               phyllo::ReLU, phyllo::Flatten, phyllo::Linear<5>> {};
struct Other : phyllo::Network<phyllo::Input<2, 4, 4>, phyllo::Conv2d<3>, phyllo::BatchNorm<>,
                               phyllo::ReLU, phyllo::Flatten, phyllo::Linear<6>> {};
using Space = Kokkos::DefaultExecutionSpace;

std::string temporary(char const* name) {
  return (std::filesystem::temp_directory_path() / ("phyllo_" + std::to_string(getpid()) + name))
      .string();
}

template <class M> std::vector<double> weights(M const& model) {
  Space exec;
  std::vector<double> all;
  for (auto const& tensor : phyllo::to_tensors(exec, model).tensors)
    for (long i = 0; i < long(tensor.bytes.size() / phyllo::element_size(tensor.type)); ++i)
      all.push_back(phyllo::detail::stored_value(tensor, i));
  return all;
}

std::string refusal(auto const& call) {
  try {
    call();
  } catch (phyllo::Error const& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE_TEMPLATE("weights: a round trip keeps every bit", P, phyllo::Full<double>,
                   phyllo::Full<float>, phyllo::Mixed<phyllo::bf16, float>,
                   phyllo::Mixed<phyllo::fp16, float>) {
  Space exec;
  std::string const path = temporary("round_trip.safetensors");
  phyllo::Model<Small, P> first(exec, {.batch = 2, .seed = 1}),
      second(exec, {.batch = 2, .seed = 2});
  CHECK(weights(first) != weights(second));
  phyllo::save(exec, first, path);
  phyllo::load(exec, second, path);
  CHECK(weights(first) == weights(second));
  std::filesystem::remove(path);
}

TEST_CASE("weights: names, extents and order are torch's") {
  Space exec;
  phyllo::Model<Small> model(exec, {.batch = 2, .seed = 1});
  auto const file = phyllo::to_tensors(exec, model);
  REQUIRE(file.find("0.weight") != nullptr);
  CHECK(file.find("0.weight")->shape == std::vector<std::int64_t>{3, 2, 3, 3});
  CHECK(file.find("0.bias")->shape == std::vector<std::int64_t>{3});
  CHECK(file.find("1.running_var")->shape == std::vector<std::int64_t>{3});
  CHECK(file.find("4.weight")->shape == std::vector<std::int64_t>{5, 12});
  CHECK(file.tensors.size() == 8);

  // Linear after Flatten: y_o = sum over k of W[o][k] x_k with k running over (C, H, W) as in
  // torch.
  struct Flat : phyllo::Network<phyllo::Input<2, 2, 3>, phyllo::Flatten, phyllo::Linear<1>> {};
  phyllo::Model<Flat> flat(exec, {.batch = 1});
  phyllo::TensorFile given;
  auto const tensor = [](char const* name, std::vector<std::int64_t> shape, std::vector<float> v) {
    phyllo::StoredTensor t{name, phyllo::ElementType::f32, shape, {}};
    t.bytes.resize(v.size() * sizeof(float));
    std::memcpy(t.bytes.data(), v.data(), t.bytes.size());
    return t;
  };
  given.tensors.push_back(tensor("1.weight", {1, 12}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  given.tensors.push_back(tensor("1.bias", {1}, {0.5f}));
  phyllo::from_tensors(exec, flat, given, "test");
  Kokkos::View<float****, Kokkos::HostSpace> x("x", 1, 2, 2, 3);
  Kokkos::View<float**, Kokkos::HostSpace> y("y", 1, 1);
  for (int c = 0; c < 2; ++c)
    for (int h = 0; h < 2; ++h)
      for (int w = 0; w < 3; ++w) x(0, c, h, w) = float(100 * c + 10 * h + w);
  auto const x_there = Kokkos::create_mirror_view_and_copy(exec, x);
  auto const y_there = Kokkos::create_mirror_view(exec, y);
  flat.infer(exec, x_there, y_there);
  Kokkos::deep_copy(y, y_there);
  float expected = 0.5f;
  for (int k = 0; k < 12; ++k)
    expected += float(k + 1) * float(100 * (k / 6) + 10 * (k / 3 % 2) + k % 3);
  CHECK(y(0, 0) == doctest::Approx(expected));
}

TEST_CASE("weights: normalisations have the tensors of their options in a file, no others") {
  using namespace phyllo;
  struct Bare : Network<Input<2, 4, 4>, Conv2d<3>, BatchNorm<Affine<false>>, LayerNorm<Bias<false>>,
                        ReLU, Flatten, Linear<5>> {};
  Space exec;
  Model<Bare> first(exec, {.batch = 2, .seed = 1}), second(exec, {.batch = 2, .seed = 2});
  Kokkos::deep_copy(first.buffers(), 0.75f);
  auto file = to_tensors(exec, first);
  CHECK(file.tensors.size() == 7);
  CHECK(file.find("1.running_mean") != nullptr);
  CHECK(file.find("1.weight") == nullptr);
  CHECK(file.find("2.weight") != nullptr);
  CHECK(file.find("2.bias") == nullptr);
  from_tensors(exec, second, file, "test");
  CHECK(weights(first) == weights(second));
  auto weight = *file.find("0.bias");
  weight.name = "1.weight";
  file.tensors.push_back(weight);
  CHECK(refusal([&] { from_tensors(exec, second, file, "test"); }).find("1.weight") !=
        std::string::npos);
}

TEST_CASE("weights: a wrong file is refused in one sentence and the model stays as it was") {
  Space exec;
  std::string const path = temporary("wrong.safetensors");
  phyllo::Model<Small> model(exec, {.batch = 2, .seed = 1});
  phyllo::Model<Other> other(exec, {.batch = 2, .seed = 1});
  auto const before = weights(model);
  auto const refused = [&](char const* what) {
    std::string const text = refusal([&] { phyllo::load(exec, model, path); });
    INFO(text);
    CHECK(text.find(what) != std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(weights(model) == before);
  };
  refused("wrong.safetensors");  // missing
  phyllo::save(exec, other, path);
  refused("4.weight");  // of another network
  phyllo::save(exec, model, path);
  auto file = phyllo::read_safetensors(path);
  file.tensors.pop_back();
  phyllo::write_safetensors(path, file);
  refused("got none");
  file = phyllo::to_tensors(exec, model);
  file.tensors.push_back(file.tensors[0]);
  file.tensors.back().name = "surplus";
  phyllo::write_safetensors(path, file);
  refused("surplus");
  file.tensors.pop_back();
  file.tensors[0].type = phyllo::ElementType::i32;
  phyllo::write_safetensors(path, file);
  refused("F64, F32, BF16 or F16");
  // A number of double that float has not; what is infinite in the file stays so.
  file = phyllo::to_tensors(exec, model);
  double wide[3] = {1, 1e300, 2};
  auto& bias = *std::find_if(file.tensors.begin(), file.tensors.end(),
                             [](auto const& tensor) { return tensor.name == "0.bias"; });
  bias.type = phyllo::ElementType::f64;
  bias.bytes.resize(sizeof wide);
  std::memcpy(bias.bytes.data(), wide, sizeof wide);
  phyllo::write_safetensors(path, file);
  refused("expected numbers of \"0.bias\" within the range of f32, got 1e+300. Load it into");
  wide[1] = std::numeric_limits<double>::infinity();
  std::memcpy(bias.bytes.data(), wide, sizeof wide);
  phyllo::Model<Small> infinite(exec, {.batch = 2});
  phyllo::from_tensors(exec, infinite, file, "test");
  phyllo::save(exec, model, path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  refused("wrong.safetensors");
  std::filesystem::remove(path);
}

TEST_CASE("weights: a missing or surplus name is answered with the names of the file") {
  Space exec;
  phyllo::Model<Small> model(exec, {.batch = 2, .seed = 1});
  auto const complete = phyllo::to_tensors(exec, model);
  auto const message = [&](phyllo::TensorFile const& file) {
    return refusal([&] { phyllo::from_tensors(exec, model, file, "test"); });
  };
  auto const renamed = [&](std::string const& from, std::string const& to) {
    auto file = complete;
    for (auto& tensor : file.tensors)
      if (tensor.name == from) tensor.name = to;
    return file;
  };
  auto const says = [](std::string const& text, std::string const& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  auto const module = message(renamed("4.weight", "classifier.4.weight"));
  says(module, "expected a tensor \"4.weight\" of network");
  says(module, "The nearest name is \"classifier.4.weight\".");
  says(module, "The file has \"0.weight\", \"0.bias\", ");
  says(message(renamed("1.running_var", "1.runing_var")), "The nearest name is \"1.runing_var\".");
  // A name that the network has is no suggestion for another, and neither is one without likeness.
  CHECK(message(renamed("4.weight", "head")).find("nearest") == std::string::npos);

  auto many = complete;
  for (int i = 0; i < 30; ++i) {
    many.tensors.push_back(complete.tensors[0]);
    many.tensors.back().name = "surplus" + std::to_string(i);
  }
  auto const surplus = message(many);
  says(surplus, "got \"surplus0\", ");
  says(surplus, "\"surplus19\" and 10 more as well");
  CHECK(surplus.find("surplus20") == std::string::npos);
  many.tensors.erase(many.tensors.begin());
  says(message(many), " and 17 more.");
  says(message({}), "The file has no tensors.");
  for (auto& tensor : many.tensors) tensor.name += "\x1b\n";
  CHECK(message(many).find_first_of("\x1b\n") == std::string::npos);
}
