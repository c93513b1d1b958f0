// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/attention.hpp>
#include <phyllo/backend/host/axis_softmax.hpp>
#include <phyllo/backend/host/contraction.hpp>
#include <phyllo/backend/host/copy.hpp>
#include <phyllo/backend/host/fourier.hpp>
#include <phyllo/backend/host/general_convolution.hpp>
#include <phyllo/backend/host/group_normalization.hpp>
#include <phyllo/backend/host/images/image_segment.hpp>
#include <phyllo/backend/host/local_response.hpp>
#include <phyllo/backend/host/lookup.hpp>
#include <phyllo/backend/host/loss_sum.hpp>
#include <phyllo/backend/host/map.hpp>
#include <phyllo/backend/host/move.hpp>
#include <phyllo/backend/host/normalization.hpp>
#include <phyllo/backend/host/pointwise.hpp>
#include <phyllo/backend/host/pooling.hpp>
#include <phyllo/backend/host/position.hpp>
#include <phyllo/backend/host/reduction.hpp>
#include <phyllo/backend/host/resample.hpp>
#include <phyllo/backend/host/row.hpp>
#include <phyllo/backend/host/scan.hpp>
#include <phyllo/backend/host/segment/segment_backward.hpp>
#include <phyllo/backend/host/segment/segment_forward.hpp>
#include <phyllo/backend/host/segment/whole_step.hpp>
#include <phyllo/backend/host/spectral_product.hpp>
#include <phyllo/backend/host/transfer.hpp>
#include <phyllo/backend/host/unpooling.hpp>

// nvcc warns of each loss that it calls the host's vectors, so portable computes losses there.
#if !defined(__NVCC__)
#include <phyllo/backend/host/loss.hpp>
#endif
