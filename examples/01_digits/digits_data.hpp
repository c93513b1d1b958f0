// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>

#include <Kokkos_Core.hpp>

#include <zlib.h>

#include <charconv>
#include <string>
#include <vector>

/// The digits of one file: pixels scaled to 0..1, and classes.
///
/// shape    images (N, 1, 8, 8) · labels (N)
/// errors   run: a file that cannot be read, or a line that is no digit -> phyllo::Error
/// source   Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI (1998), CC BY 4.0
struct DigitsData {
  using Images = Kokkos::View<float****, Kokkos::LayoutRight>;
  using Labels = Kokkos::View<int*>;

  Images images;
  Labels labels;

  long size() const { return long(labels.extent(0)); }

  /// Lines 0, 5, 10, ... of the file are held out of training.
  static constexpr int held_out_stride = 5;
  enum class Part { training, held_out };

  static DigitsData read(std::string const& path, Part part) {
    std::vector<std::vector<int>> lines = read_lines(path);
    std::vector<std::vector<int>> chosen;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if ((i % held_out_stride == 0) == (part == Part::held_out)) chosen.push_back(lines[i]);
    DigitsData data;
    data.images = Images("images", chosen.size(), 1, 8, 8);
    data.labels = Labels("labels", chosen.size());
    // One-dimensional, because copies of Views of rank 4 take the compiler a second.
    Kokkos::View<float*, Kokkos::LayoutRight, Kokkos::HostSpace> pixels("pixels",
                                                                        data.images.size());
    auto const labels = Kokkos::create_mirror_view(data.labels);
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      for (std::size_t i = 0; i < 64; ++i) pixels(64 * n + i) = float(chosen[n][i]) / 16.0f;
      labels(n) = chosen[n][64];
    }
    Kokkos::View<float*, Kokkos::LayoutRight> const on_device(data.images.data(), pixels.size());
    Kokkos::deep_copy(on_device, pixels);
    Kokkos::deep_copy(data.labels, labels);
    return data;
  }

 private:
  static std::vector<std::vector<int>> read_lines(std::string const& path) {
    gzFile file = gzopen(path.c_str(), "rb");  // reads plain text as well
    if (file == nullptr)
      throw phyllo::Error("Digits: cannot open \"" + path + "\". Say where it is with --data.");
    std::string text;
    char block[1 << 16];
    int count = 0;
    while ((count = gzread(file, block, sizeof(block))) > 0) text.append(block, std::size_t(count));
    gzclose(file);
    if (count < 0) throw phyllo::Error("Digits: \"" + path + "\" is damaged. Restore it.");
    std::vector<std::vector<int>> lines;
    char const* at = text.data();
    char const* const end = at + text.size();
    while (at < end) {
      std::vector<int> numbers(65);
      for (std::size_t i = 0; i < 65; ++i) {
        auto const [next, error] = std::from_chars(at, end, numbers[i]);
        bool const wrong = error != std::errc{} || numbers[i] < 0 || numbers[i] > (i < 64 ? 16 : 9);
        bool const ends = next == end || (i < 64 ? *next == ',' : *next == '\n' || *next == '\r');
        if (wrong || !ends)
          throw phyllo::Error("Digits: \"" + path + "\", line " + std::to_string(lines.size() + 1) +
                              ": expected 64 pixels 0 to 16 and a class 0 to 9. Restore the file.");
        at = next + (next < end);
      }
      if (at < end && *at == '\n') ++at;  // after a carriage return
      lines.push_back(numbers);
    }
    if (lines.size() < 10)
      throw phyllo::Error("Digits: \"" + path + "\": expected at least 10 lines, got " +
                          std::to_string(lines.size()) + ". Restore the file.");
    return lines;
  }
};
