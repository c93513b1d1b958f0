// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>
#include <phyllo/backend/run_here.hpp>
#include <phyllo/core/allocate.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/core/type_name.hpp>
#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/in_kernel/snapshot.hpp>
#include <phyllo/model/backward.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/model/forward.hpp>
#include <phyllo/model/inference_session.hpp>
#include <phyllo/model/initialization.hpp>
#include <phyllo/model/initialize.hpp>
#include <phyllo/model/instance_order.hpp>
#include <phyllo/model/model_options.hpp>
#include <phyllo/model/movable_mutex.hpp>
#include <phyllo/model/network_plan.hpp>
#include <phyllo/model/refused_model.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/policy/precision.hpp>

#include <mutex>

namespace phyllo::inline PHYLLO_ISA {

/// A network with memory: parameters, gradients, buffers and activations on one execution space.
/// Nothing allocates after construction; everything launched is asynchronous on the instance given.
/// Movable; `clone` copies it.
///
/// shape    inputs (N, C, spatial...), outputs as the network says; Views of any layout
/// options  P: precision policy · Exec: execution space, backends, fusion
/// state    parameters and gradients in flat arenas, 64-byte aligned tensors; weight (taps, C, C')
/// threads  one thread at a time calls a model. `infer` may be called by several: they wait for
///          each other; with an `inference_session` each they run at the same time. Calls on
///          different instances of a device wait for each other likewise.
/// errors   run: wrong extents, a batch larger than the model was built for, outputs of `infer` in
///          memory of later samples' inputs where a call is split, no room in memory, a backward
///          without a forward of its own -> Error
/// cost     activations of training and of inference: Planned::memory.bytes times the largest
///          batch; with ModelOptions::inference_only, those of inference, and no gradients
template <ComposedNetwork Net, Precision P, ExecutionChoice Exec> class Model<Net, P, Exec> {
 public:
  using network = Net;
  using precision = P;
  using execution = Exec;
  using space = typename Exec::space;
  using storage = typename P::storage;
  using accumulate = typename P::accumulate;
  using memory_space = typename space::memory_space;
  template <class T> using Vector = Kokkos::View<T*, Kokkos::LayoutRight, memory_space>;

  using Training = NetworkPlan<Net, Phase::training, P, Exec>;
  using Inference = NetworkPlan<Net, Phase::inference, P, Exec>;
  using AllPorts = BoundPorts<Net>;
  static constexpr auto const& nodes = Net::program::nodes;
  /// Whether running statistics are the same on all ranks in every step.
  static constexpr bool has_common_buffers = [] {
    for (Node const& n : nodes.node)
      if (facts_of(n).waits_for_batch && !n.global_statistics && Exec::shards == 0) return false;
    return true;
  }();

  /// Behind the gradients: op::Tail; reduced with the first bucket.
  static constexpr int tail_size = parameter_alignment;
  static constexpr int gradient_size = nodes.arena_size + tail_size;

  using Session = InferenceSession<Net, P, Exec>;

  explicit Model(space const& exec, ModelOptions const& options = {});
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;
  Model(Model const&) = delete;             // Model: a copy would share memory. Call clone(exec).
  Model& operator=(Model const&) = delete;  // Model: a copy would share memory. Call clone(exec).

  /// A model with memory of its own and the same parameters, running statistics, gradients, seed
  /// and step, whose largest batch is the same. Its backward needs a forward of its own.
  Model clone(space const& exec) const;

  /// Draws all parameters again; biases and shifts are zero, scales one, running statistics (0, 1).
  /// The seed is ModelOptions::seed unless one is given.
  template <class Scheme = KaimingUniform>
  void initialize(space const& exec, Scheme const& scheme = {}) {
    initialize(exec, scheme, seed_);
  }
  template <class Scheme>
  void initialize(space const& exec, Scheme const& scheme, std::uint64_t seed) {
    follow(exec);
    launch_initialization<Net>(exec, name_, scheme, seed, parameters_, master_, buffers_);
    weights_changed(exec);
  }

  /// Call it after writing to parameters(), master(), buffers() or an optimizer's state: in the
  /// next step, ranks that train together compare what they hold. `initialize` and `load` call it.
  void weights_changed(space const& exec) {
    follow(exec);
    if (!inference_only_) Kokkos::deep_copy(exec, buffers_before_, buffers_);
    forget_forward();
    weights_changed_ = true;
  }

  /// The sparse matrix of the layers that name `Tag`, from the next call on. It stays the caller's:
  /// files and checkpoints do not contain it. Bind that of each batch before the batch, if graphs
  /// differ. A captured step reads the one that was bound when it was captured: keep that one.
  ///
  /// errors   compile: no layer names the tag
  template <class Tag = adjacency> void bind_matrix(SparseMatrix<accumulate, space> const& matrix) {
    matrices_.template bind<Tag>(matrix);
    inference_.template bind_matrix<Tag>(matrix);
    forget_forward();
  }

  /// Training mode: out = network(in); keeps the values that the backward pass needs. Updates
  /// running statistics, as torch does, but never by statistics that are not finite; an optimizer
  /// step that is skipped restores those from before the last forward.
  template <class In, class Out, class C = Local>
  void forward(space const& exec, In const& in, Out const& out, C&& communication = {});

  /// Computes the gradients of the parameters from the caller's gradients of the outputs, for the
  /// batch of the last forward. `weight` is the number of samples that this rank's gradients count
  /// as in the mean over ranks. No loss scale is applied: where gradients of 16 bits would vanish,
  /// multiply them and `weight` by one factor. Each backward uses up the activations of its
  /// forward. Inference and evaluation in between are allowed; a change of the weights, or another
  /// training pass, is not.
  template <class DOut, class C = Local>
  void backward(space const& exec, DOut const& d_out, accumulate weight = 1,
                C&& communication = {}) {
    backward_bound(exec, d_out, BoundTensors{}, false, weight, communication);
  }
  /// As above, and computes the gradients of the inputs.
  template <class DOut, class DIn, class C = Local>
    requires(!std::is_arithmetic_v<DIn>)
  void backward(space const& exec, DOut const& d_out, DIn const& d_in, accumulate weight = 1,
                C&& communication = {}) {
    backward_bound(exec, d_out, AllPorts::template bind_input_gradients<space>(d_in, name_), true,
                   weight, communication);
  }

  /// Inference mode, any batch.
  template <class In, class Out> void infer(space const& exec, In const& in, Out const& out) const {
    auto const alone = begin_inference(exec);
    inference_.run(exec, in, out);
  }

  /// A session for inference by one more caller, at the same time as others; allocates. `batch`:
  /// largest batch of one pass; 0: that of the model.
  Session inference_session(space const& exec, int batch = 0) const {
    Session session{exec, name_, batch > 0 ? batch : capacity(), parameters_, buffers_};
    session.share_matrices(matrices_);
    return session;
  }

  /// A view of the live parameters for calls inside kernels, valid while the model lives; see
  /// InKernel.
  InKernel<Net, P> in_kernel() const& { return {parameters_.data(), buffers_.data()}; }
  template <class T = void> InKernel<Net, P> in_kernel() const&& {
    static_assert(!std::is_void_v<T>,
                  "in_kernel: the Model is a temporary, whose memory is released before a kernel "
                  "runs. Keep it in a variable.");
    return {};
  }
  /// The same with a frozen copy of the parameters.
  Snapshot<Net, P, space> snapshot(space const& exec) const {
    return {exec, parameters_, buffers_};
  }

  std::string const& name() const { return name_; }
  int capacity() const { return arenas_.capacity; }
  /// For trainers: samples of whole graphs that a pass of inference takes.
  int samples_of_pass(long batch) const { return matrices_.most_samples(capacity(), batch, name_); }
  Vector<storage> const& parameters() const { return parameters_; }
  Vector<accumulate> const& master() const { return master_; }  // the parameters, unrounded
  Vector<accumulate> const& gradients() const { return gradients_; }
  Vector<float> const& buffers() const { return buffers_; }
  /// The buffers as they were before the last training forward pass.
  Vector<float> const& buffers_before() const { return buffers_before_; }
  Kokkos::View<StepState, memory_space> const& state() const { return state_; }
  Arenas<P> const& arenas() const { return arenas_; }
  /// For optimizers: the number of those that have begun; StepState is the last one's.
  int optimizers() const { return optimizers_; }
  int begin_optimizer() const { return ++optimizers_; }

  /// For trainers: the passes themselves, with values in their slots. Training and inference have
  /// activations of their own.
  template <Phase When, class C> auto forward_pass(space const& exec, int batch, C& c) const {
    if constexpr (When == Phase::training) matrices_.check(batch, name_);
    if constexpr (When == Phase::training)
      return ForwardPass<Training, P, Exec, C>{{exec, arenas_, training_labels_, c, batch}};
    else
      return inference_.forward_pass(exec, batch, c);
  }
  /// Held while a pass of inference uses the model's own activations: other threads wait, and other
  /// instances of a device follow.
  [[nodiscard]] std::unique_lock<MovableMutex> begin_inference(space const& exec) const {
    require_memory();
    std::unique_lock<MovableMutex> alone(inferring_);
    follow(exec);
    return alone;
  }
  /// For trainers and optimizers: what exec is given next waits for what another instance was given
  /// before.
  void follow(space const& exec) const { order_.follow(exec); }
  /// What a backward would need is overwritten, or of other weights.
  void forget_forward() { last_batch_ = -1; }
  /// For trainers: whether `weights_changed` was called since ranks were compared.
  bool has_changed_weights() const { return weights_changed_; }
  void note_comparison() { weights_changed_ = false; }
  void compare_in_next_step() { weights_changed_ = true; }
  template <class C, class Finished>
  auto backward_pass(space const& exec, int batch, C& c, bool inputs, Finished& finished) const {
    return BackwardPass<Training, P, Exec, C, Finished>{
        {exec, arenas_, backward_labels_, c, batch, {}, true}, inputs, finished};
  }
  /// continues: of a step that other passes belong to, which a skipped step undoes as well.
  void begin_training_pass(space const& exec, std::uint64_t first_sample, bool continues = false) {
    forget_forward();
    follow(exec);
    int const buffers = continues ? 0 : nodes.statistics_size, items = buffers > 1 ? buffers : 1;
    BeginTrainingPass<accumulate> const begin{state_.data(),   first_sample,
                                              buffers_.data(), buffers_before_.data(),
                                              buffers,         gradients_.data() + nodes.arena_size,
                                              weights_changed_};
    if constexpr (in_order<space>)
      run_here(exec, begin_label_, items, begin);
    else
      Kokkos::parallel_for(launch_label(begin_label_),
                           by_argument(Kokkos::RangePolicy<space>(exec, 0, items)), begin);
  }
  void check_batch(int batch) const;
  void check_matrices(long batch) const { matrices_.check(batch, name_); }
  /// errors   run: a model that was built with ModelOptions::inference_only -> Error
  void require_training(char const* who) const;
  /// errors   run: this model was moved from -> Error
  void require_memory() const {
    if (training_labels_.empty())
      throw Error(
          "Model: expected a model with memory, got one that was moved from. Use the model that it "
          "was moved to.");
  }

 private:
  void allocate_training(space const& exec, int batch);
  template <class DOut, class C>
  void backward_bound(space const& exec, DOut const& d_out, BoundTensors const& d_in, bool inputs,
                      accumulate weight, C& communication);

  template <class T>
  void allocate(space const& exec, Vector<T>& v, char const* what, long size,
                std::string const& remedy = "explain() prints the bytes of the network.") {
    v = phyllo::allocate<Vector<T>>(name_ + "/" + what, size, remedy, exec);
  }

  std::string name_ = type_name<Net>();
  std::string begin_label_ = name_ + "/begin";
  std::string tail_label_ = name_ + "/tail";
  std::vector<std::string> training_labels_, backward_labels_;
  Vector<storage> parameters_;
  Vector<accumulate> master_, gradients_, batch_state_, partial_;
  Vector<float> buffers_, buffers_before_;
  Vector<std::byte> activations_, samples_;
  Kokkos::View<StepState, memory_space> state_;
  BoundMatrices<Net, accumulate, space> matrices_;
  Arenas<P> arenas_;
  std::uint64_t seed_ = 0;
  bool inference_only_ = false;
  bool weights_changed_ = false;
  mutable int optimizers_ = 0;
  int last_batch_ = -1;  // of a forward whose activations a backward may use; -1: of none
  mutable InstanceOrder<space> order_;
  mutable MovableMutex inferring_;
  Session inference_;
};

}  // namespace phyllo::inline PHYLLO_ISA

#include <phyllo/model/model_definitions.hpp>
