// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <comm/ranks.hpp>
#include <io/safetensors_file.hpp>

#include <optional>
#include <string>

// A folder that rank 0 makes and all ranks use.
class SharedFolder {
 public:
  SharedFolder() {
    if (rank_of() == 0) {
      folder_.emplace();
      path_ = *folder_ / "";
    }
    path_.resize(200);
    MPI_Bcast(path_.data(), 200, MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = path_.c_str();
  }
  ~SharedFolder() { MPI_Barrier(MPI_COMM_WORLD); }
  std::string operator/(std::string const& name) const { return path_ + name; }

 private:
  std::optional<phyllo_test::TemporaryDirectory> folder_;
  std::string path_;
};
