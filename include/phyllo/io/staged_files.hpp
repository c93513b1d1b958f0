// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/warning.hpp>
#include <phyllo/io/input_file.hpp>
#include <phyllo/io/refuse_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>  // rename
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace phyllo::inline PHYLLO_ISA {

/// Where StagedFiles are copied to.
struct StagingOptions {
  std::string folder = {};  // on a disk of the node, such as /local/scratch
  long bytes = 0;           // bound of the sum of all copies; files beyond it are not copied
};

namespace detail {

// A file that is copied to a folder once for all processes that use the copy. Each of them holds a
// shared lock of a file beside the copy; the last one removes both.
class StagedFile {
 public:
  StagedFile(std::string const& path, std::string const& folder, std::uint64_t budget)
      : path_(path), source_("staging " + quoted_path(path)) {
    InputFile original(path, source_);
    size_ = original.size();
    if (size_ > budget) {
      keep_original("its " + std::to_string(size_) + " bytes exceed the " + std::to_string(budget) +
                    " that are left of StagingOptions::bytes");
      return;
    }
    name_ = name_of_copy();
    copy_ = folder + "/" + name_;
    try {
      // Undecided where another process begins to copy the file, or has removed the copy.
      constexpr int most_attempts = 10'000;
      for (int attempt = 0; !join(original); ++attempt) {
        close();
        if (attempt == most_attempts) {
          keep_original("its lock does not become free");
          return;
        }
        ::usleep(1000);
      }
    } catch (...) {
      release();
      throw;
    }
  }
  StagedFile(StagedFile const&) = delete;
  StagedFile& operator=(StagedFile const&) = delete;
  ~StagedFile() { release(); }

  std::string const& path() const { return is_copied_ ? copy_ : path_; }
  bool is_copied() const { return is_copied_; }
  std::uint64_t size() const { return size_; }

 private:
  std::string lock_path() const { return copy_ + ".lock"; }
  std::string part_path() const { return copy_ + ".part"; }

  // The same in all processes, and another one where the original was replaced.
  std::string name_of_copy() const {
    struct stat status = {};
    if (::stat(path_.c_str(), &status) != 0)
      refuse_file(source_, "a file that can be opened", in_quotes(system_message(errno)),
                  "check the path and its permissions");
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a, 64 bits
    for (std::uint64_t const part :
         {std::uint64_t(status.st_ino), std::uint64_t(status.st_size),
          std::uint64_t(status.st_mtim.tv_sec), std::uint64_t(status.st_mtim.tv_nsec)})
      for (int shift = 0; shift < 64; shift += 8)
        hash = (hash ^ (part >> shift & 0xff)) * 1099511628211u;
    return "phyllo-" + std::to_string(::geteuid()) + "-" + std::to_string(hash) + "-" +
           path_.substr(path_.rfind('/') + 1);
  }

  // One attempt to share the copy, or to make it. Returns whether it is decided what is read. The
  // shared lock is held then, except where the folder cannot be used.
  bool join(InputFile& original) {
    if (!open_lock()) return true;
    if (!lock(LOCK_SH)) {
      keep_original("its folder has no locks: " + system_message(errno));
      return true;
    }
    if (!is_current()) return false;
    is_copied_ = has_copy();
    if (is_copied_) return true;
    bool const was_tried = has_mark();
    if (!lock_alone(was_tried ? 50 : 1)) {
      // Others use what there is: nothing, where one of them could not copy the file.
      if (!was_tried || !lock(LOCK_SH) || !is_current()) return false;
      is_copied_ = has_copy();
      return is_copied_ || has_mark();
    }
    if (!is_current()) return false;
    if (!has_copy() && !make_copy(original)) return true;
    // Not in one step: in between, a process may have removed what has no other users.
    if (!lock(LOCK_SH) || !is_current()) return false;
    is_copied_ = has_copy();
    return is_copied_ || has_mark();
  }
  // A folder such as /tmp belongs to everybody: files of other users and links are not touched.
  static bool is_own(struct stat const& status) {
    return S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
  }
  bool open_lock() {
    do {
      descriptor_ = ::open(lock_path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0 && (errno == ENOENT || errno == ENOTDIR))
      refuse_file(source_, "a folder for copies", in_quotes(system_message(errno)),
                  "set StagingOptions::folder to a folder on a disk of this node");
    struct stat status = {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && is_own(status)) return true;
    keep_original("its lock cannot be used: " +
                  (descriptor_ < 0 ? system_message(errno) : std::string("another user owns it")));
    return false;
  }
  bool lock(int how) const {
    int result = 0;
    do {
      result = ::flock(descriptor_, how);
    } while (result != 0 && errno == EINTR);
    return result == 0;
  }
  // Several attempts, because a mark may be that of a process that was killed: those that use the
  // file keep the lock, but those that look at the mark do not.
  bool lock_alone(int attempts) const {
    while (!lock(LOCK_EX | LOCK_NB)) {
      if (--attempts == 0) return false;
      ::usleep(1000);
    }
    return true;
  }
  // Whether the lock is that of the file that has its name now.
  bool is_current() const {
    struct stat open = {}, named = {};
    return ::fstat(descriptor_, &open) == 0 && ::lstat(lock_path().c_str(), &named) == 0 &&
           open.st_ino == named.st_ino && open.st_dev == named.st_dev;
  }
  bool has_copy() const {
    struct stat status = {};
    return ::lstat(copy_.c_str(), &status) == 0 && is_own(status) &&
           std::uint64_t(status.st_size) == size_;
  }
  // One process of a node tries to copy the file. A permission of the lock's file, which a full
  // disk still has room for, tells the others that it could not.
  bool has_mark() const {
    struct stat status = {};
    return ::fstat(descriptor_, &status) == 0 && (status.st_mode & S_IXUSR) != 0;
  }
  bool set_mark(bool is_set) const { return ::fchmod(descriptor_, is_set ? 0700 : 0600) == 0; }

  // With the exclusive lock held. Returns whether there is a copy or a mark.
  bool make_copy(InputFile& original) {
    std::string const part = part_path();
    ::unlink(part.c_str());  // of a process that was killed
    int error = 0;
    struct statvfs disk = {};
    if (!set_mark(false)) error = errno;
    if (error == 0 && ::fstatvfs(descriptor_, &disk) == 0 &&
        std::uint64_t(disk.f_bavail) * disk.f_frsize < size_)
      error = ENOSPC;
    if (error == 0) error = write_part(original, part);
    if (error == 0 && ::rename(part.c_str(), copy_.c_str()) != 0) error = errno;
    if (error == 0) return true;
    ::unlink(part.c_str());
    warn_of("its copy failed: " + system_message(error));
    if (set_mark(true)) return true;
    close();
    return false;
  }
  // Returns the error number of what failed, or 0.
  int write_part(InputFile& original, std::string const& part) const {
    int const to = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to < 0) return errno;
    int error = 0;
    try {
      std::vector<std::byte> piece(std::size_t(std::min<std::uint64_t>(size_, 4 << 20)));
      for (std::uint64_t done = 0; done < size_ && error == 0; done += piece.size()) {
        piece.resize(std::size_t(std::min<std::uint64_t>(piece.size(), size_ - done)));
        original.read(piece.data(), piece.size());
        for (std::size_t at = 0; at < piece.size() && error == 0;) {
          ::ssize_t const count = ::write(to, piece.data() + at, piece.size() - at);
          if (count > 0) at += std::size_t(count);
          if (count <= 0 && !(count < 0 && errno == EINTR)) error = count < 0 ? errno : ENOSPC;
        }
      }
      if (name_of_copy() != name_)
        refuse_file(source_, "a file that does not change", "one that changed while it was copied",
                    "stage it when it is complete");
    } catch (...) {
      ::close(to);
      ::unlink(part.c_str());
      throw;
    }
    // A power failure must not leave a file of the right size without its numbers.
    if (error == 0 && ::fsync(to) != 0 && errno != EINVAL) error = errno;
    if (::close(to) != 0 && error == 0) error = errno;
    return error;
  }

  void warn_of(std::string const& reason) const {
    warn("StagedFiles: " + quoted_path(path_) + " is read where it is, because " + reason + ".");
  }
  void keep_original(std::string const& reason) {
    close();
    warn_of(reason);
  }
  void release() {
    // Exclusive: no other process uses the copy.
    if (descriptor_ >= 0 && lock(LOCK_EX | LOCK_NB) && is_current()) {
      for (std::string const& name : {part_path(), copy_, lock_path()}) ::unlink(name.c_str());
    }
    close();
  }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  std::string path_, source_, name_, copy_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;  // of the lock's file
  bool is_copied_ = false;
};

}  // namespace detail

/// Files that are read from a disk of the node: StagedFiles files({"x.npy", "y.npy"}, {.folder =
/// "/local/scratch", .bytes = 100L << 30}); NpySource source(files.paths());
///
/// The first process of a node copies each whole file, the others wait and share the copy. It is
/// written under another name and renamed when it has the size of the original.
///
/// options  StagingOptions: folder and bytes are both required
/// state    copies in the folder, under names that begin with phyllo-, until the last StagedFiles
///          of all processes that use them is destroyed; keep it as long as the training. A process
///          that is killed leaves its copies if it was the last one; the next run uses them
/// threads  any number may call paths() at the same time
/// errors   run: an original that cannot be read or that changes, no such folder -> Error. A file
///          beyond the budget, a full disk and a folder that cannot be used -> the original is
///          read, with a warning
/// cost     construction copies, or waits for the process that copies. No messages between ranks
class StagedFiles {
 public:
  StagedFiles(std::vector<std::string> const& paths, StagingOptions const& options) {
    if (options.folder.empty() || options.bytes < 1)
      throw Error(
          "StagedFiles: expected a folder and a number of bytes above 0, got " +
          detail::quoted_path(options.folder) + " and " + std::to_string(options.bytes) +
          ". Set StagingOptions::folder to a folder on a disk of this node, and bytes to what the "
          "copies may occupy there.");
    auto budget = std::uint64_t(options.bytes);
    for (std::string const& path : paths) {
      files_.push_back(std::make_shared<detail::StagedFile>(path, options.folder, budget));
      if (files_.back()->size() <= budget) budget -= files_.back()->size();
    }
  }

  /// Of the copies, or of the originals where there is none.
  std::vector<std::string> paths() const {
    std::vector<std::string> paths;
    for (auto const& file : files_) paths.push_back(file->path());
    return paths;
  }
  /// Whether all files were copied.
  bool are_copied() const {
    return std::all_of(files_.begin(), files_.end(),
                       [](auto const& file) { return file->is_copied(); });
  }

 private:
  std::vector<std::shared_ptr<detail::StagedFile const>> files_;
};

}  // namespace phyllo::inline PHYLLO_ISA
