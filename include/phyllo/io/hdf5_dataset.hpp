// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/io/hdf5_file.hpp>
#include <phyllo/io/hdf5_type.hpp>
#include <phyllo/io/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace phyllo::inline PHYLLO_ISA::detail {

// A dataset of an HDF5 file, whose first extent counts samples.
class Hdf5Dataset {
 public:
  // cache_bytes: at most so much is kept of a chunk.
  Hdf5Dataset(Hdf5File const& file, std::string const& name, std::size_t cache_bytes)
      : source_(file.source() + ", dataset " + quoted_path(name)) {
    Hdf5Call const call;
    data_.reset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT));
    if (!data_.is_valid()) refuse_name(file, name, call.reason());
    read_extents();
    read_type();
    read_storage(cache_bytes);
    Hdf5Handle const access(H5Dget_access_plist(data_.get()));
    H5Pset_chunk_cache(access.get(), 521, reads_chunks_ ? cache_bytes_ : 0, 1.0);
    // Again, because the cache of an open dataset does not change.
    data_.reset();
    data_.reset(H5Dopen2(file.get(), name.c_str(), access.get()));
    space_.reset(H5Dget_space(data_.get()));
    file_.reset(H5Iget_file_id(data_.get()));  // of an external link, not that of `file`
    bytes_of_file_ = bytes_of_file();
    if (!data_.is_valid() || !space_.is_valid() || bytes_of_file_ < 0)
      refuse_file(source_, "a dataset that can be read", in_quotes(call.reason()),
                  damaged_hdf5_remedy);
  }

  std::int64_t samples() const { return std::int64_t(extents_.front()); }
  ElementType type() const { return type_; }
  // Extents of one sample.
  std::vector<std::int64_t> const& shape() const { return shape_; }
  std::size_t sample_bytes() const { return sample_bytes_; }
  // Samples of a chunk; 1 where there are none.
  std::int64_t chunk() const { return chunk_; }
  // Whether a part of a chunk costs as much as the whole chunk.
  bool reads_chunks() const { return reads_chunks_; }
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  std::string const& source() const { return source_; }

  // Samples [first, first + count) into host memory, row-major.
  void read(std::int64_t first, std::int64_t count, std::byte* to) const {
    if (first < 0 || count < 0 || first > samples() - count)
      refuse_file(source_, "samples below " + std::to_string(samples()),
                  std::to_string(count) + " from sample " + std::to_string(first) + " on",
                  "read samples that the dataset has");
    if (count == 0 || sample_bytes_ == 0) return;
    Hdf5Call const call;
    std::vector<hsize_t> begin(extents_.size(), 0), size = extents_;
    begin[0] = hsize_t(first);
    size[0] = hsize_t(count);
    // Of the same rank, because HDF5 otherwise goes through chunks number by number.
    Hdf5Handle const memory(H5Screate_simple(int(size.size()), size.data(), nullptr));
    bool const is_read = H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, begin.data(), nullptr,
                                             size.data(), nullptr) >= 0 &&
                         H5Dread(data_.get(), type_in_memory_.get(), memory.get(), space_.get(),
                                 H5P_DEFAULT, to) >= 0;
    std::string const reason = is_read ? "" : call.reason();
    // Beyond the end of a file, HDF5 reads zeros.
    bool const is_shorter = bytes_of_file() < bytes_of_file_;
    if (is_read && !is_shorter) return;
    refuse_file(source_,
                "samples " + std::to_string(first) + " to " + std::to_string(first + count - 1),
                is_shorter ? std::string("a file that has become shorter") : in_quotes(reason),
                is_shorter ? std::string_view("copy or write it again") : damaged_hdf5_remedy);
  }

 private:
  [[noreturn]] void refuse_name(Hdf5File const& file, std::string const& name,
                                std::string const& reason) const {
    std::string const bare = name.substr(std::min(name.size(), name.find_first_not_of('/')));
    std::string list;
    auto const names = file.datasets();
    for (std::string const& one : names) {
      if (one == bare)
        refuse_file(source_, "a dataset that can be opened", in_quotes(reason),
                    damaged_hdf5_remedy);
    }
    for (std::size_t i = 0; i < std::min(names.size(), Hdf5File::most_listed); ++i)
      list += (list.empty() ? "" : ", ") + in_quotes(names[i]);
    if (names.size() > Hdf5File::most_listed) list += " and others";
    refuse_file(source_, list.empty() ? "a file with datasets" : "one of the datasets " + list,
                "a name that is not a dataset", "check the name");
  }
  void read_extents() {
    Hdf5Handle const space(H5Dget_space(data_.get()));
    int const rank = H5Sget_simple_extent_ndims(space.get());
    if (rank > 0 && rank <= H5S_MAX_RANK) {
      extents_.resize(std::size_t(rank));
      if (H5Sget_simple_extent_dims(space.get(), extents_.data(), nullptr) < 0) extents_.clear();
    }
    constexpr auto largest = hsize_t(std::numeric_limits<std::int64_t>::max());
    bool fits = !extents_.empty();
    for (hsize_t const extent : extents_) fits = fits && extent <= largest;
    if (!fits)
      refuse_file(source_, "an array of samples", rank == 0 ? "a scalar or nothing" : "no extents",
                  "write an array whose first extent counts samples");
    shape_.assign(extents_.begin() + 1, extents_.end());
  }
  void read_type() {
    Hdf5Handle const type(H5Dget_type(data_.get()));
    auto const found = element_type_of_hdf5(type.get());
    if (!found)
      refuse_file(source_, "floating numbers of 2, 4 or 8 bytes, or integers of 1, 2, 4 or 8 bytes",
                  hdf5_type_text(type.get()), "convert the array and write it again");
    type_ = *found;
    type_in_memory_.reset(hdf5_type_of(type_));
    std::vector<std::int64_t> all(extents_.begin(), extents_.end());
    if (!stored_size(type_, all) || !stored_size(type_, shape_))
      refuse_file(source_, "an array of samples", "extents " + shape_text(all),
                  damaged_hdf5_remedy);
    sample_bytes_ = std::size_t(*stored_size(type_, shape_));
  }
  void read_storage(std::size_t cache_bytes) {
    Hdf5Handle const storage(H5Dget_create_plist(data_.get()));
    // Both read as fill values where a file is missing.
    if (H5Pget_layout(storage.get()) == H5D_VIRTUAL || H5Pget_external_count(storage.get()) > 0)
      refuse_file(source_, "numbers in the file itself", "a dataset that refers to other files",
                  "pass these files as several paths, or copy the dataset");
    int const filters = H5Pget_nfilters(storage.get());
    for (int i = 0; i < filters; ++i) {
      char name[64] = {};
      unsigned flags = 0, of_filter = 0;
      std::size_t none = 0;
      H5Z_filter_t const filter = H5Pget_filter2(storage.get(), unsigned(i), &flags, &none, nullptr,
                                                 sizeof name - 1, name, &of_filter);
      if (filter < 0 || H5Zfilter_avail(filter) <= 0)
        refuse_file(source_, "compression that this HDF5 library has",
                    "filter " + std::to_string(filter) + " " + in_quotes(name),
                    "set HDF5_PLUGIN_PATH to the folder of its plugin, or write the dataset with "
                    "gzip");
    }
    if (H5Pget_layout(storage.get()) != H5D_CHUNKED) return;
    std::vector<hsize_t> chunk(extents_.size(), 1);
    if (H5Pget_chunk(storage.get(), int(chunk.size()), chunk.data()) != int(chunk.size()) ||
        *std::min_element(chunk.begin(), chunk.end()) < 1)
      refuse_file(source_, "extents of a chunk", "none", damaged_hdf5_remedy);
    chunk_bytes_ = element_size(type_);
    reads_chunks_ = filters > 0;
    for (std::size_t d = 0; d < chunk.size(); ++d) {
      chunk_bytes_ *= chunk[d];  // below 4 GiB in HDF5 1, below 2^63 since
      reads_chunks_ = reads_chunks_ || (d > 0 && chunk[d] < extents_[d]);
    }
    chunk_ = std::int64_t(std::clamp<hsize_t>(extents_[0], 1, chunk[0]));
    if (chunk_bytes_ <= cache_bytes) cache_bytes_ = std::size_t(chunk_bytes_);
  }
  // Of the file that contains the dataset; -1 where that cannot be found out.
  std::int64_t bytes_of_file() const {
    if (!file_.is_valid()) return -1;
    Hdf5Handle const access(H5Fget_access_plist(file_.get()));
    void* descriptor = nullptr;
    struct stat status = {};
    if (H5Pget_driver(access.get()) != H5FD_SEC2 ||
        H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &descriptor) < 0 || descriptor == nullptr ||
        ::fstat(*static_cast<int const*>(descriptor), &status) != 0)
      return -1;
    return std::int64_t(status.st_size);
  }

  std::string source_;
  Hdf5Handle data_, space_, file_, type_in_memory_;
  std::vector<hsize_t> extents_;
  std::vector<std::int64_t> shape_;
  ElementType type_ = ElementType::f32;
  std::size_t sample_bytes_ = 0, cache_bytes_ = 0;
  std::int64_t chunk_ = 1, bytes_of_file_ = 0;
  std::uint64_t chunk_bytes_ = 0;
  bool reads_chunks_ = false;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
