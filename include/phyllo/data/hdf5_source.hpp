// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/warning.hpp>
#include <phyllo/data/sample_source.hpp>
#include <phyllo/io/hdf5_dataset.hpp>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// How an Hdf5Source reads.
struct Hdf5Options {
  /// Bound of the samples of compressed chunks that are kept until they are read.
  long cache_bytes = 64L << 20;
};

/// Samples of datasets in an HDF5 or NetCDF-4 file: Hdf5Source("run.h5", {"x", "y"}). Component
/// phyllo::hdf5.
///
/// shape    each dataset (samples, ...), with the same number of samples; floating numbers of 2, 4
///          or 8 bytes, integers of 1, 2, 4 or 8, of either byte order. Attributes, such as
///          scale_factor of NetCDF, are not applied
/// options  paths: the samples of several files follow each other · Hdf5Options
/// state    open files, and rests of chunks, which copies share
/// threads  any number may read at the same time; one of them calls HDF5. See hdf5_mutex for calls
///          of the program
/// errors   run: no such file or dataset, a damaged or cut file, another type, compression that the
///          library does not have, datasets that refer to other files, different numbers of
///          samples -> Error naming file, dataset and samples
/// cost     block() is about 1 MiB of the largest dataset, in whole chunks. A compressed chunk is
///          read and decompressed once where samples are read on from where a read ended
/// source   The HDF Group, HDF5 user guide: partial I/O and chunking
class Hdf5Source {
 public:
  template <std::convertible_to<std::string> Path>
  Hdf5Source(Path const& path, std::vector<std::string> const& datasets,
             Hdf5Options const& options = {})
      : Hdf5Source(std::vector<std::string>{std::string(path)}, datasets, options) {}
  Hdf5Source(std::vector<std::string> const& paths, std::vector<std::string> const& datasets,
             Hdf5Options const& options = {})
      : state_(std::make_shared<State>()) {
    if (paths.empty() || datasets.empty() || options.cache_bytes < 0)
      throw Error(
          "Hdf5Source: expected at least one path, at least one dataset and "
          "Hdf5Options::cache_bytes of 0 or more, got " +
          std::to_string(paths.size()) + ", " + std::to_string(datasets.size()) + " and " +
          std::to_string(options.cache_bytes) + ". Pass the names of inputs and targets.");
    detail::Hdf5Call const call;
    // HDF5 keeps one chunk of a dataset at most.
    long const share = options.cache_bytes / 4 / long(paths.size() * datasets.size());
    state_->rest_bytes = options.cache_bytes - options.cache_bytes / 4;
    for (std::string const& path : paths) add(path, datasets, std::size_t(share));
    detail::Hdf5Dataset const& largest = *state_->files.front().datasets[largest_];
    long const chunk = long(largest.chunk());
    long const wanted = std::max(1L, (1L << 20) / std::max(1L, long(largest.sample_bytes())));
    block_ = std::max(chunk, wanted / chunk * chunk);
    if (largest.reads_chunks()) chunk_ = chunk;
    if (chunk_ > 1 && chunk_ * state_->sample_bytes > state_->rest_bytes)
      warn("Hdf5Source: " + arrays_[largest_].name + ": chunks of " + std::to_string(chunk_) +
           " samples, " + std::to_string(chunk_ * state_->sample_bytes) +
           " bytes, do not fit into three quarters of Hdf5Options::cache_bytes, so a read of fewer "
           "samples reads the chunk again. Write chunks of about 1 MiB, or raise cache_bytes.");
  }

  long samples() const { return state_->files.back().end; }
  long block() const { return block_; }
  long chunk() const { return chunk_; }
  std::vector<SampleArray> const& arrays() const { return arrays_; }
  void read(long first, long count, std::byte* const* to) const {
    if (first < 0 || count < 0 || first > samples() - count)
      throw Error("Hdf5Source: expected samples below " + std::to_string(samples()) + ", got " +
                  std::to_string(count) + " from sample " + std::to_string(first) +
                  " on. Read samples that the files have.");
    detail::Hdf5Call const call;  // its lock is that of the rests, too
    std::vector<std::byte*> at(to, to + arrays_.size());
    while (count > 0) {
      long done = state_->take_rest(first, count, at);
      if (done == 0) done = state_->read_file(first, count, at, largest_);
      first += done;
      count -= done;
    }
  }

 private:
  struct File {
    long first = 0, end = 0;  // samples of the source
    std::vector<std::unique_ptr<detail::Hdf5Dataset const>> datasets;
  };
  // Samples of a chunk that was read for the samples before them.
  struct Rest {
    long first = 0, next = 0, end = 0;
    std::vector<std::vector<std::byte>> data;  // of each dataset, samples [first, end)
  };
  struct State {
    std::vector<File> files;
    std::vector<Rest> rests;  // the oldest first
    long sample_bytes = 0, rest_bytes = 0, kept_bytes = 0;

    // Copies samples of a rest that begins with sample `first`; returns how many.
    long take_rest(long first, long count, std::vector<std::byte*>& at) {
      auto const rest = std::find_if(rests.begin(), rests.end(),
                                     [first](Rest const& one) { return one.next == first; });
      if (rest == rests.end()) return 0;
      long const taken = std::min(count, rest->end - first);
      for (std::size_t a = 0; a < at.size(); ++a) {
        std::size_t const bytes = files.front().datasets[a]->sample_bytes();
        if (bytes == 0) continue;
        std::memcpy(at[a], rest->data[a].data() + std::size_t(first - rest->first) * bytes,
                    std::size_t(taken) * bytes);
        at[a] += std::size_t(taken) * bytes;
      }
      rest->next += taken;
      if (rest->next == rest->end) forget(rest);
      return taken;
    }
    // Reads samples of one file; returns how many. Where they end in a chunk that is read as a
    // whole, its other samples become a rest.
    long read_file(long first, long count, std::vector<std::byte*>& at, std::size_t largest) {
      File const& file = *std::find_if(files.begin(), files.end(),
                                       [first](File const& one) { return first < one.end; });
      detail::Hdf5Dataset const& data = *file.datasets[largest];
      long const begin = first - file.first, samples = file.end - file.first;
      long const end = std::min(samples, begin + count);
      long const chunk = data.reads_chunks() ? long(data.chunk()) : 1;
      long const whole = end / chunk * chunk, end_of_chunk = std::min(samples, whole + chunk);
      long const bytes = (end_of_chunk - end) * sample_bytes;
      if (end == whole || end == end_of_chunk || bytes > rest_bytes) {
        read_samples(file, begin, end, at);
      } else {
        if (begin < whole) read_samples(file, begin, whole, at);
        keep(file, std::max(begin, whole), end, end_of_chunk, at);
      }
      return end - begin;
    }
    static void read_samples(File const& file, long begin, long end, std::vector<std::byte*>& at) {
      for (std::size_t a = 0; a < at.size(); ++a) {
        file.datasets[a]->read(begin, end - begin, at[a]);
        at[a] += std::size_t(end - begin) * file.datasets[a]->sample_bytes();
      }
    }
    // Reads samples [begin, end_of_chunk). Those from `end` on become a rest.
    void keep(File const& file, long begin, long end, long end_of_chunk,
              std::vector<std::byte*>& at) {
      Rest rest{file.first + end, file.first + end, file.first + end_of_chunk, {}};
      std::vector<std::byte> chunk;
      for (std::size_t a = 0; a < at.size(); ++a) {
        std::size_t const bytes = file.datasets[a]->sample_bytes();
        chunk.resize(std::size_t(end_of_chunk - begin) * bytes);
        file.datasets[a]->read(begin, end_of_chunk - begin, chunk.data());
        auto const wanted = chunk.begin() + (end - begin) * long(bytes);
        at[a] = std::copy(chunk.begin(), wanted, at[a]);
        rest.data.emplace_back(wanted, chunk.end());
      }
      long const bytes = (end_of_chunk - end) * sample_bytes;
      while (kept_bytes + bytes > rest_bytes) forget(rests.begin());
      rests.push_back(std::move(rest));
      kept_bytes += bytes;
    }
    void forget(std::vector<Rest>::iterator rest) {
      kept_bytes -= (rest->end - rest->first) * sample_bytes;
      rests.erase(rest);
    }
  };

  void add(std::string const& path, std::vector<std::string> const& names, std::size_t cache) {
    detail::Hdf5File const open(path);
    File file;
    for (std::string const& name : names) {
      std::size_t const a = file.datasets.size();
      file.datasets.push_back(std::make_unique<detail::Hdf5Dataset const>(open, name, cache));
      detail::Hdf5Dataset const& data = *file.datasets.back();
      if (data.samples() != file.datasets.front()->samples())
        throw Error("Hdf5Source: expected " + std::to_string(file.datasets.front()->samples()) +
                    " samples in dataset " + detail::quoted_path(name) + " of " +
                    detail::quoted_path(path) + " as in " + detail::quoted_path(names.front()) +
                    ", got " + std::to_string(data.samples()) +
                    ". Write both from the same samples.");
      if (arrays_.size() < names.size()) {
        arrays_.push_back({detail::quoted_path(path) + ", dataset " + detail::quoted_path(name),
                           data.type(), data.shape()});
        state_->sample_bytes += arrays_.back().bytes();
        if (arrays_.back().bytes() > arrays_[largest_].bytes()) largest_ = a;
      } else if (data.type() != arrays_[a].type || data.shape() != arrays_[a].shape) {
        throw Error(
            "Hdf5Source: expected dataset " + detail::quoted_path(name) + " of " +
            detail::quoted_path(path) + " to have " + std::string(element_name(arrays_[a].type)) +
            " and extents " + detail::shape_text(arrays_[a].shape) +
            " of a sample as in the first file, got " + std::string(element_name(data.type())) +
            " and " + detail::shape_text(data.shape()) + ". Write all files alike.");
      }
    }
    file.first = state_->files.empty() ? 0 : state_->files.back().end;
    file.end = file.first + long(file.datasets.front()->samples());
    state_->files.push_back(std::move(file));
  }

  std::shared_ptr<State> state_;
  std::vector<SampleArray> arrays_;
  std::size_t largest_ = 0;  // the dataset with the largest samples
  long block_ = 1, chunk_ = 1;
};

}  // namespace phyllo::inline PHYLLO_ISA
