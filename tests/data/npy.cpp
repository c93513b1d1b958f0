// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Files of numpy.save bit for bit; everything else is one sentence.

#include <data/npy_text.hpp>
#include <phyllo/data/npy_source.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include <unistd.h>

using namespace phyllo;
using namespace phyllo_test;

namespace {

std::string numbers(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = char(std::uint8_t(i * 37 + i / 251));
  return text;
}

std::string refusal_of(std::string const& path, std::string_view file) {
  set_contents(path, file);
  return refusal([&] { NpyFile const npy(path); });
}

}  // namespace

TEST_CASE("npy: every type and version, bit for bit, from any sample on") {
  TemporaryDirectory const folder;
  std::string const path = folder / "x.npy";
  struct Case {
    char const* descr;
    ElementType type;
  };
  for (Case const& c :
       {Case{"<f2", ElementType::f16}, Case{"<f4", ElementType::f32}, Case{"<f8", ElementType::f64},
        Case{"|u1", ElementType::u8}, Case{"|i1", ElementType::i8}, Case{"<i2", ElementType::i16},
        Case{"<i4", ElementType::i32}, Case{"<i8", ElementType::i64}})
    for (int const format : {1, 2, 3}) {
      CAPTURE(c.descr);
      CAPTURE(format);
      std::size_t const bytes = 6 * element_size(c.type);
      std::string const data = numbers(5 * bytes);
      set_contents(path, npy_text(c.descr, "(5, 2, 3)", data, format));
      NpyFile const file(path);
      CHECK(file.samples() == 5);
      CHECK(file.shape() == std::vector<std::int64_t>{2, 3});
      CHECK(file.type() == c.type);
      for (int first = 0; first < 5; ++first) {
        std::string read(2 * bytes, '\0');
        std::size_t const count = first == 4 ? 1 : 2;
        file.read(first, std::int64_t(count), reinterpret_cast<std::byte*>(read.data()));
        CHECK(read.substr(0, count * bytes) ==
              data.substr(std::size_t(first) * bytes, count * bytes));
      }
    }
}

TEST_CASE("npy: keys in any order, spaces, one extent, Fortran order where it is the same") {
  TemporaryDirectory const folder;
  std::string const path = folder / "x.npy";
  for (char const* header :
       {"{'shape': (4,), 'fortran_order': False, 'descr': '<i4'}",
        "{\"descr\":'<i4','fortran_order':True,'shape':(4,)}   \n",
        "{'descr': '<i4', 'fortran_order': True, 'shape': (1, 4), }",
        "{ 'descr' : 'i4' , 'shape' : ( 4L , ) , 'fortran_order' : False , }"}) {
    CAPTURE(header);
    set_contents(path, npy_with_header(header, numbers(16), 1));
    NpyFile const file(path);
    std::string read(16, '\0');
    file.read(0, file.samples(), reinterpret_cast<std::byte*>(read.data()));
    CHECK(read == numbers(16));
  }
}

TEST_CASE("npy: a file in Fortran order has the samples of that in C order, bit for bit") {
  TemporaryDirectory const folder;
  std::string const path = folder / "x.npy";
  struct Case {
    char const* descr;
    std::size_t element;
  };
  for (Case const& c : {Case{"<f2", 2}, Case{"<f4", 4}, Case{"<f8", 8}, Case{"|u1", 1},
                        Case{"|i1", 1}, Case{"<i2", 2}, Case{"<i4", 4}, Case{"<i8", 8}})
    for (std::vector<std::size_t> const& shape : std::vector<std::vector<std::size_t>>{
             {7, 3}, {5, 2, 3}, {4, 2, 1, 3, 2}, {1, 4, 3}, {6, 0, 2}}) {
      CAPTURE(c.descr);
      CAPTURE(shape.size());
      std::size_t count = 1;
      std::string extents;
      for (std::size_t const extent : shape) {
        count *= extent;
        extents += std::to_string(extent) + ", ";
      }
      std::string const data = numbers(count * c.element);  // in C order
      std::string transposed(data.size(), '\0');
      for (std::size_t i = 0; i < count; ++i) {
        // The last extent varies fastest in C order, the first in Fortran order.
        std::size_t rest = i, stride = count, at = 0;
        for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
          stride /= shape[d];
          at += rest % shape[d] * stride;
        }
        std::memcpy(&transposed[at * c.element], &data[i * c.element], c.element);
      }
      std::string const header = "{'descr': '" + std::string(c.descr) +
                                 "', 'fortran_order': True, 'shape': (" + extents + ")}";
      set_contents(path, npy_with_header(header, transposed, 1));
      NpyFile const file(path);
      std::size_t const sample = data.size() / shape[0];
      CHECK(file.sample_bytes() == sample);
      for (std::size_t first = 0; first <= shape[0]; ++first)
        for (std::size_t samples = 0; first + samples <= shape[0]; ++samples) {
          std::string read(samples * sample, '\0');
          file.read(std::int64_t(first), std::int64_t(samples),
                    reinterpret_cast<std::byte*>(read.data()));
          CHECK(read == data.substr(first * sample, samples * sample));
        }
    }
  // More samples than the buffer of a column has.
  constexpr std::size_t many = (1 << 20) + 5;
  std::string const columns = numbers(2 * many);
  set_contents(path, npy_with_header("{'descr': '|u1', 'fortran_order': True, 'shape': (" +
                                         std::to_string(many) + ", 2)}",
                                     columns, 1));
  NpySource const source({path});
  CHECK(source.block() == 1L << 19);
  std::string read(2 * many, '\0');
  std::byte* to = reinterpret_cast<std::byte*>(read.data());
  source.read(0, long(many), &to);
  bool same = true;
  for (std::size_t n = 0; n < many; ++n)
    same = same && read[2 * n] == columns[n] && read[2 * n + 1] == columns[many + n];
  CHECK(same);
  REQUIRE(::truncate(path.c_str(), long(contents(path).size()) - 3) == 0);
  CHECK(contains(refusal([&] { source.read(8, long(many) - 8, &to); }),
                 "expected sample " + std::to_string(many - 3) + ", got the end of the file"));
}

TEST_CASE("npy: what cannot be read is one sentence with the file's name") {
  TemporaryDirectory const folder;
  std::string const path = folder / "x.npy";
  std::string const good = npy_text("<f4", "(3, 2)", numbers(24));
  struct Case {
    std::string file;
    char const* part;
  };
  Case const cases[] = {
      {"", "12 bytes or more, got 0 bytes"},
      {"\x93NUMPX0123456789", "first bytes of an NPY file"},
      {npy_text("<f4", "(3, 2)", numbers(24), 4), "version 1, 2 or 3"},
      {npy_text("<f4", "(3, 2)", numbers(23)), "24 bytes of numbers for extents [3,2], got 23"},
      {npy_text(">f4", "(3, 2)", numbers(24)), "little-endian numbers, got \">f4\""},
      {npy_text("|O", "(3, 2)", numbers(24)), "got \"|O\""},
      {npy_text("<c8", "(3, 2)", numbers(48)), "f2, f4, f8"},
      {npy_with_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}",
                       numbers(24), 1),
       "structured type"},
      {npy_with_header("{'descr': '>f4', 'fortran_order': True, 'shape': (3, 2)}", numbers(24), 1),
       "little-endian numbers, got \">f4\""},
      {npy_with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", numbers(23), 1),
       "24 bytes of numbers for extents [3,2], got 23"},
      {npy_text("<f4", "()", numbers(4)), "whose first extent counts samples"},
      {npy_text("<f4", "(99999999999999999999,)", numbers(4)), "extents of 64 bits"},
      {npy_text("<f8", "(4611686018427387904, 4611686018427387904)", ""), "an array of samples"},
      {npy_text("<f4", "(-3, 2)", numbers(24)), "whole numbers as shape"},
      {npy_with_header("{'descr': '<f4', 'fortran_order': False}", numbers(24), 1), "once each"},
      {npy_with_header("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
                       numbers(24), 1),
       "once each"},
      {npy_with_header("not a dictionary", numbers(24), 1), "a dictionary"},
      {good.substr(0, 11), "12 bytes or more"},
      {good.substr(0, 60), "header of at most"},
  };
  for (Case const& c : cases) {
    std::string const sentence = refusal_of(path, c.file);
    CAPTURE(sentence);
    CHECK(is_one_sentence(sentence));
    CHECK(contains(sentence, c.part));
    CHECK(contains(sentence, path));
  }
  // No prefix and no damaged byte of the header does more than refuse.
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK(is_one_sentence(refusal_of(path, good.substr(0, size))));
  for (std::size_t at = 0; at < good.size() - 24; ++at)
    for (int const bit : {0, 1, 5, 7}) {
      std::string damaged = good;
      damaged[at] = char(damaged[at] ^ (1 << bit));
      std::string const sentence = refusal_of(path, damaged);
      // A damaged comma of the header may stand in it as a full stop.
      CHECK((sentence.empty() || (sentence.back() == '.' && !contains(sentence, "\n"))));
    }
  CHECK(contains(refusal([&] { NpyFile const file(folder / "absent.npy"); }), "absent.npy"));
  CHECK(contains(refusal([&] { NpyFile const file(folder / "."); }), "regular file"));
}

TEST_CASE("npy: a file that is cut while it is open names the sample; a removed one is read") {
  TemporaryDirectory const folder;
  std::string const path = folder / "x.npy", data = numbers(80);
  set_contents(path, npy_text("<f4", "(10, 2)", data));
  NpyFile const file(path);
  std::string read(80, '\0');
  auto* const to = reinterpret_cast<std::byte*>(read.data());
  long const header = long(contents(path).size()) - 80;
  REQUIRE(::truncate(path.c_str(), header + 43) == 0);
  file.read(0, 5, to);
  CHECK(read.substr(0, 40) == data.substr(0, 40));
  std::string const sentence = refusal([&] { file.read(3, 4, to); });
  CHECK(is_one_sentence(sentence));
  CHECK(contains(sentence, "expected sample 5, got the end of the file"));
  CHECK(is_one_sentence(refusal([&] { file.read(8, 3, to); })));

  set_contents(path, npy_text("<f4", "(10, 2)", data));
  NpyFile const removed(path);
  ::unlink(path.c_str());
  removed.read(0, 10, to);
  CHECK(read == data);
}

TEST_CASE("npy source: several files are arrays of the same samples") {
  TemporaryDirectory const folder;
  std::string const x = folder / "x.npy", y = folder / "y.npy";
  set_contents(x, npy_text("<f4", "(6, 2)", numbers(48)));
  set_contents(y, npy_text("|u1", "(6,)", numbers(6)));
  NpySource const source({x, y});
  CHECK(source.samples() == 6);
  CHECK(source.block() == (1L << 20) / 8);
  std::string a(16, '\0'), b(2, '\0');
  std::byte* const to[] = {reinterpret_cast<std::byte*>(a.data()),
                           reinterpret_cast<std::byte*>(b.data())};
  source.read(3, 2, to);
  CHECK(a == numbers(48).substr(24, 16));
  CHECK(b == numbers(6).substr(3, 2));
  set_contents(y, npy_with_header("{'descr': '<f8', 'fortran_order': True, 'shape': (6, 40)}",
                                  numbers(6 * 40 * 8), 1));
  CHECK(NpySource({x, y}).block() == (1L << 16) / 8);
  set_contents(y, npy_text("|u1", "(5,)", numbers(5)));
  CHECK(contains(refusal([&] { NpySource const other({x, y}); }), "expected 6 samples in"));
  CHECK(contains(refusal([&] { NpySource const none({}); }), "at least one NPY file"));
}
