// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes are, reading them as the header of an NPY file refuses with an Error or gives
// a type and extents.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <phyllo/io/npy_header.hpp>
#include <phyllo/io/tensor.hpp>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const require = [](bool holds, char const* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
  };
  try {
    auto const header = phyllo::detail::NpyHeader::parse(
        {reinterpret_cast<char const*>(data), size}, "reading \"x.npy\"");
    require(header.shape.size() <= phyllo::detail::NpyHeader::most_extents, "few extents");
    for (std::int64_t const extent : header.shape) require(extent >= 0, "extents are counts");
    static_cast<void>(phyllo::detail::stored_size(header.type, header.shape));
  } catch (phyllo::Error const& error) {
    std::string_view const sentence = error.what();
    require(sentence.size() < 1000, "a refusal is short");
    require(sentence.back() == '.', "a refusal ends as a sentence");
    for (char const character : sentence)
      require(character >= 0x20 && character < 0x7f, "a refusal is printable");
  }
  return 0;
}
