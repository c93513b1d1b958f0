// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// The interface between the checks, compiled once, and the networks of a generated program. Plain
// numbers only: the checks never see a type of Phyllo, so they cost nothing for each network.

namespace networks {

using Numbers = std::vector<double>;
using Tensors = std::vector<Numbers>;  // one for each input or output, (N, C, S...) each

/// How far apart the elements of the caller's Views are; gathered: one View for each channel.
enum class Layout { right, left, strided, gathered };

/// One input or output.
struct Port {
  std::vector<int> extents;  // channels first
  bool reaches = true;       // an input: whether an output depends on it
  int entries = 0;       // an input of integers: of the smallest table that reads it; 0: numbers
  bool is_mask = false;  // two entries, of which a sample's first is zero
  int size() const {
    int product = 1;
    for (int e : extents) product *= e;
    return product;
  }
  int positions() const { return size() / extents[0]; }
};

/// The loss of one output: its kind and its factor.
struct Term {
  bool classes = false;  // cross-entropy; else the mean squared error
  double weight = 1;
};

/// The update rule, in numbers that a float represents exactly.
struct Rule {
  bool adam = false;
  double rate = 0, momentum = 0, weight_decay = 0;
  double beta1 = 0, beta2 = 0, epsilon = 0;
  bool nesterov = false;
};

/// One tensor in the parameter arena: elements [first, first + count).
struct Tensor {
  int first = 0, count = 0;
  bool is_dead = false;  // no output reads it
};

/// What a step or an evaluation of a trainer says.
struct Trained {
  double loss = 0;
  bool skipped = false;  // some step was skipped because of an overflow
};

/// A model of one network, or a trainer of it. Throws what the network throws.
class Machine {
 public:
  virtual ~Machine() = default;

  std::vector<Port> inputs, outputs;
  std::vector<Tensor> tensors;  // of the parameter arena, in its order

  /// Parameters, rounded to what the model stores, and running statistics; the next training pass
  /// is number `passes` (the key of random masks).
  virtual void set(Numbers const& parameters, Numbers const& buffers, std::uint64_t passes) = 0;
  virtual Numbers parameters() const = 0;  // as kernels read them
  virtual Numbers master() const = 0;      // unrounded
  virtual Numbers gradients() const = 0;
  virtual Numbers buffers() const = 0;

  virtual Tensors infer(Tensors const& x, int batch) = 0;
  /// With outputs in place of inputs of their extents; empty where there are none.
  virtual Tensors infer_in_place(Tensors const& x, int batch) = 0;
  virtual Tensors forward(Tensors const& x, int batch) = 0;
  virtual Tensors backward(Tensors const& d_y, int batch) = 0;  // returns the inputs' gradients

  // Of trainers.
  virtual bool trains() const { return false; }
  virtual Trained step(Tensors const&, Tensors const&, int) { return {}; }
  virtual Trained evaluate(Tensors const&, Tensors const&, int) { return {}; }

  /// Calls inside a kernel, by one thread and by a team; empty where the network permits none.
  virtual std::vector<Tensors> in_kernel(Tensors const&, int) { return {}; }
  /// Writes parameters and statistics to a file and reads them into the model again.
  virtual void save(std::string const&) {}
  virtual void load(std::string const&) {}
};

/// What the planner made of a network: numbers of phyllo::Role and phyllo::StepKind.
struct Plan {
  std::vector<int> roles, inference, training;
  std::vector<int> order;  // the nodes with work: random masks are drawn by their places in it
  bool whole_step = false;
};

/// One tensor of the arenas as files know it; see phyllo::ParameterEntry.
struct StoredTensor {
  std::string name;
  std::vector<long> shape;
  bool is_buffer = false;
  int offset = 0, taps = 1, channels = 1, outputs = 1;
  int first = 0;  // its place in the file's tensor, of which it may be a part
};

/// One network of a program.
struct Entry {
  char const* name = "";         // seed and number
  char const* type = "";         // as C++
  char const* description = "";  // one line of JSON, from which generate.py makes it again
  Plan plan;
  std::vector<StoredTensor> parameters;  // for compare_torch.py
  double storage = 0, element = 0;  // unit roundoffs of what is stored and of the caller's Views
  bool kinked = false;              // a derivative jumps: ReLU, maximum
  bool discontinuous = false;       // in its inputs, so that they have no slope: MaxUnpool
  int capacity = 0;
  unsigned seed = 0;
  double longest_sum = 1;  // terms of the longest sum of one sample
  std::vector<Term> loss;
  Rule rule;
  std::unique_ptr<Machine> (*reference)(int capacity, unsigned seed) = nullptr;
  // The same in float, where normalisation or a softmax needs it; see network_check.cpp.
  std::unique_ptr<Machine> (*in_float)(int capacity, unsigned seed) = nullptr;
  // The same in fp16: what overflows there, layer by layer, may do so in any backend.
  std::unique_ptr<Machine> (*in_storage)(int capacity, unsigned seed) = nullptr;
  std::unique_ptr<Machine> (*subject)(int capacity, unsigned seed) = nullptr;
};

/// Everything that holds for every network, as a doctest case; prints one line of JSON.
void run(Entry const& entry);

}  // namespace networks
