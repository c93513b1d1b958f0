// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <phyllo/io/input_file.hpp>
#include <phyllo/io/npy_header.hpp>
#include <phyllo/io/tensor.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// An array in a file of numpy.save, whose first extent counts samples.
///
/// shape    (samples, ...) in C or Fortran order; elements f2, f4, f8, u1, i1, i2, i4 or i8,
///          little-endian
/// state    an open file; the size is checked when it is opened
/// threads  any number may read at the same time
/// errors   run: a file that cannot be opened, is damaged, too short, big-endian or of another
///          type; a file that has become shorter -> Error naming file and sample
/// cost     the header is read once; each read is one call of the system for up to 1 GiB. In
///          Fortran order, one call for each number of a sample, and a buffer of at most 1 MiB
/// source   numpy.lib.format, versions 1.0 to 3.0
class NpyFile {
 public:
  explicit NpyFile(std::string const& path)
      : source_("reading " + detail::quoted_path(path)), file_(path, source_) {
    if (file_.size() < prefix)
      detail::refuse_file(source_, "an NPY file, of " + std::to_string(prefix) + " bytes or more",
                          std::to_string(file_.size()) + " bytes", detail::damaged_npy_remedy);
    std::string beginning(prefix, '\0');
    file_.read(beginning.data(), prefix);
    if (beginning.substr(0, 6) != std::string_view("\x93NUMPY", 6))
      detail::refuse_file(source_, "the first bytes of an NPY file",
                          detail::in_quotes(beginning.substr(0, 6)), detail::damaged_npy_remedy);
    auto const byte = [&](std::size_t i) { return std::size_t(std::uint8_t(beginning[i])); };
    std::size_t const of_format = byte(6);
    if (of_format < 1 || of_format > 3)
      detail::refuse_file(source_, "version 1, 2 or 3 of the NPY format", std::to_string(of_format),
                          "write the file again with a numpy that has these");
    std::size_t const begin = of_format == 1 ? 10 : 12;
    std::size_t const length = of_format == 1
                                   ? byte(8) | byte(9) << 8
                                   : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
    if (length > detail::NpyHeader::longest || begin + length > file_.size())
      detail::refuse_file(source_,
                          "a header of at most " +
                              std::to_string(std::min<std::uint64_t>(detail::NpyHeader::longest,
                                                                     file_.size() - begin)) +
                              " bytes",
                          std::to_string(length), detail::damaged_npy_remedy);
    std::string text(length, '\0');
    file_.read_at(begin, text.data(), length);
    auto header = detail::NpyHeader::parse(text, source_);
    auto const bytes = detail::stored_size(header.type, header.shape);
    if (header.shape.empty() || !bytes)
      detail::refuse_file(source_, "an array of samples",
                          "extents " + detail::shape_text(header.shape),
                          "save an array whose first extent counts samples");
    first_ = begin + length;
    if (file_.size() - first_ < *bytes)
      detail::refuse_file(source_,
                          std::to_string(*bytes) + " bytes of numbers for extents " +
                              detail::shape_text(header.shape),
                          std::to_string(file_.size() - first_),
                          "the file is not complete, so copy or write it again");
    type_ = header.type;
    samples_ = header.shape.front();
    shape_.assign(header.shape.begin() + 1, header.shape.end());
    fortran_order_ = header.fortran_order;
    sample_bytes_ = std::size_t(detail::stored_size(type_, shape_).value_or(0));
  }

  NpyFile(NpyFile const&) = delete;  // NpyFile: an open file.
  NpyFile& operator=(NpyFile const&) = delete;

  std::int64_t samples() const { return samples_; }
  ElementType type() const { return type_; }
  /// Extents of one sample.
  std::vector<std::int64_t> const& shape() const { return shape_; }
  std::size_t sample_bytes() const { return sample_bytes_; }
  /// Whether a number of all samples is contiguous, and not a sample.
  bool fortran_order() const { return fortran_order_; }
  /// "reading "PATH"", with which messages about the file begin.
  std::string const& source() const { return source_; }

  /// Samples [first, first + count) into host memory, row-major.
  void read(std::int64_t first, std::int64_t count, std::byte* to) const {
    if (first < 0 || count < 0 || first > samples_ - count)
      detail::refuse_file(source_, "samples below " + std::to_string(samples_),
                          std::to_string(count) + " from sample " + std::to_string(first) + " on",
                          "read samples that the file has");
    if (fortran_order_) return read_columns(first, count, to);
    std::uint64_t const size = std::uint64_t(count) * sample_bytes_;
    std::uint64_t const got =
        file_.read_at(first_ + std::uint64_t(first) * sample_bytes_, to, std::size_t(size), true);
    if (got != size) refuse_end(first + std::int64_t(got / sample_bytes_));
  }

 private:
  static constexpr std::size_t prefix = 12;  // magic, version, length of the header

  [[noreturn]] void refuse_end(std::int64_t sample) const {
    detail::refuse_file(source_, "sample " + std::to_string(sample), "the end of the file",
                        "the file has become shorter since it was opened, so copy or write it "
                        "again");
  }
  // In Fortran order the first extent varies fastest: a column contains one number of all samples,
  // and the columns follow each other with the second extent varying fastest.
  void read_columns(std::int64_t first, std::int64_t count, std::byte* to) const {
    std::size_t const element = element_size(type_);
    std::size_t const columns = sample_bytes_ / element;
    auto const piece = std::int64_t(
        std::min<std::uint64_t>(std::uint64_t(count), (std::uint64_t{1} << 20) / element));
    std::vector<std::byte> column(std::size_t(piece) * element);
    for (std::int64_t done = 0; done < count; done += piece) {
      std::int64_t const begin = first + done;
      std::size_t const size = std::size_t(std::min(piece, count - done)) * element;
      for (std::size_t c = 0; c < columns; ++c) {
        std::uint64_t const at = std::uint64_t(c) * std::uint64_t(samples_) + std::uint64_t(begin);
        std::uint64_t const got = file_.read_at(first_ + at * element, column.data(), size, true);
        if (got != size) refuse_end(begin + std::int64_t(got / element));
        std::byte* next = to + std::size_t(done) * sample_bytes_ + row_major(c) * element;
        for (std::size_t i = 0; i < size; i += element, next += sample_bytes_)
          std::memcpy(next, column.data() + i, element);
      }
    }
  }
  // The place of a column's number in a sample in C order.
  std::size_t row_major(std::size_t column) const {
    std::size_t place = 0, stride = sample_bytes_ / element_size(type_);
    for (std::int64_t const extent : shape_) {
      stride /= std::size_t(extent);
      place += column % std::size_t(extent) * stride;
      column /= std::size_t(extent);
    }
    return place;
  }

  std::string source_;
  detail::InputFile file_;
  ElementType type_ = ElementType::f32;
  std::int64_t samples_ = 0;
  std::vector<std::int64_t> shape_;
  std::size_t sample_bytes_ = 0;
  bool fortran_order_ = false;
  std::uint64_t first_ = 0;  // byte of the first number
};

}  // namespace phyllo::inline PHYLLO_ISA
