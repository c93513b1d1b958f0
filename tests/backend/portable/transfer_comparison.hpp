// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/movement.hpp>

#include <backend/portable/comparison.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace phyllo::test {

/// The caller's tensor: strides of its own in any order of dimensions, or one View per channel.
template <class T>
ExternalTensor external(T* data, ElementType type, Shape const& s, int batch, SizeRow const& pick) {
  ExternalTensor t;
  t.type = type;
  t.data[0] = data;
  int const extent[5] = {batch, s.channels, s.spatial[0], s.spatial[1], s.spatial[2]};
  std::ptrdiff_t* const stride[5] = {&t.sample_stride, &t.channel_stride, &t.spatial_stride[0],
                                     &t.spatial_stride[1], &t.spatial_stride[2]};
  std::ptrdiff_t next = 1 + pick.row % 2;
  for (int k = 0; k < 5; ++k) {
    int const d = (k + pick.row) % 5;
    *stride[d] = next;
    next *= extent[d] + pick.row % 3;
  }
  if (s.rank == 0 && s.channels <= ExternalTensor::max_variables && pick.row % 2 == 0) {
    t.variables = s.channels;
    for (int c = 0; c < s.channels; ++c) t.data[c] = data + c * t.channel_stride;
  }
  return t;
}
inline Shape external_shape(SizeRow const& pick) {
  Shape s{pick(1)};
  s.rank = pick.row % 4;
  for (int d = 3 - s.rank; d < 3; ++d) s.spatial[d] = pick(2 + d, 4);
  return s;
}
inline constexpr long room = 60000;  // elements that an external tensor may span

template <class P, class T, template <class, class> class Kernels>
void compare_transfers(ElementType type) {
  using S = typename P::storage;
  auto const source = numbers<T>(room, 1);
  for_size_rows([&](SizeRow const& pick) {
    int const batch = pick(0, 4) - 1;
    Shape const s = external_shape(pick);
    long const size = long(batch) * s.size();
    auto const tensor = external(const_cast<T*>(source.data()), type, s, batch, pick);
    REQUIRE(tensor.offset(batch, s.channels, s.spatial[0], s.spatial[1], s.spatial[2]) < room);
    compare<op::Transfer, P, Kernels>(op::Transfer::Load<P>{batch, s, tensor, nullptr}, 0,
                                      output<S>(size, [](auto& w, S* p) { w.slot = p; }));
    auto const slot = numbers<S>(size, 2);
    // Numbers between the strides stay as they are.
    compare<op::Transfer, P, Kernels>(op::Transfer::Store<P>{batch, s, slot.data(), {}}, 0,
                                      output<T>(room, true, [&](auto& w, T* p) {
                                        w.target = external(p, type, s, batch, pick);
                                      }));
  });
}

/// Of integers, which are not stored.
template <class P, class T, template <class, class> class Kernels>
void compare_loads_of_integers(ElementType type) {
  using S = typename P::storage;
  std::vector<T> source(room);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = T(i * 37 % 251);
  for_size_rows([&](SizeRow const& pick) {
    int const batch = pick(0, 4) - 1;
    Shape const s = external_shape(pick);
    auto const tensor = external(source.data(), type, s, batch, pick);
    REQUIRE(tensor.offset(batch, s.channels, s.spatial[0], s.spatial[1], s.spatial[2]) < room);
    compare<op::Transfer, P, Kernels>(
        op::Transfer::Load<P>{batch, s, tensor, nullptr}, 0,
        output<S>(long(batch) * s.size(), [](auto& w, S* p) { w.slot = p; }));
  });
}

/// Both ways between tensors and slots, against the reference.
template <template <class, class> class Kernels> void compare_transfers() {
  compare_transfers<Full<double>, float, Kernels>(ElementType::f32);
  compare_transfers<Full<float>, double, Kernels>(ElementType::f64);
  compare_transfers<Mixed<bf16, float>, fp16, Kernels>(ElementType::f16);
  compare_transfers<Mixed<fp16, float>, bf16, Kernels>(ElementType::bf16);
  compare_transfers<Mixed<bf16, float>, bf16, Kernels>(ElementType::bf16);
  compare_loads_of_integers<Full<float>, std::int64_t, Kernels>(ElementType::i64);
  compare_loads_of_integers<Full<double>, std::int32_t, Kernels>(ElementType::i32);
  compare_loads_of_integers<Mixed<bf16, float>, std::uint8_t, Kernels>(ElementType::u8);
}

}  // namespace phyllo::test
