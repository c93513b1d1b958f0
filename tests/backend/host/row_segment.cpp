// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Perceptrons with residual connections and normalisation, tile by tile as one kernel.

#include <phyllo/backend/select.hpp>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/host/comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

struct early;

// clang-format off
struct Shortcuts : Network<Input<10>, Linear<24>, GELU, Residual<Linear<24>, Tanh, Dropout<0.2>, Linear<24>>, Sigmoid, Residual<Linear<24>>, GELU,
                           Linear<3>> {};
// The input of the network, and one value twice.
struct Reread : Network<Input<9>, Residual<Linear<9>, Tanh>, Linear<17>, Tanh, Save<early>, Linear<17>, AddFrom<early>, Sigmoid, Linear<17>,
                        AddFrom<early>, Tanh, Linear<2>, Residual<Linear<2>>> {};
struct Twice : Network<Input<5>, Linear<6>, Tanh, Residual<>, Linear<6>, Residual<>> {};
struct BehindImages : Network<Input<1, 6, 6>, Conv2d<2>, Tanh, Flatten, Linear<12>, Tanh, Residual<Linear<12>, Tanh>, Linear<3>> {};
struct Normalized : Network<Input<7>, Linear<33>, BatchNorm<>, Tanh, Linear<33, Bias<false>>, BatchNorm<>,
                            Residual<Linear<33>, BatchNorm<>, Tanh>, BatchNorm<>, GELU, Linear<2>> {};
struct NormalizedRows : Network<Input<7>, Linear<33>, LayerNorm<>, GELU, Linear<70, Bias<false>>, RMSNorm<>, Tanh, Dropout<0.2>,
                                Residual<Linear<70>, LayerNorm<Affine<false>>>, LayerNorm<>, Linear<5>> {};
// clang-format on

}  // namespace

TEST_CASE_TEMPLATE("openmp: residual connections", P,
                   Full<float> PHYLLO_IN_VERIFY(, Mixed<bf16, float>, Full<double>)) {
  compare_all<Shortcuts, P>();
}
TEST_CASE_TEMPLATE("openmp: values that several layers read", P,
                   Full<float> PHYLLO_IN_VERIFY(, Full<double>)) {
  compare_all<Reread, P>();
  compare_all<Twice, P>();
}
TEST_CASE_TEMPLATE("openmp: residual connections behind images", P,
                   Full<double> PHYLLO_IN_VERIFY(, Full<float>)) {
  compare_all<BehindImages, P>();
}
TEST_CASE_TEMPLATE("openmp: normalisation of inference", P,
                   Full<double> PHYLLO_IN_VERIFY(, Full<float>, Mixed<bf16, float>)) {
  compare_all<Normalized, P>();
}
TEST_CASE_TEMPLATE("openmp: normalisation of rows", P,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<float>, Full<double>)) {
  compare_all<NormalizedRows, P>();
}

#endif
