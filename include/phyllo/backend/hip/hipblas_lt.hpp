// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/blas_lt/product_shape.hpp>

#include <Kokkos_Core.hpp>

#if defined(__HIPCC__)
#include <hipblaslt/hipblaslt.h>

#include <cstdint>
#include <string>

namespace phyllo::inline PHYLLO_ISA::hip {

/// AMD's library of matrix products: its names for what blas_lt::MatrixProduct describes.
struct HipblasLt {
  static constexpr char const* name = "hipBLASLt";
  using space = Kokkos::HIP;
  using Stream = hipStream_t;
  using Status = hipblasStatus_t;
  using Handle = hipblasLtHandle_t;
  using Product = hipblasLtMatmulDesc_t;
  using Matrix = hipblasLtMatrixLayout_t;
  using Preference = hipblasLtMatmulPreference_t;
  using Choice = hipblasLtMatmulHeuristicResult_t;

  static constexpr Status success = HIPBLAS_STATUS_SUCCESS;
  /// Bytes, of all matrices: its algorithms are chosen without asking.
  static constexpr int least_alignment = 16;
  static constexpr long workspace_bytes = 32L << 20;
  static constexpr hipblasOperation_t as_it_is = HIPBLAS_OP_N, transposed = HIPBLAS_OP_T;
  static constexpr auto attribute_first = HIPBLASLT_MATMUL_DESC_TRANSA;
  static constexpr auto attribute_second = HIPBLASLT_MATMUL_DESC_TRANSB;
  static constexpr auto attribute_epilogue = HIPBLASLT_MATMUL_DESC_EPILOGUE;
  static constexpr auto attribute_vector = HIPBLASLT_MATMUL_DESC_BIAS_POINTER;
  static constexpr auto attribute_vector_type = HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE;

  static Stream stream(space const& exec) { return exec.hip_stream(); }
  static int device(space const& exec) { return exec.hip_device(); }
  /// What follows is about the instance's device.
  static void select(space const& exec) { static_cast<void>(hipSetDevice(exec.hip_device())); }
  /// A graph, instead of running: see gpu::RecordedWork.
  static bool records(space const& exec) {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    static_cast<void>(hipStreamIsCapturing(exec.hip_stream(), &status));
    return status != hipStreamCaptureStatusNone;
  }
  static std::string text(Status status) {
    return "hipblasStatus_t " + std::to_string(int(status));
  }

  static constexpr hipDataType type(blas_lt::NumberType t) {
    return t == blas_lt::NumberType::bfloat16  ? HIP_R_16BF
           : t == blas_lt::NumberType::float16 ? HIP_R_16F
                                               : HIP_R_32F;
  }
  static constexpr hipblasLtEpilogue_t epilogue(blas_lt::Epilogue e) {
    return e == blas_lt::Epilogue::bias             ? HIPBLASLT_EPILOGUE_BIAS
           : e == blas_lt::Epilogue::bias_relu      ? HIPBLASLT_EPILOGUE_RELU_BIAS
           : e == blas_lt::Epilogue::sum_of_columns ? HIPBLASLT_EPILOGUE_BGRADA
                                                    : HIPBLASLT_EPILOGUE_DEFAULT;
  }

  static Status create(Handle* handle) { return hipblasLtCreate(handle); }
  static Status create(Product* product) {
    return hipblasLtMatmulDescCreate(product, HIPBLAS_COMPUTE_32F, HIP_R_32F);
  }
  static Status create(Matrix* matrix, hipDataType type, long rows, long columns) {
    return hipblasLtMatrixLayoutCreate(matrix, type, std::uint64_t(rows), std::uint64_t(columns),
                                       rows);
  }
  static Status create(Preference* preference) {
    return hipblasLtMatmulPreferenceCreate(preference);
  }
  static Status destroy(Handle handle) { return hipblasLtDestroy(handle); }
  static Status destroy(Product product) { return hipblasLtMatmulDescDestroy(product); }
  static Status destroy(Matrix matrix) { return hipblasLtMatrixLayoutDestroy(matrix); }
  static Status destroy(Preference preference) {
    return hipblasLtMatmulPreferenceDestroy(preference);
  }
  template <class Value>
  static Status set(Product product, hipblasLtMatmulDescAttributes_t attribute,
                    Value const& value) {
    return hipblasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value);
  }
  /// What an algorithm may take for granted.
  static Status limit(Preference preference, std::uint64_t workspace, std::uint32_t) {
    return hipblasLtMatmulPreferenceSetAttribute(
        preference, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
  }
  static Status choose(Handle handle, Product product, Matrix first, Matrix second, Matrix result,
                       Preference preference, Choice* choice, int* found) {
    return hipblasLtMatmulAlgoGetHeuristic(handle, product, first, second, result, result,
                                           preference, 1, choice, found);
  }
  static Status run(Handle handle, Product product, float const& one, void const* first, Matrix a,
                    void const* second, Matrix b, float const& kept, void* result, Matrix d,
                    Choice const& choice, void* workspace, Stream stream) {
    return hipblasLtMatmul(handle, product, &one, first, a, second, b, &kept, result, d, result, d,
                           &choice.algo, workspace, choice.workspaceSize, stream);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::hip

#endif
