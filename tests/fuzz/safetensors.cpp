// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes are, reading them as safetensors refuses with an Error or gives tensors that
// are written and read again to the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <phyllo/io/safetensors.hpp>

namespace {

void require(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

phyllo::TensorFile sorted(phyllo::TensorFile file) {
  std::sort(file.tensors.begin(), file.tensors.end(),
            [](phyllo::StoredTensor const& left, phyllo::StoredTensor const& right) {
              return left.name < right.name;
            });
  return file;
}

void read(std::span<std::byte const> bytes) {
  phyllo::TensorFile file;
  try {
    file = phyllo::parse_safetensors(bytes);
  } catch (phyllo::Error const& error) {
    std::string_view const sentence = error.what();
    require(sentence.size() < 2000, "a refusal is short");
    require(sentence.back() == '.', "a refusal ends as a sentence");
    for (char const character : sentence) {
      require(character >= 0x20 && character < 0x7f, "a refusal is printable");
    }
    return;
  }
  std::size_t data = 0;
  for (phyllo::StoredTensor const& tensor : file.tensors) data += tensor.bytes.size();
  require(data <= bytes.size(), "tensors hold no more than the file");
  std::vector<std::byte> const written = phyllo::serialize_safetensors(file);
  phyllo::TensorFile const again = phyllo::parse_safetensors(written);
  require(sorted(again) == sorted(file), "what is written is read again");
  require(phyllo::serialize_safetensors(again) == written, "the same content gives the same bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::span<std::byte const> const bytes = std::as_bytes(std::span(data, size));
  read(bytes);
  // The same input as a header whose length is right, and whose last byte tells how much follows.
  if (size > 0) {
    std::vector<std::byte> file(8);
    for (int index = 0; index < 8; ++index) {
      file[static_cast<std::size_t>(index)] =
          static_cast<std::byte>(((size - 1) >> (8 * index)) & 0xff);
    }
    file.insert(file.end(), bytes.begin(), bytes.end() - 1);
    file.resize(file.size() + data[size - 1], std::byte{0x5a});
    read(file);
  }
  return 0;
}
