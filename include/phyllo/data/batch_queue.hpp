// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/data/batch_reader.hpp>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Batches in host memory, which a thread reads ahead where there is one.
///
/// options  prefetch: batches that the thread reads ahead; 0: read() of the caller's thread
/// state    2 (prefetch + 1) batches; the thread starts with the first take() and after a seek()
/// threads  one thread calls it; its own thread calls BatchReader::read only, so neither Kokkos nor
///          MPI
/// errors   run: those of BatchReader::read, thrown by the take() of the batch that they are about;
///          the next take() tries again
class BatchQueue {
 public:
  /// slots: 2 (prefetch + 1) batches, an address for each array.
  BatchQueue(BatchReader reader, std::vector<std::vector<std::byte*>> slots, int prefetch)
      : reader_(std::move(reader)), slots_(std::move(slots)), prefetch_(prefetch) {}
  BatchQueue(BatchQueue const&) = delete;
  BatchQueue& operator=(BatchQueue const&) = delete;
  ~BatchQueue() { stop(); }

  BatchReader const& reader() const { return reader_; }
  /// Of the batch that the next take() returns.
  Position position() const { return next_; }
  void seek(Position const& position) {
    if (position == next_) return;
    stop();
    next_ = position;
  }
  /// The number of the slot that has the batch at position(), which moves on. The slot stays as it
  /// is until release().
  std::size_t take() {
    if (prefetch_ == 0) {
      reader_.read(next_, slots_[std::size_t(taken_) % slots_.size()].data());
      next_ = after(next_);
      return std::size_t(taken_++) % slots_.size();
    }
    if (!thread_.joinable()) start();
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return written_ > taken_ || failure_ != nullptr; });
    if (written_ == taken_) {
      std::exception_ptr const failure = std::exchange(failure_, nullptr);
      lock.unlock();
      thread_.join();
      std::rethrow_exception(failure);
    }
    std::size_t const slot = std::size_t(taken_++) % slots_.size();
    lock.unlock();
    changed_.notify_all();
    next_ = after(next_);
    return slot;
  }
  /// Whether take() returns at once, with a batch that the thread has read.
  bool is_ready() {
    std::lock_guard<std::mutex> const lock(mutex_);
    return written_ > taken_;
  }
  /// Slots that were taken and not released.
  long held() const { return taken_ - released_; }
  /// Slots of all batches but the last `kept` may be overwritten.
  void release(long kept) {
    {
      std::lock_guard<std::mutex> const lock(mutex_);
      released_ = taken_ - kept;
    }
    changed_.notify_all();
  }

 private:
  Position after(Position const& p) const {
    return p.step + 1 < reader_.order().steps() ? Position{p.epoch, p.step + 1}
                                                : Position{p.epoch + 1, 0};
  }
  void start() {
    stops_ = false;
    written_ = taken_;
    thread_ = std::thread(&BatchQueue::run, this, next_);
  }
  void stop() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard<std::mutex> const lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    thread_.join();
    failure_ = nullptr;
    written_ = taken_;
  }
  void run(Position position) {
    try {
      for (;; position = after(position)) {
        std::size_t slot = 0;
        {
          std::unique_lock<std::mutex> lock(mutex_);
          changed_.wait(lock, [this] {
            return stops_ ||
                   (written_ - taken_ < prefetch_ && written_ - released_ < long(slots_.size()));
          });
          if (stops_) return;
          slot = std::size_t(written_) % slots_.size();
        }
        reader_.read(position, slots_[slot].data());
        {
          std::lock_guard<std::mutex> const lock(mutex_);
          ++written_;
        }
        changed_.notify_all();
      }
    } catch (...) {
      std::lock_guard<std::mutex> const lock(mutex_);
      failure_ = std::current_exception();
    }
    changed_.notify_all();
  }

  BatchReader reader_;
  std::vector<std::vector<std::byte*>> slots_;
  int prefetch_;
  Position next_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  bool stops_ = false;
  long written_ = 0, taken_ = 0, released_ = 0;  // batches since the first
  std::thread thread_;
};

}  // namespace phyllo::inline PHYLLO_ISA
