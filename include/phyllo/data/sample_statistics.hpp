// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/data/convert_elements.hpp>
#include <phyllo/data/sample_source.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Mean, sum of squared deviations from it, and range of `count` numbers.
///
/// numerics in double; to merge two of them is exact but for rounding, however different the means
/// source   Chan, Golub and LeVeque, The American Statistician 37 (1983) 242, eq. 1.5
struct Moments {
  static constexpr int size = 4;  // numbers, without the count

  double mean = 0, squares = 0;
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();

  /// The moments of these `count` numbers and of `other_count` others.
  void merge(double count, Moments const& other, double other_count) {
    if (other_count == 0) return;
    double const share = other_count / (count + other_count), apart = other.mean - mean;
    mean += apart * share;
    squares += other.squares + apart * apart * count * share;
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
  /// The square root of the variance, divided by the count as numpy.std does.
  double deviation(double count) const { return std::sqrt(squares / count); }
  bool is_constant() const { return !(minimum < maximum); }
};

/// Moments of some arrays of a source, for each channel or each element.
///
/// shape    an array (C, S...): C moments, or C S with per_element, in the order of the array
/// state    moments of the samples that were added; a buffer of 16 MiB, or of one sample
/// threads  one thread at a time
/// errors   run: integers or other elements that are no numbers, a number that is not finite, those
///          of the source -> Error
/// numerics blocks of samples in two passes, which are then merged; the same samples in the same
///          calls are the same bits
/// cost     one read of the samples, three passes over each block
class SampleStatistics {
 public:
  /// What is wanted of an array.
  struct Wanted {
    int array = 0;
    bool per_element = false;
  };

  SampleStatistics(std::vector<SampleArray> arrays, std::vector<Wanted> wanted)
      : arrays_(std::move(arrays)), wanted_(std::move(wanted)) {
    for (Wanted const& w : wanted_) moments_.emplace_back(std::size_t(groups(w)));
    for (SampleArray const& array : arrays_) sample_bytes_ += array.bytes();
  }

  /// Samples that were added.
  double count() const { return count_; }
  /// Numbers of one sample that one of the moments is about.
  double numbers(std::size_t k) const {
    return double(array_of(wanted_[k]).elements()) / double(groups(wanted_[k]));
  }
  std::vector<Moments> const& moments(std::size_t k) const { return moments_[k]; }

  /// Adds the samples [first, last) of a source.
  template <SampleSource S> void add(S& source, long first, long last) {
    long const room = std::max(1L, buffer_bytes / std::max(1L, sample_bytes_));
    long const block = std::max(1L, long(source.block()));
    long const step = block <= room ? room / block * block : room;
    std::vector<std::vector<std::byte>> bytes;
    std::vector<std::byte*> to;
    for (SampleArray const& array : arrays_) {
      bytes.emplace_back(std::size_t(std::min(step, last - first) * array.bytes()));
      to.push_back(bytes.back().data());
    }
    for (long at = first; at < last; at += step) {
      long const rows = std::min(step, last - at);
      source.read(at, rows, to.data());
      for (std::size_t k = 0; k < wanted_.size(); ++k)
        add_block(k, to[std::size_t(wanted_[k].array)], at, rows);
      count_ += double(rows);
    }
  }
  /// Adds the samples of other statistics of the same arrays: their count, and numbers as of
  /// `store`.
  void merge(double const* numbers) {
    double const other = *numbers++;
    for (std::size_t k = 0; k < wanted_.size(); ++k)
      for (Moments& m : moments_[k]) {
        double const each = this->numbers(k);
        m.merge(count_ * each, {numbers[0], numbers[1], numbers[2], numbers[3]}, other * each);
        numbers += Moments::size;
      }
    count_ += other;
  }
  /// Count and moments as numbers.
  long stored_size() const {
    long size = 1;
    for (auto const& moments : moments_) size += Moments::size * long(moments.size());
    return size;
  }
  void store(double* to) const {
    *to++ = count_;
    for (auto const& moments : moments_)
      for (Moments const& m : moments)
        // To add zero, as sums over ranks do, makes negative zeros positive.
        for (double const number : {m.mean, m.squares, m.minimum, m.maximum}) *to++ = number + 0.0;
  }

 private:
  static constexpr long buffer_bytes = 1L << 24;

  SampleArray const& array_of(Wanted const& w) const { return arrays_[std::size_t(w.array)]; }
  long groups(Wanted const& w) const {
    SampleArray const& array = array_of(w);
    return w.per_element ? array.elements() : array.shape.empty() ? 1 : long(array.shape[0]);
  }

  void add_block(std::size_t k, std::byte const* bytes, long first, long rows) {
    SampleArray const& array = array_of(wanted_[k]);
    std::size_t const elements = std::size_t(array.elements()), groups = moments_[k].size();
    std::size_t const each = elements / groups;
    numbers_.resize(std::size_t(rows) * elements);
    auto const convert = detail::convert_from<double>(array.type);
    if (convert == nullptr)
      throw Error("SampleStatistics: " + array.name + ": expected numbers, got " +
                  std::string(element_name(array.type)) + ".");
    convert(bytes, reinterpret_cast<std::byte*>(numbers_.data()), long(numbers_.size()));
    std::vector<double> sums(elements, 0.0), squares(elements, 0.0);
    for_each_row(elements, [&](double const* x) {
      for (std::size_t e = 0; e < elements; ++e) sums[e] += x[e];
    });
    for (std::size_t e = 0; e < elements; ++e)
      if (!std::isfinite(sums[e])) refuse(array, e, elements, first);
    std::vector<Moments> block(groups);
    for (std::size_t e = 0; e < elements; ++e)
      block[e / each].mean += sums[e] / (double(rows) * double(each));
    std::vector<double> means(elements), minima(elements, block[0].minimum),
        maxima(elements, block[0].maximum);
    for (std::size_t e = 0; e < elements; ++e) means[e] = block[e / each].mean;
    for_each_row(elements, [&](double const* x) {
      for (std::size_t e = 0; e < elements; ++e) {
        squares[e] += (x[e] - means[e]) * (x[e] - means[e]);
        minima[e] = x[e] < minima[e] ? x[e] : minima[e];
        maxima[e] = x[e] > maxima[e] ? x[e] : maxima[e];
      }
    });
    for (std::size_t e = 0; e < elements; ++e) {
      Moments& m = block[e / each];
      m.squares += squares[e];
      m.minimum = std::min(m.minimum, minima[e]);
      m.maximum = std::max(m.maximum, maxima[e]);
    }
    for (std::size_t g = 0; g < groups; ++g)
      moments_[k][g].merge(count_ * double(each), block[g], double(rows) * double(each));
  }
  template <class Body> void for_each_row(std::size_t elements, Body const& body) const {
    for (std::size_t at = 0; at + elements <= numbers_.size() && elements > 0; at += elements)
      body(numbers_.data() + at);
  }
  [[noreturn]] void refuse(SampleArray const& array, std::size_t element, std::size_t elements,
                           long first) const {
    std::size_t row = 0, rows = numbers_.size() / elements;
    while (row + 1 < rows && std::isfinite(numbers_[row * elements + element])) ++row;
    throw Error("SampleStatistics: " + array.name + ": expected finite numbers, got " +
                std::to_string(numbers_[row * elements + element]) + " as element " +
                std::to_string(element) + " of sample " + std::to_string(first + long(row)) +
                ". Leave out such samples.");
  }

  std::vector<SampleArray> arrays_;
  std::vector<Wanted> wanted_;
  std::vector<std::vector<Moments>> moments_;
  std::vector<double> numbers_;  // of a block
  long sample_bytes_ = 0;
  double count_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
