// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "image_file.hpp"

#include "synthetic_images.hpp"

#include <phyllo/core/error.hpp>
#include <phyllo/io/hdf5_lock.hpp>

#include <hdf5.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <vector>

namespace {

hid_t valid(hid_t id, std::string const& path) {
  if (id < 0)
    throw phyllo::Error("writing \"" + path +
                        "\": HDF5 returned an error. Check the folder and the disk.");
  return id;
}

void write_dataset(hid_t file, std::string const& path, char const* name, hid_t type,
                   std::vector<hsize_t> const& extents, hsize_t chunk, void const* data) {
  std::vector<hsize_t> chunks = extents;
  chunks[0] = std::min(chunk, extents[0]);
  hid_t const properties = valid(H5Pcreate(H5P_DATASET_CREATE), path);
  valid(H5Pset_chunk(properties, int(chunks.size()), chunks.data()), path);
  hid_t const space = valid(H5Screate_simple(int(extents.size()), extents.data(), nullptr), path);
  hid_t const set =
      valid(H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT), path);
  valid(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), path);
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(properties);
}

}  // namespace

void image_file::write_synthetic(std::string const& path, long count, int extent, unsigned seed) {
  SyntheticImages::Images const images("images", std::size_t(count), 3, std::size_t(extent),
                                       std::size_t(extent));
  Kokkos::parallel_for("draw images",
                       Kokkos::RangePolicy<Kokkos::IndexType<long>>(0, count * extent),
                       SyntheticImages{images, seed});
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), images);
  std::vector<int> labels;
  for (long n = 0; n < count; ++n) labels.push_back(int(n % SyntheticImages::classes));

  std::lock_guard<std::recursive_mutex> const lock(phyllo::hdf5_mutex());
  std::string const temporary = path + ".tmp";
  hid_t const file =
      valid(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path);
  auto const n = hsize_t(count), e = hsize_t(extent);
  write_dataset(file, path, "images", H5T_NATIVE_UINT8, {n, 3, e, e}, 16, host.data());
  write_dataset(file, path, "labels", H5T_NATIVE_INT, {n}, 4096, labels.data());
  char names[SyntheticImages::classes][24] = {};
  for (int c = 0; c < SyntheticImages::classes; ++c)
    std::snprintf(names[c], sizeof names[c], "%s", SyntheticImages::names[c]);
  hid_t const text = valid(H5Tcopy(H5T_C_S1), path);
  valid(H5Tset_size(text, sizeof names[0]), path);
  write_dataset(file, path, "classes", text, {SyntheticImages::classes}, 16, names);
  H5Tclose(text);
  valid(H5Fclose(file), path);
  std::filesystem::rename(temporary, path);
}
