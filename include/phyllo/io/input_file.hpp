// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <phyllo/io/refuse_file.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

// A regular file that is read from its beginning to its end, or at any place.
class InputFile {
 public:
  // source names the file in messages.
  InputFile(std::string const& path, std::string_view source) : source_(source) {
    // Not to wait for a writer where the path is a named pipe.
    do {
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) {
      refuse_file(source_, "a file that can be opened", in_quotes(system_message(errno)),
                  "check the path and its permissions");
    }
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(descriptor_);
      refuse_file(source_, "a regular file", "a directory, pipe or device",
                  "name the file itself, or copy what the device holds to a file");
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  InputFile(InputFile const&) = delete;
  InputFile& operator=(InputFile const&) = delete;
  ~InputFile() { ::close(descriptor_); }

  std::uint64_t size() const { return size_; }  // bytes, when the file was opened

  // Reads the next size bytes.
  void read(void* destination, std::size_t size) {
    constexpr std::size_t largest_call = std::size_t{1} << 30;  // Linux reads no more than 2 GiB
    auto* next = static_cast<std::byte*>(destination);
    while (size > 0) {
      ::ssize_t const count = ::read(descriptor_, next, std::min(size, largest_call));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        refuse_file(source_, std::to_string(size) + " more bytes", in_quotes(system_message(errno)),
                    "check the disk or the network file system");
      }
      if (count == 0) {
        refuse_file(source_, std::to_string(size) + " more bytes", "the end of the file",
                    "another program changes it, so read it when that has finished");
      }
      next += count;
      size -= static_cast<std::size_t>(count);
    }
  }

  // Reads size bytes from byte `first` on, whatever was read before; any number of threads may.
  // Returns how many there were: fewer only where `may_end`.
  std::uint64_t read_at(std::uint64_t first, void* destination, std::size_t size,
                        bool may_end = false) const {
    constexpr std::size_t largest_call = std::size_t{1} << 30;
    std::size_t done = 0;
    while (done < size) {
      ::ssize_t const count =
          ::pread(descriptor_, static_cast<std::byte*>(destination) + done,
                  std::min(size - done, largest_call), static_cast<::off_t>(first + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        refuse_file(source_,
                    std::to_string(size - done) + " more bytes from byte " +
                        std::to_string(first + done) + " on",
                    in_quotes(system_message(errno)), "check the disk or the network file system");
      }
      if (count == 0) {
        if (may_end) break;
        refuse_file(source_, std::to_string(size - done) + " more bytes", "the end of the file",
                    "another program changes it, so read it when that has finished");
      }
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

 private:
  std::string_view source_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
