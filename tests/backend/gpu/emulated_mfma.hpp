// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/hip/mfma.hpp>

namespace phyllo::test {

/// hip::Mfma on a host: one call computes all lanes of a wavefront, by the tables of the manual.
///
/// options  Storage = bf16 | fp16 | float
/// source   AMD CDNA 2 instruction set, 7.1 (matrix fragments); AMD matrix instruction calculator
template <class Storage> struct EmulatedMfma : hip::Mfma<Storage> {
  using Device = hip::Mfma<Storage>;
  using typename Device::Sums;
  using typename Device::Values;
  using typename Device::Weights;
  static constexpr int lanes = Device::lanes, emulated_lanes = lanes;

  static void multiply(Sums (&sums)[lanes], Values const (&values)[lanes],
                       Weights const (&weights)[lanes]) {
    float a[16][16], b[16][16];
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < 4; ++i) {
        a[lane % 16][lane / 16 * 4 + i] = float(weights[lane].of.value[i]);
        b[lane / 16 * 4 + i][lane % 16] = float(values[lane].of.value[i]);
      }
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 16; ++k)
          sums[lane].value[i] += a[lane / 16 * 4 + i][k] * b[k][lane % 16];
  }

  static void by_channel(Values (&values)[lanes], Storage const* rows, int stride, int lane) {
    for (int l = 0; l < lanes; ++l) {
      Values of_lane[1];
      Device::by_channel(of_lane, rows, stride, lane + l);
      values[l] = of_lane[0];
    }
  }
  static void by_channel(Weights (&weights)[1][lanes], Storage const* rows, int stride, int lane) {
    for (int l = 0; l < lanes; ++l) {
      Weights of_lane[1][1];
      Device::by_channel(of_lane, rows, stride, lane + l);
      weights[0][l] = of_lane[0][0];
    }
  }
};

}  // namespace phyllo::test
