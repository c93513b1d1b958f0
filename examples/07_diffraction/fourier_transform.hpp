// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <stdexcept>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cufft.h>
#elif defined(KOKKOS_ENABLE_HIP)
#include <hipfft/hipfft.h>
#else
#include <fftw3.h>
#endif

using Space = Kokkos::DefaultExecutionSpace;

using Wave = Kokkos::complex<float>;
using Waves = Kokkos::View<Wave***, Kokkos::LayoutRight, Space>;  // (patterns, rows, columns)

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
/// One work item is one transform; FFTW may execute a plan on several threads.
struct TransformEach {
  fftwf_plan plan;
  Waves waves;
  void operator()(int pattern) const {
    auto* const data = reinterpret_cast<fftwf_complex*>(&waves(pattern, 0, 0));
    fftwf_execute_dft(plan, data, data);
  }
};
#endif

/// Two-dimensional Fourier transforms of all patterns, in place, by FFTW, cuFFT or hipFFT.
///
/// numerics forward: the sum of x(r) exp(-2 pi i k r); backward: of x(k) exp(2 pi i k r), without
///          the factor 1 / (rows columns). FFTW's plans are estimated and not measured, so that
///          every run has the same bits
class FourierTransform {
 public:
  FourierTransform(Space const& exec, int patterns, int rows, int columns);
  ~FourierTransform();
  FourierTransform(FourierTransform const&) = delete;
  FourierTransform& operator=(FourierTransform const&) = delete;

  void forward(Space const& exec, Waves const& waves) const { transform(exec, waves, true); }
  void backward(Space const& exec, Waves const& waves) const { transform(exec, waves, false); }

 private:
  void transform(Space const& exec, Waves const& waves, bool forward) const;
  static void require(bool done) {
    if (!done)
      throw std::runtime_error(
          "FourierTransform: the library could not plan or execute the transform. Use smaller "
          "batches if memory is short.");
  }

#if defined(KOKKOS_ENABLE_CUDA)
  cufftHandle plan_ = 0;
#elif defined(KOKKOS_ENABLE_HIP)
  hipfftHandle plan_ = nullptr;
#else
  fftwf_plan forward_ = nullptr, backward_ = nullptr;
#endif
};

#if defined(KOKKOS_ENABLE_CUDA)
inline FourierTransform::FourierTransform(Space const& exec, int patterns, int rows, int columns) {
  int extents[] = {rows, columns};
  require(cufftPlanMany(&plan_, 2, extents, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, patterns) ==
          CUFFT_SUCCESS);
  require(cufftSetStream(plan_, exec.cuda_stream()) == CUFFT_SUCCESS);
}
inline FourierTransform::~FourierTransform() { cufftDestroy(plan_); }
inline void FourierTransform::transform(Space const& exec, Waves const& waves, bool forward) const {
  auto* const data = reinterpret_cast<cufftComplex*>(waves.data());
  require(cufftSetStream(plan_, exec.cuda_stream()) == CUFFT_SUCCESS);
  require(cufftExecC2C(plan_, data, data, forward ? CUFFT_FORWARD : CUFFT_INVERSE) ==
          CUFFT_SUCCESS);
}
#elif defined(KOKKOS_ENABLE_HIP)
inline FourierTransform::FourierTransform(Space const& exec, int patterns, int rows, int columns) {
  int extents[] = {rows, columns};
  require(hipfftPlanMany(&plan_, 2, extents, nullptr, 1, 0, nullptr, 1, 0, HIPFFT_C2C, patterns) ==
          HIPFFT_SUCCESS);
  require(hipfftSetStream(plan_, exec.hip_stream()) == HIPFFT_SUCCESS);
}
inline FourierTransform::~FourierTransform() { (void)hipfftDestroy(plan_); }
inline void FourierTransform::transform(Space const& exec, Waves const& waves, bool forward) const {
  auto* const data = reinterpret_cast<hipfftComplex*>(waves.data());
  require(hipfftSetStream(plan_, exec.hip_stream()) == HIPFFT_SUCCESS);
  require(hipfftExecC2C(plan_, data, data, forward ? HIPFFT_FORWARD : HIPFFT_BACKWARD) ==
          HIPFFT_SUCCESS);
}
#else
inline FourierTransform::FourierTransform(Space const&, int patterns, int rows, int columns) {
  // Planning needs memory of the alignment that all waves have; estimated plans leave it alone.
  Waves const any("plan", std::size_t(patterns), std::size_t(rows), std::size_t(columns));
  auto* const data = reinterpret_cast<fftwf_complex*>(any.data());
  unsigned const flags = FFTW_ESTIMATE | (rows * columns % 8 == 0 ? 0u : FFTW_UNALIGNED);
  forward_ = fftwf_plan_dft_2d(rows, columns, data, data, FFTW_FORWARD, flags);
  backward_ = fftwf_plan_dft_2d(rows, columns, data, data, FFTW_BACKWARD, flags);
  require(forward_ != nullptr && backward_ != nullptr);
}
inline FourierTransform::~FourierTransform() {
  fftwf_destroy_plan(forward_);
  fftwf_destroy_plan(backward_);
}
inline void FourierTransform::transform(Space const& exec, Waves const& waves, bool forward) const {
  Kokkos::parallel_for("Fourier transform",
                       Kokkos::RangePolicy<Space>(exec, 0, waves.extent_int(0)),
                       TransformEach{forward ? forward_ : backward_, waves});
}
#endif
