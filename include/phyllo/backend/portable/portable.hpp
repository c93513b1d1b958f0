// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/attention.hpp>
#include <phyllo/backend/portable/axis_softmax.hpp>
#include <phyllo/backend/portable/contraction.hpp>
#include <phyllo/backend/portable/fourier.hpp>
#include <phyllo/backend/portable/general_convolution.hpp>
#include <phyllo/backend/portable/group_normalization.hpp>
#include <phyllo/backend/portable/local_response.hpp>
#include <phyllo/backend/portable/lookup.hpp>
#include <phyllo/backend/portable/loss.hpp>
#include <phyllo/backend/portable/map.hpp>
#include <phyllo/backend/portable/move.hpp>
#include <phyllo/backend/portable/movement.hpp>
#include <phyllo/backend/portable/normalization.hpp>
#include <phyllo/backend/portable/pointwise.hpp>
#include <phyllo/backend/portable/pooling.hpp>
#include <phyllo/backend/portable/position.hpp>
#include <phyllo/backend/portable/product.hpp>
#include <phyllo/backend/portable/reduction.hpp>
#include <phyllo/backend/portable/resample.hpp>
#include <phyllo/backend/portable/row.hpp>
#include <phyllo/backend/portable/scan.hpp>
#include <phyllo/backend/portable/segment.hpp>
#include <phyllo/backend/portable/sparse_product.hpp>
#include <phyllo/backend/portable/spectral_product.hpp>
#include <phyllo/backend/portable/unpooling.hpp>
