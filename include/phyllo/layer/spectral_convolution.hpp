// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// Of a spectral convolution: which frequencies of one axis stay, and the way back. Along the last
// axis, where numbers in space are real, 0 .. M - 1; along another one those and their negatives.
template <class Convolution, int Rank, int Axis, bool ToSpace> struct FourierLayer {
  static constexpr char const* name = ToSpace ? "inverse_fourier" : "fourier";
  static constexpr Role role = Role::fourier;
  static constexpr bool to_space = ToSpace, is_real = Axis == Rank - 1;
  static constexpr int dimension = 3 - Rank + Axis;
  static constexpr int modes = Convolution::modes[Axis] * (is_real ? 1 : 2);

  // The first of them refuses for all.
  static constexpr bool accepts(Shape s) { return ToSpace || !is_real || Convolution::accepts(s); }
  static constexpr Shape output(Shape s) {
    if (!ToSpace) s.spatial[dimension] = modes;
    if (is_real) s.channels = ToSpace ? s.channels / 2 : s.channels * 2;
    return s;
  }

  template <class Where, class Given, class Expected>
  struct Refused : Convolution::template Refused<Where, Given, Expected> {};
};

// Why a convolution refuses its input.
template <bool Valid, class Where> struct SpectralRefused {
  static_assert(met<Valid, Where>,
                "SpectralConv: give the number of channels, and Modes<...> with positive numbers, "
                "one for all spatial dimensions or one for each.");
  static_assert(
      met<!Valid, Where>,
      "SpectralConv: expected as many spatial dimensions as its name says, of L numbers "
      "with at most L / 2 + 1 modes in the last dimension and L / 2 in the others. Choose "
      "fewer Modes.");
};

template <class Convolution> struct SpectralProductLayer {
  static constexpr char const* name = "spectral_product";
  static constexpr Role role = Role::spectral_product;

  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s.with_channels(2 * Convolution::outputs); }
};

template <int Rank, int Outputs, class Kept> struct SpectralConvolution {
  static constexpr int rank = Rank, outputs = 1, modes[] = {1, 1, 1};
  static constexpr bool valid = false;
  static constexpr bool accepts(Shape) { return false; }
  template <class Where, class Given, class Expected> using Refused = SpectralRefused<false, Where>;
};
template <int Rank, int Outputs, int... M> struct SpectralConvolution<Rank, Outputs, Modes<M...>> {
  static constexpr Extents given = spread<Rank, M...>(1);
  static constexpr int rank = Rank, outputs = Outputs;
  static constexpr int modes[] = {given.value[3 - Rank], given.value[Rank > 1 ? 4 - Rank : 0],
                                  given.value[2]};
  static constexpr bool valid = Outputs > 0 && modes[0] > 0 && modes[1] > 0 && modes[2] > 0;
  static constexpr bool accepts(Shape s) {
    bool fits = valid && s.rank == Rank;
    for (int a = 0; fits && a < Rank; ++a) {
      int const length = s.spatial[3 - Rank + a];
      fits = modes[a] <= length / 2 + (a == Rank - 1 ? 1 : 0);
    }
    return fits;
  }
  template <class Where, class Given, class Expected> using Refused = SpectralRefused<valid, Where>;
};

}  // namespace detail

/// Convolution by Fourier transform, of a Fourier neural operator: y = real part of the inverse
/// transform of W_k X_k, where X is the discrete Fourier transform of every channel, k the lowest
/// frequencies, and W_k a complex matrix over the channels. A FNO adds a Conv with KernelSize<1>
/// and applies an activation.
///
/// shape    (N, C, L) -> (N, OutChannels, L)
/// options  Modes<M>: frequencies 0 .. M - 1
/// state    weight (OutChannels, C, M, 2): real and imaginary parts, as torch.view_as_real of a
///          complex tensor
/// errors   compile: more modes than L / 2 + 1; another rank
/// numerics as torch.fft.irfft(weight * torch.fft.rfft(x)[..., :M], n=L): of the frequencies 0 and
///          L / 2 the real part counts. Sums in Precision::accumulate, angles in double
/// cost     a truncated transform by sums: L M products for each channel, and 8 M C OutChannels
///          operations
/// source   Li et al., Fourier Neural Operator for Parametric Partial Differential Equations, ICLR
///          2021
template <int OutChannels, class KeptModes>
struct SpectralConv1d : detail::SpectralConvolution<1, OutChannels, KeptModes> {};

/// The same in 2 spatial dimensions: y = real part of the inverse transform of W_k X_k.
///
/// shape    (N, C, H, W) -> (N, OutChannels, H, W)
/// options  Modes<M> or Modes<M_H, M_W>: frequencies -M_H .. M_H - 1 and 0 .. M_W - 1
/// state    weight (OutChannels, C, 2 M_H, M_W, 2): along H frequencies 0 .. M_H - 1, then
///          -M_H .. -1; real and imaginary parts
/// errors   compile: more modes than H / 2 or W / 2 + 1; another rank
/// numerics as torch.fft.irfft2 of the products with the corners of torch.fft.rfft2
/// cost     as SpectralConv1d, axis by axis
/// source   Li et al., ICLR 2021
template <int OutChannels, class KeptModes>
struct SpectralConv2d : detail::SpectralConvolution<2, OutChannels, KeptModes> {};

/// The same in 3 spatial dimensions: y = real part of the inverse transform of W_k X_k.
///
/// shape    (N, C, D, H, W) -> (N, OutChannels, D, H, W)
/// options  Modes<M> or Modes<M_D, M_H, M_W>: frequencies of both signs along D and H
/// state    weight (OutChannels, C, 2 M_D, 2 M_H, M_W, 2), ordered as that of SpectralConv2d
/// errors   compile: more modes than D / 2, H / 2 or W / 2 + 1; another rank
/// numerics as torch.fft.irfftn of the products with the corners of torch.fft.rfftn
/// cost     as SpectralConv1d, axis by axis
/// source   Li et al., ICLR 2021
template <int OutChannels, class KeptModes>
struct SpectralConv3d : detail::SpectralConvolution<3, OutChannels, KeptModes> {};

}  // namespace phyllo::inline PHYLLO_ISA
