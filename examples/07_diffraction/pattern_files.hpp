// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "patterns.hpp"

#include <phyllo/core/error.hpp>

#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

/// An array of numpy.save, version 1 of the format, that several processes write together.
class NpyArray {
 public:
  /// shape: as Python writes it; bytes: of all elements. One process creates the file.
  static void create(std::string const& path, std::string const& type, std::string const& shape,
                     std::uintmax_t bytes) {
    std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(header_bytes - 11, ' ');
    header += '\n';
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << "\x93NUMPY" << '\1' << '\0' << char(header.size()) << '\0' << header;
    file.close();
    std::error_code error;
    if (file) std::filesystem::resize_file(path, header_bytes + bytes, error);
    if (!file || error) refuse(path);
  }
  /// Each process opens it and writes its own elements.
  explicit NpyArray(std::string path)
      : path_(std::move(path)), file_(path_, std::ios::binary | std::ios::in | std::ios::out) {}
  void write(std::uintmax_t offset, void const* data, std::size_t bytes) {
    file_.seekp(std::streamoff(header_bytes + offset));
    file_.write(static_cast<char const*>(data), std::streamsize(bytes));
    if (!file_) refuse(path_);
  }
  void close() {
    file_.close();
    if (!file_) refuse(path_);
  }

 private:
  static constexpr std::size_t header_bytes = 128;
  [[noreturn]] static void refuse(std::string const& path) {
    throw phyllo::Error("Diffraction: cannot write \"" + path +
                        "\". Make room, or give a folder that you may write to with --folder.");
  }
  std::string path_;
  std::fstream file_;
};

/// The files of patterns and classes in a folder, which all ranks simulate once.
struct PatternFiles {
  std::string folder;
  long training = 0, held_out = 0;

  std::string patterns(bool of_training) const {
    return folder + (of_training ? "/patterns.npy" : "/held_out_patterns.npy");
  }
  std::string classes(bool of_training) const {
    return folder + (of_training ? "/classes.npy" : "/held_out_classes.npy");
  }

  /// errors   a folder with patterns of other options
  void make(Space const& exec, PatternOptions const& options, int rank, int ranks) const {
    std::ostringstream text;
    text << "training " << training << ", held out " << held_out << ", seed " << options.seed
         << ", dose " << options.dose << '\n';
    std::string const note = folder + "/simulation.txt";
    if (is_there(note, text.str(), rank)) return;
    if (rank == 0) {
      std::filesystem::create_directories(folder);
      for (bool of_training : {true, false}) {
        auto const n = std::uintmax_t(of_training ? training : held_out);
        NpyArray::create(patterns(of_training), "<f4",
                         "(" + std::to_string(n) + ", 1, " + std::to_string(pattern_rows) + ", " +
                             std::to_string(pattern_columns) + ")",
                         n * pattern_bytes);
        NpyArray::create(classes(of_training), "<i4", "(" + std::to_string(n) + ",)",
                         n * sizeof(int));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (bool of_training : {true, false}) simulate(exec, options, of_training, rank, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      std::ofstream(note + ".part") << text.str();
      std::filesystem::rename(note + ".part", note);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  static constexpr std::size_t pattern_bytes = sizeof(float) * pattern_rows * pattern_columns;

  // Rank 0 reads the note that is written last.
  static bool is_there(std::string const& note, std::string const& wanted, int rank) {
    int found = 0;  // 1: of these options, 2: of others
    if (rank == 0) {
      std::ifstream file(note);
      std::stringstream text;
      if (file) {
        text << file.rdbuf();
        found = text.str() == wanted ? 1 : 2;
      }
    }
    MPI_Bcast(&found, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (found == 2)
      throw phyllo::Error("Diffraction: \"" + note +
                          "\" describes patterns of other options than these: " +
                          wanted.substr(0, wanted.size() - 1) +
                          ". Give the options of the file, or another --folder.");
    return found == 1;
  }
  void simulate(Space const& exec, PatternOptions const& options, bool of_training, int rank,
                int ranks) const {
    // Held-out patterns have the numbers after those of training.
    long const all = of_training ? training : held_out, offset = of_training ? 0 : training;
    long const begin = all * rank / ranks, end = all * (rank + 1) / ranks;
    int const batch = 16;
    PatternSimulator simulator(exec, options, batch);
    NpyArray pattern_file(patterns(of_training)), class_file(classes(of_training));
    for (long at = begin; at < end; at += batch) {
      auto const images = simulator.simulate(exec, offset + at);
      std::size_t const count = std::size_t(std::min<long>(batch, end - at));
      std::vector<int> kinds(count);
      for (std::size_t n = 0; n < count; ++n)
        kinds[n] = PatternSimulator::class_of(offset + at + long(n));
      pattern_file.write(std::uintmax_t(at) * pattern_bytes, images.data(), count * pattern_bytes);
      class_file.write(std::uintmax_t(at) * sizeof(int), kinds.data(), count * sizeof(int));
      if (rank == 0 && (at - begin) / batch % 16 == 0)
        std::printf("simulation: %ld of %ld %s patterns of rank 0\n", at - begin, end - begin,
                    of_training ? "training" : "held-out"),
            std::fflush(stdout);
    }
    pattern_file.close();
    class_file.close();
  }
};
