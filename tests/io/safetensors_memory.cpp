// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever a file of n bytes says, reading it takes at most 2 n + 16 MB of memory.

#include <phyllo/io/safetensors.hpp>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/safetensors_file.hpp"

using phyllo_test::with_length;

namespace {

// A sanitizer's shadow memory and its delayed reuse are not the reader's.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_is_measured = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool memory_is_measured = false;
#else
constexpr bool memory_is_measured = true;
#endif
#else
constexpr bool memory_is_measured = true;
#endif

struct Reading {
  bool accepted = false;
  std::uint64_t bytes = 0;  // of memory, at the highest
};

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// In a process of its own, whose high-water mark nothing else has raised.
Reading read_in_child(std::string const& path) {
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  ::pid_t const child = ::fork();
  if (child == 0) {
    Reading reading;
    std::uint64_t const before = resident_bytes();
    try {
      phyllo::read_safetensors(path);
      reading.accepted = true;
    } catch (phyllo::Error const&) {
    }
    ::rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    std::uint64_t const highest = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    reading.bytes = highest > before ? highest - before : 0;
    bool const sent = ::write(ends[1], &reading, sizeof(reading)) == sizeof(reading);
    ::_exit(sent ? 0 : 1);
  }
  ::close(ends[1]);
  Reading reading;
  CHECK(::read(ends[0], &reading, sizeof(reading)) == sizeof(reading));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return reading;
}

Reading measured(std::string const& text) {
  phyllo_test::TemporaryDirectory const directory;
  std::string const path = directory / "big.safetensors";
  phyllo_test::set_contents(path, text);
  Reading const reading = read_in_child(path);
  double const file_megabytes = static_cast<double>(text.size()) / 1e6;
  double const megabytes = static_cast<double>(reading.bytes) / 1e6;
  CAPTURE(file_megabytes);
  CAPTURE(megabytes);
  if (memory_is_measured) CHECK(megabytes <= 2 * file_megabytes + 16);
  return reading;
}

constexpr std::size_t header_bytes = 40'000'000;

std::string repeated(std::string_view part) {
  std::string text;
  text.reserve(header_bytes + part.size());
  while (text.size() < header_bytes) text += part;
  return text;
}

// As many tensors as fit, each with a name of its own and one byte of data or none.
std::string many_tensors(std::size_t bytes, bool empty) {
  std::string header = "{";
  std::size_t count = 0;
  while (header.size() < bytes) {
    std::string const begin = empty ? "0" : std::to_string(count);
    std::string const end = empty ? "0" : std::to_string(count + 1);
    header += (count > 0 ? ",\"" : "\"") + std::to_string(count) +
              "\":{\"dtype\":\"U8\",\"shape\":[" + (empty ? "0" : "") + "],\"data_offsets\":[" +
              begin + "," + end + "]}";
    ++count;
  }
  return with_length(header + "}", std::string(empty ? 0 : count, 'x'));
}

}  // namespace

TEST_CASE("an honest large file takes its own size") {
  std::string const size = "40000000";
  Reading const reading = measured(with_length(
      "{\"t\":{\"dtype\":\"U8\",\"shape\":[" + size + "],\"data_offsets\":[0," + size + "]}}",
      std::string(40'000'000, 'x')));
  CHECK(reading.accepted);
  if (memory_is_measured) {
    CHECK(reading.bytes < 48'000'000);
    // The measurement sees what it should.
    CHECK(reading.bytes > 36'000'000);
  }
}

TEST_CASE("many small tensors are read as long as they fit") {
  CHECK(measured(many_tensors(4'000'000, true)).accepted);
  CHECK(measured(many_tensors(4'000'000, false)).accepted);
  // Here the header's own text decides.
  CHECK_FALSE(measured(many_tensors(11'000'000, true)).accepted);
  CHECK_FALSE(measured(many_tensors(header_bytes, true)).accepted);
  CHECK_FALSE(measured(many_tensors(header_bytes, false)).accepted);
}

TEST_CASE("headers that would unfold into more memory are refused") {
  SUBCASE("a shape of millions of extents") {
    CHECK_FALSE(measured(with_length("{\"t\":{\"shape\":[" + repeated("0,") + "0]}}")).accepted);
  }
  SUBCASE("millions of objects") {
    CHECK_FALSE(measured(with_length(repeated("{"))).accepted);
    CHECK_FALSE(measured(with_length("{\"t\":" + repeated("{\"t\":"))).accepted);
  }
  SUBCASE("millions of metadata pairs") {
    CHECK_FALSE(
        measured(with_length("{\"__metadata__\":{" + repeated("\"\":\"\",") + "\"a\":\"\"}}"))
            .accepted);
  }
  SUBCASE("one name of the header's length") {
    CHECK(measured(with_length("{\"" + repeated("x") +
                               "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}"))
              .accepted);
    CHECK_FALSE(measured(with_length("{\"" + repeated("x"))).accepted);
    CHECK_FALSE(measured(with_length("{\"" + repeated("\\u0078") + "\":1}")).accepted);
  }
  SUBCASE("one metadata text of the header's length") {
    CHECK(measured(with_length("{\"__metadata__\":{\"k\":\"" + repeated("x") + "\"}}")).accepted);
  }
  SUBCASE("a header that is said to be long") {
    CHECK_FALSE(measured(phyllo_test::little_endian(100'000'000) + "{}").accepted);
  }
  SUBCASE("a tensor that is said to be long") {
    CHECK_FALSE(measured(with_length("{\"t\":{\"dtype\":\"U8\",\"shape\":[1000000000000],"
                                     "\"data_offsets\":[0,1000000000000]}}"))
                    .accepted);
  }
}
