// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/data/sample_source.hpp>
#include <phyllo/model/bind.hpp>

#include <Kokkos_Core.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Samples of Views in memory, one for each array: ViewSource(x, y).
///
/// shape    each View (samples, ...), of any layout and memory space
/// state    Views that host code can read row by row are kept as they are; do not change them while
///          batches are made. Of all others, a copy in host memory
/// threads  any number may read at the same time
/// errors   run: Views with different numbers of samples -> Error
/// cost     construction waits for the copies
class ViewSource {
 public:
  template <class... Views> explicit ViewSource(Views const&... views) {
    static_assert(sizeof...(Views) > 0, "ViewSource: expected at least one View.");
    (add(views), ...);
  }

  long samples() const { return samples_; }
  static constexpr long block() { return 1; }
  std::vector<SampleArray> const& arrays() const { return arrays_; }
  void read(long first, long count, std::byte* const* to) const {
    for (std::size_t a = 0; a < arrays_.size(); ++a) {
      long const bytes = arrays_[a].bytes();
      std::memcpy(to[a], data_[a] + first * bytes, std::size_t(count * bytes));
    }
  }

 private:
  template <class View> void add(View const& view) {
    using T = typename View::non_const_value_type;
    using Rows =
        Kokkos::View<typename View::const_data_type, Kokkos::LayoutRight, Kokkos::HostSpace>;
    constexpr bool is_row_major =
        std::is_same_v<typename View::array_layout, Kokkos::LayoutRight> || View::rank == 1;
    std::string const name = "View " + std::to_string(arrays_.size()) + " (" + view.label() + ")";
    long const samples = long(view.extent(0));
    if (arrays_.empty()) samples_ = samples;
    if (samples != samples_)
      throw Error("ViewSource: expected " + std::to_string(samples_) + " samples in " + name +
                  " as in the first View, got " + std::to_string(samples) + ".");
    std::shared_ptr<void const> owner;
    void const* data = nullptr;
    bool kept = false;
    if constexpr (is_row_major &&
                  Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                             typename View::memory_space>::accessible) {
      if (view.span_is_contiguous()) {
        owner = std::make_shared<View>(view);
        data = view.data();
        kept = true;
      }
    }
    if (!kept) {
      auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
      typename View::array_layout const extents = view.layout();
      Kokkos::LayoutRight layout;
      for (int i = 0; i < int(View::rank); ++i) layout.dimension[i] = extents.dimension[i];
      using Copy =
          Kokkos::View<typename View::non_const_data_type, Kokkos::LayoutRight, Kokkos::HostSpace>;
      Copy const copy(Kokkos::view_alloc("phyllo: samples", Kokkos::WithoutInitializing), layout);
      Kokkos::deep_copy(copy, mirror);
      owner = std::make_shared<Rows>(copy);
      data = copy.data();
    }
    SampleArray array{name, detail::element_type_of<T>(), {}};
    for (int i = 1; i < int(View::rank); ++i) array.shape.push_back(std::int64_t(view.extent(i)));
    arrays_.push_back(array);
    data_.push_back(static_cast<std::byte const*>(data));
    owners_.push_back(owner);
  }

  long samples_ = 0;
  std::vector<SampleArray> arrays_;
  std::vector<std::byte const*> data_;
  std::vector<std::shared_ptr<void const>> owners_;
};

}  // namespace phyllo::inline PHYLLO_ISA
