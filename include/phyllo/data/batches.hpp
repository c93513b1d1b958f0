// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/core/step_part.hpp>
#include <phyllo/data/augmentation_draw.hpp>
#include <phyllo/data/batch_options.hpp>
#include <phyllo/data/batch_queue.hpp>
#include <phyllo/data/device_copies.hpp>
#include <phyllo/model/bind.hpp>
#include <phyllo/model/tensors.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// Calls visit(view) for a View, or for each View of tensors(...), in order.
template <class View, class Visit> void for_each_view(View& view, Visit const& visit) {
  visit(view);
}
template <class Visit> void for_each_view(Tensors<>&, Visit const&) {}
template <class First, class... Rest, class Visit>
void for_each_view(Tensors<First, Rest...>& views, Visit const& visit) {
  visit(views.first.view);
  for_each_view(views.rest, visit);
}

template <class View> struct SpaceOf {
  using type = typename View::execution_space;
};
template <class First, class... Rest> struct SpaceOf<Tensors<First, Rest...>> {
  using type = typename decltype(First::view)::execution_space;
};

// Host memory that a device copies from while it computes.
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using BatchMemory = Kokkos::SharedHostPinnedSpace;
#else
using BatchMemory = Kokkos::HostSpace;
#endif

template <class Space>
inline constexpr bool reads_host_memory =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

// An instance for copies beside the kernels of exec.
template <class Space> Space instance_beside(Space const& exec) {
  if constexpr (reads_host_memory<Space>)
    return exec;
  else
    return Kokkos::Experimental::partition_space(exec, 1)[0];
}

}  // namespace detail

/// A rank's part of one global batch: trainer.step(batch.inputs, batch.targets).
template <class Inputs, class Targets> struct Batch {
  Inputs inputs;
  Targets targets;
  Position position;
  long samples = 0;  // of this rank; the first extent of each View
};

/// The batches of a source, in an order that every epoch draws anew:
/// for (auto const& batch : batches.epoch(3)) trainer.step(batch.inputs, batch.targets);
///
/// shape    each View (samples of this rank, ...), the extents of a sample from the source
/// options  Inputs, Targets: a View with LayoutRight (of rank 1: any), or Tensors<Named<tag,
///          View>...>; the arrays of the source are those of the inputs, then those of the targets
///          · BatchOptions · IsCopied: kernels read copies, as they have to on a device; with
///          prefetch, the next batch is copied while they run
/// state    windows of samples in host memory, at most BatchOptions::host_bytes for all ranks
///          together (host_bytes() tells this rank's); besides 2 (prefetch + 1) batches, and two on
///          a device; augmentations
/// threads  one thread at a time; a reader thread of its own where BatchOptions::prefetch is set,
///          which calls neither Kokkos nor MPI
/// errors   run: arrays that do not fit the Views, more ranks than lanes, options that are not
///          positive; those of the source, at the batch that they are about -> Error
/// numerics the order depends on the seed, the epoch and the options, never on the number of ranks.
///          Every sample is in one batch of an epoch; see LastBatch for the last ones. With `lanes`
///          equal to the shards of Reproducible, parts are those of reproducible_range. Elements
///          are converted to those of the Views; integers are checked, floating numbers are
///          rounded.
/// cost     each rank reads its own samples only, once an epoch, block by block
template <class Inputs, class Targets, class Space = typename detail::SpaceOf<Inputs>::type,
          bool IsCopied = !detail::reads_host_memory<Space>>
class Batches {
 public:
  using BatchType = Batch<Inputs, Targets>;

  /// exec: the instance on which the batches are used, such as the trainer's.
  template <SampleSource S>
  Batches(Space const& exec, S source, BatchOptions const& options, int rank = 0, int ranks = 1)
      : exec_(exec), options_(options), rank_(rank), ranks_(ranks) {
    if (ranks < 1 || rank < 0 || rank >= ranks || ranks > options.lanes)
      throw Error(
          "Batches: expected a rank below the number of ranks, and at least one lane for "
          "each of them, got rank " +
          std::to_string(rank) + " of " + std::to_string(ranks) + " and " +
          std::to_string(options.lanes) + " lanes. Set BatchOptions::lanes.");
    if (options.prefetch < 0)
      throw Error("Batches: expected to prefetch 0 or more batches, got " +
                  std::to_string(options.prefetch) + ".");
    arrays_ = source.arrays();
    std::vector<detail::ConvertElements> convert;
    std::vector<long> sizes;
    auto const add = [&](auto& view) { add_view(view, convert, sizes); };
    detail::for_each_view(batch_.inputs, add);
    detail::for_each_view(batch_.targets, add);
    if (convert.size() != arrays_.size())
      throw Error("Batches: expected a source with one array for each of the " +
                  std::to_string(convert.size()) + " Views of inputs and targets, got " +
                  std::to_string(arrays_.size()) + " arrays.");
    BatchReader reader(std::move(source), std::move(convert), sizes, options, rank, ranks);
    long const largest = reader.largest_part();
    std::vector<std::vector<std::byte*>> slots(std::size_t(2 * (options.prefetch + 1)));
    long bytes = 0;
    for (std::size_t a = 0; a < arrays_.size(); ++a)
      begin_.push_back(
          std::exchange(bytes, bytes + round_up(largest * arrays_[a].elements() * sizes[a])));
    batch_bytes_ = bytes;
    char const* const remedy = "Use a smaller batch or a smaller prefetch.";
    // 64 bytes more, so that Views begin at multiples of 64 and are read in place.
    host_ = allocate<HostBytes>("phyllo: batches", long(slots.size()) * bytes + 64, remedy,
                                Kokkos::WithoutInitializing);
    if constexpr (IsCopied) copies_.emplace(exec, detail::instance_beside(exec), bytes, remedy);
    for (std::size_t s = 0; s < slots.size(); ++s)
      for (long const begin : begin_) slots[s].push_back(slot(s) + begin);
    queue_ = std::make_unique<BatchQueue>(std::move(reader), std::move(slots), options.prefetch);
  }

  Batches(Batches const&) = delete;  // Batches: a reader thread refers to it.
  Batches& operator=(Batches const&) = delete;

  BatchOptions const& options() const { return options_; }
  /// As the constructor was called: this part of each batch, and how many there are.
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Samples of the source.
  long samples() const { return order().samples(); }
  /// Batches of one epoch.
  long steps() const { return order().steps(); }
  /// The largest number of samples of this rank in a batch; 1 where no batch has samples of it.
  long largest_part() const { return std::max(1L, queue_->reader().largest_part()); }
  BatchOrder const& order() const { return queue_->reader().order(); }
  /// Host memory of windows and batches on this rank.
  long host_bytes() const { return queue_->reader().host_bytes() + long(host_.size()); }

  /// Of the batch that next() returns; behind the last step of an epoch it is {epoch + 1, 0}.
  Position position() const { return copied_ ? *copied_ : queue_->position(); }
  /// errors   run: a step that an epoch does not have -> Error
  void seek(Position const& position) {
    if (position.step < 0 || position.step >= steps())
      throw Error("Batches: expected a step from 0 to " + std::to_string(steps() - 1) + ", got " +
                  std::to_string(position.step) + ".");
    if (position == this->position()) return;
    if constexpr (IsCopied) copies_->drop();
    copied_.reset();
    queue_->seek(position);
  }
  /// Each batch is changed before next() returns it, by the augmentations in the order of these
  /// calls: augment(exec, batch, draw), with an AugmentationDraw, launches kernels on exec that
  /// write to the batch's Views. RandomFlip, RandomCrop and GaussianNoise are three.
  ///
  /// options  augment: a callable that is copied; where it has a function check(), that is called
  template <class Augment> void augment(Augment augment) {
    static_assert(std::is_invocable_v<Augment const&, Space const&, BatchType const&,
                                      AugmentationDraw const&>,
                  "Batches::augment: expected a callable with const arguments (exec, batch, draw), "
                  "an instance, "
                  "a batch and an AugmentationDraw.");
    if constexpr (requires { augment.check(); }) augment.check();
    augmentations_.push_back(std::make_unique<AugmentationOf<Augment>>(std::move(augment)));
  }
  /// The batch at position(), which moves on. Its Views are valid until the next call, and for
  /// kernels that were launched on the instance before.
  BatchType const& next() {
    Kokkos::Profiling::ScopedRegion const region(name_of(StepPart::input));
    std::byte* from = nullptr;
    if constexpr (IsCopied) {
      if (!copied_) copy();
      batch_.position = *copied_;
      from = copies_->finish();
      copied_.reset();
      queue_->release(0);
    } else {
      // What was launched on earlier batches must have run before their memory is read into again.
      if (queue_->held() > options_.prefetch) {
        exec_.fence("phyllo: batches");
        queue_->release(0);
      }
      batch_.position = queue_->position();
      from = slot(queue_->take());
    }
    batch_.samples = queue_->reader().part(batch_.position.step);
    std::size_t a = 0;
    auto const set = [&](auto& view) {
      view = view_of<std::remove_reference_t<decltype(view)>>(from + begin_[a], arrays_[a]);
      ++a;
    };
    detail::for_each_view(batch_.inputs, set);
    detail::for_each_view(batch_.targets, set);
    if constexpr (IsCopied)
      if (queue_->is_ready()) copy();
    for (std::size_t k = 0; k < augmentations_.size(); ++k)
      augmentations_[k]->run(exec_, batch_, draw(std::uint32_t(k)));
    return batch_;
  }

  /// The batches of an epoch that are left: all of them, or those from position() on where that is
  /// in this epoch.
  class Epoch {
   public:
    class Iterator {
     public:
      explicit Iterator(Batches* batches, std::uint64_t epoch) : batches_(batches), epoch_(epoch) {}
      BatchType const& operator*() const { return batches_->next(); }
      Iterator& operator++() { return *this; }
      bool operator!=(Iterator const&) const { return batches_->position().epoch == epoch_; }

     private:
      Batches* batches_;
      std::uint64_t epoch_;
    };
    Epoch(Batches* batches, std::uint64_t epoch) : batches_(batches), epoch_(epoch) {}
    Iterator begin() const { return Iterator(batches_, epoch_); }
    Iterator end() const { return begin(); }

   private:
    Batches* batches_;
    std::uint64_t epoch_;
  };
  Epoch epoch(std::uint64_t number) {
    if (position().epoch != number) seek({number, 0});
    return {this, number};
  }

 private:
  using HostBytes = Kokkos::View<std::byte*, detail::BatchMemory>;
  struct Augmentation {
    virtual ~Augmentation() = default;
    virtual void run(Space const&, BatchType const&, AugmentationDraw const&) const = 0;
  };
  template <class Augment> struct AugmentationOf : Augmentation {
    explicit AugmentationOf(Augment from) : augment(std::move(from)) {}
    void run(Space const& exec, BatchType const& batch,
             AugmentationDraw const& draw) const override {
      augment(exec, batch, draw);
    }
    Augment augment;
  };
  // Random numbers of augmentations have positions that neither layers nor BatchOrder have.
  static constexpr std::uint32_t first_augmentation = 65000;

  // Begins to copy the next batch, when its slot has been read.
  void copy() {
    Position const position = queue_->position();
    std::size_t const taken = queue_->take();
    copies_->begin(slot(taken));
    copied_ = position;
  }
  AugmentationDraw draw(std::uint32_t augmentation) const {
    auto const [epoch, step] = batch_.position;
    return {options_.seed, epoch * std::uint64_t(steps()) + std::uint64_t(step),
            first_augmentation + augmentation,
            std::uint64_t(order().begin(step, order().first_lane(rank_, ranks_)))};
  }
  static constexpr long round_up(long bytes) { return (bytes + 63) / 64 * 64; }
  std::byte* slot(std::size_t s) const {
    auto const unaligned = reinterpret_cast<std::uintptr_t>(host_.data()) % 64;
    return host_.data() + (64 - unaligned) % 64 + long(s) * batch_bytes_;
  }
  template <class View>
  void add_view(View const&, std::vector<detail::ConvertElements>& convert,
                std::vector<long>& sizes) const {
    static_assert(
        View::rank == 1 || std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>,
        "Batches: expected Views with Kokkos::LayoutRight, in which a sample is "
        "contiguous. Write Kokkos::View<float**, Kokkos::LayoutRight>.");
    static_assert(Kokkos::SpaceAccessibility<typename Space::memory_space,
                                             typename View::memory_space>::accessible &&
                      View::rank == View::rank_dynamic,
                  "Batches: expected Views in the memory of the execution space, whose extents are "
                  "all given at run time.");
    using T = typename View::non_const_value_type;
    std::size_t const a = convert.size();
    if (a < arrays_.size()) {
      SampleArray const& array = arrays_[a];
      if (array.shape.size() + 1 != std::size_t(View::rank))
        throw Error("Batches: " + array.name + ": expected samples with " +
                    std::to_string(View::rank - 1) + " extents as in the View, got extents " +
                    detail::shape_text(array.shape) + ". Use a View of that rank.");
      sizes.push_back(long(sizeof(T)));
      convert.push_back(detail::convert_from<T>(array.type));
      if (convert.back() == nullptr)
        throw Error("Batches: " + array.name + ": expected elements that become " +
                    std::string(element_name(detail::element_type_of<T>())) + ", got " +
                    std::string(element_name(array.type)) +
                    ". Use a View of another element type, or convert the source.");
    } else {
      convert.push_back(nullptr);
    }
  }
  template <class View> View view_of(std::byte* data, SampleArray const& array) const {
    typename View::array_layout layout;
    layout.dimension[0] = std::size_t(batch_.samples);
    for (std::size_t i = 0; i < array.shape.size(); ++i)
      layout.dimension[i + 1] = std::size_t(array.shape[i]);
    return View(reinterpret_cast<typename View::pointer_type>(data), layout);
  }

  Space exec_;
  BatchOptions options_;
  int rank_, ranks_;
  std::vector<SampleArray> arrays_;
  std::vector<long> begin_;  // of each array in a slot
  long batch_bytes_ = 0;
  HostBytes host_;
  std::optional<DeviceCopies<Space>> copies_;
  std::optional<Position> copied_;  // the batch whose copy is under way
  BatchType batch_;
  std::vector<std::unique_ptr<Augmentation>> augmentations_;
  std::unique_ptr<BatchQueue> queue_;  // last: its thread writes to what is above
};

}  // namespace phyllo::inline PHYLLO_ISA
