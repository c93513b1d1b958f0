// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of CUDA's runtime that programs on Kokkos call, with kernels executed from their PTX by
// this processor. Work is done when somebody waits for it; on the default stream, which waits for
// all others, when it is asked for. One device, of sm_90.
//
// source  CUDA Runtime API 13.0; what begins with __cuda is called by code that nvcc generates

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "block.hpp"
#include "complaint.hpp"
#include "global_memory.hpp"
#include "image.hpp"
#include "stream.hpp"

namespace {

using namespace ptx;

struct Kernel {
  Image* image;
  std::string name;
  Function* function = nullptr;
  long most_scratch = 48 * 1024;
};
struct Symbol {
  Image* image;
  std::string name;
};
struct Configuration {
  dim3 grid, block;
  std::size_t scratch;
  cudaStream_t stream;
};
struct Graph {
  std::vector<std::function<void()>> work;
};
/// A place in a stream; in none, nothing is left to wait for.
struct Event {
  Stream* stream = nullptr;
  long asked = 0;
  void wait() const {
    if (stream) stream->finish(asked);
  }
};

// Programs register kernels before this library's own objects are made.
struct Runtime {
  std::map<void const*, Kernel> kernels;
  std::map<void const*, Symbol> symbols;
  std::vector<Configuration> configurations;
  Graph* captured = nullptr;
  cudaError_t error = cudaSuccess;
};
Runtime& runtime() {
  static auto* const all = new Runtime;
  return *all;
}

cudaError_t fail(cudaError_t error) { return runtime().error = error; }

// nullptr: the default stream.
Stream* stream_of(cudaStream_t stream) {
  bool const is_default = !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return is_default ? nullptr : reinterpret_cast<Stream*>(stream);
}
void wait_for(cudaStream_t stream) {
  if (Stream* const one = stream_of(stream))
    one->finish();
  else
    finish_all();
}

cudaError_t ask(cudaStream_t stream, std::function<void()> work) {
  if (runtime().captured) {
    runtime().captured->work.push_back(std::move(work));
  } else if (Stream* const one = stream_of(stream)) {
    one->ask(std::move(work));
  } else {
    finish_all();
    work();
  }
  return cudaSuccess;
}

Kernel* kernel_of(void const* host) {
  auto const found = runtime().kernels.find(host);
  if (found == runtime().kernels.end()) return nullptr;
  Kernel& kernel = found->second;
  if (!kernel.function) {
    auto& functions = kernel.image->module().functions;
    auto const function = functions.find(kernel.name);
    if (function == functions.end()) return nullptr;
    kernel.function = function->second.get();
  }
  return &kernel;
}

// A variable that no kernel of the program reads is not in its PTX.
std::byte* variable_of(void const* host, std::size_t end) {
  auto const found = runtime().symbols.find(host);
  if (found == runtime().symbols.end()) return nullptr;
  auto& variable = found->second.image->module().variables[found->second.name];
  if (!variable.memory) variable = {static_cast<std::byte*>(std::calloc(end, 1)), end};
  return end <= variable.bytes ? variable.memory : nullptr;
}

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

cudaError_t launch(void const* host, dim3 grid, dim3 block, void** arguments, std::size_t scratch,
                   cudaStream_t stream) {
  Kernel* const kernel = kernel_of(host);
  if (!kernel) return fail(cudaErrorInvalidDeviceFunction);
  Function* const function = kernel->function;
  auto const threads = std::size_t(block.x) * block.y * block.z;
  bool const is_large = grid.y > 65535 || grid.z > 65535 || block.z > 64;
  if (!grid.x || !grid.y || !grid.z || !threads || is_large ||
      threads > std::size_t(function->most_threads))
    return fail(cudaErrorInvalidConfiguration);
  if (long(scratch) > kernel->most_scratch) return fail(cudaErrorInvalidValue);
  // Aligned as the device has them.
  std::size_t const bytes = (std::size_t(function->entry_bytes) + 511) / 256 * 256;
  std::shared_ptr<std::byte> const parameters(
      static_cast<std::byte*>(std::aligned_alloc(256, bytes)), Free());
  for (std::size_t i = 0; i < function->inputs.size(); ++i) {
    auto const& input = function->inputs[i];
    std::memcpy(parameters.get() + input.offset, arguments[i], std::size_t(input.bytes));
  }
  return ask(stream, [=] {
    Block run(function, parameters.get(), {grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
              long(scratch));
    run.launch();
    if (std::getenv("PHYLLO_PTX_LAUNCHES"))
      std::fprintf(stderr,
                   "ptx: %ld instructions of warps, %u x %u x %u blocks of %u x %u x %u in %s\n",
                   run.instructions, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                   readable(function->name).c_str());
  });
}

// CUDA refuses what waits or takes memory while the caller's stream is captured.
bool is_captured(char const* what) {
  if (!runtime().captured) return false;
  complain(std::string(what) + " while a stream is captured");
  fail(cudaErrorStreamCaptureUnsupported);
  return true;
}
cudaError_t allocate(void** memory, std::size_t bytes, Reach reach) {
  if (is_captured("an allocation")) return runtime().error;
  *memory = global_memory().allocate(bytes, reach);
  return *memory ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}
cudaError_t release(void* memory) {
  if (is_captured("a release of memory")) return runtime().error;
  finish_all();
  return !memory || global_memory().release(memory) ? cudaSuccess : fail(cudaErrorInvalidValue);
}
void copy_now(void* to, void const* from, std::size_t bytes) {
  auto* const there = global_memory().range(to, bytes, "a copy to the device");
  auto const* const here = global_memory().range(from, bytes, "a copy from the device");
  if (here && there) std::memmove(there, here, bytes);
}
// What the host's own memory holds is read when the copy is asked for, and what is copied there has
// arrived then; memory that CUDA has given is read and written when the stream comes to it.
//
// source  CUDA Runtime API 13.0, 2 (API synchronization behavior)
cudaError_t copy(void* to, void const* from, std::size_t bytes, cudaStream_t stream) {
  auto const is_given = [&](void const* at) {
    return global_memory().find(reinterpret_cast<Bits>(at), 1) != nullptr;
  };
  if (runtime().captured || is_given(from)) {
    ask(stream, [=] { copy_now(to, from, bytes); });
  } else {
    auto const* const first = static_cast<std::byte const*>(from);
    ask(stream, [=, kept = std::vector<std::byte>(first, first + bytes)] {
      copy_now(to, kept.data(), bytes);
    });
  }
  if (!runtime().captured && !is_given(to)) wait_for(stream);
  return cudaSuccess;
}
cudaError_t fill(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return ask(stream, [=] {
    if (auto* const there = global_memory().range(to, bytes, "a cudaMemset"))
      std::memset(there, value, bytes);
  });
}
template <class T, class U> cudaError_t give(T* where, U value) {
  *where = T(value);
  return cudaSuccess;
}

constexpr std::size_t memory_bytes = std::size_t(8) << 30;
constexpr int multiprocessor_bytes = 228 * 1024;
// Few, so that kernels whose blocks do several tiles do so in small tests.
int multiprocessors() {
  char const* const wanted = std::getenv("PHYLLO_PTX_MULTIPROCESSORS");
  return wanted ? std::max(1, std::atoi(wanted)) : 2;
}

}  // namespace

extern "C" {

// ---- what nvcc's code calls ----

void** __cudaRegisterFatBinary(void* wrapper) {
  struct Wrapper {
    int magic, version;
    void const* data;
  };
  return reinterpret_cast<void**>(new Image(static_cast<Wrapper*>(wrapper)->data));
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void** image, char const* host, char*, char const* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  runtime().kernels[host] = {reinterpret_cast<Image*>(image), name};
}
void __cudaRegisterVar(void** image, char* host, char*, char const* name, int, std::size_t, int,
                       int) {
  runtime().symbols[host] = {reinterpret_cast<Image*>(image), name};
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t scratch,
                                     cudaStream_t stream) {
  runtime().configurations.push_back({grid, block, scratch, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* scratch,
                                       void* stream) {
  auto const last = runtime().configurations.back();
  runtime().configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *scratch = last.scratch;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* host) {
  return give(kernel, const_cast<void*>(host));
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t scratch, cudaStream_t stream) {
  return launch(reinterpret_cast<void const*>(kernel), grid, block, arguments, scratch, stream);
}

// ---- memory ----

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return allocate(memory, bytes, Reach::device);
}
cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned) {
  return allocate(memory, bytes, Reach::host);
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return allocate(memory, bytes, Reach::host);
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return allocate(memory, bytes, Reach::host);
}
cudaError_t cudaFree(void* memory) { return release(memory); }
cudaError_t cudaFreeHost(void* memory) { return release(memory); }
cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind) {
  return is_captured("a copy that is waited for") ? runtime().error
                                                  : copy(to, from, bytes, nullptr);
}
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return copy(to, from, bytes, stream);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return fill(to, value, bytes, nullptr);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return fill(to, value, bytes, stream);
}
cudaError_t cudaMemcpyToSymbol(void const* symbol, void const* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind) {
  auto* const variable = variable_of(symbol, offset + bytes);
  return variable ? copy(variable + offset, from, bytes, nullptr) : fail(cudaErrorInvalidSymbol);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* memory) {
  auto const* const piece = global_memory().find(reinterpret_cast<Bits>(memory), 1);
  *attributes = {};
  attributes->type = !piece                          ? cudaMemoryTypeUnregistered
                     : piece->reach == Reach::device ? cudaMemoryTypeDevice
                                                     : cudaMemoryTypeManaged;
  attributes->devicePointer = const_cast<void*>(memory);
  return cudaSuccess;
}

// ---- the device ----

cudaError_t cudaGetDeviceCount(int* count) { return give(count, 1); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* device, int) {
  std::memset(device, 0, sizeof *device);
  std::strcpy(device->name, "PTX on a host");
  device->major = 9;
  device->multiProcessorCount = multiprocessors();
  device->warpSize = lanes;
  device->maxThreadsPerBlock = device->maxThreadsDim[0] = device->maxThreadsDim[1] = 1024;
  device->maxThreadsDim[2] = 64;
  device->maxThreadsPerMultiProcessor = 2048;
  device->maxBlocksPerMultiProcessor = 32;
  device->maxGridSize[0] = 2147483647;
  device->maxGridSize[1] = device->maxGridSize[2] = 65535;
  device->sharedMemPerBlock = 48 * 1024;
  device->sharedMemPerBlockOptin = std::size_t(Block::most_dynamic);
  device->sharedMemPerMultiprocessor = multiprocessor_bytes;
  device->reservedSharedMemPerBlock = 1024;
  device->regsPerBlock = device->regsPerMultiprocessor = 65536;
  device->totalGlobalMem = memory_bytes;
  device->totalConstMem = 65536;
  device->unifiedAddressing = device->managedMemory = device->concurrentManagedAccess = 1;
  device->canMapHostMemory = device->concurrentKernels = 1;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void const* host) {
  Kernel const* const kernel = kernel_of(host);
  if (!kernel) return fail(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock = kernel->function->most_threads;
  attributes->numRegs = 64;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->localSizeBytes = std::size_t(kernel->function->local_bytes);
  attributes->maxDynamicSharedSizeBytes = int(kernel->most_scratch);
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(void const* host, cudaFuncAttribute attribute, int value) {
  Kernel* const kernel = kernel_of(host);
  if (!kernel) return fail(cudaErrorInvalidDeviceFunction);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value > Block::most_dynamic) return fail(cudaErrorInvalidValue);
  kernel->most_scratch = std::max(48 * 1024, value);
  return cudaSuccess;
}
// By scratch memory, of which the system has 1 KiB of each block. Registers permit two blocks.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void const*, int,
                                                                   std::size_t scratch, unsigned) {
  return give(blocks, std::clamp(int(multiprocessor_bytes / (scratch + 1024)), 1, 2));
}

// ---- errors ----

cudaError_t cudaGetLastError() { return std::exchange(runtime().error, cudaSuccess); }
char const* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaError";
}
char const* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidDeviceFunction:
      return "the program has no PTX of this kernel";
    case cudaErrorInvalidConfiguration:
      return "blocks of this many threads cannot be launched";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    default:
      return "invalid argument";
  }
}

// ---- streams, events and graphs ----

// What has nothing to do, whatever its arguments are.
cudaError_t phyllo_ptx_succeed() { return cudaSuccess; }
asm(".irp name, cudaSetDevice, cudaMemPrefetchAsync, cudaFuncSetCacheConfig,"
    "cudaGraphDestroy, cudaGraphExecDestroy\n"
    "  .globl \\name\n"
    "  .type \\name, @function\n"
    "  .set \\name, phyllo_ptx_succeed\n"
    ".endr");

cudaError_t cudaDeviceSynchronize() {
  if (is_captured("a wait for the device")) return runtime().error;
  finish_all();
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (is_captured("a wait for a stream")) return runtime().error;
  wait_for(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return give(stream, reinterpret_cast<cudaStream_t>(new_stream()));
}
// Its work is done all the same.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  wait_for(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return ask(stream, [until = *reinterpret_cast<Event*>(event)] { until.wait(); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return give(event, reinterpret_cast<cudaEvent_t>(new Event));
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Event*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Stream* const one = stream_of(stream);
  if (!one) finish_all();
  *reinterpret_cast<Event*>(event) = {one, one ? one->asked() : 0};
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  reinterpret_cast<Event*>(event)->wait();
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  runtime().captured = new Graph;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = reinterpret_cast<cudaGraph_t>(std::exchange(runtime().captured, nullptr));
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  return give(status,
              runtime().captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long) {
  return give(executable, reinterpret_cast<void*>(graph));
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  for (auto const& work : reinterpret_cast<Graph*>(executable)->work) ask(stream, work);
  return cudaSuccess;
}

}  // extern "C"
