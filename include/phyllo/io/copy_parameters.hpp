// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/io/load.hpp>
#include <phyllo/io/save.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// Copies parameters and buffers from one model to another by their names in files: of the same
/// network or of one that shares layers with it, in another precision, or in another memory space.
/// Returns what it has copied. Model::clone copies a whole model.
///
/// options  LoadOptions: as of `load`, with the names of `from` in the place of the file's
/// threads  as `load`; no other thread changes `from` meanwhile, and what other instances write to
///          it is complete
/// errors   run: as `load` -> Error; the model is unchanged
/// numerics unrounded parameters, rounded to the types of `to`
/// cost     through the host; waits for both models' instances
template <class To, class From>
LoadReport copy_parameters(typename To::space const& exec, To& to, From const& from,
                           LoadOptions const& options = {}) {
  auto const tensors = [&] {
    if constexpr (std::is_same_v<typename To::space, typename From::space>)
      return to_tensors(exec, from);
    else
      return to_tensors(typename From::space{}, from);
  }();
  return from_tensors(exec, to, tensors, "copy_parameters from " + from.name(), options);
}

}  // namespace phyllo::inline PHYLLO_ISA
