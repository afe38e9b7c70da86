// Streams, events and graphs of libtorch, which tch lacks. Streams and events are those of c10, the part of libtorch that
// every build has, and graphs are found in the CUDA library when it is loaded, so that one program runs with and without
// it. Each function returns nullptr, or a message that tengen_free_message frees.

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include <dlfcn.h>

#include <ATen/Context.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/headeronly/version.h>

#include "message.h"

namespace {

using tengen::try_to;

c10::impl::VirtualGuardImpl guard() {
  return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA);
}

// An index of 8 bits would make GPU 256 the first, and INT_MAX -1, which is the current one.
c10::Device device_of(int gpu) {
  if (gpu < 0 || gpu > std::numeric_limits<c10::DeviceIndex>::max()) {
    throw std::runtime_error("there is no GPU " + std::to_string(gpu));
  }
  return c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(gpu));
}

using PoolId = std::pair<unsigned long long, unsigned long long>;

// at::cuda::CUDAGraph, whose header needs those of CUDA, by the names and types of ATen/cuda/CUDAGraph.h of this version.
struct Api {
  void (*construct)(void*, bool);
  void (*destruct)(void*);
  void (*begin)(void*, PoolId, int);
  void (*end)(void*);
  void (*replay)(void*);
  PoolId (*new_pool)();
};

template <typename F>
void find(F& function, const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    throw std::runtime_error(std::string("this libtorch has no ") + name);
  }
  function = reinterpret_cast<F>(found);
}

Api find_api() {
#if TORCH_VERSION_MAJOR != 2 || TORCH_VERSION_MINOR != 11
  throw std::runtime_error("CUDA graphs are known of libtorch 2.11, and this program was built with another one");
#endif
  Api api{};
  find(api.construct, "_ZN2at4cuda9CUDAGraphC1Eb");
  find(api.destruct, "_ZN2at4cuda9CUDAGraphD1Ev");
  find(api.begin, "_ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode");
  find(api.end, "_ZN2at4cuda9CUDAGraph11capture_endEv");
  find(api.replay, "_ZN2at4cuda9CUDAGraph6replayEv");
  find(api.new_pool, "_ZN2at4cuda17graph_pool_handleEv");
  return api;
}

// Found once; looked for again after a failure, since the CUDA library may be loaded later.
const Api& api() {
  static const Api found = find_api();
  return found;
}

class Graph {
 public:
  Graph() : api_(api()) { api_.construct(memory_, false); }
  // As all destructors noexcept: what would leave it ends the process, and does not reach Rust.
  ~Graph() { api_.destruct(memory_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Other threads may use the device meanwhile.
  void begin(PoolId pool) {
    constexpr int kThreadLocal = 1;  // cudaStreamCaptureModeThreadLocal
    api_.begin(memory_, pool, kThreadLocal);
  }
  void end() { api_.end(memory_); }
  void replay() { api_.replay(memory_); }

 private:
  const Api& api_;
  // Several times what the class takes in this version.
  alignas(64) unsigned char memory_[2048];
};

}  // namespace

extern "C" {

// Whether convolutions and products of f32 may be rounded to TF32 on the way, as libtorch has it unless told otherwise.
char* tengen_allow_tf32(bool allow) {
  return try_to([&] {
    at::globalContext().setAllowTF32CuDNN(allow);
    at::globalContext().setAllowTF32CuBLAS(allow);
  });
}

// Initialises CUDA. The message says what is wrong with the driver, where something is.
char* tengen_init_cuda() {
  return try_to([&] { at::globalContext().lazyInitDevice(c10::DeviceType::CUDA); });
}

// A place for the memory of graphs that never run at the same time.
char* tengen_new_pool(unsigned long long pool[2]) {
  return try_to([&] {
    const auto made = api().new_pool();
    pool[0] = made.first;
    pool[1] = made.second;
  });
}

// Records what the calling thread starts on its stream from now on, without doing it.
char* tengen_begin_graph(const unsigned long long pool[2], Graph** graph) {
  return try_to([&] {
    auto* made = new Graph();
    *graph = made;
    made->begin({pool[0], pool[1]});
  });
}

char* tengen_end_graph(Graph* graph) {
  return try_to([&] { graph->end(); });
}

// Does what was recorded, in one go.
char* tengen_replay_graph(Graph* graph) {
  return try_to([&] { graph->replay(); });
}

void tengen_free_graph(Graph* graph) { delete graph; }

// A stream of libtorch's pool, which has 32 for each GPU and gives them out in turn, whoever uses them.
char* tengen_draw_stream(int gpu, int64_t* id) {
  return try_to([&] {
    const c10::Device device = device_of(gpu);
    *id = guard().getStreamFromGlobalPool(device).id();
  });
}

// Lets the calling thread start its operations on a stream, and says which one it had before on that GPU.
char* tengen_use_stream(int gpu, int64_t id, int64_t* before) {
  return try_to([&] {
    const c10::Device device = device_of(gpu);
    guard().setDevice(device);
    *before = guard().exchangeStream(c10::Stream(c10::Stream::UNSAFE, device, id)).id();
  });
}

// An event that happens when all operations that the calling thread has started so far on a GPU are done.
char* tengen_record_event(int gpu, c10::Event** event) {
  return try_to([&] {
    const c10::Device device = device_of(gpu);
    auto* recorded = new c10::Event(c10::DeviceType::CUDA);
    *event = recorded;
    recorded->record(guard().getStream(device));
  });
}

char* tengen_has_happened(const c10::Event* event, bool* happened) {
  return try_to([&] { *happened = event->query(); });
}

char* tengen_wait_for_event(const c10::Event* event) {
  return try_to([&] { event->synchronize(); });
}

void tengen_free_event(c10::Event* event) { delete event; }

void tengen_free_message(char* text) {
  if (text != tengen::no_memory) {
    free(text);
  }
}
}
