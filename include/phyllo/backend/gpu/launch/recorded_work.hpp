// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>

#include <string>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// What a device's runtime recorded of an instance: launches, copies and calls of libraries, as
/// one graph that one call of the host launches again.
///
/// options  Runtime: cuda::Recording, hip::Recording: the runtime's calls
/// errors   run: work that waits for the device or takes memory cannot be recorded -> Error
/// cost     one launch of the host, however many kernels there are
template <class Runtime> class RecordedWork {
 public:
  using space = typename Runtime::space;

  /// Records what work() launches on the instance; nothing of it runs yet.
  template <class Work> RecordedWork(space const& exec, std::string const& label, Work&& work) {
    check(label, Runtime::begin(exec), "begin to record");
    typename Runtime::Graph graph{};
    try {
      work();
    } catch (...) {
      // The instance is the caller's, and has to launch again.
      if (Runtime::end(exec, graph) == nullptr) Runtime::destroy(graph);
      throw;
    }
    check(label, Runtime::end(exec, graph), "record");
    char const* const refusal = Runtime::instantiate(graph, executable_);
    Runtime::destroy(graph);
    check(label, refusal, "make a graph of");
  }
  RecordedWork(RecordedWork&& other) noexcept
      : executable_(std::exchange(other.executable_, typename Runtime::Executable{})) {}
  RecordedWork& operator=(RecordedWork&&) = delete;
  ~RecordedWork() {
    if (executable_ != typename Runtime::Executable{}) Runtime::destroy(executable_);
  }

  /// Launches it behind what the instance has to do already.
  void launch(space const& exec, std::string const& label) const {
    check(label, Runtime::launch(executable_, exec), "launch the graph of");
  }

 private:
  static void check(std::string const& label, char const* refusal, char const* what) {
    if (refusal != nullptr)
      throw Error(label + ": the device could not " + what + " this work (" + refusal +
                  "). Run the work once before the capture, so that it allocates nothing, use an "
                  "instance with a stream of its own, and do not wait for the device in it.");
  }

  typename Runtime::Executable executable_{};
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
