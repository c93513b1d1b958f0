// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

namespace phyllo_test {

inline void require(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

inline void require_sentence(std::string_view sentence) {
  require(sentence.size() < 4000, "a refusal is short");
  require(!sentence.empty() && sentence.back() == '.', "a refusal ends as a sentence");
  for (char const character : sentence)
    require(character >= 0x20 && character < 0x7f, "a refusal is printable");
}

// A temporary file whose contents are replaced for each input.
class ScratchFile {
 public:
  ScratchFile() {
    for (char const* folder : {"/dev/shm", "/tmp"}) {  // the former in memory
      path_ = std::string(folder) + "/phyllo-fuzz-XXXXXX";
      descriptor_ = ::mkstemp(path_.data());
      if (descriptor_ >= 0) break;
    }
    require(descriptor_ >= 0, "there are temporary files");
  }
  ScratchFile(ScratchFile const&) = delete;
  ScratchFile& operator=(ScratchFile const&) = delete;
  ~ScratchFile() { ::unlink(path_.c_str()); }
  std::string const& path() const { return path_; }
  void write(void const* bytes, std::size_t size) const {
    require(::ftruncate(descriptor_, 0) == 0 &&
                ::pwrite(descriptor_, bytes, size, 0) == ::ssize_t(size),
            "a temporary file is written");
  }

 private:
  int descriptor_ = -1;
  std::string path_;
};

// The input as a sequence of choices; zeros when it has ended.
class Choices {
 public:
  Choices(std::uint8_t const* data, std::size_t size) : data_(data), size_(size) {}
  unsigned byte() { return at_ < size_ ? data_[at_++] : 0; }
  unsigned below(unsigned bound) { return byte() % bound; }

 private:
  std::uint8_t const* data_;
  std::size_t size_, at_ = 0;
};

}  // namespace phyllo_test
