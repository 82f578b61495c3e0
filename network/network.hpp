// Network: a graph of quantised operators that runs on a GPU or on the CPU.
//
//     absl::StatusOr<weft::network::Graph> graph = weft::network::ReadGraph(bytes_of("resnet18.weft"));
//     auto network = weft::network::Network::Create(*graph, {.batch = 1, .back_end = weft::rtc::BackEnd::kGpu});
//     void* arena = ...;  // network->arena_bytes() of the GPU's memory, 256-byte aligned
//     network->Run({.inputs = {image}, .outputs = {logits}, .arena = arena}, stream);
//
// Convolutions and tensor operators are compiled at run time and kept (docs/rtc.md); both back ends give the same
// bits. docs/networks.md has more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/network/graph/graph.hpp"
#include "weft/network/graph/model_file.hpp"
#include "weft/network/plan/plan.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::network {

// Tiles of convolutions and bottlenecks, such as "Mma128x64" (docs/tiles.md), by the names of their steps, which are those of a plan of one
// graph with one batch. Results are the same bits whichever tiles run.
using Tiles = std::map<std::string, std::string>;

struct NetworkOptions {
  std::int64_t batch = 1;  // images of a run
  // kGpu: for the calling thread's current GPU; kCpu: for the CPU; kAny: for a GPU if there is one.
  rtc::BackEnd back_end = rtc::BackEnd::kAny;
  // Of kGpu: the GPU that is planned and compiled for, which this machine need not have (GpuNamed of
  // weft/network/engine/gpus.hpp); nothing: the current one. Each of its numbers is positive.
  std::optional<arch::DeviceLimits> gpu{};
  bool fuse = true;  // nodes share a kernel where that is possible (network/fuse)
  // Which bottlenecks of residual networks are one kernel, and which first layers pool their own output; Describe() says of each whether
  // it is, and why not.
  Blocks blocks = Blocks::kWhereQuicker;
  // What integers may lie in, as PlanOptions::formats; on a GPU the model of times chooses among them.
  std::vector<Format> formats{};
  // What Network::tiles() gave for this graph, batch and GPU; steps that it does not name have the tile that the model of
  // times chooses.
  Tiles tiles{};
  std::int64_t most_arena_bytes = 0;  // what arena_bytes() may be at most; 0: any number
  // Of compiled convolutions, as rtc::Options; kernels of tensor operators are kept in the default folder.
  std::string compiler{};
  std::string cache_folder{};
  std::int64_t cache_bytes = std::int64_t{512} << 20;
};

// Immutable, cheap to copy, safe to share between threads: runs at the same time need an arena each.
class Network {
 public:
  // Plans the graph, packs its filters and compiles its kernels, several at once. The errors of CheckGraph and
  // MakePlan, and of rtc::Compile, with the name of the node. InvalidArgument if a name of options.tiles is not that of a step
  // with a tile, or its tile is none that can run it there. ResourceExhausted, with the number of images that
  // fit, if the arena would have more than most_arena_bytes.
  static absl::StatusOr<Network> Create(const Graph& graph, const NetworkOptions& options = {});

  // The same network with other tiles: those of steps that are not named stay. Filters are shared, and kernels are compiled that
  // neither this network nor one made of it has. The errors that Create has about tiles.
  absl::StatusOr<Network> WithTiles(Tiles tiles) const;

  // Makes the network of a file. If the file is an engine of this version of Weft with a plan for options.batch and the machine, that
  // plan's fuse, formats and blocks are taken instead of those of the options, and its tiles for the steps that options.tiles does not
  // name. Its kernels are in the file, so that neither NVRTC nor a C++ compiler nor a cache is needed; those of other tiles that the
  // options name are compiled. Without such a plan the network is made as by Create. note() says which is the case. The errors of
  // ReadModel and Create.
  static absl::StatusOr<Network> Load(std::string_view file, const NetworkOptions& options = {});
  static absl::StatusOr<Network> Load(const Model& model, const NetworkOptions& options = {});

  // The file of an engine: the graph, and the plan and compiled kernels of this network, or of several of one graph, for
  // other numbers of images and other machines. Kernels that nobody has needed yet are compiled. InvalidArgument if two networks
  // are for the same images and the same machine, or of two graphs; the errors of Create.
  absl::StatusOr<std::string> Save() const;
  static absl::StatusOr<std::string> Save(absl::Span<const Network> networks);

  const Graph& graph() const;
  const Plan& plan() const;
  bool on_gpu() const;
  // The tile of each convolution and of each bottleneck that is one kernel.
  Tiles tiles() const;
  // Bytes of an input and an output: NCHW of the tensor's element.
  std::int64_t input_bytes(int input) const;
  std::int64_t output_bytes(int output) const;
  // Bytes of the memory that a run needs for what lies between, and of the filters that the network holds.
  std::int64_t arena_bytes() const { return plan().arena_bytes; }
  std::int64_t constant_bytes() const;

  // Addresses of a run, all of the GPU's memory for Run and of the host's for RunOnCpu. Inputs and outputs are aligned to
  // their elements, the arena to 256 bytes. Nothing overlaps.
  struct Arguments {
    std::vector<const void*> inputs{};  // as graph().inputs
    std::vector<void*> outputs{};       // as graph().outputs
    void* arena = nullptr;
    // Which steps of the plan run: from `begin` on and before `end`, of which -1 is behind the last one. Those before have
    // run on the same addresses.
    int begin = 0, end = -1;
  };

  // Enqueues all kernels on `stream`, of the GPU that is current in the calling thread, and returns; it can be
  // captured in a CUDA graph after a first run or Prepare. InvalidArgument for a wrong argument;
  // FailedPrecondition if the network was made for the CPU.
  absl::Status Run(const Arguments& args, Stream stream,
                   const gemm::LaunchOptions& options = {}) const;
  // Runs all kernels on the CPU and returns when they are done. FailedPrecondition if the network was made for a GPU.
  absl::Status RunOnCpu(const Arguments& args, const gemm::CpuOptions& options =
                                                   gemm::CpuOptions::FromEnvironment()) const;

  // Loads kernels and filters into the current GPU, as the first Run does whose inputs and outputs begin at multiples of 16
  // bytes; other addresses may need other kernels.
  absl::Status Prepare() const;

  // Of each step of the plan, what runs it: the tile of a convolution or a bottleneck, such as "Mma128x64", or a TensorOperator's kind.
  std::vector<std::string> Kernels() const;
  // Which compiled kernels of a file are used, or why none are; empty where it has none.
  const std::string& note() const;
  // A line for each kernel: its nodes, what it reads and writes, in which formats, with which tile. network/report.hpp has the
  // same as data.
  std::string Describe() const;

 private:
  struct State;
  static absl::StatusOr<Network> Make(const Graph& graph, const Model* model,
                                      const NetworkOptions& given);
  explicit Network(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace weft::network
