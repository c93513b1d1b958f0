// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/fit/agreed_error.hpp>
#include <phyllo/fit/position_tensor.hpp>
#include <phyllo/fit/training_tensors.hpp>
#include <phyllo/io/safetensors.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Writes everything that the next step depends on to one safetensors file: see TrainingTensors.
/// Collective; rank 0 writes. The file is replaced completely or not at all (AtomicFile).
///
/// options  batches: their position too · more: tensors of the caller, which load_training returns
/// threads  as Trainer
/// errors   run: a file that cannot be written, accumulated micro-batches -> the same Error on all
///          ranks; an existing file is unchanged
/// cost     the state is copied to the host, written, and flushed to the disk
template <class T>
void save_training(T& trainer, std::string const& path, TensorFile const& more = {}) {
  detail::agree_on_errors(trainer, [&] { detail::refuse_accumulated(trainer, "save_training"); });
  TensorFile file = TrainingTensors<T>::of(trainer);
  file.tensors.insert(file.tensors.end(), more.tensors.begin(), more.tensors.end());
  file.metadata.insert(file.metadata.end(), more.metadata.begin(), more.metadata.end());
  detail::agree_on_errors(trainer, [&] {
    if (trainer.sums().rank() == 0) write_safetensors(path, file);
  });
}
template <class T, class In, class Out, class Space>
void save_training(T& trainer, Batches<In, Out, Space> const& batches, std::string const& path,
                   TensorFile more = {}) {
  detail::PositionTensor<Batches<In, Out, Space>>::add(batches, more);
  save_training(trainer, path, more);
}

namespace detail {

/// check(file, who) on all ranks before anything is changed, restore(file, who) behind the trainer.
template <class T, class Check, class Restore>
TensorFile load_with(T& trainer, std::string const& path, Check const& check,
                     Restore const& restore) {
  TensorFile file;
  std::string const who = "reading " + quoted_path(path);
  agree_on_errors(trainer, [&] {
    refuse_accumulated(trainer, "load_training");
    file = read_safetensors(path);
    TrainingTensors<T>::check(trainer, file, who);
    check(file, who);
  });
  TrainingTensors<T>::restore(trainer, file, who);
  restore(file, who);
  return file;
}

}  // namespace detail

/// Takes over what save_training has written, on any number of ranks: training goes on with the
/// same bits on the same ranks. Collective; every rank reads the file. Returns all its tensors.
///
/// threads  as Trainer
/// errors   run: a file that is missing, damaged, or of another network, rule, precision or order
///          of batches; accumulated micro-batches -> the same Error on all ranks, and nothing is
///          changed
/// cost     one read of the file on each rank
template <class T> TensorFile load_training(T& trainer, std::string const& path) {
  auto const nothing = [](TensorFile const&, std::string const&) {};
  return detail::load_with(trainer, path, nothing, nothing);
}
template <class T, class In, class Out, class Space>
TensorFile load_training(T& trainer, Batches<In, Out, Space>& batches, std::string const& path) {
  using Place = detail::PositionTensor<Batches<In, Out, Space>>;
  auto const check = [&](TensorFile const& file, std::string const& who) {
    Place::check(batches, file, who);
  };
  auto const restore = [&](TensorFile const& file, std::string const& who) {
    Place::restore(batches, file, who);
  };
  return detail::load_with(trainer, path, check, restore);
}

/// A folder with the last checkpoints of a training, FOLDER/step-000000000120.safetensors.
///
/// options  folder: made where it does not exist · keep: how many files remain
/// state    the folder; it belongs to one training
/// threads  one thread at a time
/// errors   run: those of save_training and load_training; a folder that has checkpoints of later
///          steps than the one that is saved -> Error on all ranks
/// numerics a process that is killed at any moment leaves the checkpoint before, or the new one
/// cost     that of save_training
class Checkpoints {
 public:
  explicit Checkpoints(std::string folder, int keep = 2) : folder_(std::move(folder)), keep_(keep) {
    if (folder_.empty() || keep < 1)
      throw Error(
          "Checkpoints: expected the name of a folder and at least one file to keep, got \"" +
          folder_ + "\" and " + std::to_string(keep) + ".");
  }

  /// Saves the state after the step that the trainer has made last. Arguments as of save_training,
  /// without the path.
  template <class T, class... More> void save(T& trainer, More const&... more) const {
    long const step = trainer.steps();
    detail::agree_on_errors(trainer, [&] {
      if (trainer.sums().rank() == 0) prepare(step);
    });
    if constexpr (sizeof...(More) > 0)
      save_with(trainer, path_of(step), more...);
    else
      save_training(trainer, path_of(step));
    detail::agree_on_errors(trainer, [&] {
      if (trainer.sums().rank() == 0) remove_old();
    });
  }
  /// Goes on from the newest checkpoint; false where there is none. Arguments as of load_training,
  /// without the path. `file` receives all tensors.
  template <class T, class... B> bool resume(T& trainer, B&... batches) const {
    TensorFile file;
    return resume_with(file, trainer, batches...);
  }
  template <class T, class... B>
  bool resume_with(TensorFile& file, T& trainer, B&... batches) const {
    long const step = newest(trainer);
    if (step < 0) return false;
    file = load_training(trainer, batches..., path_of(step));
    return true;
  }

  /// As save, with a file of each rank of its own,
  /// FOLDER/rank-000003-step-000000000120.safetensors: the rank's part of a simulation, its
  /// ReplayBuffer. It is complete before the checkpoint is.
  template <class T> void save_with_ranks(T& trainer, TensorFile const& of_rank) const {
    long const step = trainer.steps();
    auto& sums = trainer.sums();
    TensorFile file = of_rank;
    file.metadata.emplace_back("phyllo.ranks", std::to_string(sums.size()));
    detail::agree_on_errors(trainer, [&] {
      if (sums.rank() == 0) prepare(step);
    });
    detail::agree_on_errors(trainer, [&] { write_safetensors(path_of(step, sums.rank()), file); });
    save(trainer);
    detail::agree_on_errors(trainer, [&] {
      // Of a later step: a process was killed between the files of ranks and the checkpoint.
      std::string const before = rank_prefix(sums.rank());
      std::error_code none;
      for (std::string const& name : files_named(before, suffix))
        if (folder_ + "/" + name > path_of(step, sums.rank()))
          std::filesystem::remove(folder_ + "/" + name, none);
      remove_old(before);
    });
  }
  /// As resume, with the files of save_with_ranks on the same number of ranks.
  template <class T> bool resume_with_ranks(TensorFile& of_rank, T& trainer) const {
    long const step = newest(trainer);
    if (step < 0) return false;
    auto& sums = trainer.sums();
    TensorFile file;
    detail::agree_on_errors(trainer, [&] {
      std::string const path = path_of(step, sums.rank());
      file = read_safetensors(path);
      std::string const* const ranks = file.find_metadata("phyllo.ranks");
      if (ranks == nullptr || *ranks != std::to_string(sums.size()))
        throw Error("reading " + detail::quoted_path(path) + ": expected a file of one of " +
                    std::to_string(sums.size()) + " ranks, got " +
                    (ranks == nullptr ? std::string("no number") : detail::in_quotes(*ranks)) +
                    ". Resume on the number of ranks that wrote it.");
    });
    load_training(trainer, path_of(step));
    of_rank = std::move(file);
    return true;
  }

  /// The step of the newest checkpoint; -1 where there is none. Collective.
  template <class T> long newest(T& trainer) const {
    std::string step;
    detail::agree_on_errors(trainer, [&] {
      if (trainer.sums().rank() == 0)
        if (auto const names = files(); !names.empty())
          step = names.back().substr(std::string_view(prefix).size(), digits);
    });
    step = detail::text_of_first_rank(trainer, step);
    return step.empty() ? -1 : std::strtol(step.c_str(), nullptr, 10);
  }
  /// The checkpoint of a step.
  std::string path_of(long step) const {
    char name[48];
    std::snprintf(name, sizeof name, "%s%0*ld%s", prefix, digits, step, suffix);
    return folder_ + "/" + name;
  }
  /// The file of a rank, of save_with_ranks.
  std::string path_of(long step, int rank) const {
    return folder_ + "/" + rank_prefix(rank) + path_of(step).substr(folder_.size() + 1);
  }

 private:
  static constexpr char const* prefix = "step-";
  static constexpr char const* suffix = ".safetensors";
  static constexpr int digits = 12;

  template <class T>
  static void save_with(T& trainer, std::string const& path, TensorFile const& more) {
    save_training(trainer, path, more);
  }
  template <class T, class B>
  static void save_with(T& trainer, std::string const& path, B const& batches,
                        TensorFile const& more = {}) {
    save_training(trainer, batches, path, more);
  }
  static std::string rank_prefix(int rank) {
    char name[32];
    std::snprintf(name, sizeof name, "rank-%06d-", rank);
    return name;
  }
  // Names of checkpoints, or of the files of a rank, the newest last.
  std::vector<std::string> files() const { return files_named("", suffix); }
  std::vector<std::string> files_named(std::string const& before, std::string_view end) const {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entries(folder_, error);
    if (error && error != std::errc::no_such_file_or_directory)
      throw Error("Checkpoints: expected a folder \"" + folder_ + "\" that can be read, got " +
                  detail::in_quotes(error.message()) + ". Choose another folder.");
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
      std::string const name = entries->path().filename().string();
      std::size_t const begin = before.size() + std::string_view(prefix).size();
      bool const is_ours = name.starts_with(before + prefix) && name.ends_with(end) &&
                           name.find_first_not_of("0123456789", begin) == begin + digits;
      if (is_ours) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void prepare(long step) const {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error)
      throw Error("Checkpoints: expected a folder \"" + folder_ + "\" that can be made, got " +
                  detail::in_quotes(error.message()) + ". Choose another folder.");
    auto const names = files();
    std::string const name = path_of(step).substr(folder_.size() + 1);
    if (!names.empty() && names.back() > name)
      throw Error("Checkpoints: expected no checkpoint later than " + name + " in \"" + folder_ +
                  "\", got " + names.back() + ". Resume from it, or choose another folder.");
  }
  // Also what a process that was killed has left of its own.
  void remove_old(std::string const& before = "") const {
    auto const names = files_named(before, suffix);
    std::error_code none;
    for (std::size_t i = 0; i + std::size_t(keep_) < names.size(); ++i)
      std::filesystem::remove(folder_ + "/" + names[i], none);
    for (std::string const& name : files_named(before, ".tmp"))
      std::filesystem::remove(folder_ + "/" + name, none);
  }

  std::string folder_;
  int keep_;
};

}  // namespace phyllo::inline PHYLLO_ISA
