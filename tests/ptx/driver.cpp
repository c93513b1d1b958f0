// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of CUDA's driver by which Kokkos looks whose a stream is. Without a GPU there mostly is
// no libcuda.so.1, for which this stands.

extern "C" {

int cuStreamGetCtx(void*, void** context) {
  *context = nullptr;
  return 0;
}
int cuCtxPushCurrent_v2(void*) { return 0; }
int cuCtxPopCurrent_v2(void**) { return 0; }
int cuCtxGetDevice(int* device) {
  *device = 0;
  return 0;
}
}
