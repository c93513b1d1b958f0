// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/blas_lt/product_shape.hpp>

#include <Kokkos_Core.hpp>

#if defined(__CUDACC__)
#include <cublasLt.h>

#include <cstdint>
#include <string>

namespace phyllo::inline PHYLLO_ISA::cuda {

/// NVIDIA's library of matrix products: its names for what blas_lt::MatrixProduct describes.
struct CublasLt {
  static constexpr char const* name = "cuBLASLt";
  using space = Kokkos::Cuda;
  using Stream = cudaStream_t;
  using Status = cublasStatus_t;
  using Handle = cublasLtHandle_t;
  using Product = cublasLtMatmulDesc_t;
  using Matrix = cublasLtMatrixLayout_t;
  using Preference = cublasLtMatmulPreference_t;
  using Choice = cublasLtMatmulHeuristicResult_t;

  static constexpr Status success = CUBLAS_STATUS_SUCCESS;
  static constexpr long workspace_bytes = 32L << 20;
  static constexpr int least_alignment = 1;  // bytes, of all matrices
  static constexpr cublasOperation_t as_it_is = CUBLAS_OP_N, transposed = CUBLAS_OP_T;
  static constexpr auto attribute_first = CUBLASLT_MATMUL_DESC_TRANSA;
  static constexpr auto attribute_second = CUBLASLT_MATMUL_DESC_TRANSB;
  static constexpr auto attribute_epilogue = CUBLASLT_MATMUL_DESC_EPILOGUE;
  static constexpr auto attribute_vector = CUBLASLT_MATMUL_DESC_BIAS_POINTER;
  static constexpr auto attribute_vector_type = CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE;

  static Stream stream(space const& exec) { return exec.cuda_stream(); }
  static int device(space const& exec) { return exec.cuda_device(); }
  /// What follows is about the instance's device.
  static void select(space const& exec) { static_cast<void>(cudaSetDevice(exec.cuda_device())); }
  /// A graph, instead of running: see gpu::RecordedWork.
  static bool records(space const& exec) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    static_cast<void>(cudaStreamIsCapturing(exec.cuda_stream(), &status));
    return status != cudaStreamCaptureStatusNone;
  }
  static std::string text(Status status) { return cublasLtGetStatusString(status); }

  static constexpr cudaDataType_t type(blas_lt::NumberType t) {
    return t == blas_lt::NumberType::bfloat16  ? CUDA_R_16BF
           : t == blas_lt::NumberType::float16 ? CUDA_R_16F
                                               : CUDA_R_32F;
  }
  static constexpr cublasLtEpilogue_t epilogue(blas_lt::Epilogue e) {
    return e == blas_lt::Epilogue::bias             ? CUBLASLT_EPILOGUE_BIAS
           : e == blas_lt::Epilogue::bias_relu      ? CUBLASLT_EPILOGUE_RELU_BIAS
           : e == blas_lt::Epilogue::sum_of_columns ? CUBLASLT_EPILOGUE_BGRADA
                                                    : CUBLASLT_EPILOGUE_DEFAULT;
  }

  static Status create(Handle* handle) { return cublasLtCreate(handle); }
  static Status create(Product* product) {
    return cublasLtMatmulDescCreate(product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  }
  static Status create(Matrix* matrix, cudaDataType_t type, long rows, long columns) {
    return cublasLtMatrixLayoutCreate(matrix, type, std::uint64_t(rows), std::uint64_t(columns),
                                      rows);
  }
  static Status create(Preference* preference) {
    return cublasLtMatmulPreferenceCreate(preference);
  }
  static Status destroy(Handle handle) { return cublasLtDestroy(handle); }
  static Status destroy(Product product) { return cublasLtMatmulDescDestroy(product); }
  static Status destroy(Matrix matrix) { return cublasLtMatrixLayoutDestroy(matrix); }
  static Status destroy(Preference preference) {
    return cublasLtMatmulPreferenceDestroy(preference);
  }
  template <class Value>
  static Status set(Product product, cublasLtMatmulDescAttributes_t attribute, Value const& value) {
    return cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value);
  }
  /// What an algorithm may take for granted.
  static Status limit(Preference preference, std::uint64_t workspace, std::uint32_t alignment) {
    Status status = cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    for (auto const attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      if (status == success)
        status = cublasLtMatmulPreferenceSetAttribute(preference, attribute, &alignment,
                                                      sizeof alignment);
    return status;
  }
  static Status choose(Handle handle, Product product, Matrix first, Matrix second, Matrix result,
                       Preference preference, Choice* choice, int* found) {
    return cublasLtMatmulAlgoGetHeuristic(handle, product, first, second, result, result,
                                          preference, 1, choice, found);
  }
  static Status run(Handle handle, Product product, float const& one, void const* first, Matrix a,
                    void const* second, Matrix b, float const& kept, void* result, Matrix d,
                    Choice const& choice, void* workspace, Stream stream) {
    return cublasLtMatmul(handle, product, &one, first, a, second, b, &kept, result, d, result, d,
                          &choice.algo, workspace, choice.workspaceSize, stream);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda

#endif
