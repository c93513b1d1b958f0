// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The operating system's calls that write are replaced in a program that includes this, by such
// that note their order, fail when they are told to, and kill the process at any of them.

namespace phyllo_test {

struct Interception {
  bool active = false;
  std::vector<std::string> calls = {};
  std::string failing = {};  // the call that fails
  int error = 0;             // with this errno
  int failures = 0;          // so many times
  long largest_write = 0;    // bytes that one write takes; 0: all
  int kill_at = -1;          // the number of the call before which the process is killed
};

inline Interception interception;

// True where the call is to fail; errno is then set.
inline bool fails(std::string const& call) {
  if (!interception.active) return false;
  if (static_cast<int>(interception.calls.size()) == interception.kill_at)
    ::kill(::getpid(), SIGKILL);
  interception.calls.push_back(call);
  if (call != interception.failing || interception.failures == 0) return false;
  --interception.failures;
  errno = interception.error;
  return true;
}

inline std::string kind(int descriptor) {
  struct stat status = {};
  ::fstat(descriptor, &status);
  return S_ISDIR(status.st_mode) ? "directory" : "file";
}

}  // namespace phyllo_test

extern "C" {

ssize_t write(int descriptor, void const* data, size_t size) {
  if (descriptor > 2 && phyllo_test::fails("write")) return -1;
  if (descriptor > 2 && phyllo_test::interception.active &&
      phyllo_test::interception.largest_write > 0) {
    size = std::min(size, static_cast<size_t>(phyllo_test::interception.largest_write));
  }
  return ::syscall(SYS_write, descriptor, data, size);
}

int fsync(int descriptor) {
  if (phyllo_test::fails("fsync " + phyllo_test::kind(descriptor))) return -1;
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

int renameat(int from_directory, char const* from, int to_directory, char const* to) noexcept {
  if (phyllo_test::fails("rename")) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, 0));
}

}  // extern "C"
