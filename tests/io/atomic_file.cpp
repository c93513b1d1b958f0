// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A killed process cannot show whether bytes had reached the disk, the order of the calls can.

#include <phyllo/io/atomic_file.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/safetensors_file.hpp"
#include "io/system_calls.hpp"

using phyllo_test::bytes_of;
using phyllo_test::contains;
using phyllo_test::contents;
using phyllo_test::Interception;
using phyllo_test::interception;
using phyllo_test::refusal;
using phyllo_test::set_contents;

namespace {

using Calls = std::vector<std::string>;

// Writes the text by AtomicFile, in two pieces, with the calls intercepted as given.
void replace(std::string const& path, std::string_view text, Interception how = {}) {
  interception = std::move(how);
  interception.active = true;
  struct Off {
    ~Off() { interception.active = false; }
  } const off;
  phyllo::AtomicFile file(path);
  file.write(bytes_of(text.substr(0, text.size() / 2)));
  file.write(bytes_of(text.substr(text.size() / 2)));
  file.commit();
}

// The exit status of a child process that does this.
template <class Work> int in_child(Work work) {
  ::pid_t const child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

struct Scene {
  phyllo_test::TemporaryDirectory directory = {};
  std::string path = directory / "weights";
  std::string old_text = "the old text";
  std::string new_text = std::string(100'000, 'n');

  Scene() { set_contents(path, old_text); }

  bool alone() const { return directory.names() == std::vector<std::string>{"weights"}; }

  // The sentence of a failed replacement that has left the old file and nothing else.
  std::string failed(Interception how) const {
    std::string const sentence = refusal([&] { replace(path, new_text, std::move(how)); });
    CAPTURE(sentence);
    CHECK(phyllo_test::is_one_sentence(sentence));
    CHECK(contains(sentence, "writing \"" + path + "\": expected "));
    CHECK(contains(sentence, "a file that was there before is unchanged"));
    CHECK(contents(path) == old_text);
    CHECK(alone());
    return sentence;
  }
};

}  // namespace

TEST_CASE("a file is made, replaced, and nothing is left beside it") {
  Scene const scene;
  replace(scene.path, scene.new_text);
  CHECK(contents(scene.path) == scene.new_text);
  replace(scene.path, "");
  CHECK(contents(scene.path).empty());
  replace(scene.directory / "another", "x");
  CHECK(contents(scene.directory / "another") == "x");
  CHECK(scene.directory.names().size() == 2);
}

TEST_CASE("bytes are durable before the name, the name before the end") {
  Scene const scene;
  replace(scene.path, scene.new_text);
  CHECK(interception.calls == Calls{"write", "write", "fsync file", "rename", "fsync directory"});
}

TEST_CASE("without commit the old file stays") {
  Scene const scene;
  {
    phyllo::AtomicFile file(scene.path);
    file.write(bytes_of("new"));
    CHECK(scene.directory.names().size() == 2);
  }
  CHECK(contents(scene.path) == scene.old_text);
  CHECK(scene.alone());
}

TEST_CASE("short and interrupted calls are continued") {
  Scene const scene;
  replace(scene.path, scene.new_text, {.largest_write = 7777});
  CHECK(contents(scene.path) == scene.new_text);
  CHECK(interception.calls.size() > 10);
  for (char const* const call : {"write", "fsync file", "fsync directory"}) {
    CAPTURE(call);
    replace(scene.path, call, {.failing = call, .error = EINTR, .failures = 3});
    CHECK(contents(scene.path) == call);
    CHECK(std::count(interception.calls.begin(), interception.calls.end(), std::string(call)) >= 4);
  }
}

TEST_CASE("a failing call leaves the old file and is told in one sentence") {
  Scene const scene;
  SUBCASE("disk full") {
    std::string const sentence =
        scene.failed({.failing = "write", .error = ENOSPC, .failures = 1, .largest_write = 7777});
    CHECK(sentence == "writing \"" + scene.path +
                          "\": expected room for 50000 more bytes, got \"No space left on "
                          "device\"; a file that was there before is unchanged; free disk space "
                          "or choose another disk, and write again.");
  }
  SUBCASE("quota") {
    CHECK(contains(scene.failed({.failing = "write", .error = EDQUOT, .failures = 1}), "free"));
  }
  SUBCASE("disk broken") {
    CHECK(contains(scene.failed({.failing = "write", .error = EIO, .failures = 1}), "check"));
  }
  SUBCASE("the file does not become durable, and that is not tried again") {
    CHECK(contains(scene.failed({.failing = "fsync file", .error = EIO, .failures = 1}),
                   "become durable"));
    CHECK(interception.calls == Calls{"write", "write", "fsync file"});
  }
  SUBCASE("the name cannot be taken") {
    scene.failed({.failing = "rename", .error = EACCES, .failures = 1});
  }
}

TEST_CASE("a directory that does not become durable is told, the new file being in place") {
  Scene const scene;
  std::string const sentence = refusal([&] {
    replace(scene.path, scene.new_text,
            {.failing = "fsync directory", .error = EIO, .failures = 1});
  });
  CHECK(phyllo_test::is_one_sentence(sentence));
  CHECK(contains(sentence, "the new file is in place"));
  CHECK(contents(scene.path) == scene.new_text);
  CHECK(scene.alone());
  // A file system that cannot do it at all is no error.
  replace(scene.path, "x", {.failing = "fsync directory", .error = EINVAL, .failures = 1});
  CHECK(contents(scene.path) == "x");
}

TEST_CASE("a process that ends at any call leaves the old file or the new one") {
  int points = 0;
  for (int point = 0;; ++point) {
    CAPTURE(point);
    Scene const scene;
    int const status = in_child([&] {
      replace(scene.path, scene.new_text, {.largest_write = 20'000, .kill_at = point});
      return 0;
    });
    bool const renamed = contents(scene.path) == scene.new_text;
    if (!renamed) CHECK(contents(scene.path) == scene.old_text);
    // What is left of an earlier process does not stand in the way of a later one.
    replace(scene.path, "later");
    CHECK(contents(scene.path) == "later");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      CHECK(renamed);
      break;
    }
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
    ++points;
  }
  CHECK(points == 3 + 3 + 3);  // writes of each half, fsync, rename, fsync
}

TEST_CASE("a file size limit leaves the old file") {
  Scene const scene;
  int const status = in_child([&] {
    ::rlimit const limit = {50'000, 50'000};  // bytes
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    std::signal(SIGXFSZ, SIG_IGN);
    std::string const sentence = refusal([&] { replace(scene.path, scene.new_text); });
    if (!contains(sentence, "File too large") || !contains(sentence, "file size limit")) return 2;
    return scene.alone() && contents(scene.path) == scene.old_text ? 0 : 3;
  });
  CHECK(status == 0);
  CHECK(contents(scene.path) == scene.old_text);
  // The same where the signal ends the process, as it does by default.
  int const killed = in_child([&] {
    ::rlimit const limit = {50'000, 50'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    std::signal(SIGXFSZ, SIG_DFL);
    ::rlimit const no_core = {0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    replace(scene.path, scene.new_text);
    return 0;
  });
  CHECK(WIFSIGNALED(killed));
  CHECK(contents(scene.path) == scene.old_text);
}

TEST_CASE("places that cannot be written are refused") {
  Scene const scene;
  CHECK(refusal([&] { replace(scene.directory / "missing/weights", "x"); }) ==
        "writing \"" + (scene.directory / "missing/weights") +
            "\": expected a directory that can be opened, got \"No such file or directory\"; a "
            "file that was there before is unchanged; create the directory first.");
  CHECK(contains(refusal([&] { replace(scene.path + "/weights", "x"); }), "Not a directory"));
  CHECK(contains(refusal([&] { replace(scene.directory / std::string(250, 'x'), "x"); }),
                 "choose a shorter name"));
  std::string const pipe = scene.directory / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (std::string const& path : {pipe, std::string("/"), std::string(), std::string("."),
                                  scene.directory / "", scene.directory / ".."}) {
    CAPTURE(path);
    CHECK(contains(refusal([&] { replace(path, "x"); }), "the path of a file"));
  }
  // Where even root may not make files.
  std::string const refused = refusal([] { replace("/proc/self/weights", "x"); });
  CHECK(contains(refused, "a directory that can be written to"));
  if (::geteuid() != 0) {
    phyllo_test::TemporaryDirectory const locked;
    REQUIRE(::chmod((locked / ".").c_str(), 0500) == 0);
    CHECK(contains(refusal([&] { replace(locked / "weights", "x"); }),
                   "choose a directory that may be written to"));
    REQUIRE(::chmod((locked / ".").c_str(), 0700) == 0);
  }
  CHECK(contents(scene.path) == scene.old_text);
  CHECK(scene.directory.names().size() == 2);
}

TEST_CASE("what follows commit is refused") {
  Scene const scene;
  phyllo::AtomicFile file(scene.path);
  file.write(bytes_of("new"));
  file.commit();
  CHECK(contains(refusal([&] { file.write(bytes_of("more")); }), "an open file"));
  CHECK(contains(refusal([&] { file.commit(); }), "an open file"));
  CHECK(contents(scene.path) == "new");
}

TEST_CASE("a symbolic link is replaced and what it names is kept") {
  Scene const scene;
  std::string const link = scene.directory / "link";
  REQUIRE(::symlink("weights", link.c_str()) == 0);
  replace(link, "new");
  CHECK(contents(link) == "new");
  CHECK(contents(scene.path) == scene.old_text);
}

TEST_CASE("two writers of one file do not disturb each other, and the later one stays") {
  Scene const scene;
  phyllo::AtomicFile first(scene.path);
  phyllo::AtomicFile second(scene.path);
  first.write(bytes_of("first"));
  second.write(bytes_of("second"));
  second.commit();
  CHECK(contents(scene.path) == "second");
  first.commit();
  CHECK(contents(scene.path) == "first");
  CHECK(scene.alone());
}

TEST_CASE("a path without a directory is in the current one") {
  Scene const scene;
  int const status = in_child([&] {
    if (::chdir((scene.directory / ".").c_str()) != 0) return 1;
    replace("here", "x");
    return 0;
  });
  CHECK(status == 0);
  CHECK(contents(scene.directory / "here") == "x");
}
