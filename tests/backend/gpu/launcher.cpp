// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Launches on a device that lacks what it is told to lack: each fault is one sentence, nothing runs
// after it, and the next launch is as if nothing had been.

#include <backend/gpu/host_runtime.hpp>
#include <phyllo/backend/gpu/launch/launcher.hpp>
#include <phyllo/backend/gpu/launch/resident_blocks.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace phyllo;
using phyllo::test::HostRuntime;

namespace {

struct Device {
  long scratch_bytes = 1024;
  int resident = 2;
  HostRuntime::Status prepares = HostRuntime::success, launches = HostRuntime::success;
  std::vector<std::string> calls;  // what was asked of it
} device;

struct Runtime : HostRuntime {
  static std::string device(space const&) { return "device 7 (v1)"; }
  static long scratch_bytes(space const&) { return ::device.scratch_bytes; }
  template <class Kernel> static Status prepare(space const&, int& resident) {
    ::device.calls.push_back("prepare");
    resident = ::device.resident;
    return ::device.prepares;
  }
  template <class Kernel>
  static Status launch(space const& exec, Kernel const& kernel, int blocks) {
    ::device.calls.push_back("launch of " + std::to_string(blocks));
    if (::device.launches != success) return ::device.launches;
    return HostRuntime::launch(exec, kernel, blocks);
  }
};

using Launcher = gpu::Launcher<Runtime>;
using Space = HostRuntime::space;
using Calls = std::vector<std::string>;

// Notes which blocks have run.
struct note_block {
  static constexpr int warps = 4, threads = 128;
  static constexpr long scratch_bytes = 1000;
  bool* ran = nullptr;
  template <class Team> void operator()(Team const& team) const { ran[team.block()] = true; }
};

struct Outcome {
  int blocks = -1;  // that were launched
  std::string error;
  int ran = 0;
};
Outcome launch(long blocks) {
  bool ran[32] = {};
  Outcome outcome;
  try {
    outcome.blocks = Launcher::launch(Space(), "net/3:Linear", note_block{ran}, blocks);
  } catch (Error const& error) {
    outcome.error = error.what();
  }
  for (bool const r : ran) outcome.ran += r;
  return outcome;
}

// A tool's view of launches.
int begun = 0, ended = 0;
std::string label_seen;
void note_begin(char const* label, std::uint32_t, std::uint64_t* id) {
  label_seen = label;
  *id = std::uint64_t(++begun);
}
void note_end(std::uint64_t) { ++ended; }

std::string const remedy =
    " Configure Kokkos for the architecture of this device (-DKokkos_ARCH_...=ON), or leave "
    "HostBackend out of the list of backends: Backends<PortableBackend>.";

}  // namespace

TEST_CASE("Launcher: as many blocks as there are, but no more than run at a time") {
  device = {};
  Outcome const few = launch(4);
  CHECK(few.blocks == 4);
  CHECK(few.ran == 4);
  Outcome const many = launch(1000);
  CHECK(many.blocks == 3 * device.resident);
  CHECK(many.ran == 3 * device.resident);
  CHECK(device.calls == Calls{"prepare", "launch of 4", "prepare", "launch of 6"});
}

TEST_CASE("Launcher: no blocks are no launch") {
  device = {};
  CHECK(launch(0).blocks == 0);
  CHECK(device.calls.empty());
}

TEST_CASE("Launcher: too little scratch memory is found before anything is asked") {
  device = {};
  device.scratch_bytes = 999;
  Outcome const outcome = launch(1);
  CHECK(outcome.error ==
        "net/3:Linear: the kernel requires 1000 bytes of scratch memory for a block, and device 7 "
        "(v1) has 999." +
            remedy);
  CHECK(device.calls.empty());
  device.scratch_bytes = 1000;
  CHECK(launch(1).ran == 1);
}

TEST_CASE("Launcher: a block that does not fit is an error, not a launch of no blocks") {
  device = {};
  device.resident = 0;
  Outcome const outcome = launch(1);
  CHECK(outcome.error ==
        "net/3:Linear: expected a block of 128 threads with 1000 bytes of scratch memory to fit on "
        "a multiprocessor of device 7 (v1), but it has registers or scratch memory for none." +
            remedy);
  CHECK(device.calls == Calls{"prepare"});
}

TEST_CASE("Launcher: a device without the instructions is named, with the remedy") {
  std::string const sentence =
      "net/3:Linear: expected instructions for device 7 (v1) in this program, got those of another "
      "architecture (not today). Configure Kokkos for this device (-DKokkos_ARCH_...=ON) and "
      "compile again: no kernel of this program runs on it, not even those of portable.";
  device = {};
  device.prepares = HostRuntime::Status::no_instructions;
  CHECK(launch(1).error == sentence);
  CHECK(device.calls == Calls{"prepare"});
  device = {};
  device.launches = HostRuntime::Status::no_instructions;
  Outcome const outcome = launch(1);
  CHECK(outcome.error == sentence);
  CHECK(outcome.ran == 0);
}

TEST_CASE("Launcher: a launch that takes too much of the device names the block") {
  device = {};
  device.launches = HostRuntime::Status::no_room;
  CHECK(launch(1).error ==
        "net/3:Linear: device 7 (v1) has no room for a block of 128 threads with 1000 bytes of "
        "scratch memory (not today)." +
            remedy);
}

TEST_CASE("Launcher: what else a device refuses is told in its words") {
  for (bool const early : {true, false}) {
    device = {};
    (early ? device.prepares : device.launches) = HostRuntime::Status::other;
    CHECK(launch(1).error ==
          "net/3:Linear: the device could not start this kernel (not today). An earlier kernel may "
          "be the cause: run again with ONE_BY_ONE=1 in the environment to see which.");
  }
  device = {};
  CHECK(launch(1).ran == 1);
}

TEST_CASE("Launcher: a tool sees the end of every launch that it has seen begin") {
  namespace Tools = Kokkos::Tools::Experimental;
  Tools::set_begin_parallel_for_callback(note_begin);
  Tools::set_end_parallel_for_callback(note_end);
  device = {};
  CHECK(launch(1).ran == 1);
  CHECK(label_seen == "net/3:Linear");
  CHECK(begun == 1);
  CHECK(ended == 1);
  device.launches = HostRuntime::Status::other;
  launch(1);
  device.resident = 0;
  launch(1);
  CHECK(begun == 2);
  CHECK(ended == 2);
  Tools::set_begin_parallel_for_callback(nullptr);
  Tools::set_end_parallel_for_callback(nullptr);
}

TEST_CASE("gpu: resident blocks of a kernel are known for each device that was asked") {
  gpu::ResidentBlocks known;
  CHECK(known.of(0) == -1);
  known.set(0, 3);
  known.set(5, 0);
  known.set(64, 7);  // more than are kept
  CHECK(known.of(0) == 3);
  CHECK(known.of(5) == 0);
  CHECK(known.of(1) == -1);
  CHECK(known.of(64) == -1);
}
