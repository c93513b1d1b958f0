// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/pack4.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::cuda {

/// Copies of 16 bytes from a device's memory to a block's scratch memory, without registers, while
/// its threads compute (sm_80 and newer).
///
/// options  Storage = bf16 | fp16
/// source   PTX ISA 8, 9.7.9.25.3 (cp.async)
template <class Storage> struct ChunkCopies {
  /// 8 numbers, in two halves.
  struct alignas(16) Chunk {
    gpu::Pack4<Storage> half[2];
  };

  PHYLLO_INLINE static Chunk chunk(Storage const* scratch) {
    return *reinterpret_cast<Chunk const*>(scratch);
  }
  /// Starts the copy of a chunk; where `from` is nullptr, of zeros. `valid`: any address.
  PHYLLO_INLINE static void copy_chunk([[maybe_unused]] Storage* to,
                                       [[maybe_unused]] Storage const* from,
                                       [[maybe_unused]] Storage const* valid) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    auto const at = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at),
                 "l"(from != nullptr ? from : valid), "r"(from != nullptr ? 16 : 0)
                 : "memory");
#endif
  }
  /// Ends a group of copies, which are waited for together.
  PHYLLO_INLINE static void commit_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  /// Until at most the last `Groups` groups of this thread are under way.
  template <int Groups> PHYLLO_INLINE static void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda
