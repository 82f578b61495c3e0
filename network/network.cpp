#include "weft/network/network.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/engine/engine.hpp"
#include "weft/network/graph/limits.hpp"
#include "weft/network/graph/names.hpp"
#include "weft/network/in_parallel.hpp"
#include "weft/network/network_state.hpp"
#include "weft/network/plan/arena.hpp"
#include "weft/network/plan/choose_formats.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::network {

absl::Status Network::State::CheckArguments(const Arguments& args, bool gpu) const {
  if (gpu != on_gpu) {
    return absl::FailedPreconditionError(gpu ? "network: the network was made for the CPU; make "
                                               "one with back_end = kGpu, or call RunOnCpu"
                                             : "network: the network was made for a GPU; make one "
                                               "with back_end = kCpu, or call Run");
  }
  const auto check = [&](const char* field, std::size_t have, std::size_t wanted) {
    return have == wanted
               ? absl::OkStatus()
               : absl::InvalidArgumentError(absl::StrCat("network: ", have, " ", field,
                                                         " are given; the graph has ", wanted));
  };
  if (absl::Status s = check("inputs", args.inputs.size(), graph.inputs.size()); !s.ok()) return s;
  if (absl::Status s = check("outputs", args.outputs.size(), graph.outputs.size()); !s.ok())
    return s;
  const auto is_null = [](const void* p) { return p == nullptr; };
  if (std::any_of(args.inputs.begin(), args.inputs.end(), is_null) ||
      std::any_of(args.outputs.begin(), args.outputs.end(), is_null)) {
    return absl::InvalidArgumentError(
        "network: an address of an input or an output is null; give each one's memory");
  }
  if (plan.arena_bytes > 0 &&
      (args.arena == nullptr ||
       reinterpret_cast<std::uintptr_t>(args.arena) % kArenaAlignment != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("network: arena=", reinterpret_cast<std::uintptr_t>(args.arena),
                     "; give the address of arena_bytes()=", plan.arena_bytes,
                     " bytes, a multiple of ", kArenaAlignment));
  }
  const auto steps = static_cast<int>(plan.steps.size());
  const int end = args.end == -1 ? steps : args.end;
  if (args.begin < 0 || args.begin > end || end > steps) {
    return absl::InvalidArgumentError(absl::StrCat(
        "network: begin=", args.begin, " and end=", args.end,
        " are no part of the plan; give 0 <= begin <= end <= ", steps, ", or -1 as end"));
  }
  return absl::OkStatus();
}

std::vector<char*> Network::State::AddressesOf(const Arguments& args) const {
  std::vector<char*> addresses;
  addresses.reserve(plan.tensors.size());
  for (const PlacedTensor& tensor : plan.tensors) {
    const auto port = static_cast<std::size_t>(tensor.port);
    switch (tensor.where) {
      case PlacedTensor::Where::kInput:  // which no step writes
        addresses.push_back(static_cast<char*>(const_cast<void*>(args.inputs[port])));
        break;
      case PlacedTensor::Where::kOutput:
        addresses.push_back(static_cast<char*>(args.outputs[port]));
        break;
      case PlacedTensor::Where::kArena:
        addresses.push_back(static_cast<char*>(args.arena) + tensor.offset);
        break;
    }
  }
  return addresses;
}

namespace {

// What is said of a plan whose arena is larger than most_arena_bytes. of_plan: its options.
absl::Status TooLarge(const Graph& graph, const Plan& plan, const NetworkOptions& options,
                      PlanOptions of_plan) {
  // The arena of `fits` images is small enough, that of `too_many` is not; it grows with the images.
  std::int64_t fits = 0, too_many = plan.batch;
  while (fits + 1 < too_many) {
    const std::int64_t batch = fits + (too_many - fits) / 2;
    of_plan.batch = batch;
    const auto smaller = MakePlan(graph, of_plan);
    if (!smaller.ok()) return smaller.status();
    (smaller->arena_bytes <= options.most_arena_bytes ? fits : too_many) = batch;
  }
  const auto images = [](std::int64_t count) {
    return absl::StrCat(count, count == 1 ? " image" : " images");
  };
  return absl::ResourceExhaustedError(absl::StrCat(
      "network: the arena of ", images(plan.batch), " has ", plan.arena_bytes,
      " bytes, and most_arena_bytes=", options.most_arena_bytes, "; allow more",
      fits == 0 ? "; not even one image fits" : absl::StrCat(", or give at most ", images(fits))));
}

}  // namespace

absl::StatusOr<Network> Network::Make(const Graph& graph, const Model* model,
                                      const NetworkOptions& given) {
  NetworkOptions options = given;
  auto state = std::make_shared<State>();
  state->graph = graph;
  state->on_gpu = options.back_end == rtc::BackEnd::kGpu ||
                  (options.back_end == rtc::BackEnd::kAny && rtc::ComputeCapability().ok());
  if (state->on_gpu && options.gpu.has_value()) {
    if (absl::Status s = CheckLimits("gpu", *options.gpu); !s.ok()) return s;
  }
  if (state->on_gpu) {
    const auto device = options.gpu.has_value() ? absl::StatusOr<arch::DeviceLimits>(*options.gpu)
                                                : rtc::CurrentDevice();
    if (!device.ok()) return device.status();
    state->gpu = *device;
  }
  if (model != nullptr) {
    const FoundPlan found = FindPlan(*model, options.batch, state->gpu);
    state->note = found.note;
    if (found.plan != nullptr) {
      state->gpu = found.plan->gpu;  // the same plan is made for the same GPU
      options.fuse = found.plan->fuse, options.formats = found.plan->formats;
      options.blocks = found.plan->blocks;
      options.tiles.insert(found.plan->tiles.begin(),
                           found.plan->tiles.end());  // behind the caller's
      state->file = model->code;
    }
  }
  state->fuse = options.fuse, state->formats = options.formats, state->blocks = options.blocks;
  PlanOptions of_plan = {.batch = options.batch,
                         .formats = options.formats,
                         .fuse = options.fuse,
                         .blocks = options.blocks,
                         .gpu = state->on_gpu ? state->gpu : arch::DeviceLimits()};
  if (state->on_gpu) AddTimes(state->GetMachine(), &of_plan);
  absl::StatusOr<Plan> plan = MakePlan(graph, of_plan);
  if (!plan.ok()) return plan.status();
  if (options.most_arena_bytes > 0 && plan->arena_bytes > options.most_arena_bytes) {
    return TooLarge(graph, *plan, options, of_plan);
  }
  state->plan = *std::move(plan);
  const absl::Status added = state->AddSteps(options);
  if (added.ok()) return Network(std::move(state));
  if (state->file == nullptr) {
    return state->note.empty()
               ? added
               : absl::Status(added.code(), absl::StrCat(added.message(), "; ", state->note));
  }
  // This version of Weft plans the graph otherwise than the one that made the file.
  absl::StatusOr<Network> anew = Make(graph, nullptr, given);
  if (anew.ok()) {
    anew->state_->note = absl::StrCat("the file's kernels are not used: ", added.message());
  }
  return anew;
}

absl::StatusOr<Network> Network::Create(const Graph& graph, const NetworkOptions& options) {
  if (absl::Status s = CheckGraph(graph); !s.ok()) return s;
  return Make(graph, nullptr, options);
}

absl::StatusOr<Network> Network::Load(const Model& model, const NetworkOptions& options) {
  if (absl::Status s = CheckGraph(model.graph); !s.ok()) return s;
  return Make(model.graph, &model, options);
}

absl::StatusOr<Network> Network::Load(std::string_view file, const NetworkOptions& options) {
  const absl::StatusOr<Model> model = ReadModel(file);
  // ReadModel has checked the graph.
  return model.ok() ? Make(model->graph, &*model, options) : model.status();
}

absl::StatusOr<std::string> Network::Save() const {
  return Save({this, 1});
}

absl::StatusOr<std::string> Network::Save(absl::Span<const Network> networks) {
  std::vector<EnginePart> parts;
  for (const Network& network : networks) {
    const State& state = *network.state_;
    const auto code = std::make_shared<rtc::Archive>(state.file);
    if (absl::Status s = state.CompileInto(code); !s.ok()) return s;
    parts.push_back({&state.graph,
                     {.batch = state.plan.batch,
                      .fuse = state.fuse,
                      .blocks = state.blocks,
                      .formats = state.formats,
                      .gpu = state.gpu,
                      .tiles = network.tiles()},
                     code});
  }
  return WriteEngine(parts);
}

const Graph& Network::graph() const {
  return state_->graph;
}
const Plan& Network::plan() const {
  return state_->plan;
}
bool Network::on_gpu() const {
  return state_->on_gpu;
}
Tiles Network::tiles() const {
  Tiles tiles;
  for (std::size_t i = 0; i < state_->steps.size(); ++i) {
    if (const std::string* const tile = TileOf(state_->steps[i]))
      tiles[plan().steps[i].name] = *tile;
  }
  return tiles;
}
std::int64_t Network::constant_bytes() const {
  return static_cast<std::int64_t>(state_->constants->bytes.size());
}

std::int64_t Network::input_bytes(int input) const {
  return graph()
      .tensors[static_cast<std::size_t>(graph().inputs[static_cast<std::size_t>(input)])]
      .Type(plan().batch, Format::kNchw)
      .bytes();
}
std::int64_t Network::output_bytes(int output) const {
  return graph()
      .tensors[static_cast<std::size_t>(graph().outputs[static_cast<std::size_t>(output)])]
      .Type(plan().batch, Format::kNchw)
      .bytes();
}

namespace {

// Starts each step of a run by `run`, which is given an operator, its arguments and, of a convolution or a bottleneck, its plan.
template <class Steps, class Run>
absl::Status StartAll(const Plan& plan, const Steps& steps, const Network::Arguments& args,
                      const std::vector<char*>& at, const char* constants, const Run& run) {
  const std::size_t end = args.end == -1 ? steps.size() : static_cast<std::size_t>(args.end);
  for (auto i = static_cast<std::size_t>(args.begin); i < end; ++i) {
    const Step& step = plan.steps[i];
    const char* const src = at[static_cast<std::size_t>(step.src)];
    const char* const other = step.other < 0 ? nullptr : at[static_cast<std::size_t>(step.other)];
    char* const dst = at[static_cast<std::size_t>(step.dst)];
    absl::Status status;
    if (const auto* convolution = std::get_if<Convolution>(&steps[i])) {
      rtc::Arguments of_step = convolution->constants.At(constants);
      of_step.src = src, of_step.residual = other, of_step.values = &convolution->values;
      const auto& what = std::get<ConvolutionStep>(step.what);
      const TensorType& to = plan.tensors[static_cast<std::size_t>(step.dst)].type;
      of_step.dst = dst + VisitFormat(to.format, [&]<class Layout>() {
                      return Layout::ChannelOffset(to.extents, what.first_channel);
                    });
      // Of one image a slice is a tensor of its own.
      if (plan.batch > 1 && to.extents.c != what.problem.k) of_step.dst_channels = to.extents.c;
      std::optional<rtc::Values> own;  // of a table, whose address is another one in each GPU
      if (const std::int64_t at = convolution->constants.table_at; at >= 0) {
        of_step.values = &own.emplace(convolution->values);
        status = own->SetAddress("table", constants + at);
      }
      if (status.ok()) status = run(convolution->op, convolution->plan, of_step);
    } else if (const auto* block = std::get_if<Block>(&steps[i])) {
      rtc::BottleneckArguments of_step = {.first = block->constants.first.At(constants),
                                          .second = block->constants.second.At(constants),
                                          .projection = {},
                                          .third = block->constants.third.At(constants)};
      const auto& what = std::get<BottleneckStep>(step.what);
      if (what.projects()) of_step.projection = block->constants.projection.At(constants);
      of_step.first.src = src, of_step.third.dst = dst, of_step.third.values = &block->values;
      of_step.padding = what.padding, of_step.filters_are_constant = true;
      status = run(block->op, block->plan, of_step);
    } else {
      status = run(std::get<TensorOperator>(steps[i]),
                   TensorOperator::Arguments{.src = src, .other = other, .dst = dst});
    }
    if (!status.ok()) return OfNode(status, step.name);
  }
  return absl::OkStatus();
}

struct RunOnGpu {
  Stream stream;
  const gemm::LaunchOptions& options;

  template <class Op, class OpPlan, class OpArguments>
  absl::Status operator()(const Op& op, const OpPlan& plan, const OpArguments& args) const {
    return op.Run(plan, args, stream, options);
  }
  absl::Status operator()(const TensorOperator& op, const TensorOperator::Arguments& args) const {
    return op.Run(args, stream, options);
  }
};

struct RunHere {
  const gemm::CpuOptions& options;

  template <class Op, class OpPlan, class OpArguments>
  absl::Status operator()(const Op& op, const OpPlan& plan, const OpArguments& args) const {
    return op.RunOnCpu(plan, args, options);
  }
  absl::Status operator()(const TensorOperator& op, const TensorOperator::Arguments& args) const {
    return op.RunOnCpu(args, options);
  }
};

}  // namespace

absl::Status Network::Run(const Arguments& args, Stream stream,
                          const gemm::LaunchOptions& options) const {
  if (absl::Status s = state_->CheckArguments(args, true); !s.ok()) return s;
  const absl::StatusOr<const char*> constants = state_->constants->OnGpu();
  if (!constants.ok()) return constants.status();
  return StartAll(plan(), state_->steps, args, state_->AddressesOf(args), *constants,
                  RunOnGpu{stream, options});
}

absl::Status Network::RunOnCpu(const Arguments& args, const gemm::CpuOptions& options) const {
  if (absl::Status s = state_->CheckArguments(args, false); !s.ok()) return s;
  return StartAll(plan(), state_->steps, args, state_->AddressesOf(args),
                  state_->constants->bytes.data(), RunHere{options});
}

absl::Status Network::Prepare() const {
  if (!on_gpu()) return absl::OkStatus();
  if (const auto constants = state_->constants->OnGpu(); !constants.ok()) return constants.status();
  const absl::StatusOr<rtc::ThisContext> context = rtc::ThisContext::Get();
  if (!context.ok()) return context.status();
  // NVRTC, nvJitLink and the driver take most of a second for a kernel that nobody has compiled before.
  std::vector<absl::Status> prepared(state_->steps.size());
  InParallel(prepared.size(), [&](std::size_t i) {
    prepared[i] = context->Use();
    if (!prepared[i].ok()) return;
    const StepKernel& step = state_->steps[i];
    if (const auto* convolution = std::get_if<Convolution>(&step)) {
      prepared[i] = convolution->op.Prepare(convolution->plan);
    } else if (const auto* block = std::get_if<Block>(&step)) {
      prepared[i] = block->op.Prepare();
    } else {
      prepared[i] = std::get<TensorOperator>(step).Prepare();
    }
  });
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    if (!prepared[i].ok()) return OfNode(prepared[i], plan().steps[i].name);
  }
  return absl::OkStatus();
}

const std::string& Network::note() const {
  return state_->note;
}

std::vector<std::string> Network::Kernels() const {
  std::vector<std::string> kernels;
  for (const auto& step : state_->steps) {
    const std::string* const tile = TileOf(step);
    kernels.push_back(tile != nullptr ? *tile
                                      : NameOf(std::get<TensorOperator>(step).problem().kind));
  }
  return kernels;
}

}  // namespace weft::network
