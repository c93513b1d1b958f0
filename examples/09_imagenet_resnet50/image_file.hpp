// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

/// The HDF5 files that this example trains from, as images_to_hdf5.py writes them too: "images"
/// (N, 3, extent, extent) of unsigned bytes, "labels" (N) of 32-bit integers, and the names of the
/// "classes".
namespace image_file {

/// Writes synthetic images; seed: of the images.
///
/// errors   run: a file that cannot be written -> phyllo::Error
void write_synthetic(std::string const& path, long count, int extent, unsigned seed);

}  // namespace image_file
