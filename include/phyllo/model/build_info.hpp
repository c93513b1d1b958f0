// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/version.hpp>

#include <Kokkos_Core.hpp>

#include <string>

// Written by CMake when it configures Phyllo. Not part of <phyllo/phyllo.hpp>: a new commit would
// recompile every file that includes it.
#if __has_include(<phyllo/model/commit.hpp>)
#include <phyllo/model/commit.hpp>
#endif
#if !defined(PHYLLO_COMMIT)
#define PHYLLO_COMMIT "unknown"
#endif

namespace phyllo::inline PHYLLO_ISA {

/// What the translation unit that calls `build_info` was compiled with.
struct BuildInfo {
  /// "major.minor.patch" of these headers.
  std::string version;
  /// The commit of the source tree when CMake configured it, 12 digits, or "unknown". Local changes
  /// are not seen.
  std::string commit;
  /// Name and version of the compiler.
  std::string compiler;
  /// Version of Kokkos' headers.
  std::string kokkos;
  /// The default execution space, in Kokkos' words.
  std::string execution_space;
  /// The instruction set that names the inline namespace below `phyllo`.
  std::string instruction_set;
  /// Bits of a vector register; 0 where kernels do not use vector types, as for GPUs.
  int vector_bits = 0;
  /// The backends of the default execution space in order of preference, separated by commas.
  std::string backends;
};

namespace detail {

template <class List> struct BackendNames;
template <class... B> struct BackendNames<Backends<B...>> {
  static std::string text() {
    std::string names;
    ((names += (names.empty() ? "" : ", ") + std::string(B::name)), ...);
    return names;
  }
};

}  // namespace detail

/// The facts to quote in a bug report; `to_string` prints them. Include
/// <phyllo/model/build_info.hpp>.
inline BuildInfo build_info() {
  return {.version = phyllo::version,
          .commit = PHYLLO_COMMIT,
          .compiler = PHYLLO_COMPILER,
          .kokkos = std::to_string(KOKKOS_VERSION / 10000) + "." +
                    std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
                    std::to_string(KOKKOS_VERSION % 100),
          .execution_space = Kokkos::DefaultExecutionSpace::name(),
          .instruction_set = PHYLLO_TEXT(PHYLLO_ISA),
          .vector_bits = 8 * PHYLLO_VECTOR_BYTES,
          .backends = detail::BackendNames<
              typename DefaultBackends<Kokkos::DefaultExecutionSpace>::type>::text()};
}

/// The same on one line.
inline std::string to_string(BuildInfo const& info) {
  std::string text = "Phyllo " + info.version + " (commit " + info.commit + "), " + info.compiler +
                     ", Kokkos " + info.kokkos + " for " + info.execution_space +
                     ", instruction set " + info.instruction_set;
  if (info.vector_bits > 0) text += " (" + std::to_string(info.vector_bits) + "-bit vectors)";
  return text + ", backends " + info.backends;
}

}  // namespace phyllo::inline PHYLLO_ISA
