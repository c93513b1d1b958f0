// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/io/safetensors.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "io/safetensors_file.hpp"

using phyllo::ElementType;
using phyllo::StoredTensor;
using phyllo::TensorFile;
using phyllo_test::bytes_of;
using phyllo_test::contains;
using phyllo_test::pattern;
using phyllo_test::refusal;
using phyllo_test::text_of;
using phyllo_test::with_length;

namespace {

TensorFile parse(std::string_view text) { return phyllo::parse_safetensors(bytes_of(text)); }
std::string serialize(TensorFile const& file) {
  return text_of(phyllo::serialize_safetensors(file));
}

// A file of several types, ranks 0 to 3, metadata with escapes, and no empty tensor.
TensorFile small_file() {
  return {.tensors = {{"layer.weight", ElementType::f64, {2, 3}, pattern(48, 1)},
                      {"layer.bias", ElementType::f32, {3}, pattern(12, 2)},
                      {"scale", ElementType::bf16, {}, pattern(2, 3)},
                      {"mask", ElementType::boolean, {1, 5, 1}, pattern(5, 4)}},
          .metadata = {{"step", "12"}, {"note", "a \"b\"\n\xc3\xa9"}}};
}

// The tensors' order in the file is the writer's own.
TensorFile sorted(TensorFile file) {
  std::sort(
      file.tensors.begin(), file.tensors.end(),
      [](StoredTensor const& left, StoredTensor const& right) { return left.name < right.name; });
  return file;
}

// The refusal of this header and data: one sentence, the same from memory and from a file, which is
// named there.
std::string refused(std::string const& text) {
  std::string const sentence = refusal([&text] { parse(text); });
  CAPTURE(sentence);
  CHECK(phyllo_test::is_one_sentence(sentence));
  CHECK(contains(sentence, "reading safetensors from memory: expected "));
  phyllo_test::TemporaryDirectory const directory;
  std::string const path = directory / "bad.safetensors";
  phyllo_test::set_contents(path, text);
  std::string const from_file = refusal([&path] { phyllo::read_safetensors(path); });
  CHECK(contains(from_file, "reading \"" + path + "\": expected "));
  CHECK(from_file.substr(from_file.find(": expected")) ==
        sentence.substr(sentence.find(": expected")));
  return sentence;
}

// One tensor "t" with these properties and data.
std::string tensor(std::string const& properties, std::string_view data = {}) {
  return with_length("{\"t\":{" + properties + "}}", data);
}

}  // namespace

TEST_CASE("the reference layout is written") {
  TensorFile const file{.tensors = {{"b", ElementType::f32, {1}, pattern(4)},
                                    {"a", ElementType::u8, {3}, pattern(3)},
                                    {"c", ElementType::f32, {0, 2}, {}},
                                    {"d", ElementType::i64, {}, pattern(8)}},
                        .metadata = {{"k", "v"}}};
  std::string const written = serialize(file);
  std::string const header =
      R"({"__metadata__":{"k":"v"},"d":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
      R"("c":{"dtype":"F32","shape":[0,2],"data_offsets":[12,12]},)"
      R"("a":{"dtype":"U8","shape":[3],"data_offsets":[12,15]}})";
  std::string const padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  CHECK(written ==
        with_length(padded, text_of(pattern(8)) + text_of(pattern(4)) + text_of(pattern(3))));
  CHECK(padded.size() % 8 == 0);
  CHECK(padded.size() > header.size());
}

TEST_CASE("all element types, ranks and empty tensors come back as they were") {
  TensorFile file{.tensors = {}, .metadata = {{"z", "last first"}, {"a", ""}, {"", "\x01\x7f"}}};
  unsigned seed = 0;
  for (phyllo::detail::ElementTypeFacts const& facts : phyllo::detail::element_types) {
    std::string const name(facts.safetensors_name);
    auto const add = [&](std::string const& as, std::vector<std::int64_t> shape) {
      auto const size = phyllo::detail::stored_size(facts.type, shape);
      REQUIRE(size.has_value());
      file.tensors.push_back({as, facts.type, std::move(shape), pattern(*size, ++seed)});
    };
    if (facts.bits % 8 == 0) add(name + ".scalar", {});
    add(name + ".vector", {4});
    add(name + ".deep", {1, 2, 3, 2, 1, 1, 1, 2});
    add(name + ".empty", {0});
    add(name + ".empty \xe2\x82\xac \"\\", {3, 0, 2});
  }
  std::string const written = serialize(file);
  CHECK(sorted(parse(written)) == sorted(file));
  CHECK(serialize(parse(written)) == written);
  phyllo_test::TemporaryDirectory const directory;
  std::string const path = directory / "all.safetensors";
  phyllo::write_safetensors(path, file);
  CHECK(phyllo_test::contents(path) == written);
  CHECK(phyllo::read_safetensors(path) == parse(written));
  CHECK(directory.names() == std::vector<std::string>{"all.safetensors"});
}

TEST_CASE("a file without tensors is a file") {
  CHECK(serialize({}) == with_length("{}      "));
  CHECK(parse(with_length("{}")) == TensorFile{});
  CHECK(parse(with_length("{\"__metadata__\":{}}")) == TensorFile{});
}

TEST_CASE("tensors are given in the order of their bytes, whatever the header's") {
  TensorFile const file =
      parse(with_length(R"({"c":{"data_offsets":[3,5],"shape":[1],"dtype":"I16"},)"
                        R"("b":{"shape":[2],"data_offsets":[1,3],"dtype":"U8"},)"
                        R"("e":{"dtype":"F64","shape":[0],"data_offsets":[3,3]},)"
                        R"("__metadata__":{"x":"y"},)"
                        R"("a":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}})",
                        "abbcc"));
  CHECK(file == TensorFile{.tensors = {{"a", ElementType::boolean, {}, {std::byte{'a'}}},
                                       {"b", ElementType::u8, {2}, {2, std::byte{'b'}}},
                                       {"e", ElementType::f64, {0}, {}},
                                       {"c", ElementType::i16, {1}, {2, std::byte{'c'}}}},
                           .metadata = {{"x", "y"}}});
}

TEST_CASE("white space between tokens and after the header is read over") {
  CHECK(parse(with_length("{ \"t\" :\t{ \"dtype\" : \"U8\" , \"shape\" : [ 1 , 2 ] ,\r\n"
                          " \"data_offsets\" : [ 0 , 2 ] } }  \n",
                          "xy"))
            .tensors.size() == 1);
}

TEST_CASE("escaped names and property names mean what they spell") {
  TensorFile const file = parse(
      tensor(R"("\u0064type":"\u0055\u0038","sh\u0061pe":[],"data_offset\u0073":[0,1])", "x"));
  REQUIRE(file.find("t") != nullptr);
  CHECK(file.find("t")->type == ElementType::u8);
}

TEST_CASE("what the format does not allow is refused") {
  SUBCASE("fewer than eight bytes") {
    for (std::size_t size = 0; size < 8; ++size) {
      CHECK(contains(refused(std::string(size, '\0')), "at least 8 bytes"));
    }
  }
  SUBCASE("a header longer than the format allows") {
    CHECK(contains(refused(phyllo_test::little_endian(100'000'001) + "{}"),
                   "at most 100000000 bytes, got 100000001"));
    CHECK(contains(refused(phyllo_test::little_endian(~std::uint64_t{0}) + "{}"), "at most"));
    CHECK(contains(refused(phyllo_test::little_endian(std::uint64_t{1} << 63) + "{}"), "at most"));
  }
  SUBCASE("a header longer than the file") {
    CHECK(contains(refused(phyllo_test::little_endian(3) + "{}"), "inside the file's 10 bytes"));
    CHECK(contains(refused(phyllo_test::little_endian(100'000'000) + "{}"), "inside"));
  }
  SUBCASE("a header that does not begin with a brace") {
    for (std::string_view const header : {"", " {}", "[]", "\xef\xbb\xbf{}", "null", "\"{\""}) {
      CHECK(contains(refused(with_length(header)), "'{' as the header's first byte"));
    }
  }
  SUBCASE("a header that is not JSON") {
    for (std::string_view const header :
         {"{", "{\"", "{\"t\"", "{\"t\":", "{\"t\":{", "{\"t\":{}", "{,}", "{\"t\" {}}", "{{}}",
          "{}}", "{} x", "{}{}", "{'t':{}}", "{t:{}}", "{\"__metadata__\":{},}"}) {
      CAPTURE(header);
      refused(with_length(header));
    }
    CHECK(contains(refused(with_length(std::string("{}\0", 3))), "only spaces"));
    refused(tensor(R"("dtype":"U8","shape":[1,],"data_offsets":[0,1])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[1 1],"data_offsets":[0,1])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[],"data_offsets":[0,1],)", "x"));
  }
  SUBCASE("a header that is not UTF-8") {
    CHECK(contains(refused(with_length("{\"\xff\":{}}")), "UTF-8"));
  }
  SUBCASE("brackets without end") {
    refused(with_length("{\"t\":" + std::string(100'000, '[')));
    refused(with_length("{\"t\":{\"shape\":" + std::string(100'000, '[')));
    refused(with_length(std::string(100'000, '{')));
    std::string nested;
    for (int depth = 0; depth < 100'000; ++depth) nested += "{\"t\":";
    refused(with_length(nested));
  }
  SUBCASE("a value of another kind") {
    for (std::string_view const value : {"null", "true", "1", "\"x\"", "[]"}) {
      CAPTURE(value);
      refused(with_length("{\"t\":" + std::string(value) + "}"));
      refused(with_length("{\"__metadata__\":" + std::string(value) + "}"));
    }
    refused(tensor(R"("dtype":1,"shape":[],"data_offsets":[0,1])", "x"));
    refused(tensor(R"("dtype":"U8","shape":1,"data_offsets":[0,1])", "x"));
    refused(tensor(R"("dtype":"U8","shape":["1"],"data_offsets":[0,1])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[[1]],"data_offsets":[0,1])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[],"data_offsets":{"0":1})", "x"));
  }
  SUBCASE("a property that is missing, unknown or there twice") {
    for (std::string const properties :
         {"", R"("dtype":"U8","shape":[])", R"("dtype":"U8","data_offsets":[0,1])",
          R"("shape":[],"data_offsets":[0,1])",
          R"("dtype":"U8","shape":[],"data_offsets":[0,1],"more":1)",
          R"("dtype":"U8","shape":[],"data_offsets":[0,1],"dtype":"U8")",
          R"("dtype":"U8","shape":[],"data_offsets":[0,1],"shape":[])",
          R"("dtype":"U8","shape":[],"data_offsets":[0,1],"data_offsets":[0,1])"}) {
      CAPTURE(properties);
      CHECK(contains(refused(tensor(properties, "x")), "dtype, shape and data_offsets"));
    }
  }
  SUBCASE("an element type that the format does not define") {
    std::string const sentence =
        refused(tensor(R"("dtype":"F80","shape":[1],"data_offsets":[0,10])", "0123456789"));
    CHECK(contains(sentence, "BOOL, F4,"));
    CHECK(contains(sentence, "U64, got \"F80\" for tensor \"t\""));
  }
  SUBCASE("a tensor name twice") {
    CHECK(contains(refused(with_length(R"({"t":{"dtype":"U8","shape":[],"data_offsets":[0,1]},)"
                                       R"("\u0074":{"dtype":"I8","shape":[],)"
                                       R"("data_offsets":[1,2]}})",
                                       "xy")),
                   "unique tensor names, got \"t\" twice"));
    CHECK(contains(refused(with_length(R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                                       R"("t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})")),
                   "unique tensor names"));
  }
  SUBCASE("a metadata key twice, or metadata twice") {
    CHECK(contains(refused(with_length(R"({"__metadata__":{"a":"1","b":"","a":"2"}})")),
                   "unique metadata keys, got \"a\" twice"));
    CHECK(contains(refused(with_length(R"({"__metadata__":{},"__metadata__":{}})")),
                   "one __metadata__"));
  }
  SUBCASE("metadata that is not text") {
    for (std::string_view const value : {"1", "null", "{}", "[\"x\"]", "true"}) {
      refused(with_length("{\"__metadata__\":{\"k\":" + std::string(value) + "}}"));
    }
  }
  SUBCASE("offsets outside the file, negative, reversed, or more than two") {
    CHECK(contains(refused(tensor(R"("dtype":"U8","shape":[2],"data_offsets":[0,2])", "x")),
                   "inside the 1 bytes that follow the header, got [0,2] for tensor \"t\""));
    CHECK(contains(refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[1,0])", "x")),
                   "ascending order"));
    refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[-1,0])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0,9223372036854775807])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0,9223372036854775808])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551617])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[])", "x"));
    refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0,1,1])", "x"));
  }
  SUBCASE("offsets that do not match shape and element type") {
    CHECK(contains(
        refused(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,7])", "1234567")),
        "8 bytes for F32 elements of shape [2], got 7 by data_offsets [0,7] for tensor \"t\""));
    refused(tensor(R"("dtype":"U8","shape":[],"data_offsets":[0,0])"));
    refused(tensor(R"("dtype":"U8","shape":[0],"data_offsets":[0,1])", "x"));
    CHECK(contains(refused(tensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])", "xy")),
                   "whole bytes"));
  }
  SUBCASE("shapes whose product overflows") {
    for (std::string_view const shape :
         {"4294967296,4294967296", "9223372036854775807,2", "2,9223372036854775807",
          "0,9223372036854775807,9223372036854775807", "9223372036854775807", "1152921504606846976",
          "4611686018427387904,4", "65536,65536,65536,65536"}) {
      CAPTURE(shape);
      CHECK(contains(refused(tensor("\"dtype\":\"F64\",\"shape\":[" + std::string(shape) +
                                    "],\"data_offsets\":[0,0]")),
                     "size fits in 63 bits"));
    }
  }
  SUBCASE("extents that are not natural numbers") {
    for (std::string_view const extent : {"-1", "1.0", "1e0", "01", "9223372036854775808", "-0"}) {
      CAPTURE(extent);
      refused(tensor(
          "\"dtype\":\"U8\",\"shape\":[" + std::string(extent) + "],\"data_offsets\":[0,1]", "x"));
    }
  }
  SUBCASE("a hole at the beginning, in the middle, at the end") {
    CHECK(contains(refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[1,2])", "xy")),
                   "begins at byte 0 after the header"));
    CHECK(contains(refused(with_length(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                       R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                                       "xyz")),
                   "begins at byte 1 after the header, where the one before it ends, got 2"));
    CHECK(contains(refused(tensor(R"("dtype":"U8","shape":[1],"data_offsets":[0,1])", "xy")),
                   "1 bytes of tensors after the header, got 2"));
    CHECK(contains(refused(with_length("{}", "x")), "0 bytes of tensors after the header, got 1"));
  }
  SUBCASE("tensors that overlap") {
    for (std::string_view const second : {"[0,2]", "[1,3]"}) {
      CAPTURE(second);
      CHECK(contains(refused(with_length(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                         R"("b":{"dtype":"U8","shape":[2],"data_offsets":)" +
                                             std::string(second) + "}}",
                                         "xyz")),
                     "where the one before it ends"));
    }
    refused(with_length(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                        R"("e":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}})",
                        "xyz"));
  }
}

TEST_CASE("a file that cannot be read is refused with its name") {
  phyllo_test::TemporaryDirectory const directory;
  std::string const missing = directory / "missing.safetensors";
  CHECK(refusal([&missing] { phyllo::read_safetensors(missing); }) ==
        "reading \"" + missing +
            "\": expected a file that can be opened, got \"No such file or directory\"; check the "
            "path and its permissions.");
  CHECK(contains(refusal([] { phyllo::read_safetensors("/"); }), "a regular file"));
  CHECK(contains(refusal([] { phyllo::read_safetensors("/dev/zero"); }), "a regular file"));
  std::string const pipe = directory / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(refusal([&pipe] { phyllo::read_safetensors(pipe); }), "a regular file"));
}

TEST_CASE("a file truncated at any byte is refused") {
  TensorFile file = small_file();
  file.tensors.push_back({"empty", ElementType::f32, {2, 0}, {}});
  std::string const written = serialize(file);
  REQUIRE(sorted(parse(written)) == sorted(file));
  for (std::size_t size = 0; size < written.size(); ++size) {
    CAPTURE(size);
    CHECK(phyllo_test::is_one_sentence(refusal([&] { parse(written.substr(0, size)); })));
  }
  CHECK(contains(refusal([&] { parse(written + "x"); }), "after the header"));
}

TEST_CASE("a flipped bit in the header is refused or changes names and metadata alone") {
  std::string const written = serialize(small_file());
  TensorFile const original = parse(written);
  std::size_t const data_bytes = 48 + 12 + 2 + 5;
  int refusals = 0;
  int accepted = 0;
  for (std::size_t index = 0; index < written.size() - data_bytes; ++index) {
    for (int bit = 0; bit < 8; ++bit) {
      CAPTURE(index);
      CAPTURE(bit);
      std::string flipped = written;
      flipped[index] = static_cast<char>(flipped[index] ^ (1 << bit));
      TensorFile changed;
      std::string const sentence = refusal([&] { changed = parse(flipped); });
      if (!sentence.empty()) {
        CHECK(phyllo_test::is_one_sentence(sentence));
        ++refusals;
        continue;
      }
      ++accepted;
      // The flip is in a name, a metadata text, or white space for white space; a flip can make
      // "__metadata__" a tensor's name, but then its value is not a tensor.
      REQUIRE(changed.tensors.size() == original.tensors.size());
      for (std::size_t position = 0; position < changed.tensors.size(); ++position) {
        changed.tensors[position].name = original.tensors[position].name;
      }
      CHECK(changed.tensors == original.tensors);
      CHECK(changed.metadata.size() == original.metadata.size());
    }
  }
  CHECK(refusals > 1000);
  CHECK(accepted > 100);
}

TEST_CASE("tensors that make no file are refused before anything is written") {
  phyllo_test::TemporaryDirectory const directory;
  std::string const path = directory / "old.safetensors";
  phyllo_test::set_contents(path, "old");
  auto const refused_to_write = [&](TensorFile const& file) {
    std::string const sentence = refusal([&] { phyllo::write_safetensors(path, file); });
    CHECK(phyllo_test::is_one_sentence(sentence));
    CHECK(contains(sentence, "writing \"" + path + "\": expected "));
    CHECK(phyllo_test::contents(path) == "old");
    CHECK(directory.names().size() == 1);
    CHECK(contains(refusal([&] { phyllo::serialize_safetensors(file); }), "safetensors to memory"));
    return sentence;
  };
  StoredTensor const good{"good", ElementType::u8, {2}, pattern(2)};
  SUBCASE("a name twice") {
    CHECK(contains(refused_to_write({.tensors = {good, good}}), "\"good\" twice"));
    CHECK(contains(refused_to_write({.tensors = {good, {"good", ElementType::f32, {0}, {}}}}),
                   "\"good\" twice"));
  }
  SUBCASE("the reserved name") {
    CHECK(contains(refused_to_write({.tensors = {{"__metadata__", ElementType::u8, {0}, {}}}}),
                   "reserves"));
  }
  SUBCASE("names, keys and texts that are not UTF-8") {
    refused_to_write({.tensors = {{"\xff", ElementType::u8, {0}, {}}}});
    refused_to_write({.metadata = {{"\xff", ""}}});
    refused_to_write({.metadata = {{"", "\xff"}}});
  }
  SUBCASE("a metadata key twice") {
    CHECK(contains(refused_to_write({.metadata = {{"k", "1"}, {"k", "2"}}}), "\"k\" twice"));
  }
  SUBCASE("bytes that do not match shape and element type") {
    CHECK(contains(refused_to_write({.tensors = {{"t", ElementType::f32, {2}, pattern(7)}}}),
                   "8 bytes for tensor \"t\" of shape [2] and type F32, got 7 bytes"));
    refused_to_write({.tensors = {{"t", ElementType::f32, {-2}, pattern(8)}}});
    refused_to_write({.tensors = {{"t", ElementType::f4, {1}, pattern(1)}}});
  }
  SUBCASE("a header longer than the format allows") {
    CHECK(contains(refused_to_write({.metadata = {{"k", std::string(100'000'000, 'x')}}}),
                   "shorten"));
  }
}

// Called by tests/io/safetensors_reference.py, which compares what comes out with the reference
// implementation: reads one file and writes it again.
TEST_CASE("copy a safetensors file" * doctest::skip()) {
  char const* const from = std::getenv("PHYLLO_COPY_FROM");
  char const* const to = std::getenv("PHYLLO_COPY_TO");
  REQUIRE(from != nullptr);
  REQUIRE(to != nullptr);
  phyllo::write_safetensors(to, phyllo::read_safetensors(from));
  CHECK(phyllo::read_safetensors(to).tensors.size() ==
        phyllo::read_safetensors(from).tensors.size());
}
