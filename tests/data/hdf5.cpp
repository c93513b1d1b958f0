// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Datasets of HDF5 and NetCDF-4 files bit for bit; few bytes are read; everything else is one
// sentence, and HDF5 prints nothing.

#include <data/bytes_read.hpp>
#include <data/hdf5_write.hpp>
#include <io/safetensors_file.hpp>
#include <phyllo/data/batches.hpp>
#include <phyllo/data/hdf5_source.hpp>
#include <phyllo/data/view_source.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace phyllo;
using namespace phyllo_test;

namespace {

std::string numbers(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = char(std::uint8_t(i * 37 + i / 251));
  return text;
}

// Samples [first, first + count) of every array, one after the other.
std::string read(Hdf5Source const& source, long first, long count) {
  std::vector<std::string> parts;
  std::vector<std::byte*> to;
  for (SampleArray const& array : source.arrays())
    parts.emplace_back(std::size_t(count * array.bytes()), '\0');
  for (std::string& part : parts) to.push_back(reinterpret_cast<std::byte*>(part.data()));
  source.read(first, count, to.data());
  std::string all;
  for (std::string const& part : parts) all += part;
  return all;
}

hid_t half(H5T_order_t order) {
  hid_t const type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  H5Tset_order(type, order);
  return type;
}

// What is written to file descriptor 2 while this exists.
class StandardError {
 public:
  explicit StandardError(std::string const& path) : path_(path), kept_(::dup(2)) {
    int const file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    ::dup2(file, 2);
    ::close(file);
  }
  ~StandardError() { end(); }
  std::string end() {
    if (kept_ < 0) return {};
    ::dup2(kept_, 2);
    ::close(std::exchange(kept_, -1));
    return contents(path_);
  }

 private:
  std::string path_;
  int kept_;
};

std::string last_warning;

}  // namespace

TEST_CASE("hdf5: every type, byte order and storage, bit for bit, from any sample on") {
  TemporaryDirectory const folder;
  std::string const path = folder / "x.h5";
  hid_t const half_le = half(H5T_ORDER_LE), half_be = half(H5T_ORDER_BE);
  struct Case {
    hid_t type;
    std::size_t bytes;
    bool is_swapped;
    ElementType read_as;
  };
  Case const cases[] = {
      {half_le, 2, false, ElementType::f16},        {half_be, 2, true, ElementType::f16},
      {H5T_IEEE_F32LE, 4, false, ElementType::f32}, {H5T_IEEE_F32BE, 4, true, ElementType::f32},
      {H5T_IEEE_F64LE, 8, false, ElementType::f64}, {H5T_IEEE_F64BE, 8, true, ElementType::f64},
      {H5T_STD_U8LE, 1, false, ElementType::u8},    {H5T_STD_I8BE, 1, false, ElementType::i8},
      {H5T_STD_I16LE, 2, false, ElementType::i16},  {H5T_STD_U16BE, 2, true, ElementType::u16},
      {H5T_STD_I32BE, 4, true, ElementType::i32},   {H5T_STD_U32LE, 4, false, ElementType::u32},
      {H5T_STD_I64LE, 8, false, ElementType::i64},  {H5T_STD_U64BE, 8, true, ElementType::u64}};
  auto const compact = [](hid_t properties) { H5Pset_layout(properties, H5D_COMPACT); };
  for (Case const& c : cases)
    for (Storage const& storage : std::vector<Storage>{
             {}, {{}, 0, compact}, {{2, 2, 3}}, {{5, 2, 3}, 1}, {{3, 1, 2}, 1}, {{1, 2, 2}}}) {
      CAPTURE(int(c.read_as));
      CAPTURE(storage.chunk.size());
      std::string data = numbers(5 * 6 * c.bytes);
      write_hdf5(path,
                 [&](hid_t file) { write_dataset(file, "x", c.type, {5, 2, 3}, data, storage); });
      if (c.is_swapped)
        for (std::size_t i = 0; i < data.size(); i += c.bytes)
          std::reverse(data.begin() + long(i), data.begin() + long(i + c.bytes));
      Hdf5Source const source(path, {"x"});
      CHECK(source.samples() == 5);
      REQUIRE(source.arrays().size() == 1);
      CHECK(source.arrays()[0].type == c.read_as);
      CHECK(source.arrays()[0].shape == std::vector<std::int64_t>{2, 3});
      for (long first = 0; first <= 5; ++first)
        for (long count = 0; first + count <= 5; ++count)
          CHECK(read(source, first, count) ==
                data.substr(std::size_t(first) * 6 * c.bytes, std::size_t(count) * 6 * c.bytes));
    }
  H5Tclose(half_le);
  H5Tclose(half_be);
  // Fewer bits than bytes: the value is what counts.
  std::int16_t const values[] = {-2000, 2047, 0};
  hid_t const narrow = H5Tcopy(H5T_STD_I16BE);
  H5Tset_precision(narrow, 12);
  write_hdf5(path, [&](hid_t file) {
    write_dataset(file, "x", narrow, {3}, "");
    hid_t const data = valid(H5Dopen2(file, "x", H5P_DEFAULT));
    valid(H5Dwrite(data, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5Dclose(data);
  });
  H5Tclose(narrow);
  CHECK(read(Hdf5Source(path, {"x"}), 0, 3) ==
        std::string(reinterpret_cast<char const*>(values), sizeof values));
}

TEST_CASE("hdf5: blocks are whole chunks; runs of any length, in any order, from chunks") {
  TemporaryDirectory const folder;
  std::string const path = folder / "x.h5";
  std::string const x = numbers(1000 * 8), y = numbers(1000);
  for (int const deflate : {0, 4})
    for (hsize_t const chunk : {1, 7, 64, 1000, 2000}) {
      CAPTURE(deflate);
      CAPTURE(chunk);
      write_hdf5(path, [&](hid_t file) {
        hsize_t const most[] = {H5S_UNLIMITED, 2};
        hsize_t const size[] = {1000, 2};
        hid_t const space = valid(H5Screate_simple(2, size, most));
        hid_t const properties = valid(H5Pcreate(H5P_DATASET_CREATE));
        hsize_t const extents[] = {chunk, 2};
        valid(H5Pset_chunk(properties, 2, extents));
        if (deflate > 0) valid(H5Pset_deflate(properties, unsigned(deflate)));
        hid_t const data = valid(
            H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
        valid(H5Dwrite(data, H5T_IEEE_F32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data()));
        H5Dclose(data);
        H5Pclose(properties);
        H5Sclose(space);
        write_dataset(file, "y", H5T_STD_U8LE, {1000}, y);
      });
      auto* const sink = set_warning_sink([](char const*) {});
      for (long const cache : {0L, 1200L, 64L << 20}) {
        Hdf5Source const source(path, {"x", "y"}, {.cache_bytes = cache});
        long const whole = long(std::min<hsize_t>(chunk, 1000));
        CHECK(source.chunk() == (deflate > 0 ? whole : 1));
        CHECK(source.block() % whole == 0);
        CHECK(source.block() <= std::max(whole, (1L << 20) / 8));
        CHECK(source.block() > (1L << 20) / 8 - whole);
        unsigned state = 1;
        for (int run = 0; run < 200; ++run) {
          state = state * 1664525 + 1013904223;
          long const first = long(state >> 8) % 1000;
          state = state * 1664525 + 1013904223;
          // Every other run goes on where the one before ended.
          for (long begin = first, part = 0; part < 3 && begin < 1000; ++part) {
            long const count = std::min(1000 - begin, long(state >> 8) % 150);
            REQUIRE(read(source, begin, count) ==
                    x.substr(std::size_t(begin) * 8, std::size_t(count) * 8) +
                        y.substr(std::size_t(begin), std::size_t(count)));
            begin += count;
          }
        }
      }
      set_warning_sink(sink);
    }
  // Samples without numbers beside others.
  write_hdf5(path, [&](hid_t file) {
    write_dataset(file, "none", H5T_IEEE_F32LE, {1000, 0}, "", {{4, 1}, 1});
    write_dataset(file, "x", H5T_IEEE_F32LE, {1000, 2}, x, {{1000, 2}, 1});
    write_dataset(file, "y", H5T_STD_U8LE, {1000}, y);
  });
  Hdf5Source const with_none(path, {"none", "x"});
  CHECK(read(with_none, 0, 6) + read(with_none, 6, 5) == x.substr(0, 88));
  last_warning.clear();
  auto* const sink = set_warning_sink([](char const* sentence) { last_warning = sentence; });
  {
    Hdf5Source const small(path, {"x", "y"}, {.cache_bytes = 100});
  }
  set_warning_sink(sink);
  CHECK(contains(last_warning, path + "\", dataset \"x\": chunks of 1000 samples, 9000 bytes"));
}

TEST_CASE("hdf5: a NetCDF-4 file, its dimensions as well, through groups and links") {
  TemporaryDirectory const folder;
  std::string const path = folder / "x.nc";
  std::string const wind = numbers(12 * 3 * 4), time = numbers(12 * 8);
  // What NetCDF-4 writes: creation order, dimension scales, a record dimension of chunks of 1.
  {
    hid_t const creation = valid(H5Pcreate(H5P_FILE_CREATE));
    valid(H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    valid(H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
    hid_t const file = valid(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT));
    auto const attribute = [&](hid_t object, char const* name, hid_t type, hsize_t count,
                               void const* value) {
      hid_t const space =
          valid(count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr));
      hid_t const data = valid(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
      valid(H5Awrite(data, type, value));
      H5Aclose(data);
      H5Sclose(space);
    };
    auto const text = [&](hid_t object, char const* name, std::string const& value) {
      hid_t const type = valid(H5Tcopy(H5T_C_S1));
      valid(H5Tset_size(type, value.size() + 1));
      attribute(object, name, type, 0, value.c_str());
      H5Tclose(type);
    };
    text(file, "_NCProperties", "version=2,netcdf=4.9.2,hdf5=1.14.3");
    write_dataset(file, "time", H5T_IEEE_F64LE, {12}, time, {{1}});
    write_dataset(file, "x", H5T_IEEE_F32BE, {3}, "");  // a dimension without a variable
    hid_t const group = valid(H5Gcreate2(file, "forecast", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    write_dataset(group, "wind", H5T_IEEE_F32LE, {12, 3}, wind, {{1, 3}, 1});
    hid_t const scales[] = {valid(H5Dopen2(file, "time", H5P_DEFAULT)),
                            valid(H5Dopen2(file, "x", H5P_DEFAULT))};
    text(scales[0], "CLASS", "DIMENSION_SCALE");
    text(scales[0], "NAME", "time");
    text(scales[1], "CLASS", "DIMENSION_SCALE");
    text(scales[1], "NAME", "This is a netCDF dimension but not a netCDF variable.         3");
    hid_t const data = valid(H5Dopen2(group, "wind", H5P_DEFAULT));
    hobj_ref_t references[2];
    valid(H5Rcreate(&references[0], file, "time", H5R_OBJECT, -1));
    valid(H5Rcreate(&references[1], file, "x", H5R_OBJECT, -1));
    hvl_t const lists[] = {{1, &references[0]}, {1, &references[1]}};
    hid_t const list = valid(H5Tvlen_create(H5T_STD_REF_OBJ));
    attribute(data, "DIMENSION_LIST", list, 2, lists);
    for (int i = 0; i < 2; ++i) attribute(scales[i], "_Netcdf4Dimid", H5T_STD_I32LE, 0, &i);
    valid(H5Lcreate_soft("/forecast/wind", file, "alias", H5P_DEFAULT, H5P_DEFAULT));
    H5Tclose(list);
    H5Dclose(data);
    H5Dclose(scales[0]);
    H5Dclose(scales[1]);
    H5Gclose(group);
    H5Fclose(file);
    H5Pclose(creation);
  }
  for (char const* name : {"forecast/wind", "/forecast/wind", "alias"}) {
    Hdf5Source const source(path, {name, "time"});
    CHECK(source.samples() == 12);
    CHECK(source.block() == (1L << 20) / 12);  // not the chunk of 1
    CHECK(read(source, 0, 12) == wind + time);
    CHECK(read(source, 5, 4) == wind.substr(60, 48) + time.substr(40, 32));
  }
  CHECK(contains(refusal([&] { Hdf5Source const source(path, {"forecast"}); }),
                 "one of the datasets \"alias\", \"time\", \"x\", \"forecast/wind\", got a name"));
}

TEST_CASE("hdf5: of a misspelt name, a message lists 20 datasets") {
  TemporaryDirectory const folder;
  for (int const count : {20, 21}) {
    std::string const path = folder / "names.h5";
    write_hdf5(path, [&](hid_t file) {
      for (int i = 0; i < count; ++i)
        write_dataset(file, "d" + std::to_string(10 + i), H5T_IEEE_F32LE, {1}, "");
    });
    CHECK(contains(refusal([&] { Hdf5Source const source(path, {"e"}); }),
                   count == 20 ? "\"d28\", \"d29\", got" : "\"d28\", \"d29\" and others, got"));
  }
}

TEST_CASE("hdf5: an epoch of all ranks reads compressed chunks once") {
  if (bytes_read() < 0) return;
  using Rows = Kokkos::View<float**, Kokkos::LayoutRight>;
  using Labels = Kokkos::View<int*, Kokkos::LayoutRight>;
  TemporaryDirectory const folder;
  std::string const path = folder / "x.h5";
  constexpr hsize_t samples = 20000;
  std::string x(samples * 64, '\0');
  unsigned state = 1;  // noise, which does not become smaller
  for (char& c : x) {
    state = state * 1664525 + 1013904223;
    c = char(state >> 25);
  }
  write_hdf5(path, [&](hid_t file) {
    write_dataset(file, "x", H5T_IEEE_F32LE, {samples, 16}, x, {{50, 16}, 1});
    write_dataset(file, "y", H5T_STD_U8LE, {samples}, x.substr(0, samples));
  });
  double const size = double(contents(path).size());
  struct Case {
    int ranks;
    long window;  // 3000: 250 of each lane, which end in a chunk
    long cache_bytes;
  };
  for (Case const& c : {Case{1, 0, 64L << 20}, Case{1, 3000, 64L << 20}, Case{3, 0, 64L << 20},
                        Case{3, 3000, 64L << 20}, Case{1, 3000, 0}}) {
    auto* const sink = set_warning_sink([](char const*) {});
    BatchOptions const options{.batch = 240, .seed = 3, .lanes = 12, .window = c.window};
    std::vector<std::unique_ptr<Batches<Rows, Labels>>> all;
    for (int rank = 0; rank < c.ranks; ++rank)
      all.push_back(std::make_unique<Batches<Rows, Labels>>(
          Kokkos::DefaultExecutionSpace{},
          Hdf5Source(path, {"x", "y"}, {.cache_bytes = c.cache_bytes}), options, rank, c.ranks));
    set_warning_sink(sink);
    CHECK(all.front()->order().block() == 100);
    long const before = bytes_read();
    long seen = 0;
    for (auto& batches : all)
      for (auto const& batch : batches->epoch(1)) seen += batch.samples;
    double const share = double(bytes_read() - before) / size;
    MESSAGE(c.ranks, " ranks, windows of ", all.front()->order().lane_window(),
            " samples, cache of ", c.cache_bytes, " bytes: read ", share, " of the file");
    CHECK(seen == long(samples));
    CHECK(share > 0.95);
    CHECK((share <= 1.05) == (c.cache_bytes > 0));
  }
}

TEST_CASE("hdf5: several files as one source; a file that the program has open") {
  TemporaryDirectory const folder;
  std::string const x = numbers(30 * 4), y = numbers(30);
  std::vector<std::string> paths;
  long first = 0;
  for (long const count : {10L, 0L, 13L, 7L}) {
    paths.push_back(folder / (std::to_string(paths.size()) + ".h5"));
    write_hdf5(paths.back(), [&](hid_t file) {
      auto const size = hsize_t(count);
      write_dataset(file, "x", H5T_STD_I32LE, {size}, x.substr(std::size_t(first) * 4, size * 4),
                    {{4}, 1});
      write_dataset(file, "y", H5T_STD_I8LE, {size}, y.substr(std::size_t(first), size));
    });
    first += count;
  }
  hid_t const open = valid(H5Fopen(paths[2].c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  Hdf5Source const source(paths, {"x", "y"});
  H5Fclose(valid(H5Fopen(paths[3].c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)));
  CHECK(source.samples() == 30);
  for (long begin = 0; begin <= 30; ++begin)
    for (long count = 0; begin + count <= 30; ++count)
      REQUIRE(read(source, begin, count) ==
              x.substr(std::size_t(begin) * 4, std::size_t(count) * 4) +
                  y.substr(std::size_t(begin), std::size_t(count)));
  H5Fclose(open);
  CHECK(contains(refusal([&] { read(source, 20, 11); }), "expected samples below 30, got 11 from"));
  paths[1] = folder / "other.h5";
  write_hdf5(paths[1], [&](hid_t file) {
    write_dataset(file, "x", H5T_STD_I64LE, {3}, numbers(24));
    write_dataset(file, "y", H5T_STD_I8LE, {3}, numbers(3));
  });
  CHECK(refusal([&] { Hdf5Source const other(paths, {"x", "y"}); }) ==
        "Hdf5Source: expected dataset \"x\" of \"" + paths[1] +
            "\" to have i32 and extents [] of a sample as in the first file, got i64 and []. Write "
            "all files alike.");
  CHECK(contains(refusal([&] { Hdf5Source const none(paths, {}); }), "at least one dataset"));
}

TEST_CASE("hdf5: what cannot be read is one sentence with the names, and HDF5 prints nothing") {
  TemporaryDirectory const folder;
  std::string const path = folder / "x.h5", other = folder / "other.h5";
  auto const refusal_of = [&](std::string const& name) {
    return refusal([&] { Hdf5Source const source(path, {name}); });
  };
  write_hdf5(path, [&](hid_t file) {
    write_dataset(file, "x", H5T_IEEE_F32LE, {100, 10}, numbers(4000));
    write_dataset(file, "fewer", H5T_IEEE_F32LE, {99}, numbers(396));
    write_dataset(file, "scalar", H5T_IEEE_F32LE, {}, numbers(4));
    hid_t const text = H5Tcopy(H5T_C_S1), pair = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(pair, "a", 0, H5T_STD_I32LE);
    H5Tinsert(pair, "b", 4, H5T_STD_I32LE);
    hid_t const truth = H5Tenum_create(H5T_STD_I8LE), odd = H5Tcopy(H5T_IEEE_F32LE);
    char const yes = 1;
    H5Tenum_insert(truth, "TRUE", &yes);
    H5Tset_fields(odd, 31, 24, 7, 0, 24);
    write_dataset(file, "text", text, {3}, "abc");
    write_dataset(file, "pair", pair, {3}, numbers(24));
    write_dataset(file, "truth", truth, {3}, numbers(3));
    write_dataset(file, "odd", odd, {3}, numbers(12));
    for (hid_t const type : {text, pair, truth, odd}) H5Tclose(type);
    write_dataset(file, "virtual", H5T_IEEE_F32LE, {100, 10}, "",
                  {{}, 0, [&](hid_t properties) {
                     hsize_t const extents[] = {100, 10};
                     hid_t const space = H5Screate_simple(2, extents, nullptr);
                     valid(H5Pset_virtual(properties, space, "absent.h5", "x", space));
                     H5Sclose(space);
                   }});
    write_dataset(file, "external", H5T_IEEE_F32LE, {3}, "",
                  {{}, 0, [&](hid_t properties) {
                     valid(H5Pset_external(properties, "absent.raw", 0, 12));
                   }});
    write_dataset(file, "lz", H5T_IEEE_F32LE, {3}, numbers(12),
                  {{3}, 0, [&](hid_t properties) {
                     valid(H5Pset_filter(properties, 32004, H5Z_FLAG_OPTIONAL, 0, nullptr));
                   }});
    valid(H5Lcreate_external("elsewhere.h5", "/x", file, "lost", H5P_DEFAULT, H5P_DEFAULT));
  });
  StandardError error(folder / "stderr");
  H5E_auto2_t before = nullptr, after = nullptr;
  void *data_before = nullptr, *data_after = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
  struct Case {
    char const* name;
    char const* part;
  };
  for (Case const& c :
       {Case{"y", "one of the datasets \"external\", \"fewer\", \"lz\", \"odd\", \"pair\", "},
        Case{"lost", "got a name that is not a dataset"},
        Case{"scalar", "an array of samples, got a scalar"}, Case{"text", "got strings"},
        Case{"pair", "got a compound type"}, Case{"truth", "got an enumeration"},
        Case{"odd", "got floating numbers of 4 bytes with other fields"},
        Case{"virtual", "a dataset that refers to other files"},
        Case{"external", "a dataset that refers to other files"},
        Case{"lz", "compression that this HDF5 library has, got filter 32004"}}) {
    std::string const sentence = refusal_of(c.name);
    CAPTURE(sentence);
    CHECK(is_one_sentence(sentence));
    CHECK(contains(sentence, c.part));
    CHECK(contains(sentence, path + "\", dataset \"" + c.name + "\""));
  }
  CHECK(refusal([&] { Hdf5Source const source(path, {"x", "fewer"}); }) ==
        "Hdf5Source: expected 100 samples in dataset \"fewer\" of \"" + path +
            "\" as in \"x\", got 99. Write both from the same samples.");
  CHECK(contains(refusal([&] { Hdf5Source const source(folder / "absent.h5", {"x"}); }),
                 "absent.h5\": expected a file that can be opened"));
  CHECK(contains(refusal([&] { Hdf5Source const source(folder / ".", {"x"}); }), "regular file"));

  std::string const good = contents(path);
  set_contents(path, "not HDF5");
  CHECK(contains(refusal_of("x"), "a complete HDF5 file, got \"file signature not found\""));
  set_contents(path, good.substr(0, good.size() - 100));
  std::string const cut = refusal_of("x");
  CHECK(is_one_sentence(cut));
  CHECK(contains(cut, "truncated file"));

  // A file that becomes shorter while it is open, where HDF5 itself reads zeros.
  set_contents(path, good);
  {
    Hdf5Source const source(path, {"x"});
    CHECK(read(source, 0, 50) == numbers(4000).substr(0, 2000));
    std::uint64_t const begin = good.find(numbers(4000));
    REQUIRE(begin != std::string::npos);
    REQUIRE(::truncate(path.c_str(), long(begin + 1000)) == 0);
    std::string const sentence = refusal([&] { read(source, 20, 30); });
    CHECK(is_one_sentence(sentence));
    CHECK(contains(sentence, "dataset \"x\": expected samples 20 to 49, got a file that has "));
  }
  // One that is removed is read.
  set_contents(path, good);
  {
    Hdf5Source const source(path, {"x"});
    ::unlink(path.c_str());
    CHECK(read(source, 0, 100) == numbers(4000));
  }
  // One that another process writes: HDF5 has an exclusive lock of it then.
  set_contents(path, good);
  {
    int const writer = ::open(path.c_str(), O_RDWR);
    REQUIRE(::flock(writer, LOCK_EX) == 0);
    std::string const sentence = refusal_of("x");
    CHECK(is_one_sentence(sentence));
    CHECK(contains(sentence, "another process writes it"));
    ::close(writer);
    CHECK(refusal_of("x") == "");
  }
  // A damaged chunk.
  write_hdf5(other, [&](hid_t file) {
    write_dataset(file, "x", H5T_STD_U8LE, {4000}, numbers(4000), {{1000}, 9});
  });
  std::string damaged = contents(other);
  std::size_t const from = damaged.size() - 300;
  for (std::size_t i = from; i < from + 200; ++i) damaged[i] = 'x';
  set_contents(other, damaged);
  int refused = 0;
  for (long k = 0; k < 4; ++k) {
    std::string const sentence = refusal([&] { read(Hdf5Source(other, {"x"}), k * 1000, 1000); });
    refused += !sentence.empty();
    CHECK((sentence.empty() || is_one_sentence(sentence)));
    CHECK((sentence.empty() || contains(sentence, "expected samples " + std::to_string(k * 1000))));
  }
  CHECK(refused > 0);
  H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
  std::string const printed = error.end();
  CHECK(printed == "");
  CHECK(before == after);
  CHECK(data_before == data_after);
}

TEST_CASE("hdf5: batches with a reader thread while the program calls HDF5 under the lock") {
  using Rows = Kokkos::View<float**, Kokkos::LayoutRight>;
  using Labels = Kokkos::View<std::int64_t*, Kokkos::LayoutRight>;
  TemporaryDirectory const folder;
  std::string const path = folder / "x.h5";
  constexpr long samples = 3000;
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", samples, 20);
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> const y("y", samples);
  for (long n = 0; n < samples; ++n) {
    y(n) = n;
    for (long i = 0; i < 20; ++i) x(n, i) = float(std::sin(double(20 * n + i)));
  }
  auto const bytes = [](auto const& view) {
    return std::string_view(reinterpret_cast<char const*>(view.data()),
                            view.size() * sizeof(*view.data()));
  };
  write_hdf5(path, [&](hid_t file) {
    write_dataset(file, "x", H5T_IEEE_F32LE, {samples, 20}, bytes(x), {{10, 20}, 1});
    write_dataset(file, "y", H5T_STD_U64LE, {samples}, bytes(y), {{10}, 1});
  });
  for (int const ranks : {1, 3}) {
    for (int rank = 0; rank < ranks; ++rank) {
      BatchOptions const options{.batch = 60, .seed = 3, .lanes = 6, .block = 10, .prefetch = 2};
      Kokkos::DefaultExecutionSpace const exec;
      Batches<Rows, Labels> from_file(exec, Hdf5Source(path, {"x", "y"}), options, rank, ranks);
      Batches<Rows, Labels> from_memory(exec, ViewSource(x, y), options, rank, ranks);
      for (auto const& batch : from_file.epoch(1)) {
        std::lock_guard<std::recursive_mutex> const lock(hdf5_mutex());
        H5Tclose(H5Tcopy(H5T_NATIVE_INT));
        if (from_memory.position().epoch != 1) from_memory.seek({1, 0});
        auto const& same = from_memory.next();
        exec.fence();
        auto const a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.inputs);
        auto const b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, same.inputs);
        auto const s = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.targets);
        auto const t = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, same.targets);
        REQUIRE(bytes(a) == bytes(b));
        REQUIRE(bytes(s) == bytes(t));
      }
    }
  }
  // Several threads, with a source that they share.
  Hdf5Source const source(path, {"x", "y"});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (long first = long(t); first + 37 <= samples; first += 37)
        wrong[t] += read(source, first, 37) !=
                    std::string(bytes(x).substr(std::size_t(first) * 80, 37 * 80)) +
                        std::string(bytes(y).substr(std::size_t(first) * 8, 37 * 8));
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
  std::uint64_t const large[] = {1, (std::uint64_t{1} << 63) + 5};
  std::string const other = folder / "other.h5";
  write_hdf5(other, [&](hid_t file) {
    write_dataset(file, "x", H5T_IEEE_F32LE, {2, 20}, numbers(160));
    write_dataset(file, "y", H5T_STD_U64LE, {2},
                  {reinterpret_cast<char const*>(large), sizeof large});
  });
  Batches<Rows, Labels> batches(Kokkos::DefaultExecutionSpace{}, Hdf5Source(other, {"x", "y"}),
                                {.batch = 2});
  CHECK(contains(refusal([&] { batches.next(); }), "integers that fit into 8 bytes"));
}
