// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/contraction.hpp>
#include <phyllo/backend/openmp/loss.hpp>
#include <phyllo/backend/openmp/loss_sum.hpp>
#include <phyllo/backend/openmp/normalization.hpp>
#include <phyllo/backend/openmp/pooling.hpp>
#include <phyllo/backend/openmp/segment_forward.hpp>
#include <phyllo/backend/openmp/transfer.hpp>
#include <phyllo/backend/openmp/whole_step.hpp>
