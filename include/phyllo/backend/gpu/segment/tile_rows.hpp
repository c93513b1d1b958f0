// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/accumulator4.hpp>
#include <phyllo/core/element_type.hpp>
#include <phyllo/core/external_tensor.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// The caller's rows of samples, read and written four channels at a time, as lanes hold them.
///
/// shape    (N, Count); channels behind the last are zero when read and left out when written
template <class MmaAtom, int Count> struct TileRows {
  using S = typename MmaAtom::storage;

  ExternalTensor tensor;
  int batch = 0;
  // Rows of the storage type without gaps between channels: four channels are one access.
  bool is_packed = false;

  TileRows(ExternalTensor const& t, int samples) : tensor(t), batch(samples) {
    is_packed = t.type == storage_type && t.variables == 0 && t.channel_stride == 1 &&
                t.sample_stride % 4 == 0 &&
                reinterpret_cast<std::uintptr_t>(t.data[0]) % sizeof(Pack4<S>) == 0;
  }

  /// The rows as one matrix, where they stand behind each other without gaps; else nullptr.
  S const* in_one_piece() const {
    return is_packed && tensor.sample_stride == Count ? static_cast<S const*>(tensor.data[0])
                                                      : nullptr;
  }

  /// Channels c to c + 3 of sample n.
  PHYLLO_INLINE Pack4<S> read(long n, int c) const {
    if (n >= batch || c >= Count) return {};
    if (is_packed && (Count % 4 == 0 || c + 4 <= Count)) return packed(n, c);
    float value[4] = {};
    MmaAtom::opaque(c);
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i)
      if (c + i < Count) value[i] = tensor.template read<float>(n, c + i, 0, 0, 0);
    return MmaAtom::rounded(value);
  }
  PHYLLO_INLINE void write(long n, int c, Accumulator4<MmaAtom> const& four) const {
    if (n >= batch || c >= Count) return;
    if (is_packed && (Count % 4 == 0 || c + 4 <= Count)) {
      packed(n, c) = MmaAtom::rounded(four.value);
      return;
    }
    MmaAtom::opaque(c);
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i)
      if (c + i < Count) tensor.write(n, c + i, 0, 0, 0, four.value[i]);
  }

 private:
  static constexpr ElementType storage_type = std::is_same_v<S, float>  ? ElementType::f32
                                              : std::is_same_v<S, bf16> ? ElementType::bf16
                                                                        : ElementType::f16;

  PHYLLO_INLINE Pack4<S>& packed(long n, int c) const {
    return *reinterpret_cast<Pack4<S>*>(static_cast<S*>(tensor.data[0]) + n * tensor.sample_stride +
                                        c);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
