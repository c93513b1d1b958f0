// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

namespace networks {

struct latent;          // means and logarithms of variances
struct reconstruction;  // logits of contacts

/// The convolutional variational autoencoder of contact maps of 28 beads: three convolutions, two
/// dense layers and the mirror image of them.
///
/// source   Bhowmik et al., "Deep clustering of protein folding simulations", BMC Bioinformatics 19
///          (2018) 484; with 128 channels, as Yoginath et al., "Towards Native Execution of Deep
///          Learning on a Leadership-Class HPC System", describe it
template <int Channels, int Hidden, int Latent>
struct ContactMapAutoencoder
    : phyllo::Network<phyllo::Input<1, 28, 28>,                                             //
                      phyllo::Conv2d<Channels, phyllo::Padding<1>>, phyllo::ReLU,           //
                      phyllo::Conv2d<Channels, phyllo::Padding<1>>, phyllo::ReLU,           //
                      phyllo::Conv2d<Channels, phyllo::Padding<1>>, phyllo::ReLU,           //
                      phyllo::Flatten, phyllo::Linear<Hidden>, phyllo::ReLU,                //
                      phyllo::Linear<2 * Latent>, phyllo::Output<latent>,                   //
                      phyllo::Reparameterise,                                               //
                      phyllo::Linear<Hidden>, phyllo::ReLU,                                 //
                      phyllo::Linear<Channels * 28 * 28>, phyllo::ReLU,                     //
                      phyllo::Reshape<Channels, 28, 28>,                                    //
                      phyllo::ConvTranspose2d<Channels, phyllo::Padding<1>>, phyllo::ReLU,  //
                      phyllo::ConvTranspose2d<Channels, phyllo::Padding<1>>, phyllo::ReLU,  //
                      phyllo::ConvTranspose2d<1, phyllo::Padding<1>>,
                      phyllo::Output<reconstruction>> {};

/// Contacts are right or wrong, pixel by pixel; the divergence of the latent numbers is weighed as
/// one of 784 pixels, which makes the sum the evidence bound over the number of pixels.
using ContactMapLoss =
    phyllo::Losses<phyllo::On<reconstruction, phyllo::BinaryCrossEntropy>,
                   phyllo::On<latent, phyllo::UnitGaussianDivergence, 1.0 / 784>>;

}  // namespace networks
