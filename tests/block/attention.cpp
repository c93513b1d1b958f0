// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How attentions and layers of Transformers become leaves, edges and names of files.

#include <doctest/doctest.h>

#include <phyllo/phyllo.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace phyllo;

namespace {

struct mask;
struct memory;
struct Decoder
    : Network<NamedInput<memory, 6, 4>, NamedIntegerInput<mask, 4>, From<memory>,
              Linear<6, PerPosition>, TransformerDecoderLayer<6, 3, 5, memory, KeyPadding<mask>>> {
};

}  // namespace

TEST_CASE("an attention reads the parts of one projection, and its mask") {
  static_assert(Decoder::output == Shape{6, 4});
  auto const& node = Decoder::program::nodes.node;
  int scores = 0;
  for (int i = 0; i < Decoder::program::size; ++i) {
    Node const& n = node[i];
    if (n.part != AttentionPart::scores) continue;
    bool const crosses = scores++ > 0;
    CHECK(n.sources == (crosses ? 2 : 3));
    CHECK((n.source[0] == n.source[1]) == !crosses);
    CHECK(n.output == Shape{4, 3, 4});  // keys, heads, queries
    if (!crosses) CHECK(n.source[2] == 1);
    // The keys of the second are made of the memory, which is input 0.
    if (crosses) CHECK(node[n.source[1]].source[0] == 0);
  }
  CHECK(scores == 2);
  // As torch.nn.TransformerDecoderLayer(6, 3, 5) and the Linear layer before it count them.
  int const attention = 3 * 6 * 6 + 3 * 6 + 6 * 6 + 6;
  CHECK(Decoder::parameter_count ==
        6 * 6 + 6 + 2 * attention + (5 * 6 + 5) + (6 * 5 + 6) + 3 * 2 * 6);
}

TEST_CASE("tensors of a decoder layer have torch's names, and go there and back") {
  Kokkos::DefaultHostExecutionSpace const exec;
  using Net = Model<Decoder, Full<double>, Execution<Kokkos::DefaultHostExecutionSpace>>;
  Net from(exec, {.batch = 1, .seed = 1}), to(exec, {.batch = 1, .seed = 2});
  // Biases begin as zeros: numbers that show their places.
  for (std::size_t i = 0; i < from.master().size(); ++i)
    from.master()(i) = from.parameters()(i) = double(i) + 1;
  TensorFile const file = to_tensors(exec, from);
  std::vector<std::string> names;
  for (StoredTensor const& t : file.tensors) names.push_back(t.name);
  std::sort(names.begin(), names.end());
  std::vector<std::string> expected{"0.bias", "0.weight"};
  for (char const* const part :
       {"linear1.", "linear2.", "norm1.", "norm2.", "norm3.", "multihead_attn.in_proj_",
        "multihead_attn.out_proj.", "self_attn.in_proj_", "self_attn.out_proj."})
    for (char const* const tensor : {"bias", "weight"})
      expected.push_back(std::string("1.") + part + tensor);
  std::sort(expected.begin(), expected.end());
  CHECK(names == expected);
  for (char const* const attention : {"1.self_attn.", "1.multihead_attn."}) {
    CHECK(file.find(attention + std::string("in_proj_weight"))->shape ==
          std::vector<std::int64_t>{18, 6});
    CHECK(file.find(attention + std::string("in_proj_bias"))->shape ==
          std::vector<std::int64_t>{18});
  }
  from_tensors(exec, to, file, "test");
  for (ParameterEntry const& e : parameter_table<Decoder>())
    for (long i = 0; i < e.size(); ++i) {
      auto const at = std::size_t(e.arena_index(i));
      CHECK(to.parameters()(at) == double(at) + 1);
    }
}
