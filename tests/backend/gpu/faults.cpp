// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The sentences of docs/70_portability.md, "When something is missing": each fault on a host that
// has the names of that page.

#include <backend/blas_lt/plain_library.hpp>
#include <backend/gpu/host_device.hpp>
#include <backend/gpu/host_runtime.hpp>
#include <core/refused_memory.hpp>
#include <core/standard_error.hpp>
#include <phyllo/backend/blas_lt/products.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

using namespace phyllo;
using namespace phyllo::test;

// Wide enough that activations of the largest batch take more than all addresses.
struct Net : Network<Input<16384>, ReLU> {};

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;

bool is_on_the_page(std::string const& sentence) {
  std::ifstream const file("docs/70_portability.md");
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str().find("`" + sentence + "`") != std::string::npos;
}

struct Ampere : HostRuntime {
  static constexpr char const* backend = "CudaBackend";
  static inline bool has_image = true;
  static std::string device(space const&) { return "NVIDIA A100 (sm_80)"; }
  static long scratch_bytes(space const&) { return 166912; }
  template <class Kernel> static Status prepare(space const&, int& resident) {
    resident = 1;
    return has_image ? success : Status::no_instructions;
  }
  static char const* text(Status) {
    return "no kernel image is available for execution on the device";
  }
};

template <long bytes> struct nothing {
  static constexpr int warps = 4, threads = 128;
  static constexpr long scratch_bytes = bytes;
  template <class Team> void operator()(Team const&) const {}
};

template <Lacking lacking> struct CublasLt : PlainLibrary<lacking> {
  using typename PlainLibrary<lacking>::Status;
  static constexpr char const* name = "cuBLASLt";
  static std::string text(Status) {
    return lacking == Lacking::handle ? "the library was not initialized"
                                      : "an internal operation failed";
  }
};

template <class Work> std::string message_of(Work const& work) {
  try {
    work();
  } catch (Error const& error) {
    return error.what();
  }
  return "nothing was said";
}

}  // namespace

TEST_CASE("faults: no memory for a model") {
  std::string const message =
      message_of([] { Model<Net, Full<float>, Execution<Space>>(Space(), {.batch = 2147483647}); });
  CAPTURE(message);
  CHECK(is_on_the_page(message));
}

TEST_CASE("faults: a device that lacks scratch memory, or instructions in the program") {
  using Launcher = gpu::Launcher<Ampere>;
  for (bool const has_image : {true, false}) {
    Ampere::has_image = has_image;
    std::string const message = message_of([&] {
      if (has_image)
        Launcher::launch(Space(), "Net/1:Linear", nothing<229376>{}, 1);
      else
        Launcher::launch(Space(), "Net/1:Linear", nothing<1024>{}, 1);
    });
    CAPTURE(message);
    CHECK(is_on_the_page(message));
  }
}

TEST_CASE("faults: a library that cannot be used, and one that cannot launch") {
  blas_lt::ProductShape shape;
  shape.rows = shape.columns = shape.depth = 1;
  float numbers[3] = {2, 3, 5};
  blas_lt::ProductMemory const memory{&numbers[0], &numbers[1], nullptr, &numbers[2]};
  std::string text = standard_error_of([&] {
    using Products = blas_lt::Products<CublasLt<Lacking::handle>>;
    for (int i = 0; i < 2; ++i) CHECK_FALSE(Products::of(Space()).run(Space(), shape, memory));
  });
  REQUIRE(!text.empty());
  CHECK(text.back() == '\n');
  text.pop_back();
  CAPTURE(text);
  CHECK(is_on_the_page(text));
  text = standard_error_of([&] {
    using Products = blas_lt::Products<CublasLt<Lacking::launches>>;
    for (int i = 0; i < 2; ++i) CHECK_FALSE(Products::of(Space()).run(Space(), shape, memory));
  });
  REQUIRE(!text.empty());
  text.pop_back();
  CHECK(is_on_the_page(text));
  CHECK(numbers[2] == 5);
}
