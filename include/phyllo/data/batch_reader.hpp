// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/data/batch_order.hpp>
#include <phyllo/data/convert_elements.hpp>
#include <phyllo/data/sample_source.hpp>

#include <Kokkos_Core.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// A source of any type; reading through it costs one virtual call for each run of samples.
class AnySource {
 public:
  virtual ~AnySource() = default;
  virtual void read(long first, long count, std::byte* const* to) = 0;
};

template <SampleSource S> class SourceOf final : public AnySource {
 public:
  explicit SourceOf(S source) : source_(std::move(source)) {}
  void read(long first, long count, std::byte* const* to) override {
    source_.read(first, count, to);
  }

 private:
  S source_;
};

}  // namespace detail

/// Reads the parts of global batches that belong to one rank into host memory.
///
/// state    for each lane of the rank two windows; the second is filled while the first is
///          used; all memory is allocated at construction
/// threads  one thread at a time; read() calls neither Kokkos nor MPI
/// errors   run: those of the source; an integer that a View's type cannot hold -> Error
/// cost     every sample is read once an epoch and copied twice
class BatchReader {
 public:
  template <SampleSource S>
  BatchReader(S source, std::vector<detail::ConvertElements> convert, std::vector<long> sizes,
              BatchOptions const& options, int rank, int ranks)
      : arrays_(source.arrays()),
        convert_(std::move(convert)),
        view_bytes_(std::move(sizes)),
        shuffles_(options.shuffle),
        order_(long(source.samples()), long(source.block()), window_bytes(arrays_), options,
               std::max(1L, detail::chunk_of(source))),
        rank_(rank),
        ranks_(ranks),
        source_(std::make_unique<detail::SourceOf<S>>(std::move(source))) {
    long const own = shuffles_ ? 0 : order_.largest_part(rank, ranks);
    long window_samples = 0;
    if (shuffles_)
      for (int lane = first_lane(); lane < last_lane(); ++lane) {
        lanes_.push_back({});
        lanes_.back().capacity = std::min(order_.lane_window(), order_.lane_size(lane));
        window_samples += 2 * lanes_.back().capacity;
      }
    long bytes = 0;
    for (SampleArray const& array : arrays_) {
      elements_.push_back(array.elements());
      bytes_.push_back(array.bytes());
      bytes += array.bytes();
    }
    memory_ =
        allocate<Memory>("phyllo: windows of samples", (window_samples + own) * bytes,
                         "Lower BatchOptions::host_bytes or window.", Kokkos::WithoutInitializing);
    orders_ =
        allocate<Order>("phyllo: orders of windows", window_samples / 2,
                        "Lower BatchOptions::host_bytes or window.", Kokkos::WithoutInitializing);
    std::byte* at = memory_.data();
    std::uint32_t* order = orders_.data();
    for (Lane& lane : lanes_) {
      lane.order = order;
      order += lane.capacity;
      for (int half = 0; half < 2; ++half)
        for (SampleArray const& array : arrays_) {
          lane.data[half].push_back(at);
          at += lane.capacity * array.bytes();
        }
    }
    to_.resize(arrays_.size());
  }

  BatchOrder const& order() const { return order_; }
  /// Bytes of host memory.
  long host_bytes() const {
    return long(memory_.size()) + long(sizeof(std::uint32_t) * orders_.size());
  }
  long largest_part() const { return order_.largest_part(rank_, ranks_); }
  /// Samples of this rank in the batch of a step.
  long part(long step) const {
    return order_.begin(step, last_lane()) - order_.begin(step, first_lane());
  }

  /// This rank's part of the batch at a position, array a into to[a]. Cheapest for the position
  /// behind that of the last call.
  void read(Position const& position, std::byte* const* to) {
    if (!shuffles_) return read_in_order(position.step, to);
    if (!is_at_ || !(at_ == position)) start(position);
    is_at_ = false;  // until the whole batch has been read
    long row = 0;
    for (int lane = first_lane(); lane < last_lane(); ++lane) {
      long const count = order_.begin(position.step, lane + 1) - order_.begin(position.step, lane);
      take(lane, count, row, to);
      row += count;
    }
    at_ = {position.epoch, position.step + 1};
    is_at_ = true;
  }

 private:
  using Memory = Kokkos::View<std::byte*, Kokkos::HostSpace>;
  using Order = Kokkos::View<std::uint32_t*, Kokkos::HostSpace>;
  struct Lane {
    long capacity = 0;  // samples of a window
    BatchOrder::Window now;
    std::uint32_t* order = nullptr;   // (capacity), of the window in use
    std::vector<std::byte*> data[2];  // of each array: the window in use, the next one
    long used = 0;                    // samples of the window in use
    long loaded = 0;                  // samples of the next window
  };

  // Beside the numbers of two windows, a sample has its place in an order.
  static long window_bytes(std::vector<SampleArray> const& arrays) {
    long bytes = long(sizeof(std::uint32_t));
    for (SampleArray const& array : arrays) bytes += 2 * array.bytes();
    return bytes;
  }
  int first_lane() const { return order_.first_lane(rank_, ranks_); }
  int last_lane() const { return order_.first_lane(rank_ + 1, ranks_); }
  Lane& of(int lane) { return lanes_[std::size_t(lane - first_lane())]; }

  void start(Position const& position) {
    if (!has_epoch_ || epoch_ != position.epoch) order_.start_epoch(position.epoch);
    epoch_ = position.epoch;
    has_epoch_ = true;
    for (int lane = first_lane(); lane < last_lane(); ++lane) {
      Lane& l = of(lane);
      long const given = order_.given_before(position.step, lane);
      if (given == order_.lane_size(lane)) {  // nothing is left
        l.now = {};
        l.used = 0;
        continue;
      }
      l.now = order_.window_of(lane, given);
      load(lane, l.now, 0, l.now.end - l.now.begin, l.data[0]);
      order_.shuffle_window(lane, l.now, l.order);
      l.used = given - l.now.begin;
      l.loaded = 0;
    }
  }
  // Samples [from, at least up to `to`) of a window; returns how many it has then.
  long load(int lane, BatchOrder::Window const& window, long from, long to,
            std::vector<std::byte*> const& data) {
    while (from < to) {
      auto const run = order_.run_at(order_.lane_begin(lane) + window.begin + from,
                                     window.end - window.begin - from);
      for (std::size_t a = 0; a < arrays_.size(); ++a) to_[a] = data[a] + from * bytes_[a];
      source_->read(run.first, run.count, to_.data());
      from += run.count;
    }
    return from;
  }
  // The next `count` samples of a lane become rows of the batch from `row` on.
  void take(int lane, long count, long row, std::byte* const* to) {
    Lane& l = of(lane);
    for (long done = 0; done < count;) {
      if (l.used == l.now.end - l.now.begin) go_on(lane);
      long const some = std::min(count - done, l.now.end - l.now.begin - l.used);
      for (std::size_t a = 0; a < arrays_.size(); ++a)
        gather(a, l.data[0][a], l.order + l.used, some, row + done, to);
      l.used += some;
      done += some;
    }
    BatchOrder::Window const next = order_.window(lane, l.now.number + 1);
    long const size = l.now.end - l.now.begin, size_of_next = next.end - next.begin;
    if (count == 0 || size_of_next <= 0) return;
    // As much of the next window as was used of this one.
    long const due = (size_of_next * l.used + size - 1) / size;
    if (l.loaded < due) l.loaded = load(lane, next, l.loaded, due, l.data[1]);
  }
  void go_on(int lane) {
    Lane& l = of(lane);
    l.now = order_.window(lane, l.now.number + 1);
    load(lane, l.now, l.loaded, l.now.end - l.now.begin, l.data[1]);
    std::swap(l.data[0], l.data[1]);
    order_.shuffle_window(lane, l.now, l.order);
    l.used = 0;
    l.loaded = 0;
  }
  void read_in_order(long step, std::byte* const* to) {
    long const begin = order_.begin(step, first_lane()), count = part(step);
    if (count == 0) return;
    std::byte* at = memory_.data();
    for (std::size_t a = 0; a < arrays_.size(); ++a) {
      to_[a] = at;
      at += count * bytes_[a];
    }
    source_->read(step * order_.batch(0) + begin, count, to_.data());
    for (std::size_t a = 0; a < arrays_.size(); ++a) convert(a, to_[a], count, to);
  }
  // Samples order[0 .. count) of an array become rows of the batch from `row` on.
  void gather(std::size_t a, std::byte const* from, std::uint32_t const* order, long count,
              long row, std::byte* const* to) const {
    long const elements = elements_[a], bytes = bytes_[a], bytes_of_row = elements * view_bytes_[a];
    detail::ConvertElements const convert_row = convert_[a];
    std::byte* next = to[a] + row * bytes_of_row;
    long done = 0;
    for (long i = 0; i < count; ++i, next += bytes_of_row)
      done += convert_row(from + long(order[i]) * bytes, next, elements);
    if (done < count * elements) refuse_integer(a);
  }
  void convert(std::size_t a, std::byte const* from, long count, std::byte* const* to) const {
    if (convert_[a](from, to[a], count * elements_[a]) < count * elements_[a]) refuse_integer(a);
  }
  [[noreturn]] void refuse_integer(std::size_t a) const {
    throw Error("Batches: " + arrays_[a].name + ": expected integers that fit into " +
                std::to_string(view_bytes_[a]) +
                " bytes, got one that does not. Use a View of a wider type.");
  }

  std::vector<SampleArray> arrays_;
  std::vector<detail::ConvertElements> convert_;
  std::vector<long> view_bytes_;        // of an element of each View
  std::vector<long> elements_, bytes_;  // of a sample of each array
  bool shuffles_;
  BatchOrder order_;
  int rank_, ranks_;
  std::unique_ptr<detail::AnySource> source_;
  Memory memory_;
  Order orders_;
  std::vector<Lane> lanes_;
  std::vector<std::byte*> to_;
  Position at_;  // that the next call of read() expects
  bool is_at_ = false;
  std::uint64_t epoch_ = 0;
  bool has_epoch_ = false;
};

}  // namespace phyllo::inline PHYLLO_ISA
