// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes of an NPY file are, it is refused, or every sample is read with the bytes that
// the order of the file puts there.

#include <fuzz/require.hpp>
#include <phyllo/data/npy_source.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

using namespace phyllo_test;

namespace {

// Whether the file is read.
bool accepts(std::uint8_t const* data, std::size_t size) {
  static ScratchFile const file;
  if (size < 2) return false;
  std::string text;
  std::uint8_t const version = data[0];
  if (version >= 128) {
    text.assign(reinterpret_cast<char const*>(data + 1), size - 1);
  } else {
    // A header up to the first newline, with its length, then numbers.
    std::string const rest(reinterpret_cast<char const*>(data + 1), size - 1);
    std::size_t const end = std::min(rest.find('\n'), rest.size());
    text = "\x93NUMPY";
    text += char(version % 5);
    text += '\0';
    for (int i = 0; i < (version % 5 == 1 ? 2 : 4); ++i) text += char(end >> (8 * i) & 0xff);
    text += rest.substr(0, end);
    // As many bytes as are likely to be asked for.
    for (std::size_t i = end; i < std::max<std::size_t>(rest.size(), 4096); ++i)
      text += char(i < rest.size() ? rest[i] : char(i * 37));
  }
  file.write(text.data(), text.size());
  try {
    phyllo::NpySource const source({file.path()});
    phyllo::NpyFile const npy(file.path());
    auto const& shape = npy.shape();
    std::uint64_t const bytes = npy.sample_bytes();
    std::int64_t const samples = npy.samples();
    require(source.block() >= 1 && source.samples() == samples && samples >= 0, "positive blocks");
    require(bytes == 0 || std::uint64_t(samples) <= text.size() / bytes, "numbers are in the file");
    if (samples == 0 || bytes == 0) return true;
    std::size_t const element = phyllo::element_size(npy.type());
    std::vector<std::byte> all(std::size_t(samples) * bytes), one(bytes);
    std::byte* to = all.data();
    source.read(0, samples, &to);
    for (std::int64_t n = 0; n < samples; ++n) {
      npy.read(n, 1, one.data());
      require(std::memcmp(one.data(), all.data() + std::size_t(n) * bytes, bytes) == 0,
              "a sample is the same alone");
    }
    auto const byte = [&](std::size_t i) { return std::size_t(std::uint8_t(text[i])); };
    std::size_t const first = text[6] == 1 ? 10 + (byte(8) | byte(9) << 8)
                                           : 12 + (byte(8) | byte(9) << 8 | byte(10) << 16);
    std::size_t const columns = bytes / element;
    for (std::int64_t n = 0; n < samples; ++n)
      for (std::size_t i = 0; i < columns; ++i) {
        std::size_t at = std::size_t(n) * columns + i;
        if (npy.fortran_order()) {
          std::size_t rest = i, stride = std::size_t(samples) * columns;
          at = std::size_t(n);
          for (std::size_t d = shape.size(); d-- > 0; rest /= std::size_t(shape[d])) {
            stride /= std::size_t(shape[d]);
            at += rest % std::size_t(shape[d]) * stride;
          }
        }
        require(std::memcmp(all.data() + (std::size_t(n) * columns + i) * element,
                            text.data() + first + at * element, element) == 0,
                "a number is where its order puts it");
      }
    return true;
  } catch (phyllo::Error const& error) {
    require_sentence(error.what());
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static bool const accepts_one = [] {
    std::string const good = "\x01{'descr': '<i2', 'fortran_order': True, 'shape': (3, 4, 2)}\n";
    return accepts(reinterpret_cast<std::uint8_t const*>(good.data()), good.size());
  }();
  require(accepts_one, "a good file is read");
  accepts(data, size);
  return 0;
}
