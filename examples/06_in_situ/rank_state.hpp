// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "coarse_and_fine.hpp"

#include <phyllo/comm/mpi.hpp>
#include <phyllo/data/replay_buffer.hpp>
#include <phyllo/fit/checkpoints.hpp>

#include <cstring>
#include <string>

using Trainer = phyllo::Trainer<ClosureNetwork, phyllo::MeanSquaredError, phyllo::Adam,
                                phyllo::Full<float>, phyllo::AllReduce<phyllo::Mpi>>;
using Buffer = phyllo::ReplayBuffer<Samples, Samples>;

// What a rank needs to go on: its rows of the fine solver, its samples, and the step.
inline void save(Space const& exec, Trainer& trainer, phyllo::Checkpoints const& checkpoints,
                 Buffer const& buffer, Field const& state, int step) {
  phyllo::TensorFile file;
  buffer.save(file);
  auto const host = Kokkos::create_mirror_view(state);
  Kokkos::deep_copy(exec, host, state);
  exec.fence("save");
  phyllo::StoredTensor rows{"fine", phyllo::ElementType::f64, {std::int64_t(host.size())}, {}};
  rows.bytes.resize(host.size() * sizeof(double));
  std::memcpy(rows.bytes.data(), host.data(), rows.bytes.size());
  file.tensors.push_back(rows);
  file.metadata.emplace_back("step", std::to_string(step));
  checkpoints.save_with_ranks(trainer, file);
}
inline int resume(Space const& exec, Trainer& trainer, phyllo::Checkpoints const& checkpoints,
                  Buffer& buffer, Field const& state) {
  phyllo::TensorFile file;
  if (!checkpoints.resume_with_ranks(file, trainer)) return 0;
  buffer.load(file);
  auto const host = Kokkos::create_mirror_view(state);
  auto const& bytes = file.find("fine")->bytes;
  if (bytes.size() != host.size() * sizeof(double))
    throw phyllo::Error("in_situ: the checkpoint has another grid. Choose another --folder.");
  std::memcpy(host.data(), bytes.data(), bytes.size());
  Kokkos::deep_copy(exec, state, host);
  return std::stoi(*file.find_metadata("step"));
}
