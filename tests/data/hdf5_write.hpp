// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>

#include <hdf5.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace phyllo_test {

inline hid_t valid(hid_t id) {
  if (id < 0) throw phyllo::Error("HDF5 refuses a call of the test.");
  return id;
}

// How a dataset is stored.
struct Storage {
  std::vector<hsize_t> chunk = {};  // empty: contiguous
  int deflate = 0;
  std::function<void(hid_t)> more = {};  // sets other properties
};

// A dataset with these bytes, which are in the order of the type. The caller's `group` stays open.
inline void write_dataset(hid_t group, std::string const& name, hid_t type,
                          std::vector<hsize_t> const& extents, std::string_view bytes,
                          Storage const& storage = {}) {
  hid_t const properties = valid(H5Pcreate(H5P_DATASET_CREATE));
  if (!storage.chunk.empty())
    valid(H5Pset_chunk(properties, int(storage.chunk.size()), storage.chunk.data()));
  if (storage.deflate > 0) {
    valid(H5Pset_shuffle(properties));
    valid(H5Pset_deflate(properties, unsigned(storage.deflate)));
  }
  if (storage.more) storage.more(properties);
  hid_t const space =
      valid(extents.empty() ? H5Screate(H5S_SCALAR)
                            : H5Screate_simple(int(extents.size()), extents.data(), nullptr));
  hid_t const data =
      valid(H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  if (!bytes.empty()) valid(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
  H5Dclose(data);
  H5Sclose(space);
  H5Pclose(properties);
}

// A file that `write` fills.
inline void write_hdf5(std::string const& path, std::function<void(hid_t)> const& write) {
  hid_t const file = valid(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  write(file);
  H5Fclose(file);
}

}  // namespace phyllo_test
