// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Deep learning inside HPC codes: a network is a type, the compiler turns it into fused kernels.
/// Everything but MPI, which is <phyllo/comm/mpi.hpp> of component phyllo::mpi.

#include <phyllo/fwd.hpp>

// Sentences of compile errors come first: the fewer includes above them, the shorter the error.
#include <phyllo/core/refusal.hpp>

// What a network is made of.
#include <phyllo/block/lp_pool.hpp>
#include <phyllo/layer/adaptive_pooling.hpp>
#include <phyllo/layer/attention.hpp>
#include <phyllo/layer/batch_norm.hpp>
#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/crop.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/elu.hpp>
#include <phyllo/layer/embedding.hpp>
#include <phyllo/layer/flatten.hpp>
#include <phyllo/layer/flip.hpp>
#include <phyllo/layer/gated_linear_unit.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/global_average_pool.hpp>
#include <phyllo/layer/group_norm.hpp>
#include <phyllo/layer/hard_sigmoid.hpp>
#include <phyllo/layer/hard_tanh.hpp>
#include <phyllo/layer/instance_norm.hpp>
#include <phyllo/layer/layer_norm.hpp>
#include <phyllo/layer/leaky_relu.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/local_response_norm.hpp>
#include <phyllo/layer/log_softmax.hpp>
#include <phyllo/layer/map.hpp>
#include <phyllo/layer/max_unpool.hpp>
#include <phyllo/layer/mish.hpp>
#include <phyllo/layer/multiply.hpp>
#include <phyllo/layer/normalise.hpp>
#include <phyllo/layer/pad.hpp>
#include <phyllo/layer/permute.hpp>
#include <phyllo/layer/pixel_shuffle.hpp>
#include <phyllo/layer/pooling.hpp>
#include <phyllo/layer/positions.hpp>
#include <phyllo/layer/prelu.hpp>
#include <phyllo/layer/reduce.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/reparameterise.hpp>
#include <phyllo/layer/reshape.hpp>
#include <phyllo/layer/resize.hpp>
#include <phyllo/layer/rms_norm.hpp>
#include <phyllo/layer/root_of_sum.hpp>
#include <phyllo/layer/scale.hpp>
#include <phyllo/layer/sigmoid.hpp>
#include <phyllo/layer/silu.hpp>
#include <phyllo/layer/slice.hpp>
#include <phyllo/layer/softmax.hpp>
#include <phyllo/layer/softmax_over.hpp>
#include <phyllo/layer/softplus.hpp>
#include <phyllo/layer/softsign.hpp>
#include <phyllo/layer/sparse_product.hpp>
#include <phyllo/layer/spectral_convolution.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/layer/transposed_convolution.hpp>
#include <phyllo/layer/upsample.hpp>
#include <phyllo/layer/whole_power.hpp>
#include <phyllo/network/network.hpp>

// What it is trained by.
#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/asynchronous.hpp>
#include <phyllo/comm/groups.hpp>
#include <phyllo/comm/hierarchical.hpp>
#include <phyllo/comm/lag.hpp>
#include <phyllo/comm/local_sgd.hpp>
#include <phyllo/comm/sharded.hpp>
#include <phyllo/comm/tree_reduce.hpp>
#include <phyllo/comm/wire.hpp>
#include <phyllo/loss/binary_cross_entropy.hpp>
#include <phyllo/loss/cosine_distance.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/dice.hpp>
#include <phyllo/loss/gaussian_likelihood.hpp>
#include <phyllo/loss/hinge.hpp>
#include <phyllo/loss/huber.hpp>
#include <phyllo/loss/kullback_leibler.hpp>
#include <phyllo/loss/log_cosh.hpp>
#include <phyllo/loss/losses.hpp>
#include <phyllo/loss/masked_cross_entropy.hpp>
#include <phyllo/loss/mean_absolute_error.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/loss/poisson_likelihood.hpp>
#include <phyllo/loss/quantile.hpp>
#include <phyllo/loss/smoothed_cross_entropy.hpp>
#include <phyllo/loss/triplet_margin.hpp>
#include <phyllo/loss/unit_gaussian_divergence.hpp>
#include <phyllo/loss/weighted_cross_entropy.hpp>
#include <phyllo/train/lars.hpp>
#include <phyllo/train/lion.hpp>
#include <phyllo/train/memory_checkpoint.hpp>
#include <phyllo/train/reduce_on_plateau.hpp>
#include <phyllo/train/reproducible_trainer.hpp>
#include <phyllo/train/rms_prop.hpp>
#include <phyllo/train/trainer.hpp>
#include <phyllo/train/weight_average.hpp>

// What it is looked at, fed and kept by.
#include <phyllo/data/sampler.hpp>
#include <phyllo/io/copy_parameters.hpp>
#include <phyllo/io/load.hpp>
#include <phyllo/io/save.hpp>
#include <phyllo/model/explain.hpp>
#include <phyllo/model/parameter_view.hpp>
