// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A training that is killed before any of its calls that write, flush or rename a file goes on to
// the bits of one that was never killed. Where such a call fails, the trainer is as it was.

#include <fit/training_state.hpp>
#include <io/safetensors_file.hpp>
#include <io/system_calls.hpp>
#include <phyllo/fit/checkpoints.hpp>
#include <phyllo/fit/fit.hpp>

#include <doctest/doctest.h>
#include <sentence_of.hpp>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <spawn.h>
#include <sys/wait.h>

namespace {

using namespace phyllo;
using namespace phyllo::test;
using phyllo_test::contains;
using phyllo_test::contents;
using phyllo_test::interception;
using phyllo_test::TemporaryDirectory;

constexpr BatchOptions shuffled{.batch = 16, .seed = 5, .lanes = 4};
constexpr BatchOptions in_order{.batch = 32, .shuffle = false, .lanes = 1};

struct Subject {
  Trainer<Noisy, MeanSquaredError, Adam, Mixed<fp16, float>> trainer;
  RowBatches batches{Space{}, points(60), shuffled};
  RowBatches held_out{Space{}, points(30), in_order};
  explicit Subject(std::uint64_t seed)
      : trainer(Space{}, Adam{.rate = 0.02}, {.batch = 32, .seed = seed}) {}
};

// In folder: log.csv, best.safetensors, checkpoints/.
FitHistory fit_in(std::string const& folder, Subject& subject) {
  return fit(subject.trainer, subject.batches, subject.held_out,
             {.epochs = 2,
              .log = folder + "/log.csv",
              .best = folder + "/best.safetensors",
              .patience = 5,
              .checkpoint = {.folder = folder + "/checkpoints", .steps = 3}});
}

// But for the seconds, the last column.
std::string columns(std::string const& path) {
  std::string text, line;
  for (std::istringstream lines(contents(path)); std::getline(lines, line);)
    text += line.substr(0, line.rfind(',')) + "\n";
  return text;
}

// The status of a process of this program that trains in the folder and is killed at a call.
int train_in_process(std::string const& folder, int kill_at) {
  ::setenv("PHYLLO_TEST_FOLDER", folder.c_str(), 1);
  ::setenv("PHYLLO_TEST_KILL_AT", std::to_string(kill_at).c_str(), 1);
  std::string arguments[] = {"killed", "--test-case=in a process", "--no-skip", "--minimal"};
  char* pointers[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                      arguments[3].data(), nullptr};
  ::pid_t child = -1;
  int status = 0;
  REQUIRE(::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, pointers, environ) == 0);
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

struct Intercept {
  explicit Intercept(phyllo_test::Interception how) {
    how.active = true;
    interception = how;
  }
  ~Intercept() { interception.active = false; }
};

}  // namespace

TEST_CASE("in a process" * doctest::skip()) {
  Subject subject(3);
  Intercept const on({.kill_at = std::atoi(std::getenv("PHYLLO_TEST_KILL_AT"))});
  fit_in(std::getenv("PHYLLO_TEST_FOLDER"), subject);
}

TEST_CASE("fit: killed before any call that writes, and resumed to the same bits and files") {
  TemporaryDirectory const folder;
  auto const fresh = [&](char const* name) {
    std::filesystem::remove_all(folder / name);
    std::filesystem::create_directory(folder / name);
    return folder / name;
  };
  Subject whole(3);
  std::string const never_killed = fresh("never_killed");
  int calls = 0;
  {
    Intercept const on({});
    fit_in(never_killed, whole);
    calls = int(interception.calls.size());
  }
  CHECK(calls > 60);
#ifdef PHYLLO_ALL_CASES
  int const every = 1;
#else
  int const every = 7;
#endif
  long newest = -1;
  for (int at = 0; at < calls; at += every) {
    CAPTURE(at);
    std::string const killed = fresh("killed");
    int const status = train_in_process(killed, at);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
    long const last = Checkpoints(killed + "/checkpoints").newest(whole.trainer);
    CHECK(last >= newest);
    newest = last;
    Subject part(last < 0 ? 3 : 8);  // where there is a checkpoint, its weights are not drawn
    fit_in(killed, part);
    CHECK((state_of(part.trainer) == state_of(whole.trainer)));
    CHECK(columns(killed + "/log.csv") == columns(never_killed + "/log.csv"));
    CHECK(contents(killed + "/best.safetensors") == contents(never_killed + "/best.safetensors"));
    for (auto const& entry : std::filesystem::directory_iterator(killed + "/checkpoints"))
      CHECK(entry.path().extension() == ".safetensors");
  }
  CHECK(newest >= 6);
  std::filesystem::remove_all(folder / "killed");
  std::filesystem::remove_all(folder / "never_killed");
}

TEST_CASE("fit: a full disk is one sentence, and nothing is lost") {
  TemporaryDirectory const folder;
  std::string const root = folder / "run";
  std::filesystem::create_directory(root);
  Subject whole(3), part(3);
  fit_in(root, whole);
  std::filesystem::remove_all(root);
  std::filesystem::create_directory(root);
  train_to(part.trainer, part.batches, 3);
  Checkpoints const checkpoints(root + "/checkpoints");
  checkpoints.save(part.trainer, part.batches);
  train_to(part.trainer, part.batches, 6);
  auto const before = state_of(part.trainer);
  struct Case {
    char const* call;
    int error;
    char const* part;
  };
  for (auto const& [call, error, words] :
       {Case{"write", ENOSPC, "free disk space"}, Case{"fsync file", EIO, "check the disk"},
        Case{"rename", EDQUOT, "free disk space"}}) {
    CAPTURE(call);
    std::string sentence;
    {
      Intercept const on({.failing = call, .error = error, .failures = 1, .largest_write = 1000});
      sentence = sentence_of([&] { checkpoints.save(part.trainer, part.batches); });
    }
    CHECK(phyllo_test::is_one_sentence(sentence));
    CHECK(contains(sentence, words));
    CHECK((state_of(part.trainer) == before));
    CHECK(checkpoints.newest(part.trainer) == 3);
  }
  {  // fit ends with the sentence; the same call goes on when there is room again
    Subject first(8), second(9);
    Intercept const on({.failing = "rename", .error = EDQUOT, .failures = 1});
    CHECK(contains(sentence_of([&] { fit_in(root, first); }), "free disk space"));
    fit_in(root, second);
    CHECK((state_of(second.trainer) == state_of(whole.trainer)));
  }
  std::filesystem::remove_all(root);
}
