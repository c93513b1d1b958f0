// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/io/hdf5_lock.hpp>
#include <phyllo/io/input_file.hpp>
#include <phyllo/io/refuse_file.hpp>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::detail {

inline constexpr std::string_view damaged_hdf5_remedy =
    "the file is damaged, not complete or not an HDF5 file, so copy or write it again";

// An HDF5 file that is open for reading.
class Hdf5File {
 public:
  /// Names that a message lists; `datasets` returns one more if there are others.
  static constexpr std::size_t most_listed = 20;

  explicit Hdf5File(std::string const& path) : source_("reading " + quoted_path(path)) {
    check_is_file(path);
    Hdf5Call const call;
    Hdf5Handle const access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_sec2(access.get());
    // Samples are contiguous: with a buffer, HDF5 reads 64 KiB for each run of a small dataset.
    H5Pset_sieve_buf_size(access.get(), 0);
    file_.reset(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
    if (file_.is_valid()) return;
    std::string reason = call.reason();
    bool const is_lock = reason.find("unable to lock") != std::string::npos;
    bool const is_locked =
        is_lock && reason.find("errno = " + std::to_string(EAGAIN) + ",") != std::string::npos;
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
    if (is_lock && !is_locked) {  // a file system without locks
      H5Pset_file_locking(access.get(), false, true);
      file_.reset(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
      if (file_.is_valid()) return;
      reason = call.reason();
    }
#endif
    refuse_file(source_, "a complete HDF5 file", in_quotes(reason),
                is_locked ? "another process writes it, so read it when that has closed it"
                          : damaged_hdf5_remedy);
  }

  hid_t get() const { return file_.get(); }
  // "reading "PATH"", with which messages about the file begin.
  std::string const& source() const { return source_; }

  // The names of the first datasets, for messages.
  std::vector<std::string> datasets() const {
    Hdf5Call const call;
    std::vector<std::string> names;
    long links = 0;
    add_datasets(file_.get(), "", 0, links, names);
    return names;
  }

 private:
  // The operating system's reason is clearer than that of HDF5.
  void check_is_file(std::string const& path) const { InputFile const file(path, source_); }

  static constexpr std::size_t most_names = most_listed + 1;
  static constexpr long most_links = 1000;
  static constexpr int deepest = 8;  // groups may contain each other

  static void add_datasets(hid_t group, std::string const& before, int depth, long& links,
                           std::vector<std::string>& names) {
    H5G_info_t info = {};
    if (depth > deepest || H5Gget_info(group, &info) < 0) return;
    std::vector<std::string> groups;  // after the datasets beside them
    for (hsize_t i = 0; i < info.nlinks && names.size() < most_names && links < most_links; ++i) {
      ++links;
      char name[256] = {};
      if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name,
                             H5P_DEFAULT) < 0)
        continue;
      Hdf5Handle const object(H5Oopen(group, name, H5P_DEFAULT));
      H5I_type_t const kind = object.is_valid() ? H5Iget_type(object.get()) : H5I_BADID;
      if (kind == H5I_DATASET) names.push_back(before + name);
      if (kind == H5I_GROUP) groups.push_back(name);
    }
    for (std::string const& name : groups) {
      Hdf5Handle const object(H5Oopen(group, name.c_str(), H5P_DEFAULT));
      if (object.is_valid() && names.size() < most_names)
        add_datasets(object.get(), before + name + "/", depth + 1, links, names);
    }
  }

  std::string source_;
  Hdf5Handle file_;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
