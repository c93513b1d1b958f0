// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/misspelt.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// What happens with the samples of an epoch that do not fill a global batch.
enum class LastBatch {
  smaller,  // they are a batch of their own
  left_out  // they are in no batch; under `shuffle`, each epoch leaves out others
};

/// How batches are made of a source.
struct BatchOptions {
  long batch = 256;  // samples of all ranks in one step
  Misspelt<Option::batch> batch_size = {};
  std::uint64_t seed = 0;
  Misspelt<Option::seed> random_seed = {};
  bool shuffle = true;  // false: samples in the order of the source
  int lanes = 64;       // sequences that are read at the same time; each rank has whole ones
  long window = 0;      // samples of all lanes that are shuffled together; 0: as host_bytes allows
  long block = 0;       // samples that are read together; 0: as the source says
  long host_bytes = 256L << 20;  // bound of the windows of all ranks together
  int prefetch = 0;              // batches that a reader thread reads ahead; 0: no such thread
  LastBatch last_batch = LastBatch::smaller;
};

/// The place of a batch in a training.
struct Position {
  std::uint64_t epoch = 0;
  long step = 0;  // in the epoch

  bool operator==(Position const&) const = default;
};

}  // namespace phyllo::inline PHYLLO_ISA
