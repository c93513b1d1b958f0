// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

// Advanced Matrix Extensions: matrix registers that a process on Linux has to ask for.
#if defined(__AMX_TILE__) && defined(__AMX_BF16__) && defined(__AVX512BF16__) && \
    defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__linux__) && defined(__x86_64__)
#define PHYLLO_HAS_AMX

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace phyllo::inline PHYLLO_ISA::host {

/// The eight matrix registers of a thread, each 16 rows of 64 bytes, while this object lives.
///
/// errors   none: `permitted` says beforehand whether the kernel lets the process use them
/// source   Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, ch. 18; the
///          request is that of Linux, Documentation/arch/x86/xstate.rst
class AmxTiles {
 public:
  static constexpr int rows = 16;
  static constexpr int columns = 16;  // of float
  static constexpr int depth = 32;    // of bf16
  /// From here on packing the weights pays (measured with four layers 32 and 64 wide).
  static constexpr int fewest_samples = 16;

  /// Asked once per process.
  static bool permitted() {
    constexpr long request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    static bool const granted = syscall(SYS_arch_prctl, request, tile_data) == 0;
    return granted;
  }

  AmxTiles() {
    Configuration c;
    for (int i = 0; i < 8; ++i) {
      c.row_bytes[i] = 64;
      c.row_count[i] = rows;
    }
    _tile_loadconfig(&c);
  }
  ~AmxTiles() { _tile_release(); }
  AmxTiles(AmxTiles const&) = delete;
  AmxTiles& operator=(AmxTiles const&) = delete;

 private:
  struct alignas(64) Configuration {
    unsigned char palette = 1;
    unsigned char start_row = 0;
    unsigned char reserved[14] = {};
    unsigned short row_bytes[16] = {};
    unsigned char row_count[16] = {};
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::host

#endif
