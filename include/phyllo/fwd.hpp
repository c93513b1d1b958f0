// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

/// Declarations of the public types, and of the internal types that link the folders. Arrows point
/// down: core, policy, op, layer and loss, block, network, fusion, model, train; backends see op,
/// core and policy only.
///
/// Not declared here, because their parameters are constrained: Model (model/model.hpp), Trainer
/// (train/trainer.hpp), AllReduce, its transport Mpi and the other policies (comm/); and functions:
/// explain (model/explain.hpp), save and load (io/), fit, evaluate,
/// save_training and load_training (fit/), gather, tensors and named (model/), build_info
/// (model/build_info.hpp), set_warning_sink (core/warning.hpp).

namespace phyllo {
class Error;
class RankFailure;
}  // namespace phyllo

namespace phyllo::inline PHYLLO_ISA {

// core: types that all others use; StepState and ExternalTensor are internal
struct Shape;
struct Window;
enum class Axis : std::uint8_t;
struct bf16;
struct fp16;
struct StepState;
struct ExternalTensor;
template <class Scalar, class Space> class SparseMatrix;
template <int... Extent> struct KernelSize;
template <int... Extent> struct Stride;
template <int... Extent> struct Padding;
template <bool Present> struct Bias;

// policy: choices of the user
template <class T> struct Full;
template <class Storage, class Accumulate> struct Mixed;
struct Local;
class Agreement;
struct Fastest;
template <int Shards> struct Reproducible;

// layer: one file for each
template <int... Extent> struct Input;
template <class Tag, int... Extent> struct NamedInput;
template <int... Extent> struct IntegerInput;
template <class Tag, int... Extent> struct NamedIntegerInput;
template <int Out, class... Options> struct Linear;
template <int Out, class... Options> struct Conv1d;
template <int Out, class... Options> struct Conv2d;
template <int Out, class... Options> struct Conv3d;
template <int Out, class... Options> struct ConvTranspose1d;
template <int Out, class... Options> struct ConvTranspose2d;
template <int Out, class... Options> struct ConvTranspose3d;
template <int OutChannels, class KeptModes> struct SpectralConv1d;
template <int OutChannels, class KeptModes> struct SpectralConv2d;
template <int OutChannels, class KeptModes> struct SpectralConv3d;
template <class Tag> struct SparseProduct;
template <int Out, class Tag, class... Options> struct GraphConvolution;
template <int Size, class... Options> struct MaxPool1d;
template <int Size, class... Options> struct MaxPool2d;
template <int Size, class... Options> struct MaxPool3d;
template <int Size, class... Options> struct MaxUnpool1d;
template <int Size, class... Options> struct MaxUnpool2d;
template <int Size, class... Options> struct MaxUnpool3d;
template <int Size, class... Options> struct AveragePool1d;
template <int Size, class... Options> struct AveragePool2d;
template <int Size, class... Options> struct AveragePool3d;
template <int Size, double Alpha, double Beta, double K> struct LocalResponseNorm;
template <int Power> struct WholePower;
template <int Power, int Count> struct RootOfSum;
struct GlobalAveragePool;
template <Axis... Over> struct Sum;
template <Axis... Over> struct Mean;
template <Axis... Over> struct Max;
template <int... Out> struct AdaptiveAveragePool1d;
template <int... Out> struct AdaptiveAveragePool2d;
template <int... Out> struct AdaptiveAveragePool3d;
template <int... Out> struct AdaptiveMaxPool1d;
template <int... Out> struct AdaptiveMaxPool2d;
template <int... Out> struct AdaptiveMaxPool3d;
template <int Factor, class... Options> struct Upsample;
template <class Size, class... Options> struct Resize;
struct LinearInterpolation;
struct CubicInterpolation;
struct AlignCorners;
template <int... Extent> struct OutputSize;
template <int Dim, int Begin, int End, int Step> struct Slice;
template <int... Border> struct Crop;
template <class... Options> struct Pad;
template <int... Dim> struct Flip;
template <int... Dim> struct Permute;
template <int... Extent> struct Reshape;
template <int Factor> struct PixelShuffle;
template <int Factor> struct PixelUnshuffle;
template <int Groups> struct ChannelShuffle;
template <class... Options> struct BatchNorm;
struct Statistics;
struct Pointwise;  // base of the next ones, to Dropout, and of a user's own
struct ReLU;
struct Tanh;
struct Sigmoid;
struct GELU;
struct TanhGELU;
template <double NegativeSlope> struct LeakyReLU;
template <double Alpha> struct ELU;
template <double Alpha> struct CELU;
struct SELU;
struct SiLU;
struct Mish;
template <double Beta> struct Softplus;
struct LogSigmoid;
struct Softsign;
template <double Low, double High> struct HardTanh;
struct ReLU6;
struct HardSigmoid;
struct HardSwish;
template <double Probability> struct Dropout;
template <double Probability> struct ChannelDropout;
template <double Probability> struct AlphaDropout;
template <double Probability> struct StochasticDepth;
template <int Entries, int Channels> struct Embedding;
struct LearnedPositions;
template <int Base> struct SinusoidalPositions;
struct PerPosition;
struct Causal;
struct NormFirst;
template <class Tag> struct KeyPadding;
template <int Base> struct Rotary;
struct Softmax;
struct LogSoftmax;
template <Axis Over> struct SoftmaxOver;
template <Axis Over> struct LogSoftmaxOver;
struct Map;  // base of the next ten and of a user's own
template <class... Options> struct PReLU;
template <class... Options> struct LayerScale;
struct ScaleShift;
template <class... Options> struct Normalise;
template <class... Options> struct Denormalise;
struct PerElement;
struct MinMax;
template <class Gate> struct GatedLinearUnit;
struct Multiply;
struct Plus;
struct Subtract;
struct Reparameterise;
struct ReparameterisePair;
template <bool Present> struct PerChannel;
template <double Value> struct InitialValue;
template <class... Options> struct LayerNorm;
template <class... Options> struct RMSNorm;
template <int Groups, class... Options> struct GroupNorm;
template <class... Options> struct InstanceNorm;
template <bool Present> struct Affine;
template <double Value> struct Epsilon;
template <double Value> struct Momentum;
struct Flatten;
struct Add;
struct Concat;

// loss
struct CrossEntropy;
struct MeanSquaredError;
struct WeightedCrossEntropy;
struct SmoothedCrossEntropy;
struct SoftCrossEntropy;
struct FocalLoss;
struct BinaryCrossEntropy;
struct MeanAbsoluteError;
struct Huber;
struct SmoothL1;
struct LogCosh;
struct Quantile;
struct PoissonLikelihood;
struct KullbackLeibler;
struct CosineDistance;
struct Hinge;
struct MultiMargin;
template <long long Ignored> struct MaskedCrossEntropy;
struct GaussianLikelihood;
struct TripletMargin;
struct UnitGaussianDivergence;
struct Dice;
struct NoTargets;
template <class Tag, class L, auto Weight> struct On;
template <class... Terms> struct Losses;

// block: compositions, expanded before planning
template <class... Parts> struct Main;
template <class... Parts> struct Shortcut;
template <class... Parts> struct Residual;
template <class... Parts> struct Path;
template <class... Paths> struct Branch;
template <int Count, class... Parts> struct Repeat;
template <class... Parts> struct Recompute;
template <int Heads, class... Options> struct MultiheadAttention;
template <int Heads, class Tag, class... Options> struct CrossAttention;
template <int Channels, int Heads, int FeedForward, class... Options>
struct TransformerEncoderLayer;
template <int Channels, int Heads, int FeedForward, class Memory, class... Options>
struct TransformerDecoderLayer;
template <class Cell, int Hidden, class... Options> struct Recurrent;
template <int Hidden, class... Options> struct RNN;
template <int Hidden, class... Options> struct LSTM;
template <int Hidden, class... Options> struct GRU;
template <int Count> struct Layers;
struct Bidirectional;
template <class... Tag> struct InitialState;
template <class... Tag> struct FinalState;
template <class... Tag> struct SequenceLengths;
template <class Function> struct Nonlinearity;
template <class Tag> struct Save;
template <class Tag> struct From;
template <class Tag> struct AddFrom;
template <class Tag> struct ConcatFrom;
template <class Tag> struct MultiplyBy;
template <class Layer, class... Tags> struct Combine;
template <class Tag> struct Output;

// network: from types to the program; Program and Node are internal
template <class... Parts> struct Network;
template <class... Parts> struct Program;
struct Node;

// fusion, internal but for the level and what is computed again: from the program to the plan,
// lifetimes, memory
enum class FusionLevel : int;
enum class Recomputation : int;
struct Rule;
template <int N> struct Plan;
template <int N> struct Liveness;
template <int N> struct Memory;

// backend: from ops to kernels
template <class... B> struct Backends;
struct PortableBackend;
struct ReferenceBackend;

// model: from the plan to launches
template <class Space, class BackendList, FusionLevel Level, class Determinism, Recomputation Again>
struct Execution;
struct ModelOptions;
template <class View> struct Gathered;
template <class Tag, class View> struct Named;
template <class... N> struct Tensors;
template <class Net, class Precision> class InKernel;
template <class Net, class Precision, class Space> class Snapshot;
template <class T, int Count, int N> struct Cells;
template <class Net, class T, int N> struct CellOutputs;
struct KaimingUniform;
struct KaimingNormal;
struct XavierUniform;
struct XavierNormal;
struct TorchDefault;
struct TruncatedNormal;
struct Orthogonal;

// train
struct Sgd;
struct Adam;
struct AdamW;
struct AmsGrad;
struct NAdam;
struct RmsProp;
struct Adagrad;
struct Lion;
struct Lars;
struct Lamb;
struct Schedule;
struct ReduceOnPlateau;
struct WeightAverageOptions;
template <class M> class WeightAverage;
struct LossScaling;
struct Clipping;
struct OptimizerOptions;
class ParameterSelection;
struct ParameterGroup;
template <class T, class Space> class GradientSum;
template <class Rule, class M> class Optimizer;
struct Evaluation;
template <class T> class MemoryCheckpoint;

// io and data
struct StoredTensor;
struct TensorFile;
class Sampler;
class NpyFile;
struct SampleArray;
class NpySource;
class ViewSource;
struct BatchOptions;
struct Position;
class BatchOrder;
template <class Inputs, class Targets, class Space, bool IsCopied> class Batches;

// fit
template <class T> class TrainingTensors;
class Checkpoints;
struct FitOptions;
struct EpochReport;
struct FitHistory;
template <class Inputs, class Targets> struct HeldOut;

}  // namespace phyllo::inline PHYLLO_ISA
