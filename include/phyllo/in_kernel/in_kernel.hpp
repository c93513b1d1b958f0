// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/in_kernel/cells.hpp>
#include <phyllo/in_kernel/in_kernel_argument.hpp>
#include <phyllo/in_kernel/in_kernel_cells.hpp>
#include <phyllo/in_kernel/in_kernel_step.hpp>
#include <phyllo/in_kernel/in_kernel_transfer.hpp>
#include <phyllo/in_kernel/in_kernel_values.hpp>
#include <phyllo/in_kernel/warp.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// A network inside the caller's kernel, for one sample. One thread calls `closure(input)`; a team
/// of threads calls `closure(member, input, output)`; the vector lanes of one thread of a team call
/// `closure(Warp(member), input, output)`, each warp for a sample of its own. It is a view of a
/// model's parameters and buffers, not a copy: it reads their values when the kernel runs, in
/// inference mode. So its kernels are ordered by the instance on which the model is trained, and it
/// is valid while the model lives, in the model's memory space. The closure of a model that is gone
/// reads released memory, which AddressSanitizer and compute-sanitizer report.
///
/// shape    input: anything with [] or () over as many numbers, channels first (C, S...), or one
///          number; several inputs in the order of the network; for a team the outputs follow them,
///          likewise
/// options  Net: a network · Precision: the model's
/// state    two pointers
/// threads  any number: a call only reads
/// units    the caller's
/// errors   compile: a call by one thread where a value is wider than max_width; another number of
///          inputs and outputs than the network's; an argument whose type states another number of
///          elements. Run: too little scratch memory aborts; in debug builds (without NDEBUG, or
///          with Kokkos' bounds checks) a View of another extent and a closure of no model abort
/// numerics as batched inference: sums in the same order, in Precision::accumulate, each step's
///          result rounded to Precision::storage; on a processor with fused multiply-add, sums of a
///          call by one thread are made in four parts where storage is not narrower
/// cost     by one thread: on a GPU activations stay in registers between Linear layers of at most
///          32 numbers; wider values and those with positions are stored in the thread's own
///          memory; by a team: scratch_bytes, one barrier a step
template <class Net, class Precision> class InKernel {
  using program = typename Net::program;
  using AllPorts = Ports<Net>;
  template <class Value>
  using PlanFor = Planned<Net, Phase::inference, FusionLevel::epilogue, int(sizeof(Value))>;

 public:
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  static constexpr int inputs = AllPorts::inputs;
  static constexpr int outputs = AllPorts::outputs;

  /// The largest number of elements of one value in a call by one thread.
  static constexpr int max_width = 128;
  /// The number of elements of the network's largest value.
  static constexpr int width = [] {
    int widest = 0;
    for (Node const& n : program::nodes.node)
      if (!n.alias && n.output.size() > widest) widest = n.output.size();
    return widest;
  }();
  /// Scratch memory of a team, policy.set_scratch_size(0, Kokkos::PerTeam(closure.scratch_bytes)),
  /// or of each of its threads: Kokkos::PerThread.
  static constexpr int scratch_bytes = int(PlanFor<storage>::memory.bytes + slot_alignment);

  /// The result of a call by one thread: Values of the output, or Outputs if there are several.
  using Result =
      std::conditional_t<outputs == 1, Values<accumulate, AllPorts::output_shape(0).size()>,
                         Outputs<Net, accumulate>>;

  InKernel() = default;
  PHYLLO_FUNCTION InKernel(storage const* parameters, float const* buffers)
      : parameters_(parameters), buffers_(buffers) {}

  /// By one thread.
  template <class First, class... More>
    requires(!detail::TeamMember<First> && !detail::is_cells<First>)
  PHYLLO_FUNCTION Result operator()(First const& first, More const&... more) const {
    constexpr bool complete = 1 + sizeof...(More) == inputs;
    constexpr bool narrow = width <= max_width;
    static_assert(complete,
                  "in_kernel: expected as many inputs as the network has, in their order.");
    static_assert(!complete || narrow,
                  "in_kernel: the network is too wide for one thread (InKernel::max_width numbers "
                  "in one value). Call it by a team: closure(member, input, output).");
    using Arguments = Fit<complete, First, More...>;
    static_cast<void>(sizeof(detail::CheckedArgument<Arguments::fit>));
    Result result{};
    if constexpr (complete && narrow && Arguments::fits) {
      using Plan = PlanFor<accumulate>;
      constexpr int size = int(Plan::memory.bytes / long(sizeof(accumulate)));
      accumulate arena[size];
      detail::ByThread const runner;
      check_model();
      load<Plan, 0>(runner, arena, first, more...);
      steps<Plan>(runner, arena, std::make_index_sequence<Plan::plan.size>{});
      fill<Plan>(arena, result, std::make_index_sequence<outputs>{});
    }
    return result;
  }

  /// The best number of cells for a call with Cells: one for each lane of a vector.
  static constexpr int cells = LaneVector<accumulate>::lanes;
  /// Whether calls with Cells go through vectors, not cell by cell: no value has positions, and no
  /// window more than the tap on its position.
  static constexpr bool in_lanes = PHYLLO_VECTOR_BYTES > 0 && [] {
    for (Node const& n : program::nodes.node)
      if (n.output.positions() != 1 || !n.window.is_one_tap() || n.type != ValueType::storage)
        return false;
    return true;
  }();

  /// By one thread, for N cells at once: Cells for each input, in the order of the network. The
  /// result is Cells too, or CellOutputs of a network with several outputs.
  template <class T, int N, int... Count>
  PHYLLO_FUNCTION auto operator()(Cells<T, Count, N> const&... in) const {
    constexpr bool complete = sizeof...(Count) == inputs;
    constexpr bool fits = has_sizes<Count...>;
    static_assert(complete,
                  "in_kernel: a call with Cells requires Cells for each input of the network, in "
                  "their order.");
    static_assert(
        !complete || fits,
        "in_kernel: Cells must have as many variables as the network's input has numbers.");
    std::conditional_t<outputs == 1, Cells<accumulate, first_output, N>,
                       CellOutputs<Net, accumulate, N>>
        result;
    if constexpr (fits) {
      check_model();
      if constexpr (in_lanes && N % cells == 0) {
        KOKKOS_IF_ON_HOST((run_cells<N>(result, in...); return result;))
      }
      PHYLLO_ROLLED_ON_DEVICE
      for (int i = 0; i < N; ++i) run_cell(result, i, in...);
    }
    return result;
  }

  /// By a team: all its threads call, with the same inputs and outputs. After the call all of them
  /// see the outputs. Scratch memory that the caller allocated before is not touched.
  template <detail::TeamMember Member, class... Numbers>
  PHYLLO_FUNCTION void operator()(Member const& member, Numbers const&... numbers) const {
    // Of a copy: what it hands out is free again after the call.
    auto const scratch = member.team_scratch(0);
    using Arguments = Fit<is_call<Numbers...>, Numbers...>;
    static_cast<void>(sizeof(detail::CheckedArgument<Arguments::fit>));
    run_in<Arguments::fits>(scratch, detail::ByTeam<Member>{member}, numbers...);
  }

  /// By the vector lanes of one thread of a team: all of them call, with the same inputs and
  /// outputs. The team's other threads need not.
  template <detail::TeamMember Member, class... Numbers>
  PHYLLO_FUNCTION void operator()(Warp<Member> const& warp, Numbers const&... numbers) const {
    auto const scratch = warp.member.thread_scratch(0);
    using Arguments = Fit<is_call<Numbers...>, Numbers...>;
    static_cast<void>(sizeof(detail::CheckedArgument<Arguments::fit>));
    run_in<Arguments::fits>(scratch, detail::ByWarp<Member>{warp.member}, numbers...);
  }

 private:
  // nvcc treats a constexpr call inside a type as a device call, so these are constants.
  static constexpr int first_output = AllPorts::output_shape(0).size();

  // Whether Cells have as many variables as the inputs have numbers; a constant, because device
  // code may not call what computes it.
  template <int... Count>
  static constexpr bool has_sizes = [] {
    int const given[] = {Count..., 0};
    bool fits = sizeof...(Count) == inputs;
    for (int k = 0; fits && k < inputs; ++k) fits = given[k] == AllPorts::input_shape(k).size();
    return fits;
  }();

  // Of a wrong number of arguments none is looked at.
  template <bool IsComplete, class... T>
  using Fit = std::conditional_t<IsComplete, detail::InKernelArguments<Net, accumulate, T...>,
                                 detail::InKernelArguments<Net, accumulate>>;

  // One of them, as calls by one cell read it.
  template <class T, int Count, int N> struct Cell {
    Cells<T, Count, N> const& cells;
    int cell;
    PHYLLO_FUNCTION T operator[](int variable) const { return cells(variable, cell); }
  };

  // Whether a team's arguments are as many as inputs and outputs.
  template <class... Numbers>
  static constexpr bool is_call = sizeof...(Numbers) == inputs + outputs;

  template <bool Fits, class Scratch, class Runner, class... Numbers>
  PHYLLO_FUNCTION void run_in(Scratch const& scratch, Runner const& runner,
                              Numbers const&... numbers) const {
    static_assert(is_call<Numbers...>,
                  "in_kernel: after the team member, expected as many inputs as the network has "
                  "and then as many outputs, in their order.");
    if constexpr (is_call<Numbers...> && Fits) {
      using Plan = PlanFor<storage>;
      auto* const arena = static_cast<storage*>(
          scratch.get_shmem_aligned(int(scratch_bytes - slot_alignment), slot_alignment));
      if (arena == nullptr)
        Kokkos::abort(
            "in_kernel: too little scratch memory. Call policy.set_scratch_size(0, "
            "Kokkos::PerTeam(closure.scratch_bytes)), or Kokkos::PerThread for calls by warps, and "
            "add the scratch memory that your kernel uses.");
      check_model();
      load<Plan, 0>(runner, arena, numbers...);
      steps<Plan>(runner, arena, std::make_index_sequence<Plan::plan.size>{});
      store<Plan, 0>(runner, arena, numbers...);
    }
  }

  PHYLLO_FUNCTION void check_model() const {
#if PHYLLO_CHECKS_CALLS
    constexpr bool reads = program::nodes.arena_size > 0 || program::nodes.buffer_size > 0;
    if (reads && parameters_ == nullptr)
      Kokkos::abort(
          "in_kernel: the closure belongs to no model. Assign model.in_kernel() to it before the "
          "kernel starts.");
#endif
  }

  // A call, for in the caller's loop a GPU compiler would read all parameters ahead of it, which do
  // not fit the registers.
  template <class Result, class T, int N, int... Count>
  PHYLLO_NOINLINE PHYLLO_FUNCTION void run_cell(Result& result, int i,
                                                Cells<T, Count, N> const&... in) const {
    auto const y = (*this)(Cell<T, Count, N>{in, i}...);
    copy_cell(result, y, i, std::make_index_sequence<outputs>{});
  }
  template <class Result, class Numbers, std::size_t... I>
  PHYLLO_FUNCTION static void copy_cell(Result& result, Numbers const& y, int i,
                                        std::index_sequence<I...>) {
    if constexpr (outputs == 1)
      copy_one(result, y, i);
    else
      (copy_one(detail::output_item<int(I)>(result), detail::output_item<int(I)>(y), i), ...);
  }
  template <class Result, class Numbers>
  PHYLLO_FUNCTION static void copy_one(Result& result, Numbers const& y, int i) {
    for (int o = 0; o < result.variables(); ++o) result(o, i) = y[o];
  }
  template <int N, class Result, class... In>
  void run_cells(Result& result, In const&... in) const {
    using Plan = PlanFor<accumulate>;
    alignas(64) accumulate arena[N * (Plan::memory.bytes / long(sizeof(accumulate)))];
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (load_cells<Plan, int(I), N>(arena, in), ...);
    }(std::make_index_sequence<inputs>{});
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      (detail::InKernelCellStep<Plan, Precision, int(S), N>{parameters_, buffers_, arena}(), ...);
    }(std::make_index_sequence<Plan::plan.size>{});
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (outputs == 1)
        store_cells<Plan, 0, N>(arena, result);
      else
        (store_cells<Plan, int(I), N>(arena, detail::output_item<int(I)>(result)), ...);
    }(std::make_index_sequence<outputs>{});
  }
  template <class Plan, int I, int N, class T, int Count>
  static void load_cells(accumulate* arena, Cells<T, Count, N> const& in) {
    accumulate* const x =
        arena +
        N * detail::value_place<Plan, detail::InputFacts<Net, I>::node, int(sizeof(accumulate))>;
    PHYLLO_SIMD(16)
    for (int i = 0; i < Count * N; ++i)
      x[i] = accumulate(storage(accumulate((&in.value[0][0])[i])));
  }
  template <class Plan, int I, int N, class Result>
  static void store_cells(accumulate const* arena, Result& result) {
    accumulate const* const y =
        arena +
        N * detail::value_place<Plan, detail::OutputFacts<Net, I>::node, int(sizeof(accumulate))>;
    for (int i = 0; i < result.variables() * N; ++i) (&result.value[0][0])[i] = y[i];
  }

  template <class Plan, int V, class Value> PHYLLO_FUNCTION static Value* at(Value* arena) {
    return arena + detail::value_place<Plan, V, int(sizeof(Value))>;
  }

  // The first of the caller's arguments are the inputs.
  template <class Plan, int I, class Runner, class Value, class First, class... More>
  PHYLLO_FUNCTION static void load(Runner const& runner, Value* arena, First const& input,
                                   More const&... more) {
    using Facts = detail::InputFacts<Net, I>;
    using Load =
        detail::InKernelLoad<storage, accumulate, Facts::channels, Facts::positions, Value, First>;
    detail::check_extent<Facts::channels * Facts::positions, false>(input);
    runner.run(Load{at<Plan, Facts::node>(arena), input});
    if constexpr (I + 1 < inputs) load<Plan, I + 1>(runner, arena, more...);
  }
  template <class Plan, class Runner, class Value, std::size_t... S>
  PHYLLO_FUNCTION void steps(Runner const& runner, [[maybe_unused]] Value* arena,
                             std::index_sequence<S...>) const {
    (runner.run(detail::InKernelStep<Plan, Precision, int(S), Runner::lanes, Value>{
         parameters_, buffers_, arena}),
     ...);
  }
  // The last of them are the outputs.
  template <class Plan, int I, class Runner, class Value, class First, class... More>
  PHYLLO_FUNCTION static void store(Runner const& runner, Value const* arena, First const& output,
                                    More const&... more) {
    if constexpr (I >= inputs) {
      using Facts = detail::OutputFacts<Net, I - inputs>;
      using Store =
          detail::InKernelStore<accumulate, Facts::channels, Facts::positions, Value, First const>;
      detail::check_extent<Facts::channels * Facts::positions, true>(output);
      runner.run(Store{at<Plan, Facts::node>(arena), output});
    }
    if constexpr (sizeof...(More) > 0) store<Plan, I + 1>(runner, arena, more...);
  }
  template <class Plan, std::size_t... I>
  PHYLLO_FUNCTION static void fill(accumulate const* arena, Result& result,
                                   std::index_sequence<I...>) {
    (fill_one<Plan, int(I)>(arena, result), ...);
  }
  template <class Plan, int I>
  PHYLLO_FUNCTION static void fill_one(accumulate const* arena, Result& result) {
    using Facts = detail::OutputFacts<Net, I>;
    using Numbers = Values<accumulate, Facts::channels * Facts::positions>;
    using Store =
        detail::InKernelStore<accumulate, Facts::channels, Facts::positions, accumulate, Numbers>;
    accumulate const* from = at<Plan, Facts::node>(arena);
    if constexpr (outputs == 1)
      detail::ByThread{}.run(Store{from, result});
    else
      detail::ByThread{}.run(Store{from, detail::output_item<I>(result)});
  }

  storage const* parameters_ = nullptr;
  float const* buffers_ = nullptr;
};

}  // namespace phyllo::inline PHYLLO_ISA
