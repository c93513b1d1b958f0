// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>  // renameat
#include <span>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <phyllo/io/refuse_file.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A file that appears under its name complete or not at all, and survives a loss of power.
///
/// Bytes are written to a new file in the same directory. commit() flushes them to the disk,
/// renames the file in one step, which replaces an existing one, and flushes the name. Without
/// commit(), on an error and after a crash, an existing file is unchanged. A crash may leave the
/// new file under its temporary name, PATH.PROCESS-NUMBER.tmp, which nothing reads.
///
/// options  a symbolic link at the path is replaced, not followed
/// errors   run: directory missing or not writable, path names something other than a file, disk
///          full -> Error; the temporary file is removed. A file size limit (ulimit -f) is an Error
///          where the process ignores SIGXFSZ; by default that signal ends the process, and the
///          temporary file remains
/// cost     two flushes to the disk at commit()
/// source   Pillai et al., OSDI 2014, "All File Systems Are Not Created Equal": write, fsync(file),
///          rename, fsync(directory)
class AtomicFile {
 public:
  explicit AtomicFile(std::string const& path) : path_(path) {
    std::size_t const slash = path.rfind('/');
    std::string const directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    name_ = slash == std::string::npos ? path : path.substr(slash + 1);
    struct stat status = {};
    bool const present = ::stat(path.c_str(), &status) == 0;
    if (name_.empty() || name_ == "." || name_ == ".." || (present && !S_ISREG(status.st_mode))) {
      detail::refuse_file(source(), "the path of a file", "that of a directory, pipe or device",
                          "name a file");
    }
    directory_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_ < 0) fail("a directory that can be opened", errno);
    open_temporary();
  }

  AtomicFile(AtomicFile const&) = delete;
  AtomicFile& operator=(AtomicFile const&) = delete;
  ~AtomicFile() { discard(); }

  /// Appends bytes.
  void write(std::span<std::byte const> bytes) {
    constexpr std::size_t largest_call = std::size_t{1} << 30;  // Linux writes no more than 2 GiB
    if (descriptor_ < 0) {
      detail::refuse_file(source(), "an open file", "one that is already written or has failed",
                          "construct a new AtomicFile");
    }
    while (!bytes.empty()) {
      ::ssize_t const count =
          ::write(descriptor_, bytes.data(), std::min(bytes.size(), largest_call));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        int const error = count < 0 ? errno : ENOSPC;  // 0 without a reason: full
        fail("room for " + std::to_string(bytes.size()) + " more bytes", error);
      }
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  /// Replaces the file under its name by what was written, durably.
  void commit() {
    write({});
    int result = 0;
    do {
      result = ::fsync(descriptor_);
    } while (result != 0 && errno == EINTR);
    // Any other failure must not be tried again: the system may have dropped the unwritten pages.
    if (result != 0) fail("the file to become durable", errno);
    result = ::close(descriptor_);
    descriptor_ = -1;
    if (result != 0 && errno != EINTR) fail("the file to be closed", errno);
    if (::renameat(directory_, temporary_.c_str(), directory_, name_.c_str()) != 0) {
      fail("the file to be renamed", errno);
    }
    temporary_.clear();
    do {
      result = ::fsync(directory_);
    } while (result != 0 && errno == EINTR);
    int const error = errno;
    discard();
    // EINVAL: a file system that has no such operation on directories.
    if (result != 0 && error != EINVAL) {
      detail::refuse_file(source(), "the directory to become durable",
                          detail::in_quotes(detail::system_message(error)),
                          "the new file is in place but a loss of power may bring the old one "
                          "back, so write it again");
    }
  }

 private:
  std::string source() const { return "writing " + detail::quoted_path(path_); }

  void open_temporary() {
    // Two processes, also on two machines with one file system, and two threads may meet here: the
    // system decides whose name it is.
    constexpr int attempts = 1000;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      std::string const name = temporary_name(attempt);
      constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
      descriptor_ = ::openat(directory_, name.c_str(), flags, 0666);  // less the user's umask
      if (descriptor_ >= 0) {
        temporary_ = name;
        return;
      }
      if (errno != EEXIST && errno != EINTR) break;
    }
    fail("a directory that can be written to", errno);
  }

  std::string temporary_name(int attempt) const {
    return name_ + "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
  }

  static std::string_view remedy(int error) {
    switch (error) {
      case ENOSPC:
      case EDQUOT:
        return "free disk space or choose another disk, and write again";
      case EFBIG:
        return "raise the file size limit or choose another file system";
      case ENOENT:
      case ENOTDIR:
        return "create the directory first";
      case EACCES:
      case EPERM:
      case EROFS:
        return "choose a directory that may be written to";
      case ENAMETOOLONG:
        return "choose a shorter name";
      case EEXIST:
        return "remove the .tmp files that earlier runs have left beside it";
      default:
        return "check the disk or the network file system";
    }
  }

  [[noreturn]] void fail(std::string_view expected, int error) {
    discard();
    detail::refuse_file(source(), expected, detail::in_quotes(detail::system_message(error)),
                        "a file that was there before is unchanged; " + std::string(remedy(error)));
  }

  void discard() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
    if (!temporary_.empty()) ::unlinkat(directory_, temporary_.c_str(), 0);
    temporary_.clear();
    if (directory_ >= 0) ::close(directory_);
    directory_ = -1;
  }

  std::string path_;
  std::string name_;       // of the file in its directory
  std::string temporary_;  // the name until commit(); empty where there is none to remove
  int directory_ = -1;
  int descriptor_ = -1;
};

}  // namespace phyllo::inline PHYLLO_ISA
