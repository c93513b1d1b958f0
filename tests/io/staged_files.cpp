// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies on a disk of the node: one for all processes, removed by the last one, and the original
// wherever there can be none.

#include <io/safetensors_file.hpp>
#include <phyllo/io/staged_files.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>

#include <sys/resource.h>
#include <sys/wait.h>

using namespace phyllo;
using namespace phyllo_test;

namespace {

std::string numbers(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = char(std::uint8_t(i * 37 + i / 251));
  return text;
}

std::vector<std::string> warnings;

struct Warnings {
  WarningSink before = set_warning_sink([](char const* sentence) { warnings.push_back(sentence); });
  Warnings() { warnings.clear(); }
  ~Warnings() { set_warning_sink(before); }
};

// Bytes that this process has written, by Linux' own count.
long bytes_written() {
  std::ifstream file("/proc/self/io");
  std::string name;
  long bytes = 0;
  while (file >> name >> bytes)
    if (name == "wchar:") return bytes;
  return -1;
}

}  // namespace

TEST_CASE("staged files: one copy, which the last user removes") {
  TemporaryDirectory const folder, local;
  Warnings const sink;
  std::string const x = folder / "x.npy", y = folder / "y.npy";
  set_contents(x, numbers(4'500'000));
  set_contents(y, "");
  StagingOptions const options{.folder = local / "", .bytes = 4'500'000};
  {
    std::optional<StagedFiles> first(std::in_place, std::vector<std::string>{x, y}, options);
    std::vector<std::string> const paths = first->paths();
    CHECK(first->are_copied());
    CHECK(local.names().size() == 4);
    CHECK(contents(paths[0]) == contents(x));
    CHECK(contents(paths[1]) == "");
    StagedFiles const second({x}, options);
    StagedFiles const copy = second;
    CHECK(second.paths()[0] == paths[0]);
    first.reset();
    CHECK(local.names().size() == 2);
    CHECK(contents(copy.paths()[0]) == contents(x));

    // An original that was replaced is another file.
    set_contents(folder / "new", numbers(10));
    REQUIRE(std::rename((folder / "new").c_str(), x.c_str()) == 0);
    StagedFiles const replaced({x}, options);
    CHECK(replaced.paths()[0] != paths[0]);
    CHECK(contents(replaced.paths()[0]) == numbers(10));
  }
  CHECK(local.names().empty());
  CHECK(warnings.empty());
}

TEST_CASE("staged files: of many processes one copies; what a killed one left is not used") {
  TemporaryDirectory const folder, local;
  std::string const x = folder / "x.npy";
  std::string const data = numbers(100'000);
  set_contents(x, data);
  StagingOptions const options{.folder = local / "", .bytes = 1 << 30};
  std::string copy;
  {
    StagedFiles const files({x}, options);
    copy = files.paths()[0];
  }
  for (int attempt = 0; attempt < 10; ++attempt) {
    // A killed process leaves a part of the file, or a copy that is too short.
    set_contents(copy + ".part", "part");
    if (attempt % 2 == 0) set_contents(copy, "short");
    if (attempt % 3 == 0) set_contents(copy + ".lock", "");
    if (attempt % 6 == 0) ::chmod((copy + ".lock").c_str(), 0700);
    // Every other time all of them keep the copy until the last one has it.
    bool const wait_for_all = attempt % 2 == 0;
    int results[2] = {-1, -1}, end[2] = {-1, -1};
    REQUIRE(::pipe(results) == 0);
    REQUIRE(::pipe(end) == 0);
    constexpr int processes = 6;
    for (int p = 0; p < processes; ++p) {
      ::pid_t const child = ::fork();
      REQUIRE(child >= 0);
      if (child != 0) continue;
      ::close(end[1]);
      bool is_written = false;
      {
        long const before = bytes_written();
        StagedFiles const files({x}, options);
        bool const is_same = files.are_copied() && contents(files.paths()[0]) == data;
        long const result = is_same ? bytes_written() - before : 1L << 40;
        is_written = ::write(results[1], &result, sizeof result) == sizeof result;
        char byte = 0;
        if (wait_for_all) is_written = ::read(end[0], &byte, 1) == 0 && is_written;
      }
      _exit(is_written ? 0 : 1);
    }
    long sum = 0;
    for (int p = 0; p < processes; ++p) {
      long result = 0;
      REQUIRE(::read(results[0], &result, sizeof result) == sizeof result);
      sum += result;
    }
    ::close(end[1]);
    for (int p = 0; p < processes; ++p) {
      int status = -1;
      ::wait(&status);
      CHECK(status == 0);
    }
    for (int const descriptor : {results[0], results[1], end[0]}) ::close(descriptor);
    CHECK(sum % 100'000 == 0);
    CHECK(sum <= processes * 100'000);
    if (wait_for_all) CHECK(sum == 100'000);
    CHECK(local.names().empty());
  }
}

TEST_CASE("staged files: the original beyond the budget, on a full disk and under foreign locks") {
  TemporaryDirectory const folder, local;
  std::string const x = folder / "x.npy", y = folder / "y.npy";
  set_contents(x, numbers(1000));
  set_contents(y, numbers(2'000'000));
  {
    Warnings const sink;
    StagedFiles const files({x, y, x}, {.folder = local / "", .bytes = 2'000'999});
    CHECK(!files.are_copied());
    CHECK(files.paths()[1] == y);
    CHECK(files.paths()[2] == files.paths()[0]);
    CHECK(contents(files.paths()[0]) == numbers(1000));
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0] == "StagedFiles: \"" + y +
                             "\" is read where it is, because its 2000000 bytes exceed the 1999999 "
                             "that are left of StagingOptions::bytes.");
  }
  CHECK(local.names().empty());
  StagingOptions const options{.folder = local / "", .bytes = 1L << 50};
  {
    // More than any disk has: a file without blocks.
    Warnings const sink;
    REQUIRE(::truncate(x.c_str(), 1L << 43) == 0);
    StagedFiles const files({x}, options), others({x}, options);
    CHECK(files.paths()[0] == x);
    CHECK(others.paths()[0] == x);
    REQUIRE(warnings.size() == 1);  // one process tries
    CHECK(contains(warnings[0], "its copy failed: No space left on device."));
  }
  CHECK(local.names().empty());
  {
    // A write that fails after some bytes.
    Warnings const sink;
    ::rlimit before = {}, limit = {};
    ::getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 1'000'000;
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    {
      StagedFiles const files({y}, options), others({y}, options);
      CHECK(files.paths()[0] == y);
      CHECK(others.paths()[0] == y);
      CHECK(local.names().size() == 1);
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    REQUIRE(warnings.size() == 1);
    CHECK(contains(warnings[0], "its copy failed: File too large."));
    CHECK(local.names().empty());
    StagedFiles const files({y}, options);
    CHECK(files.are_copied());
  }
  {
    // Somebody else's link in a folder of everybody's.
    Warnings const sink;
    std::string path;
    {
      path = StagedFiles({y}, options).paths()[0];
    }
    set_contents(folder / "target", "kept");
    REQUIRE(::symlink((folder / "target").c_str(), (path + ".lock").c_str()) == 0);
    StagedFiles const files({y}, options);
    CHECK(files.paths()[0] == y);
    CHECK(warnings.size() == 1);
    CHECK(contents(folder / "target") == "kept");
  }
}

TEST_CASE("staged files: what cannot be staged is one sentence") {
  TemporaryDirectory const folder, local;
  std::string const x = folder / "x.npy";
  StagingOptions const options{.folder = local / "", .bytes = 1 << 20};
  std::string const absent = refusal([&] { StagedFiles const files({x}, options); });
  CHECK(is_one_sentence(absent));
  CHECK(contains(absent, "staging \"" + x + "\": expected a file that can be opened"));
  set_contents(x, "x");
  std::string const nowhere =
      refusal([&] { StagedFiles const files({x}, {.folder = local / "no", .bytes = 9}); });
  CHECK(is_one_sentence(nowhere));
  CHECK(contains(nowhere, "expected a folder for copies"));
  CHECK(contains(refusal([&] { StagedFiles const files({x}, {.folder = local / ""}); }),
                 "expected a folder and a number of bytes above 0, got"));
  CHECK(local.names().empty());
}
