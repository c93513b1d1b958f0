// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/blas_lt/matrix_product.hpp>
#include <phyllo/core/allocate.hpp>
#include <phyllo/core/warning.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace phyllo::inline PHYLLO_ISA::blas_lt {

/// The pointers of a product.
struct ProductMemory {
  void const* left = nullptr;
  void const* right = nullptr;
  void* vector = nullptr;  // what the epilogue reads or writes
  void* result = nullptr;

  /// The largest power of two, to 256, that divides all of them.
  int alignment() const {
    std::uintptr_t bits = 256;
    for (void const* const p :
         {left, right, static_cast<void const*>(vector), static_cast<void const*>(result)})
      bits |= reinterpret_cast<std::uintptr_t>(p);
    return int(bits & (~bits + 1));
  }
};

/// The products of matrices that a process has had for a device a library choose algorithms for,
/// with what the algorithms work in.
///
/// state    kept from the first product of a shape to Kokkos::finalize; past `most_shapes` shapes,
///          all are chosen anew. Library::workspace_bytes of a device for each stream
/// errors   where the library cannot begin in this process, or there is no room for what it works
///          in: one warning, and none of its products from then on; the first product of
///          a stream that records, since it takes memory -> Error
template <class Library> class Products {
 public:
  using space = typename Library::space;

  Products() {
    auto const status = Library::create(&handle_);
    can_be_used_ = has_handle_ = status == Library::success;
    if (!has_handle_) give_up(Library::text(status));
  }
  Products(Products const&) = delete;
  Products& operator=(Products const&) = delete;
  ~Products() {
    known_.clear();
    if (has_handle_) static_cast<void>(Library::destroy(handle_));
  }

  /// Those of an instance's device, which the library's calls are about from here on.
  static Products& of(space const& exec) {
    Library::select(exec);
    static std::once_flag once;
    std::call_once(once, [] { Kokkos::push_finalize_hook([] { kept().clear(); }); });
    static std::mutex mutex;
    std::lock_guard const alone(mutex);
    auto& products = kept()[Library::device(exec)];
    if (products == nullptr) products = std::make_unique<Products>();
    return *products;
  }

  /// Launches the product, unless the library has no algorithm for it or cannot be used.
  bool run(space const& exec, ProductShape shape, ProductMemory const& memory) {
    std::lock_guard const alone(mutex_);
    if (!has_room(exec)) return false;
    shape.alignment = memory.alignment();
    if (shape.alignment < Library::least_alignment) return false;
    Known& known = find(shape, memory);
    return known.product.is_found() && launch(exec, shape, known.product, memory);
  }

  /// Whether a ReLU in the product leaves a NaN one, by which training sees that numbers were lost:
  /// asked of the algorithm itself, once, by a bias of NaN. The result is written over.
  ///
  /// options  T: of the bias and the result
  template <class T> bool keeps_nan(space const& exec, ProductShape shape, ProductMemory memory) {
    std::lock_guard const alone(mutex_);
    if (!has_room(exec)) return false;
    shape.alignment = memory.alignment();
    if (shape.alignment < Library::least_alignment) return false;
    Known& known = find(shape, memory);
    if (!known.product.is_found()) return false;
    if (known.asked) return known.keeps_nan;
    if (Library::records(exec)) return false;  // it cannot be waited for
    Kokkos::View<T*, space> bias;
    if (!make_room(exec, bias, "phyllo: bias of NaN", shape.columns)) return false;
    Kokkos::deep_copy(exec, bias, T(std::numeric_limits<float>::quiet_NaN()));
    memory.vector = bias.data();
    if (!launch(exec, shape, known.product, memory)) return false;
    Kokkos::View<T*, Kokkos::HostSpace> const row("phyllo: row", std::size_t(shape.columns));
    Kokkos::deep_copy(exec, row,
                      Kokkos::View<T const*, space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                          static_cast<T const*>(memory.result), std::size_t(shape.columns)));
    exec.fence("phyllo: rectifier of NaN");
    known.asked = known.keeps_nan = true;
    for (std::size_t c = 0; c < row.size(); ++c) known.keeps_nan &= std::isnan(float(row(c)));
    return known.keeps_nan;
  }

 private:
  static constexpr std::size_t most_shapes = 256;

  struct Known {
    MatrixProduct<Library> product;
    bool asked = false, keeps_nan = false;

    template <class... From> explicit Known(From const&... from) : product(from...) {}
  };

  static std::map<int, std::unique_ptr<Products>>& kept() {
    static std::map<int, std::unique_ptr<Products>> products;
    return products;
  }
  // Warns once for a device.
  void give_up(std::string const& why) {
    can_be_used_ = false;
    warn(std::string(Library::name) + " cannot be used (" + why +
         "), so Phyllo's own kernels compute wide layers. Check that it fits the driver and that "
         "memory is free, or remove its backend from the list of backends.");
  }
  // What the products of this instance work in is there.
  bool has_room(space const& exec) {
    if (!can_be_used_) return false;
    Workspace& workspace = workspaces_[Library::stream(exec)];
    if (workspace.size() > 0) return true;
    if (Library::records(exec))
      throw Error(
          std::string(Library::name) +
          ": expected a product on this instance before its stream is captured, because the first "
          "one allocates memory, got none. Run the work once before the capture.");
    return make_room(exec, workspace, "phyllo: products of matrices", Library::workspace_bytes);
  }
  template <class V> bool make_room(space const& exec, V& view, char const* label, long size) {
    try {
      view = allocate<V>(label, size, "", exec, Kokkos::WithoutInitializing);
      return true;
    } catch (Error const&) {
      give_up("no room for the " +
              readable_bytes(bytes_of(size, long(sizeof(typename V::value_type)))) +
              " that it works in");
      return false;
    }
  }
  Known& find(ProductShape const& shape, ProductMemory const& memory) {
    auto at = known_.find(shape);
    if (at != known_.end()) return at->second;
    if (known_.size() == most_shapes) known_.clear();
    return known_
        .try_emplace(shape, handle_, shape, std::size_t(Library::workspace_bytes),
                     static_cast<void const*>(memory.vector))
        .first->second;
  }
  // A library may refuse to launch what it has chosen an algorithm for, such as sums of columns;
  // then it is not asked again.
  bool launch(space const& exec, ProductShape const& shape, MatrixProduct<Library>& product,
              ProductMemory const& memory) {
    auto const stream = Library::stream(exec);
    auto const status = product.run(handle_, stream, workspaces_[stream].data(), memory.left,
                                    memory.right, memory.vector, memory.result);
    if (status == Library::success) return true;
    product.refuse();
    warn(std::string(Library::name) + " refuses a product of " + std::to_string(shape.rows) +
         " by " + std::to_string(shape.columns) + " over " + std::to_string(shape.depth) + " (" +
         Library::text(status) + "), so Phyllo's own kernels compute what it refuses.");
    return false;
  }

  using Workspace = Kokkos::View<std::byte*, space>;
  std::mutex mutex_;
  typename Library::Handle handle_{};
  bool has_handle_ = false, can_be_used_ = false;
  std::map<ProductShape, Known> known_;
  std::map<typename Library::Stream, Workspace> workspaces_;
};

}  // namespace phyllo::inline PHYLLO_ISA::blas_lt
