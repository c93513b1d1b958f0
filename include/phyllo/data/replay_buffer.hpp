// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/data/batches.hpp>
#include <phyllo/data/replay_kernels.hpp>
#include <phyllo/data/replay_options.hpp>
#include <phyllo/io/tensor.hpp>
#include <phyllo/model/bind.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Samples of a running simulation: push(inputs, targets) while it runs, and
/// auto const& batch = buffer.draw(); trainer.step(batch.inputs, batch.targets);
///
/// shape    Inputs, Targets: Views (samples, ...) of rank 1 to 5 with LayoutRight in the memory of
///          Space. Each rank has a buffer of its own samples; its batches have `batch` samples
/// options  ReplayOptions · extents of one sample of each View
/// state    capacity + batch samples and 8 bytes a slot, allocated by the constructor: bytes(). A
///          push of more samples than any before allocates 8 bytes for each of them
/// threads  one thread at a time
/// errors   compile: floating numbers pushed into integers. Run: options or extents that are not
///          positive, Views of other extents, an integer that does not fit, a draw from a buffer
///          without samples, a state of another buffer -> Error, and nothing is changed
/// numerics a batch is drawn uniformly, with replacement; the numbers are those of seed, draws()
///          and rank. The contents depend on the samples in their order, never on how they are
///          divided into pushes. Elements are converted to those of the Views
/// cost     push: one read of the samples, in their memory space where Space can access it, else
///          with one copy to Space; draw: one copy of the batch. Both are asynchronous on exec; the
///          pushed Views must not change before the instance has reached the push. A push of
///          integers that the buffer's may not hold waits until they are checked
template <class Inputs, class Targets, class Space = typename Inputs::execution_space>
class ReplayBuffer {
 public:
  using BatchType = Batch<Inputs, Targets>;

  ReplayBuffer(Space const& exec, ReplayOptions const& options,
               std::vector<long> const& input_extents, std::vector<long> const& target_extents)
      : exec_(exec), options_(options) {
    if (options.capacity < 1 || options.batch < 1 || options.rank < 0)
      throw Error(
          "ReplayBuffer: expected a capacity and a batch of 1 or more samples and a rank from 0, "
          "got " +
          std::to_string(options.capacity) + ", " + std::to_string(options.batch) + " and " +
          std::to_string(options.rank) + ". Set ReplayOptions.");
    batch_.inputs = inputs_.make(options, input_extents, "inputs");
    batch_.targets = targets_.make(options, target_extents, "targets");
    batch_.samples = options.batch;
    owner_ = allocate<Longs>("phyllo: owners of slots", options.capacity, remedy,
                             Kokkos::WithoutInitializing);
    Kokkos::deep_copy(exec_, owner_, -1LL);
  }

  ReplayOptions const& options() const { return options_; }
  /// Samples that were ever pushed.
  long pushed() const { return pushed_; }
  /// Samples in the buffer.
  long size() const { return std::min(pushed_, options_.capacity); }
  /// Batches that were drawn.
  std::uint64_t draws() const { return draws_; }
  /// Memory of the buffer on this rank.
  long bytes() const {
    return inputs_.bytes() + targets_.bytes() + long((owner_.size() + slots_.size()) * 8);
  }

  /// Adds the samples of two Views (n, ...) of any layout and memory space.
  template <class In, class Out> void push(In const& inputs, Out const& targets) {
    long const count = long(inputs.extent(0));
    inputs_.check(inputs, count, "inputs");
    targets_.check(targets, count, "targets");
    if (count == 0) return;
    auto const x = reached(inputs);
    auto const t = reached(targets);
    check_integers(x, inputs_, count, "inputs");
    check_integers(t, targets_, count, "targets");
    if (long(slots_.extent(0)) < count)
      slots_ = allocate<Longs>("phyllo: slots", count, "Push fewer samples at a time.",
                               Kokkos::WithoutInitializing);
    run("phyllo: claim slots", count,
        detail::ClaimSlots<Longs>{owner_, slots_, pushed_, pushed_ + count, options_.capacity,
                                  options_.seed, std::uint32_t(options_.rank),
                                  options_.replacement == Replacement::reservoir});
    store(x, inputs_, count);
    store(t, targets_, count);
    pushed_ += count;
    if constexpr (!reaches<In> || !reaches<Out>)
      exec_.fence("phyllo: pushed samples");  // The copies are released here.
  }

  /// The next batch. Its Views are valid until the next call, and for kernels that were launched on
  /// the instance before.
  BatchType const& draw() {
    if (pushed_ == 0)
      throw Error("ReplayBuffer: expected samples to draw from, got none. Call push first.");
    copy_drawn(inputs_);
    copy_drawn(targets_);
    batch_.position = {0, long(draws_++)};
    return batch_;
  }

  /// Adds the contents and counters as tensors NAME.inputs, .targets, .owner and .counters.
  void save(TensorFile& file, std::string const& name = "replay") const {
    file.tensors.push_back(stored(inputs_.samples, inputs_.shape(size()), name + ".inputs"));
    file.tensors.push_back(stored(targets_.samples, targets_.shape(size()), name + ".targets"));
    file.tensors.push_back(stored(owner_, {size()}, name + ".owner"));
    StoredTensor counters{name + ".counters", ElementType::u64, {6}, {}};
    auto const numbers = facts();
    counters.bytes.resize(sizeof numbers);
    std::memcpy(counters.bytes.data(), numbers.data(), sizeof numbers);
    file.tensors.push_back(std::move(counters));
  }
  /// Takes over what save has added, so that pushes and draws go on with the same bits.
  void load(TensorFile const& file, std::string const& name = "replay") {
    auto const own = facts();
    auto numbers = own;
    std::memcpy(numbers.data(),
                required(file, name + ".counters", ElementType::u64, {6})->bytes.data(),
                sizeof numbers);
    char const* const names[] = {"capacity", "seed", "replacement", "rank"};
    for (std::size_t i = 0; i < 4; ++i)
      if (numbers[i + 2] != own[i + 2])
        throw Error("ReplayBuffer: expected " + std::string(names[i]) + " " +
                    std::to_string(numbers[i + 2]) + " as in the file, got " +
                    std::to_string(own[i + 2]) + ". Use the ReplayOptions that wrote it.");
    long const count = long(std::min(numbers[0], own[2]));
    StoredTensor const* const inputs =
        required(file, name + ".inputs", inputs_.type, inputs_.shape(count));
    StoredTensor const* const targets =
        required(file, name + ".targets", targets_.type, targets_.shape(count));
    StoredTensor const* const owner = required(file, name + ".owner", ElementType::i64, {count});
    Kokkos::deep_copy(exec_, owner_, -1LL);
    restore(*inputs, inputs_.samples);
    restore(*targets, targets_.samples);
    restore(*owner, owner_);
    pushed_ = long(numbers[0]);
    draws_ = numbers[1];
  }

 private:
  using Longs = Kokkos::View<long long*, typename Space::memory_space>;
  static constexpr char const* remedy = "Use a smaller ReplayOptions::capacity or batch.";

  // The slots and the batch of one View.
  template <class View> struct Array {
    using T = typename View::non_const_value_type;
    using Flat = Kokkos::View<T*, typename Space::memory_space>;
    static_assert(
        std::is_same_v<typename View::array_layout, Kokkos::LayoutRight> &&
            View::rank == View::rank_dynamic && View::rank >= 1 && View::rank <= 5 &&
            Kokkos::SpaceAccessibility<Space, typename View::memory_space>::accessible,
        "ReplayBuffer: expected Views with Kokkos::LayoutRight in the memory of the execution "
        "space, of rank 1 to 5, whose extents are all given at run time. Write "
        "Kokkos::View<float**, Kokkos::LayoutRight>.");
    static constexpr ElementType type = detail::element_type_of<T>();
    Flat samples, batch;
    std::vector<long> extents;
    long elements = 1;

    View make(ReplayOptions const& options, std::vector<long> const& of_sample, char const* what) {
      extents = of_sample;
      if (extents.size() + 1 != std::size_t(View::rank) ||
          std::any_of(extents.begin(), extents.end(), [](long e) { return e < 1; }))
        throw Error("ReplayBuffer: expected " + std::to_string(View::rank - 1) +
                    " positive extents of one sample of the " + what + ", got " +
                    detail::shape_text(std::vector<std::int64_t>(extents.begin(), extents.end())) +
                    ".");
      Kokkos::LayoutRight layout;
      layout.dimension[0] = std::size_t(options.batch);
      for (std::size_t i = 0; i < extents.size(); ++i) {
        layout.dimension[i + 1] = std::size_t(extents[i]);
        elements = bytes_of(elements, extents[i]);
      }
      std::string const label = std::string("phyllo: replayed ") + what;
      samples = allocate<Flat>(label, bytes_of(options.capacity, elements), remedy,
                               Kokkos::WithoutInitializing);
      batch = allocate<Flat>(label, bytes_of(options.batch, elements), remedy,
                             Kokkos::WithoutInitializing);
      return View(batch.data(), layout);
    }
    long bytes() const { return long((samples.size() + batch.size()) * sizeof(T)); }
    std::vector<std::int64_t> shape(long count) const {
      std::vector<std::int64_t> shape = {count};
      shape.insert(shape.end(), extents.begin(), extents.end());
      return shape;
    }
    template <class From> void check(From const& from, long count, char const* what) const {
      static_assert(int(From::rank) == int(View::rank),
                    "ReplayBuffer: expected pushed Views of the rank of those of the batches.");
      static_assert(!std::is_integral_v<T> || std::is_integral_v<typename From::value_type>,
                    "ReplayBuffer: floating numbers do not become integers. Push integers.");
      std::vector<std::int64_t> got;
      for (int i = 0; i < int(From::rank); ++i) got.push_back(std::int64_t(from.extent(i)));
      if (got != shape(count))
        throw Error(std::string("ReplayBuffer: expected ") + what + " of extents " +
                    detail::shape_text(shape(count)) + ", got " + detail::shape_text(got) +
                    ". Push Views with the extents of the constructor.");
    }
  };

  template <class Functor> void run(char const* label, long count, Functor const& functor) const {
    using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>;
    Kokkos::parallel_for(launch_label(label), Policy(exec_, 0, count), functor);
  }
  template <class From>
  static constexpr bool reaches =
      Kokkos::SpaceAccessibility<Space, typename From::memory_space>::accessible;
  template <class From> static auto reached(From const& from) {
    if constexpr (reaches<From>)
      return from;
    else
      return Kokkos::create_mirror_view_and_copy(typename Space::memory_space{}, from);
  }
  template <class From, class A>
  void check_integers(From const& from, A const& to, long count, char const* what) const {
    using Pushed = typename From::non_const_value_type;
    if constexpr (std::is_integral_v<typename A::T> && !detail::holds_all<typename A::T, Pushed>) {
      long misfits = 0;
      Kokkos::parallel_reduce(
          "phyllo: check integers",
          Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>(exec_, 0, count * to.elements),
          detail::CountMisfits<From, typename A::T>{from, to.elements}, misfits);
      if (misfits > 0)
        throw Error(std::string("ReplayBuffer: expected ") + what + " that are " +
                    std::string(element_name(A::type)) + ", got " + std::to_string(misfits) +
                    " integers that do not fit. Use wider integers for the batches.");
    }
  }
  template <class From, class A> void store(From const& from, A const& to, long count) const {
    using Store = detail::StoreSamples<Longs, From, typename A::T>;
    run("phyllo: store samples", count * to.elements,
        Store{owner_, slots_, from, to.samples.data(), to.elements, pushed_});
  }
  template <class A> void copy_drawn(A const& array) const {
    using Draw = detail::DrawSamples<typename A::T>;
    run("phyllo: draw samples", options_.batch * array.elements,
        Draw{array.samples.data(), array.batch.data(), array.elements, options_.batch, size(),
             options_.seed, draws_, std::uint32_t(options_.rank)});
  }

  // Counters, then all that both depend on.
  std::array<std::uint64_t, 6> facts() const {
    return {std::uint64_t(pushed_),
            draws_,
            std::uint64_t(options_.capacity),
            options_.seed,
            std::uint64_t(options_.replacement),
            std::uint64_t(options_.rank)};
  }
  // The first elements of a flat View, as many as a shape or a tensor has, on the host.
  template <class Flat>
  using HostNumbers =
      Kokkos::View<typename Flat::value_type*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  template <class Flat>
  StoredTensor stored(Flat const& view, std::vector<std::int64_t> const& shape,
                      std::string const& name) const {
    using T = typename Flat::value_type;
    StoredTensor tensor{name, detail::element_type_of<T>(), shape, {}};
    std::size_t count = 1;
    for (std::int64_t const extent : shape) count *= std::size_t(extent);
    tensor.bytes.resize(count * sizeof(T));
    HostNumbers<Flat> const host(reinterpret_cast<T*>(tensor.bytes.data()), count);
    Kokkos::deep_copy(exec_, host, Kokkos::subview(view, std::pair(std::size_t(0), count)));
    exec_.fence("phyllo: state of a replay buffer");
    return tensor;
  }
  template <class Flat> void restore(StoredTensor const& tensor, Flat const& to) const {
    using T = typename Flat::value_type;
    Kokkos::View<T*, Kokkos::HostSpace> const host("phyllo: stored samples",
                                                   tensor.bytes.size() / sizeof(T));
    if (!tensor.bytes.empty()) std::memcpy(host.data(), tensor.bytes.data(), tensor.bytes.size());
    Kokkos::deep_copy(exec_, Kokkos::subview(to, std::pair(std::size_t(0), host.size())), host);
    exec_.fence("phyllo: state of a replay buffer");
  }
  static StoredTensor const* required(TensorFile const& file, std::string const& name,
                                      ElementType type, std::vector<std::int64_t> const& shape) {
    StoredTensor const* const tensor = file.find(name);
    if (tensor == nullptr || tensor->type != type || tensor->shape != shape)
      throw Error("ReplayBuffer: expected a file with \"" + name + "\" of " +
                  std::string(element_name(type)) + " " + detail::shape_text(shape) + ", got " +
                  (tensor == nullptr ? std::string("none")
                                     : std::string(element_name(tensor->type)) + " " +
                                           detail::shape_text(tensor->shape)) +
                  ". Use the Views and extents that wrote it.");
    return tensor;
  }

  Space exec_;
  ReplayOptions options_;
  Array<Inputs> inputs_;
  Array<Targets> targets_;
  Longs owner_, slots_;  // the number of the sample in each slot; slots of the last push
  BatchType batch_;
  long pushed_ = 0;
  std::uint64_t draws_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
