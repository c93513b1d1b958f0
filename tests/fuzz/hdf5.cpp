// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever datasets a program writes to HDF5 files, they are refused, or runs of samples have the
// numbers that HDF5 reads at once. HDF5 writes the files: what its own parser does with bytes that
// it did not write is not tested here, except for the end of a file that was cut.

#include <fuzz/require.hpp>
#include <phyllo/core/warning.hpp>
#include <phyllo/data/hdf5_source.hpp>

#include <cstring>
#include <vector>

using namespace phyllo_test;

namespace {

hid_t type_of(Choices& choose) {
  static hid_t const numbers[] = {
      H5T_STD_I8LE,   H5T_STD_U8BE,    H5T_STD_I16BE,  H5T_STD_U16LE,
      H5T_STD_I32LE,  H5T_STD_U32BE,   H5T_STD_I64BE,  H5T_STD_U64LE,
      H5T_IEEE_F32LE, H5T_IEEE_F32BE,  H5T_IEEE_F64LE, H5T_IEEE_F64BE,
      H5T_C_S1,       H5T_STD_REF_OBJ, H5T_STD_B16LE,  H5T_NATIVE_LDOUBLE};
  hid_t type = H5Tcopy(numbers[choose.below(16)]);
  switch (choose.below(8)) {
    case 1: {
      unsigned const precision = choose.below(70), offset = choose.below(8);
      H5Tset_precision(type, precision);
      H5Tset_offset(type, offset);
      break;
    }
    case 2:
      H5Tset_size(type, 1 + choose.below(9));
      break;
    case 3: {
      unsigned fields[5];
      for (unsigned& field : fields) field = choose.below(64);
      H5Tset_fields(type, fields[0], fields[1], fields[2], fields[3], fields[4]);
      H5Tset_ebias(type, choose.byte());
      break;
    }
    case 4:  // a half
      H5Tset_fields(type, 15, 10, 5, 0, 10);
      H5Tset_size(type, 2);
      H5Tset_ebias(type, 14 + choose.below(3));
      break;
    case 5: {
      hsize_t const extent = 1 + choose.below(3);
      hid_t const array = H5Tarray_create2(type, 1, &extent);
      H5Tclose(type);
      type = array;
      break;
    }
    default:
      break;
  }
  return type;
}

void write_dataset(Choices& choose, hid_t file, std::string const& name, hsize_t samples) {
  hid_t const type = type_of(choose);
  unsigned const which = choose.below(16);
  int const rank = which == 15 ? 0 : int(1 + which % 3);
  hsize_t extents[3] = {1, 1, 1}, most[3] = {}, chunk[3] = {};
  for (int d = 0; d < rank; ++d) {
    extents[d] = d == 0 ? samples : choose.below(5);
    chunk[d] = 1 + choose.below(d == 0 ? 12 : 5);
    most[d] = d == 0 && choose.below(2) == 1 ? H5S_UNLIMITED : extents[d];
  }
  hid_t const properties = H5Pcreate(H5P_DATASET_CREATE);
  unsigned const storage = choose.below(8);
  if (storage >= 2) H5Pset_chunk(properties, rank, chunk);
  if (storage == 1) H5Pset_layout(properties, H5D_COMPACT);
  if (storage == 3 || storage == 4) H5Pset_deflate(properties, 1);
  if (storage == 4) H5Pset_shuffle(properties);
  if (storage == 5) H5Pset_fletcher32(properties);
  if (storage == 6) H5Pset_nbit(properties);
  if (storage == 7) H5Pset_filter(properties, 300, H5Z_FLAG_OPTIONAL, 0, nullptr);
  hid_t const space = rank == 0 ? H5Screate(choose.below(2) == 0 ? H5S_SCALAR : H5S_NULL)
                                : H5Screate_simple(rank, extents, most);
  hid_t const data =
      H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  if (data >= 0 && choose.below(8) != 0) {
    std::vector<std::uint8_t> bytes(40 * 4 * 4 * 64);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = std::uint8_t(i < 32 ? choose.byte() : i * 37 + i / 251);
    if (H5Tget_class(type) != H5T_REFERENCE)
      H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  }
  if (data >= 0) H5Dclose(data);
  H5Sclose(space);
  H5Pclose(properties);
  if (type >= 0) H5Tclose(type);
}

std::vector<char> image_of(Choices& choose) {
  std::vector<char> image;
  hid_t const access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, false);
  if (choose.below(2) == 1) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  hid_t const file = H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  unsigned const samples = choose.below(40), more = choose.below(32);
  write_dataset(choose, file, "x", samples);
  write_dataset(choose, file, "y", samples + (more == 31 ? 1 : 0));
  if (choose.below(4) == 0) {
    hid_t const group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "/", group, "up", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
  }
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  image.resize(std::size_t(H5Fget_file_image(file, nullptr, 0)));
  H5Fget_file_image(file, image.data(), image.size());
  H5Fclose(file);
  H5Pclose(access);
  return image;
}

// Whether the file is read.
bool accepts(Choices choose) {
  static ScratchFile const scratch;
  unsigned const what = choose.below(16);
  std::vector<char> image = image_of(choose);
  if (what == 0)
    image.resize(image.size() - std::min<std::size_t>(image.size(), choose.byte() * 32));
  scratch.write(image.data(), image.size());
  try {
    std::vector<std::string> names{"x"};
    if (what % 2 == 1) names.push_back("y");
    if (what == 2) names.push_back("group");
    long const cache = long(choose.below(4)) * 500;
    phyllo::Hdf5Source const source(scratch.path(), names, {.cache_bytes = cache});
    long const samples = source.samples();
    require(source.block() >= 1 && source.chunk() >= 1 && source.block() % source.chunk() == 0,
            "blocks are whole chunks");
    std::vector<std::vector<std::byte>> all;
    hid_t const file = H5Fopen(scratch.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (std::size_t a = 0; a < names.size(); ++a) {
      all.emplace_back(std::size_t(samples * source.arrays()[a].bytes()));
      hid_t const dataset = H5Dopen2(file, names[a].c_str(), H5P_DEFAULT);
      // The file's type in this machine's order, with all bits of its bytes.
      hid_t const stored = H5Dget_type(dataset), type = H5Tcopy(stored);
      H5Tset_order(type, H5T_ORDER_LE);
      if (H5Tget_class(type) == H5T_INTEGER) {
        H5Tset_offset(type, 0);
        H5Tset_precision(type, 8 * H5Tget_size(type));
      }
      require(all[a].empty() || H5Tget_size(type) == phyllo::element_size(source.arrays()[a].type),
              "a type of HDF5 has the size of Phyllo's");
      if (!all[a].empty())
        require(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all[a].data()) >= 0,
                "HDF5 reads what Phyllo accepts");
      H5Tclose(type);
      H5Tclose(stored);
      H5Dclose(dataset);
    }
    H5Fclose(file);
    long first = 0;
    for (int run = 0; run < 30; ++run) {
      if (choose.below(3) == 0) first = samples == 0 ? 0 : long(choose.byte()) % samples;
      long const count = std::min(samples - first, long(choose.below(20)));
      std::vector<std::vector<std::byte>> part;
      std::vector<std::byte*> to;
      for (std::size_t a = 0; a < names.size(); ++a) {
        part.emplace_back(std::size_t(count * source.arrays()[a].bytes()));
        to.push_back(part.back().data());
      }
      source.read(first, count, to.data());
      for (std::size_t a = 0; a < names.size(); ++a)
        require(part[a].empty() ||
                    std::memcmp(part[a].data(), all[a].data() + first * source.arrays()[a].bytes(),
                                part[a].size()) == 0,
                "a run has the numbers of the whole");
      first += count;
    }
    return true;
  } catch (phyllo::Error const& error) {
    require_sentence(error.what());
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  phyllo::set_warning_sink([](char const* sentence) { require_sentence(sentence); });
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  // Two datasets of 20 samples, the first of chunks.
  static std::uint8_t const good[] = {1, 0, 20, 0, 3, 0, 1, 3, 0, 2, 2, 0, 4, 1, 5, 0, 0};
  static bool const accepts_one = accepts(Choices(good, sizeof good));
  require(accepts_one, "a good file is read");
  accepts(Choices(data, size));
  return 0;
}
