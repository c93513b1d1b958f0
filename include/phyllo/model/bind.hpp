// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/shape.hpp>

#include <Kokkos_Core.hpp>

#include <climits>
#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// Several Views of one variable each, (N), read as the channels of one tensor (N, variables).
///
/// errors   run: more than ExternalTensor::max_variables, or different extents
template <class View> struct Gathered {
  static_assert(View::rank == 1, "gather: expected one View of rank 1 for each variable.");
  View view[ExternalTensor::max_variables];
  int variables = 0;

  std::size_t extent(int i) const { return i == 0 ? view[0].extent(0) : std::size_t(variables); }
};

/// One View per variable, as simulation codes store their fields.
///
/// shape    n Views (N) -> (N, n)
template <class View, class... More> Gathered<View> gather(View const& first, More const&... more) {
  static_assert(sizeof...(More) < ExternalTensor::max_variables,
                "gather: expected at most ExternalTensor::max_variables variables.");
  constexpr bool of_one_type = (std::is_convertible_v<More const&, View> && ...);
  static_assert(of_one_type,
                "gather: expected Views of one type, that of the first. Copy the others, or give "
                "the network one input for each type.");
  if constexpr (of_one_type)
    return {{first, View(more)...}, 1 + int(sizeof...(More))};
  else
    return {{first}, 1};
}

/// Whose View is bound, in words that are put together only where it is refused: binding is done at
/// every call, and a string costs as much as a small network.
struct Argument {
  std::string const& model;
  char const* role = "";
  int number = -1;

  std::string text() const {
    return model + role + (number < 0 ? "" : " " + std::to_string(number));
  }
  friend std::string operator+(Argument const& who, std::string const& sentence) {
    return who.text() + sentence;
  }
};

namespace detail {

template <class T> constexpr ElementType element_type_of() {
  using V = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<V, double>)
    return ElementType::f64;
  else if constexpr (std::is_same_v<V, float>)
    return ElementType::f32;
  else if constexpr (std::is_same_v<V, bf16>)
    return ElementType::bf16;
  else if constexpr (std::is_same_v<V, fp16>)
    return ElementType::f16;
  else if constexpr (std::is_integral_v<V> && sizeof(V) == 8)
    return ElementType::i64;
  else if constexpr (std::is_integral_v<V> && sizeof(V) == 4)
    return ElementType::i32;
  else if constexpr (std::is_same_v<V, unsigned char>)
    return ElementType::u8;
  else
    static_assert(sizeof(T) == 0,
                  "View: elements must be double, float, phyllo::bf16, phyllo::fp16, or integers "
                  "of 64, 32 or (unsigned) 8 bits.");
}

inline std::string extents_text(Shape const& s, std::string const& batch) {
  std::string text = "(" + batch;
  for (int i = 0; i <= s.rank; ++i) text += ", " + std::to_string(s.extent(i));
  return text + ")";
}

template <class View> std::string extents_text(View const& v) {
  std::string text = "(";
  for (int i = 0; i < int(View::rank); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(v.extent(i));
  return text + ")";
}

template <class V> void* erase_const(V* pointer) {
  return const_cast<void*>(static_cast<void const*>(pointer));
}

[[noreturn]] inline void refuse_extents(Argument const& who, std::string const& expected,
                                        std::string const& got) {
  throw Error(who + ": expected a View of extents " + expected + ", got " + got + ".");
}

}  // namespace detail

/// The number of samples of a View, as the int that kernels count with.
template <class View> int batch_of(View const& view, Argument const& who) {
  if (view.extent(0) > std::size_t(INT_MAX))
    throw Error(who + ": expected a batch of at most 2147483647 samples, got " +
                std::to_string(view.extent(0)) + ". Pass it in parts.");
  return int(view.extent(0));
}

/// A caller's View as a kernel sees it.
///
/// shape    (N, C, spatial...) in any layout, or (N, C spatial) with the same order of elements
/// errors   run: other extents -> Error naming who, expected, got; compile: memory that the
///          execution space cannot reach, or an element type that is not supported
template <class Space, class View>
ExternalTensor bind_input(View const& view, Shape const& shape, Argument const& who) {
  static_assert(Kokkos::SpaceAccessibility<Space, typename View::memory_space>::accessible,
                "View: its memory is not accessible from the model's execution space. Copy it "
                "there first, with Kokkos::create_mirror_view_and_copy.");
  ExternalTensor t;
  t.type = detail::element_type_of<typename View::value_type>();
  t.data[0] = detail::erase_const(view.data());
  constexpr int rank = int(View::rank);
  static_assert(rank >= 1 && rank <= 5, "View: expected a View of rank 1 to 5.");
  std::ptrdiff_t stride[8] = {};
  for (int i = 0; i < rank; ++i) stride[i] = std::ptrdiff_t(view.stride(i));
  t.sample_stride = stride[0];
  bool fits = rank == 2 + shape.rank;
  if (fits) {
    for (int i = 0; i <= shape.rank; ++i) fits = fits && int(view.extent(1 + i)) == shape.extent(i);
    t.channel_stride = stride[1];
    for (int i = 0; i < shape.rank; ++i) t.spatial_stride[3 - shape.rank + i] = stride[2 + i];
  } else if constexpr (rank == 2) {
    fits = int(view.extent(1)) == shape.size();
    std::ptrdiff_t step = stride[1];
    for (int d = 2; d >= 0; --d) {
      t.spatial_stride[d] = step;
      step *= shape.spatial[d];
    }
    t.channel_stride = step;
  } else if constexpr (rank == 1) {
    fits = shape.size() == 1;  // one number per sample
  }
  if (!fits)
    detail::refuse_extents(who, detail::extents_text(shape, "N"), detail::extents_text(view));
  return t;
}

template <class Space, class View>
ExternalTensor bind_input(Gathered<View> const& views, Shape const& shape, Argument const& who) {
  ExternalTensor t = bind_input<Space>(views.view[0], Shape{1}, who);
  if (shape.rank != 0 || views.variables != shape.channels)
    detail::refuse_extents(
        who, detail::extents_text(shape, "N"),
        "one View for each of " + std::to_string(views.variables) + " variables");
  t.variables = views.variables;
  for (int i = 0; i < views.variables; ++i) {
    if (views.view[i].extent(0) != views.view[0].extent(0) ||
        std::ptrdiff_t(views.view[i].stride(0)) != t.sample_stride)
      throw Error(who + ": the gathered Views must have one extent and one stride; variable " +
                  std::to_string(i) + " differs from the first.");
    t.data[i] = detail::erase_const(views.view[i].data());
  }
  return t;
}

/// A View that a kernel writes to: as `bind_input`, and its elements must be floating and not
/// const.
template <class Space, class View>
ExternalTensor bind_output(View const& view, Shape const& shape, Argument const& who) {
  static_assert(
      !std::is_const_v<typename View::value_type> && !std::is_integral_v<typename View::value_type>,
      "View: an output's elements must be floating-point numbers and not const.");
  return bind_input<Space>(view, shape, who);
}
template <class Space, class View>
ExternalTensor bind_output(Gathered<View> const& views, Shape const& shape, Argument const& who) {
  static_assert(
      !std::is_const_v<typename View::value_type> && !std::is_integral_v<typename View::value_type>,
      "View: an output's elements must be floating-point numbers and not const.");
  return bind_input<Space>(views, shape, who);
}

/// Class indices, one for each position of an output of the given shape.
///
/// shape    (N) or (N, spatial...)
/// errors   compile: elements that are not integers; run: other extents
template <class Space, class View>
ExternalTensor bind_classes(View const& view, Shape const& shape, Argument const& who) {
  static_assert(std::is_integral_v<typename View::value_type>,
                "View: class indices must be integers.");
  constexpr int rank = int(View::rank);
  ExternalTensor t;
  t.type = detail::element_type_of<typename View::value_type>();
  t.data[0] = detail::erase_const(view.data());
  t.sample_stride = std::ptrdiff_t(view.stride(0));
  bool fits = rank == 1 + shape.rank || (rank == 1 && shape.positions() == 1);
  for (int i = 1; fits && i < rank; ++i) {
    fits = int(view.extent(i)) == shape.extent(i);
    t.spatial_stride[3 - shape.rank + i - 1] = std::ptrdiff_t(view.stride(i));
  }
  if (!fits)
    detail::refuse_extents(who, detail::extents_text(shape, "N") + " without its channels",
                           detail::extents_text(view));
  return t;
}

/// An image View whose channels are its last extent, (N, spatial..., C), as the library stores
/// images: kernels that find its elements of their own type read it without a copy.
template <class View> struct ChannelsLast {
  static_assert(View::rank >= 3, "channels_last: expected a View (N, spatial..., C).");
  using value_type = typename View::value_type;
  using memory_space = typename View::memory_space;
  static constexpr auto rank = View::rank;
  View view;

  std::size_t extent(int i) const {
    return i == 1 ? view.extent(rank - 1) : view.extent(i == 0 ? 0 : i - 1);
  }
  std::size_t stride(int i) const {
    return std::size_t(i == 1 ? view.stride(rank - 1) : view.stride(i == 0 ? 0 : i - 1));
  }
  auto* data() const { return view.data(); }
};

/// `channels_last(images)`: images is a View (N, spatial..., C).
template <class View> ChannelsLast<View> channels_last(View const& view) { return {view}; }

/// Whether a tensor is stored as a slot of the arena: (N, spatial..., C) without gaps.
inline bool has_slot_strides(ExternalTensor const& t, Shape const& s, long batch) {
  if (t.variables != 0 || (s.channels > 1 && t.channel_stride != 1)) return false;
  std::ptrdiff_t stride = s.channels;
  for (int d = 2; d >= 0; --d) {
    if (s.spatial[d] > 1 && t.spatial_stride[d] != stride) return false;
    stride *= s.spatial[d];
  }
  return batch <= 1 || t.sample_stride == stride;
}

namespace detail {

// The byte behind the last element that begins at a pointer of a tensor.
inline std::byte const* end_of(ExternalTensor const& t, int pointer, Shape const& s, long batch) {
  std::ptrdiff_t last = (batch - 1) * t.sample_stride;
  if (t.variables == 0) last += (s.channels - 1) * t.channel_stride;
  for (int d = 0; d < 3; ++d) last += (s.spatial[d] - 1) * t.spatial_stride[d];
  return static_cast<std::byte const*>(t.data[pointer]) +
         (last + 1) * std::ptrdiff_t(element_size(t.type));
}

}  // namespace detail

/// Whether two tensors of samples have bytes in common, or may have.
inline bool may_overlap(ExternalTensor const& a, Shape const& of_a, ExternalTensor const& b,
                        Shape const& of_b, long batch) {
  for (int i = 0; i == 0 || i < a.variables; ++i)
    for (int j = 0; j == 0 || j < b.variables; ++j)
      if (static_cast<std::byte const*>(a.data[i]) < detail::end_of(b, j, of_b, batch) &&
          static_cast<std::byte const*>(b.data[j]) < detail::end_of(a, i, of_a, batch))
        return true;
  return false;
}

/// The same tensor from sample `first` on.
inline ExternalTensor from_sample(ExternalTensor t, long first) {
  int const pointers = t.variables == 0 ? 1 : t.variables;
  for (int i = 0; i < pointers; ++i)
    if (t.data[i] != nullptr)
      t.data[i] = static_cast<std::byte*>(t.data[i]) +
                  first * t.sample_stride * std::ptrdiff_t(element_size(t.type));
  return t;
}

}  // namespace phyllo::inline PHYLLO_ISA
