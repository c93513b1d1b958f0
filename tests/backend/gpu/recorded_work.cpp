// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recording against a runtime that only notes what it is asked for: nothing runs before it is
// launched, and whatever goes wrong, the instance is free again and nothing is left behind.

#include <phyllo/backend/gpu/launch/recorded_work.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace phyllo;

namespace {

struct Notes {
  std::vector<std::string> calls;
  bool recording = false;
  int graphs = 0, executables = 0;
  std::string refuses;  // this call
} notes;

struct Runtime {
  struct space {};
  struct Graph {
    int number = 0;
  };
  struct Executable {
    int number = 0;
    bool operator==(Executable const&) const = default;
  };

  static char const* begin(space const&) {
    if (char const* const text = note("begin")) return text;
    notes.recording = true;
    return nullptr;
  }
  static char const* end(space const&, Graph& graph) {
    notes.recording = false;
    if (char const* const text = note("end")) return text;
    graph.number = ++notes.graphs;
    return nullptr;
  }
  static char const* instantiate(Graph, Executable& executable) {
    if (char const* const text = note("instantiate")) return text;
    executable.number = ++notes.executables;
    return nullptr;
  }
  static char const* launch(Executable executable, space const&) {
    CHECK(executable.number > 0);
    return note("launch");
  }
  static void destroy(Graph graph) {
    if (graph.number > 0) --notes.graphs;
  }
  static void destroy(Executable) { --notes.executables; }

 private:
  static char const* note(char const* call) {
    notes.calls.push_back(call);
    return notes.refuses == call ? "not today" : nullptr;
  }
};

using Recorded = gpu::RecordedWork<Runtime>;
using Calls = std::vector<std::string>;

std::string message_of(auto&& work) {
  try {
    work();
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("work is recorded between begin and end, and launched as often as one likes") {
  notes = {};
  Runtime::space const exec;
  {
    Recorded first(exec, "net/step", [] {
      CHECK(notes.recording);
      notes.calls.push_back("work");
    });
    CHECK(notes.calls == Calls{"begin", "work", "end", "instantiate"});
    CHECK(notes.graphs == 0);  // only what is launched is kept
    Recorded const recorded = std::move(first);
    recorded.launch(exec, "net/step");
    recorded.launch(exec, "net/step");
    CHECK(notes.calls.size() == 6);
    CHECK(notes.executables == 1);
  }
  CHECK(notes.executables == 0);
}

TEST_CASE("an exception of the work ends the recording, and goes on") {
  notes = {};
  CHECK_THROWS_AS(
      Recorded(Runtime::space{}, "net/step", [] { throw std::runtime_error("no memory"); }),
      std::runtime_error);
  CHECK_FALSE(notes.recording);
  CHECK(notes.graphs == 0);
}

TEST_CASE("what the runtime refuses is told in its words, with the remedy") {
  for (std::string const call : {"begin", "end", "instantiate"}) {
    CAPTURE(call);
    notes = {};
    notes.refuses = call;
    std::string const message = message_of([] { Recorded(Runtime::space{}, "net/step", [] {}); });
    CHECK(message.find("net/step: ") == 0);
    CHECK(message.find("(not today)") != std::string::npos);
    CHECK(message.find("Run the work once before") != std::string::npos);
    CHECK(notes.graphs == 0);
    CHECK(notes.executables == 0);
    CHECK_FALSE(notes.recording);
  }
  notes = {};
  Recorded const recorded(Runtime::space{}, "net/step", [] {});
  notes.refuses = "launch";
  CHECK(message_of([&] { recorded.launch(Runtime::space{}, "net/step"); }).find("not today") !=
        std::string::npos);
}
