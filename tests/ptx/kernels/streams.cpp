// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When work is done: not before somebody waits for it, and in the order that streams and events
// say.

#include "check.hpp"

namespace {

using check::Array;
using check::equal;

__global__ void set(int* out, int value) { *out = value; }
__global__ void copy(int const* from, int* out) { *out = *from; }

struct Stream {
  cudaStream_t stream;
  Stream() { cudaStreamCreate(&stream); }
  Stream(Stream const&) = delete;
  ~Stream() { cudaStreamDestroy(stream); }
  operator cudaStream_t() const { return stream; }
};

/// Memory that the host and the device reach.
struct Pinned {
  int* values;
  Pinned() { cudaMallocHost(&values, 2 * sizeof(int)); }
  Pinned(Pinned const&) = delete;
  ~Pinned() { cudaFreeHost(values); }
};

void copies_to_the_host() {
  Stream const stream;
  Pinned const pinned;
  Array<int> const out(1);
  int own = -1;
  *pinned.values = -1;
  set<<<1, 1, 0, stream>>>(out.data(), 7);
  cudaMemcpyAsync(pinned.values, out.data(), sizeof(int), cudaMemcpyDefault, stream);
  equal("pinned memory, not waited for", 0, *pinned.values, -1);
  cudaStreamSynchronize(stream);
  equal("pinned memory", 0, *pinned.values, 7);
  set<<<1, 1, 0, stream>>>(out.data(), 8);
  cudaMemcpyAsync(&own, out.data(), sizeof(int), cudaMemcpyDefault, stream);
  equal("the host's own memory", 0, own, 8);
}

void copies_from_the_host() {
  Stream const stream;
  Pinned const pinned;
  Array<int> const out({0, 0});
  int own = 1;
  *pinned.values = 1;
  cudaMemcpyAsync(out.data(), &own, sizeof(int), cudaMemcpyDefault, stream);
  cudaMemcpyAsync(out.data() + 1, pinned.values, sizeof(int), cudaMemcpyDefault, stream);
  own = *pinned.values = 2;
  auto const got = out.values();
  equal("the host's own memory, changed behind the copy", 0, got[0], 1);
  equal("pinned memory, changed while it is needed", 0, got[1], 2);
}

void order_of_streams() {
  for (bool const has_event : {false, true}) {
    Stream const first, second;
    Pinned const pinned;
    Array<int> const out(std::vector<int>{3, 4});
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    set<<<1, 1, 0, first>>>(out.data(), 9);
    cudaEventRecord(event, first);
    set<<<1, 1, 0, first>>>(out.data(), 10);
    if (has_event) cudaStreamWaitEvent(second, event, 0);
    copy<<<1, 1, 0, second>>>(out.data(), out.data() + 1);
    cudaMemcpyAsync(pinned.values, out.data(), 2 * sizeof(int), cudaMemcpyDefault, second);
    cudaStreamSynchronize(second);
    equal("what another stream has written", has_event, pinned.values[1], has_event ? 9 : 3);
    equal("what it writes behind the event", has_event, pinned.values[0], has_event ? 9 : 3);
    cudaEventRecord(event, first);
    cudaEventSynchronize(event);
    equal("what another stream has written in the end", has_event, out.values()[0], 10);
    cudaEventDestroy(event);
  }
}

void the_default_stream() {
  Stream const stream;
  Array<int> const out(std::vector<int>{1, 2});
  set<<<1, 1, 0, stream>>>(out.data(), 5);
  copy<<<1, 1>>>(out.data(), out.data() + 1);
  set<<<1, 1, 0, stream>>>(out.data(), 6);
  equal("it waits for what was before it", 0, out.values()[1], 5);
}

}  // namespace

int main() {
  copies_to_the_host();
  copies_from_the_host();
  order_of_streams();
  the_default_stream();
  return check::result();
}
