// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls inside kernels that are wrong in a way that only run time shows: in debug builds they end
// with one sentence, and AddressSanitizer reports a model that is gone. Each is made by a process
// of its own: this program, called with the mistake's name in the environment.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace phyllo;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using P = Full<float>;
using Vector = Kokkos::View<float*, Host>;
struct Rate : Network<Input<4>, Linear<3>, Tanh, Linear<2>> {};
struct left;
struct right;
struct Sum : Network<NamedInput<left, 4>, NamedInput<right, 4>, AddFrom<left>> {};
using ModelOf = Model<Rate, P, Execution<Host>>;
using Closure = InKernel<Rate, P>;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sees_released_memory = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool sees_released_memory = true;
#else
constexpr bool sees_released_memory = false;
#endif
#else
constexpr bool sees_released_memory = false;
#endif

// Compilers would see a constant's null pointers, and warn.
Closure nobodys;

template <class Call> void by_team(Closure const& closure, Call const& call) {
  Host const exec;
  Kokkos::TeamPolicy<Host> policy(exec, 1, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(closure.scratch_bytes),
                          Kokkos::PerThread(closure.scratch_bytes));
  Kokkos::parallel_for("by team", policy, call);
  exec.fence("by team");
}

void make(std::string const& mistake) {
  Host const exec;
  using Member = Kokkos::TeamPolicy<Host>::member_type;
  auto model = std::make_unique<ModelOf>(exec);
  Closure const closure = model->in_kernel();
  Vector const x("x", 4), y("y", 2), three("three", 3);
  exec.fence("model");
  if (mistake == "none") {
    (void)closure(x);
    by_team(closure, [=](Member const& member) { closure(member, x, y); });
  } else if (mistake == "input") {
    (void)closure(three);
  } else if (mistake == "larger input") {
    (void)closure(Vector("five", 5));
  } else if (mistake == "second input") {
    (void)InKernel<Sum, P>{}(x, three);
  } else if (mistake == "team output") {
    by_team(closure, [=](Member const& member) { closure(member, x, three); });
  } else if (mistake == "warp input") {
    by_team(closure, [=](Member const& member) { closure(Warp(member), three, y); });
  } else if (mistake == "result index") {
    int const volatile last = 2;
    (void)closure(x)[last];
  } else if (mistake == "cells variable") {
    Cells<float, 4, 8> cells;
    int const volatile variables = 4;
    cells.load(variables, x, 0, 4);
  } else if (mistake == "no model") {
    (void)nobodys(x);
  } else if (mistake == "no model, cells") {
    (void)nobodys(Cells<float, 4, Closure::cells>{});
  } else if (mistake == "no model, team") {
    by_team(closure, [=](Member const& member) { nobodys(member, x, y); });
  } else if (mistake == "model gone") {
    model.reset();
    (void)closure(x);
  } else if (mistake == "snapshot gone") {
    Closure frozen;
    {
      auto const snapshot = model->snapshot(exec);
      exec.fence("snapshot");
      frozen = snapshot.in_kernel();
    }
    (void)frozen(x);
  }
}

constexpr char const* variable = "PHYLLO_TEST_MISTAKE";

struct End {
  std::string text;
  bool died = false;
};
End end_of(std::string const& mistake) {
  char path[4096] = {};
  REQUIRE(::readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  std::string const command = std::string(variable) + "='" + mistake + "' '" + path +
                              "' --test-case='in_kernel misuse: the mistake' 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  End end;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) end.text += char(c);
  end.died = ::pclose(pipe) != 0;
  return end;
}
void dies(std::string const& mistake, std::string const& sentence) {
  CAPTURE(mistake);
  End const end = end_of(mistake);
  CAPTURE(end.text);
  CHECK(end.died);
  CHECK(end.text.find(sentence) != std::string::npos);
}

template <int Size, class T> constexpr auto input = detail::argument_fit<Size, false, float, T>();
template <int Size, class T> constexpr auto output = detail::argument_fit<Size, true, float, T>();
using enum detail::ArgumentFit;

// Inputs of every kind, with as many numbers as the input and with others.
static_assert(input<1, float> == fits && input<1, bf16> == fits && input<1, int> == fits);
static_assert(input<4, float> == one_number && input<4, fp16> == one_number);
static_assert(input<4, float[4]> == fits && input<4, float[3]> == other_extent);
static_assert(input<4, float const*> == fits && input<1, double*> == fits);
static_assert(input<4, std::array<double, 4>> == fits);
static_assert(input<4, std::array<double, 3>> == other_extent);
static_assert(input<1, std::array<double, 3>> == other_extent);
static_assert(input<4, Kokkos::Array<float, 4>> == fits);
static_assert(input<4, Kokkos::Array<float, 5>> == other_extent);
static_assert(input<4, Values<float, 4>> == fits && input<4, Values<float, 2>> == other_extent);
static_assert(input<4, std::vector<float>> == fits && input<4, std::span<float>> == fits);
static_assert(input<4, std::span<float, 4>> == fits &&
              input<4, std::span<float, 3>> == other_extent);
static_assert(input<4, Vector> == fits && input<4, Kokkos::View<float[4], Host>> == fits);
static_assert(input<4, Kokkos::View<float[3], Host>> == other_extent);
static_assert(input<1, Kokkos::View<float[3], Host>> == other_extent);
static_assert(input<4, Kokkos::View<float**, Host>> == not_indexed);
static_assert(input<4, Kokkos::View<float, Host>> == not_indexed);
static_assert(input<4, Named<left, Vector>> == not_indexed &&
              input<4, char const**> == not_indexed);
static_assert(input<4, float[2][2]> == not_indexed);
static_assert(output<2, Vector> == fits && output<2, Kokkos::View<double[2], Host>> == fits);
static_assert(output<2, Kokkos::View<double[3], Host>> == other_extent &&
              output<2, float*> == fits);
static_assert(output<2, Kokkos::View<float const*, Host>> == read_only);
static_assert(output<2, float const*> == read_only && output<2, Values<float, 2>> == read_only);
static_assert(output<1, float> == read_only && output<2, std::span<bf16>> == fits);

}  // namespace

TEST_CASE("in_kernel misuse: the mistake") {
  if (char const* const mistake = std::getenv(variable)) make(mistake);
}

TEST_CASE("in_kernel misuse: each mistake ends with its sentence in debug builds") {
  if (std::getenv(variable) != nullptr) return;
  CHECK(!end_of("none").died);
#if PHYLLO_CHECKS_CALLS
  std::string const input_extent = "in_kernel: an input has another number of elements";
  dies("input", input_extent);
  dies("larger input", input_extent);
  dies("second input", input_extent);
  dies("warp input", input_extent);
  dies("team output", "in_kernel: an output has another number of elements");
  dies("result index", "in_kernel: the result was read at an index that it does not have");
  dies("cells variable", "Cells: a variable is numbered from 0");
  std::string const no_model = "in_kernel: the closure belongs to no model";
  dies("no model", no_model);
  dies("no model, cells", no_model);
  dies("no model, team", no_model);
#endif
  if (sees_released_memory) {
    dies("model gone", "heap-use-after-free");
    dies("snapshot gone", "heap-use-after-free");
  }
}
