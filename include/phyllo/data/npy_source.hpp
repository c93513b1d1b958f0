// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/data/sample_source.hpp>
#include <phyllo/io/npy_file.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Samples of NPY files, one for each array: NpySource({"x.npy", "y.npy"}).
///
/// shape    each file (samples, ...), with the same number of samples; see NpyFile
/// state    open files, which copies share
/// threads  any number may read at the same time
/// errors   run: those of NpyFile; files with different numbers of samples -> Error
/// cost     block() is what 1 MiB has of the largest array. A file in Fortran order makes it at
///          least as many samples as have 64 KiB of one number, which are one read
class NpySource {
 public:
  explicit NpySource(std::vector<std::string> const& paths) {
    if (paths.empty())
      throw Error(
          "NpySource: expected at least one NPY file, got none. Pass the paths of inputs "
          "and targets.");
    long columns = 1;
    for (std::string const& path : paths) {
      files_.push_back(std::make_shared<NpyFile const>(path));
      NpyFile const& file = *files_.back();
      arrays_.push_back({detail::quoted_path(path), file.type(), file.shape()});
      block_ = std::min(block_, std::max(1L, (1L << 20) / std::max(1L, arrays_.back().bytes())));
      if (file.fortran_order())
        columns = std::max(columns, (1L << 16) / long(element_size(file.type())));
      if (file.samples() != files_.front()->samples())
        throw Error("NpySource: expected " + std::to_string(files_.front()->samples()) +
                    " samples in \"" + path + "\" as in \"" + paths.front() + "\", got " +
                    std::to_string(file.samples()) + ". Write both from the same samples.");
    }
    block_ = std::max(block_, columns);
  }

  long samples() const { return long(files_.front()->samples()); }
  long block() const { return block_; }
  std::vector<SampleArray> const& arrays() const { return arrays_; }
  void read(long first, long count, std::byte* const* to) const {
    for (std::size_t a = 0; a < files_.size(); ++a) files_[a]->read(first, count, to[a]);
  }

 private:
  std::vector<std::shared_ptr<NpyFile const>> files_;
  std::vector<SampleArray> arrays_;
  long block_ = 1L << 20;
};

}  // namespace phyllo::inline PHYLLO_ISA
