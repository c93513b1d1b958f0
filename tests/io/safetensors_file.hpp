// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <unistd.h>

#include <phyllo/core/error.hpp>
#include <phyllo/io/tensor.hpp>

namespace phyllo_test {

// A directory of its own for one test, removed with the plain files in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char const* const root = std::getenv("TMPDIR");
    path_ = std::string(root != nullptr ? root : "/tmp") + "/phyllo-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw phyllo::Error("no temporary directory");
  }
  TemporaryDirectory(TemporaryDirectory const&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory const&) = delete;
  ~TemporaryDirectory() {
    for (std::string const& name : names()) ::unlink((*this / name).c_str());
    ::rmdir(path_.c_str());
  }

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    ::DIR* const directory = ::opendir(path_.c_str());
    if (directory == nullptr) return result;
    while (::dirent const* const entry = ::readdir(directory)) {
      std::string const name = entry->d_name;
      if (name != "." && name != "..") result.push_back(name);
    }
    ::closedir(directory);
    return result;
  }

 private:
  std::string path_;
};

inline std::string contents(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void set_contents(std::string const& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
}

inline std::span<std::byte const> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

// Eight bytes, least significant first.
inline std::string little_endian(std::uint64_t value) {
  std::string text;
  for (int index = 0; index < 8; ++index) text += static_cast<char>((value >> (8 * index)) & 0xff);
  return text;
}

// A safetensors file of this header and data.
inline std::string with_length(std::string_view header, std::string_view data = {}) {
  return little_endian(header.size()) + std::string(header) + std::string(data);
}

// Bytes that differ from their neighbours.
inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 0) {
  std::vector<std::byte> bytes(size);
  for (std::size_t index = 0; index < size; ++index) {
    bytes[index] = static_cast<std::byte>((seed + 37 * index + index / 251) & 0xff);
  }
  return bytes;
}

// What a call refuses with; empty where it does not.
template <class Call> std::string refusal(Call call) {
  try {
    call();
  } catch (phyllo::Error const& error) {
    return error.what();
  }
  return {};
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// One sentence: a single line, a full stop at its end and none inside before a space.
inline bool is_one_sentence(std::string_view text) {
  return !text.empty() && text.back() == '.' && !contains(text, "\n") && !contains(text, ". ");
}

}  // namespace phyllo_test
