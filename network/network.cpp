#include "weft/network/network.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/names.hpp"
#include "weft/network/operators/tensor_operator.hpp"
#include "weft/network/plan/arena.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/network/plan/convolution_constants.hpp"
#include "weft/network/plan/convolution_policy.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::network {
namespace {

// A convolution that is ready to run.
struct Convolution {
  rtc::Operator op;
  conv::ConvPlan plan;
  ConvolutionConstants constants;
  rtc::Values values;
  std::string tile;
};

absl::Status SetValues(const ConvolutionConstants& constants, rtc::Values* values) {
  const std::pair<const char*, float> numbers[] = {{"zero_point", constants.steps_zero_point},
                                                   {"sum_ratio", constants.sum_ratio},
                                                   {"fixed", constants.fixed}};
  for (const auto& [name, number] : numbers) {
    if (absl::Status s = values->Set(name, static_cast<double>(number)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// Calls `make` for 0 to count - 1, on as many threads as there are processors.
void InParallel(std::size_t count, const std::function<void(std::size_t)>& make) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) make(i);
  };
  std::vector<std::thread> threads;
  const std::size_t most =
      std::min<std::size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  for (std::size_t i = 1; i < most; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

struct Network::State {
  Graph graph;
  Plan plan;
  bool on_gpu = false;
  std::vector<std::variant<Convolution, TensorOperator>> steps;  // as plan.steps
  std::string constants;

  // The constants in the memory of GPUs, by their contexts.
  std::mutex copying;
  std::shared_mutex mutex;
  std::map<std::uint64_t, rtc::DeviceBytes> copies;

  absl::Status AddSteps(const NetworkOptions& options);
  absl::StatusOr<const char*> ConstantsOnGpu();
  absl::Status CheckArguments(const Arguments& args, bool gpu) const;
  // The addresses of a plan's tensors in a run.
  std::vector<char*> AddressesOf(const Arguments& args) const;
};

absl::Status Network::State::AddSteps(const NetworkOptions& options) {
  int compute_capability = 0;
  Machine machine =
      conv::CpuFacts{std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
  if (on_gpu) {
    const absl::StatusOr<arch::DeviceLimits> device = rtc::CurrentDevice();
    if (!device.ok()) return device.status();
    machine = conv::GpuFactsOf(*device);
    compute_capability = device->compute_capability;
  }
  Tiles wanted = options.tiles;
  // Each kernel is compiled once.
  struct Kernel {
    ConvolutionPolicy policy;
    std::string of;  // a node
    absl::StatusOr<rtc::Operator> op = absl::InternalError("not compiled");
  };
  std::vector<Kernel> kernels;
  std::map<std::string, std::size_t> places;
  std::vector<std::pair<std::size_t, std::string>> chosen(
      plan.steps.size());  // place in kernels, tile
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (!std::holds_alternative<ConvolutionStep>(step.what)) continue;
    const auto given = wanted.extract(step.name);
    absl::StatusOr<std::string> tile =
        ChooseTile(plan, step, machine, given.empty() ? nullptr : &given.mapped());
    if (!tile.ok()) return tile.status();
    const ConvolutionPolicy policy = PolicyOf(plan, step, *tile);
    const auto [at, is_new] = places.emplace(policy.text, kernels.size());
    if (is_new) kernels.push_back({policy, step.name});
    chosen[i] = {at->second, *std::move(tile)};
  }
  if (!wanted.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("network: tiles name \"", wanted.begin()->first,
                     "\", which is no convolution of the plan of ", plan.batch, " images",
                     kernels.empty() ? "" : absl::StrCat("; one is \"", kernels[0].of, "\"")));
  }
  InParallel(kernels.size(), [&](std::size_t i) {
    kernels[i].op = rtc::Compile(kernels[i].policy.text,
                                 {.policy = "NetworkConvolution",
                                  .values = kernels[i].policy.values,
                                  .compiler = options.compiler,
                                  .back_end = on_gpu ? rtc::BackEnd::kGpu : rtc::BackEnd::kCpu,
                                  .compute_capability = compute_capability,
                                  .cache_folder = options.cache_folder,
                                  .cache_bytes = options.cache_bytes});
  });
  for (const Kernel& kernel : kernels) {
    if (!kernel.op.ok()) return OfNode(kernel.op.status(), kernel.of);
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (const auto* tensor = std::get_if<TensorProblem>(&step.what)) {
      absl::StatusOr<TensorOperator> op = TensorOperator::Create(*tensor);
      if (!op.ok()) return OfNode(op.status(), step.name);
      steps.emplace_back(*std::move(op));
      continue;
    }
    const rtc::Operator& op = *kernels[chosen[i].first].op;
    absl::StatusOr<conv::ConvPlan> of_problem =
        op.Plan(std::get<ConvolutionStep>(step.what).problem);
    if (!of_problem.ok()) return OfNode(of_problem.status(), step.name);
    absl::StatusOr<ConvolutionConstants> made = AppendConstants(graph, plan, step, &constants);
    if (!made.ok()) return OfNode(made.status(), step.name);
    Convolution convolution = {op, *std::move(of_problem), *made, op.values(), chosen[i].second};
    if (std::get<ConvolutionStep>(step.what).add >= 0) {
      if (absl::Status s = SetValues(*made, &convolution.values); !s.ok())
        return OfNode(s, step.name);
    }
    steps.emplace_back(std::move(convolution));
  }
  return absl::OkStatus();
}

absl::StatusOr<const char*> Network::State::ConstantsOnGpu() {
  const auto find = [this](std::uint64_t context) -> const char* {
    const std::shared_lock<std::shared_mutex> lock(mutex);
    const auto at = copies.find(context);
    return at == copies.end() ? nullptr : at->second.data();
  };
  if (const auto context = rtc::CurrentContext(); context.has_value()) {
    if (const char* found = find(*context)) return found;
  }
  if (const auto device = rtc::CurrentDevice(); !device.ok()) return device.status();
  const auto context = rtc::CurrentContext();
  if (!context.has_value()) return absl::InternalError("network: the GPU's context has no number");
  const std::lock_guard<std::mutex> copies_now(copying);
  if (const char* found = find(*context)) return found;  // by another thread
  absl::StatusOr<rtc::DeviceBytes> copy = rtc::DeviceBytes::CopyOf(constants);
  if (!copy.ok()) return copy.status();
  const std::unique_lock<std::shared_mutex> lock(mutex);
  return copies.emplace(*context, *std::move(copy)).first->second.data();
}

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

// What is said of a plan whose arena is larger than most_arena_bytes.
absl::Status TooLarge(const Graph& graph, const Plan& plan, const NetworkOptions& options) {
  // The arena of `fits` images is small enough, that of `too_many` is not; it grows with the images.
  std::int64_t fits = 0, too_many = plan.batch;
  while (fits + 1 < too_many) {
    const std::int64_t batch = fits + (too_many - fits) / 2;
    const auto smaller = MakePlan(graph, {.batch = batch, .fuse = options.fuse});
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

absl::StatusOr<Network> Network::Create(const Graph& graph, const NetworkOptions& options) {
  if (absl::Status s = CheckGraph(graph); !s.ok()) return s;
  absl::StatusOr<Plan> plan = MakePlan(graph, {.batch = options.batch, .fuse = options.fuse});
  if (!plan.ok()) return plan.status();
  if (options.most_arena_bytes > 0 && plan->arena_bytes > options.most_arena_bytes) {
    return TooLarge(graph, *plan, options);
  }
  auto state = std::make_shared<State>();
  state->graph = graph;
  state->plan = *std::move(plan);
  state->on_gpu = options.back_end == rtc::BackEnd::kGpu ||
                  (options.back_end == rtc::BackEnd::kAny && rtc::ComputeCapability().ok());
  if (absl::Status s = state->AddSteps(options); !s.ok()) return s;
  return Network(std::move(state));
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
    const auto* convolution = std::get_if<Convolution>(&state_->steps[i]);
    if (convolution != nullptr) tiles[plan().steps[i].name] = convolution->tile;
  }
  return tiles;
}
std::int64_t Network::constant_bytes() const {
  return static_cast<std::int64_t>(state_->constants.size());
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

// Starts each step of a run by `run`, which is given an operator, its arguments and, of a convolution, its plan.
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
      of_step.src = src, of_step.residual = other, of_step.dst = dst;
      of_step.values = &convolution->values;
      status = run(convolution->op, convolution->plan, of_step);
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

  absl::Status operator()(const rtc::Operator& op, const conv::ConvPlan& plan,
                          const rtc::Arguments& args) const {
    return op.Run(plan, args, stream, options);
  }
  absl::Status operator()(const TensorOperator& op, const TensorOperator::Arguments& args) const {
    return op.Run(args, stream, options);
  }
};

struct RunHere {
  const gemm::CpuOptions& options;

  absl::Status operator()(const rtc::Operator& op, const conv::ConvPlan& plan,
                          const rtc::Arguments& args) const {
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
  const absl::StatusOr<const char*> constants = state_->ConstantsOnGpu();
  if (!constants.ok()) return constants.status();
  return StartAll(plan(), state_->steps, args, state_->AddressesOf(args), *constants,
                  RunOnGpu{stream, options});
}

absl::Status Network::RunOnCpu(const Arguments& args, const gemm::CpuOptions& options) const {
  if (absl::Status s = state_->CheckArguments(args, false); !s.ok()) return s;
  return StartAll(plan(), state_->steps, args, state_->AddressesOf(args), state_->constants.data(),
                  RunHere{options});
}

absl::Status Network::Prepare() const {
  if (!on_gpu()) return absl::OkStatus();
  if (const auto constants = state_->ConstantsOnGpu(); !constants.ok()) return constants.status();
  for (std::size_t i = 0; i < state_->steps.size(); ++i) {
    const auto* convolution = std::get_if<Convolution>(&state_->steps[i]);
    const absl::Status s = convolution != nullptr
                               ? convolution->op.Prepare(convolution->plan)
                               : std::get<TensorOperator>(state_->steps[i]).Prepare();
    if (!s.ok()) return OfNode(s, plan().steps[i].name);
  }
  return absl::OkStatus();
}

std::vector<std::string> Network::Kernels() const {
  std::vector<std::string> kernels;
  for (const auto& step : state_->steps) {
    const auto* convolution = std::get_if<Convolution>(&step);
    kernels.push_back(convolution != nullptr
                          ? convolution->tile
                          : NameOf(std::get<TensorOperator>(step).problem().kind));
  }
  return kernels;
}

}  // namespace weft::network
