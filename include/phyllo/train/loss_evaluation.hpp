// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>
#include <phyllo/backend/is_processor.hpp>
#include <phyllo/core/allocate.hpp>
#include <phyllo/loss/losses.hpp>
#include <phyllo/model/model.hpp>
#include <phyllo/model/whole_step.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/op/segment.hpp>
#include <phyllo/train/bind_targets.hpp>
#include <phyllo/train/count_positions.hpp>
#include <phyllo/train/label_message.hpp>
#include <phyllo/train/step_memory.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// The losses of a model: values and gradients of all terms, or a whole step of one segment.
template <class M, class Terms> class LossEvaluation;
template <class M, class... Term>
class LossEvaluation<M, Losses<Term...>> : public LossSet<Term...> {
 public:
  using P = typename M::precision;
  using Exec = typename M::execution;
  using space = typename M::space;
  using accumulate = typename P::accumulate;
  using AllPorts = typename M::AllPorts;
  using Bind = BindTargets<space, AllPorts, Term...>;
  using First = typename At<TypeList<Term...>, 0>::loss;
  static constexpr int terms = int(sizeof...(Term));
  static constexpr bool takes_classes[] = {Term::loss::classes...};
  /// The term whose correct predictions are counted; -1: none.
  static constexpr int first_classes = [] {
    for (int k = 0; k < terms; ++k)
      if (takes_classes[k]) return k;
    return -1;
  }();
  static constexpr bool draws = [] {
    for (Node const& n : M::nodes.node)
      if (n.random) return true;
    return false;
  }();
  /// Whether the mean is over the positions whose class index is not ignored.
  static constexpr bool counts_positions = (op::ignores_labels<typename Term::loss> || ...);
  /// The most parts in which a device computes a sample's losses.
  static constexpr int parts = is_processor<space> ? 1 : op::most_loss_parts<AllPorts>();
  static_assert(terms == AllPorts::outputs,
                "Losses: every output of the network requires one loss. Use Losses<On<tag, "
                "Loss>...>, one for each Output<tag>.");

  /// Whether every loss names an output of the network.
  static constexpr bool names_outputs() {
    return ((Bind::template find_output<Term>() >= 0) && ...);
  }
  /// Whether a loss that ignores a class index has no other one beside it.
  static constexpr bool ignores_alone() { return !counts_positions || terms == 1; }
  /// Whether every loss finds its equal parts in the channels of its output.
  static constexpr bool has_equal_parts() { return !names_outputs() || Bind::has_equal_parts(); }
  /// Whether no output has two losses, while another has none.
  static constexpr bool has_one_loss_per_output() {
    int const output[] = {Bind::template find_output<Term>()...};
    for (int k = 1; k < terms; ++k)
      for (int j = 0; j < k; ++j)
        if (output[j] >= 0 && output[j] == output[k]) return false;
    return true;
  }

  struct Sums {
    double samples = 0, value = 0, correct = 0;
    double wrong_labels = 0;  // also of steps that no message has told of
  };

  LossEvaluation(space const& exec, M const& model, bool whole_step)
      : model_(model), label_(model.name() + "/loss") {
    auto const allocate = [&](auto& v, char const* what, long size) {
      v = phyllo::allocate<std::decay_t<decltype(v)>>(
          model.name() + "/" + what, size, "Build the model with a smaller ModelOptions::batch.",
          exec);
    };
    allocate(totals_, "evaluation", 4);
    allocate(values_, "loss of samples", model.capacity());
    allocate(correct_, "correct predictions of samples", model.capacity());
    allocate(sums_, "loss sums", 4);
    if constexpr (first_classes >= 0) allocate(wrong_label_, "label out of range", 1);
    if constexpr (counts_positions) allocate(shares_, "shares of positions", model.capacity());
    if constexpr (parts > 1)
      allocate(sums_of_parts_, "losses of parts of samples", 2L * parts * model.capacity());
    sums_on_host_ = Kokkos::create_mirror_view(Kokkos::HostSpace{}, sums_);
    allocate(partial_, "loss workspace",
             2L * op::LossSum<P>::blocks +
                 (whole_step ? std::max(long(workspace_rows(exec)) * M::nodes.arena_size,
                                        traits.partial_count)
                             : 0));
    if (whole_step) memory_ = {exec, model.name(), workspace_rows(exec), model.capacity()};
  }

  /// The caller's targets: one View, or tensors(named<tag>(view), ...), which Bind::check_targets
  /// has taken.
  template <class Targets> BoundTensors bind(Targets const& targets, int batch) const {
    return Bind::bind(model_.name(), targets, batch);
  }

  /// Values, gradients and sums of all terms; `first`: the number of sample 0 in messages.
  template <class Pass>
  void losses(space const& exec, Pass const& pass, BoundTensors const& t, long first = 0) {
    int k = 0;
    ((evaluate_term<Term>(exec, pass, t.tensor[k], pass.gradient(node_of<Term>()), k), ++k), ...);
    sum(exec, pass.batch, tail(), t, first);
  }

  /// Forward, losses, backward and parameter gradients in one pass.
  void whole_step(space const& exec, BoundTensors const& in, BoundTensors const& targets,
                  long first = 0) {
    Local alone;
    auto pass = model_.template forward_pass<Phase::training>(exec, in.batch, alone);
    run_whole_step(exec, pass, in, targets, {});
    sum(exec, in.batch, tail(), targets, first);
  }

  /// Whether one launch does that for several parts of a batch.
  static constexpr bool takes_pieces() { return traits.takes_pieces; }
  /// The same for parts of the batch, whose first samples are in host memory: `begin` (pieces + 1).
  /// The gradients of part p are in row p of piece_gradients(), its sums in tails (pieces,
  /// tail_size).
  void whole_step_of_pieces(space const& exec, BoundTensors const& in, BoundTensors const& targets,
                            long const* begin, int pieces, accumulate* tails) {
    Local alone;
    auto pass = model_.template forward_pass<Phase::training>(exec, in.batch, alone);
    run_whole_step(exec, pass, in, targets, {begin, pieces});
    for (int p = 0; p < pieces; ++p)
      sum(exec, int(begin[p + 1] - begin[p]), tails + p * M::tail_size,
          targets.from_sample(begin[p], begin[p + 1] - begin[p]), begin[p], begin[p]);
  }
  accumulate* piece_gradients() const { return partial_.data() + 2 * op::LossSum<P>::blocks; }

  /// Loss and correct predictions of each sample in inference mode: `take(values, correct, shares,
  /// count)`, arrays in host memory, batch by batch; shares is nullptr where every position counts.
  /// Returns how many class indices are out of range.
  template <class Take>
  double evaluate_samples(space const& exec, BoundTensors const& in, BoundTensors const& targets,
                          Take const& take) {
    auto const values = Kokkos::create_mirror_view(Kokkos::HostSpace{}, values_);
    auto const correct = Kokkos::create_mirror_view(Kokkos::HostSpace{}, correct_);
    auto const shares = Kokkos::create_mirror_view(Kokkos::HostSpace{}, shares_);
    double wrong_labels = 0;
    evaluate_batches(exec, in, targets, [&](int count, BoundTensors const& part, long first) {
      Kokkos::deep_copy(exec, values, values_);
      Kokkos::deep_copy(exec, correct, correct_);
      if constexpr (counts_positions) {
        count_positions(exec, count, part);
        Kokkos::deep_copy(exec, shares, shares_);
      }
      exec.fence("phyllo/evaluate");  // a short string, which allocates nothing
      take(values.data(), correct.data(), counts_positions ? shares.data() : nullptr, count);
      auto const finite = [](accumulate value) { return is_finite(value); };
      if (std::all_of(values.data(), values.data() + count, finite)) return;
      Sums found;
      sum(exec, count, sums_.data(), part, first);
      add(exec, found);
      wrong_labels += found.wrong_labels;
    });
    return wrong_labels;
  }

  /// Sums over all samples of all ranks in inference mode, in batches that the model holds.
  template <class C>
  Sums evaluate(space const& exec, BoundTensors const& in, BoundTensors const& targets, C& c) {
    Sums total;
    evaluate_batches(exec, in, targets, [&](int count, BoundTensors const& part, long first) {
      sum(exec, count, sums_.data(), part, first);
      add(exec, total);
    });
    // Where ranks sum gradients, each of them counts the labels of all.
    bool const counts_labels = ExchangesWeights<C> ? has_own_sums(c) : c.rank() == 0;
    if (counts_labels) total.wrong_labels += untold_labels(exec);
    if (c.size() == 1) return total;
    double all[] = {total.samples, total.value, total.correct, total.wrong_labels};
    sum_over_ranks(exec, c, all);
    return {all[0], all[1], all[2], all[3]};
  }

  /// Replaces at most four numbers on the host by their sums over the ranks. Blocks.
  template <class C, int N> void sum_over_ranks(space const& exec, C& c, double (&numbers)[N]) {
    auto const all = Kokkos::create_mirror_view(Kokkos::HostSpace{}, totals_);
    for (int k = 0; k < N; ++k) all(k) = numbers[k];
    Kokkos::deep_copy(exec, totals_, all);
    c.sum(exec, totals_.data(), N);
    Kokkos::deep_copy(exec, all, totals_);
    exec.fence("phyllo/evaluate");  // a short string, which allocates nothing
    for (int k = 0; k < N; ++k) numbers[k] = all(k);
  }

  /// Blocks. Mean loss of the last step over all ranks. Class indices out of range -> Error
  double mean_loss(space const& exec) const {
    accumulate numbers[op::Tail::size] = {};
    read_tail(exec, 0, op::Tail::size, numbers);
    refuse_labels(exec, double(numbers[op::Tail::untold_labels]));
    return double(numbers[op::Tail::loss]) / double(numbers[op::Tail::samples]);
  }
  /// Class indices outside of their range in steps that no message has reported.
  double untold_labels(space const& exec) const {
    accumulate number[1] = {};
    if (first_classes >= 0) read_tail(exec, op::Tail::untold_labels, 1, number);
    return double(number[0]);
  }
  /// Throws where `count`, of all ranks, is not zero, and begins to count anew.
  void refuse_labels(space const& exec, double count) const {
    if constexpr (first_classes >= 0)
      if (count > 0) {
        char const* const names[] = {Term::loss::name...};
        constexpr Shape shapes[] = {AllPorts::output_shape(output_of<Term>())...};
        auto const wrong =
            take_wrong_label(exec, label_, model_.arenas().state, tail(), wrong_label_);
        int const term = wrong.noted != 0 ? wrong.term : first_classes;
        throw Error(label_message(model_.name(), names[term], shapes[term], count, wrong));
      }
  }

 private:
  struct Pieces {
    long const* begin = nullptr;
    int count = 0;
  };
  template <class Pass>
  void run_whole_step(space const& exec, Pass& pass, BoundTensors const& in,
                      BoundTensors const& targets, Pieces const& pieces) {
    constexpr bool from_slot = !traits.takes_views || Pass::template reads_other_extents<0>;
    if constexpr (from_slot) pass.take_input(in.tensor[0], 0);
    typename Whole::template Run<P> work;
    work.hold(this->template loss_of<typename At<TypeList<Term...>, 0>::tag>());
    work.begin = pieces.begin;
    work.pieces = pieces.count;
    pass.template fill_segment<0>(work.forward);
    work.forward.random = {model_.arenas().state, 0};  // training: random masks are drawn
    work.forward.memory = memory_.memory();
    work.weight = accumulate(At<TypeList<Term...>, 0>::weight);
    work.targets = targets.tensor[0];
    work.state = model_.arenas().state;
    work.parameter_count = M::nodes.arena_size;
    work.rows = workspace_rows(exec);
    work.partial = piece_gradients();
    work.gradients = model_.arenas().gradients;
    work.values = values_.data();
    work.correct = correct_.data();
    if constexpr (traits.takes_views)
      WholeKernels::run(exec, label_, work,
                        from_slot ? pass.template input_slot<0>() : in.tensor[0]);
    else
      WholeKernels::run(exec, label_, work);
  }

  // `done(count)` after each batch that the model holds.
  template <class Done>
  void evaluate_batches(space const& exec, BoundTensors const& in, BoundTensors const& targets,
                        Done const& done) {
    auto const held = model_.begin_inference(exec);
    Local alone;
    model_.check_matrices(in.batch);
    int const most = model_.samples_of_pass(in.batch);
    for (long first = 0; first < in.batch; first += most) {
      int const count = int(std::min<long>(most, in.batch - first));
      auto pass = model_.template forward_pass<Phase::inference>(exec, count, alone);
      take_inputs(pass, in.from_sample(first, count));
      pass.run_all();
      int k = 0;
      BoundTensors const part = targets.from_sample(first, count);
      ((evaluate_term<Term>(exec, pass, part.tensor[k], nullptr, k), ++k), ...);
      done(count, part, first);
    }
  }

  // The op of a whole step and its kernels, where the network has one.
  struct NoStep {
    static constexpr int blocks = 0;
  };
  template <class Model, bool Is> struct WholeOf {
    using type = NoStep;
    using kernels = NoStep;
  };
  template <class Model> struct WholeOf<Model, true> {
    using type = op::WholeStep<StepSegment<typename Model::Training, 0>, First>;
    using kernels = SelectedKernels<type, P, typename Exec::backends>;
  };
  using WholeHere = WholeOf<M, runs_whole_steps<typename M::network, P, Exec>()>;
  using Whole = typename WholeHere::type;
  using WholeKernels = typename WholeHere::kernels;

  static constexpr KernelTraits traits = kernel_traits<WholeKernels>;
  static int workspace_rows(space const& exec) {
    return phyllo::workspace_rows<Whole, WholeKernels>(exec, Exec::shards);
  }

  void read_tail(space const& exec, int first, int count, accumulate* to) const {
    using Host = Kokkos::View<accumulate*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    int const begin = M::nodes.arena_size + first;
    Kokkos::deep_copy(
        exec, Host(to, std::size_t(count)),
        Kokkos::subview(model_.gradients(), std::pair<int, int>(begin, begin + count)));
    exec.fence("phyllo: loss");
  }
  accumulate* tail() const { return model_.arenas().gradients + M::nodes.arena_size; }

  template <class T> static constexpr int output_of() { return Bind::template output_of<T>(); }
  template <class T> static constexpr int node_of() {
    return AllPorts::output_node(output_of<T>());
  }

  template <class T, class Pass>
  void evaluate_term(space const& exec, Pass const& pass, ExternalTensor const& targets,
                     typename P::storage* d_outputs, int term) {
    constexpr Shape shape = AllPorts::output_shape(output_of<T>());
    using Op = op::Loss<typename T::loss, shape.channels <= op::few_channels>;
    typename Op::template Evaluate<P> work;
    work.hold(this->template loss_of<typename T::tag>());
    work.batch = pass.batch;
    work.shape = shape;
    work.weight = accumulate(T::weight);
    work.outputs = pass.value(node_of<T>());
    work.targets = targets;
    work.state = model_.arenas().state;
    work.d_outputs = d_outputs;
    // Outputs that are one value share its gradient, which is the sum over their losses.
    constexpr int nodes[] = {node_of<Term>()...};
    for (int k = 0; k < term; ++k) work.accumulate_gradient |= nodes[k] == nodes[term];
    work.values = values_.data();
    work.correct = T::loss::classes && term == first_classes ? correct_.data() : nullptr;
    work.partial = sums_of_parts_.data();
    work.accumulate_values = term > 0;
    work.same_in_any_batch = Exec::shards > 0;
    SelectedKernels<Op, P, typename Exec::backends>::run(exec, label_, work);
  }

  // Sums of values from number `first` on, whose targets begin with sample `name` of messages.
  void sum(space const& exec, int batch, accumulate* sums, BoundTensors const& targets, long name,
           long first = 0) {
    using Op = op::LossSum<P>;
    Op work{batch, values_.data() + first, correct_.data() + first, partial_.data(), sums};
    if constexpr (first_classes >= 0)
      work.labels = search(first_classes, batch, targets, name, first);
    SelectedKernels<Op, P, typename Exec::backends>::run(exec, label_, work);
    if constexpr (counts_positions) {
      count_positions(exec, batch, targets);
      Kokkos::parallel_for(launch_label(label_),
                           by_argument(Kokkos::RangePolicy<space>(exec, 0, 1)),
                           SumShares<accumulate>{shares_.data(), batch, sums});
    }
    for (int k = first_classes + 1; k < terms && first_classes >= 0; ++k)
      if (takes_classes[k])
        Kokkos::parallel_for(launch_label(label_),
                             by_argument(Kokkos::RangePolicy<space>(exec, 0, 1)),
                             CountLabels<accumulate>{search(k, batch, targets, name, first), sums});
  }
  void count_positions(space const& exec, int batch, BoundTensors const& targets) const {
    launch_count(
        exec, label_, batch,
        CountPositions<accumulate, space>{
            targets.tensor[0], AllPorts::output_shape(output_of<At<TypeList<Term...>, 0>>()),
            First::ignored, shares_.data()});
  }
  op::LabelSearch<accumulate> search(int k, int batch, BoundTensors const& targets, long name,
                                     long first) const {
    constexpr Shape shapes[] = {AllPorts::output_shape(output_of<Term>())...};
    op::LabelSearch<accumulate> work{
        wrong_label_.data(), targets.tensor[k], shapes[k], values_.data() + first, batch, k, name};
    if constexpr (counts_positions) {
      work.ignores = true;
      work.ignored = First::ignored;
    }
    return work;
  }

  void add(space const& exec, Sums& total) {
    Kokkos::deep_copy(exec, sums_on_host_, sums_);
    exec.fence("phyllo/evaluate");  // a short string, which allocates nothing
    total.samples += double(sums_on_host_(0));
    total.value += double(sums_on_host_(1));
    total.correct += double(sums_on_host_(2));
    total.wrong_labels += double(sums_on_host_(3));
  }

  M const& model_;
  std::string label_;
  typename M::template Vector<op::WrongLabel> wrong_label_;
  typename M::template Vector<accumulate> values_, correct_, sums_, partial_;
  typename M::template Vector<accumulate> shares_;  // of positions, where some are ignored
  typename M::template Vector<accumulate> sums_of_parts_;
  decltype(Kokkos::create_mirror_view(Kokkos::HostSpace{}, sums_)) sums_on_host_;
  typename M::template Vector<double> totals_;  // of an evaluation, beyond the integers of float
  StepMemory<WholeKernels, space> memory_;
};

}  // namespace phyllo::inline PHYLLO_ISA
