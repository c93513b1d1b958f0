// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace ptx {

/// Rows of a warp's special registers (PTX ISA 9.0, 10), and one for the carry (9.7.2).
enum Special : int {
  tid,  // x, y, z
  ntid = tid + 3,
  ctaid = ntid + 3,
  nctaid = ctaid + 3,
  lane_id = nctaid + 3,
  warp_id,
  warp_count,
  lane_mask_eq,
  lane_mask_lt,
  carry,
  special_count
};

/// The row of a name; -1: there is none.
inline int special_of(std::string const& name) {
  static char const* const scalars[] = {"%laneid", "%warpid", "%nwarpid", "%lanemask_eq",
                                        "%lanemask_lt"};
  static char const* const vectors[] = {"%tid.", "%ntid.", "%ctaid.", "%nctaid."};
  for (int k = 0; k < 5; ++k)
    if (name == scalars[k]) return lane_id + k;
  for (int k = 0; k < 4; ++k)
    for (int axis = 0; axis < 3; ++axis)
      if (name == vectors[k] + std::string(1, "xyz"[axis])) return tid + 3 * k + axis;
  return -1;
}

}  // namespace ptx
