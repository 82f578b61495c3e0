#include "weft/network/network.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/engine/engine.hpp"
#include "weft/network/graph/names.hpp"
#include "weft/network/operators/tensor_operator.hpp"
#include "weft/network/plan/arena.hpp"
#include "weft/network/plan/choose_formats.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/network/plan/convolution_constants.hpp"
#include "weft/network/plan/convolution_policy.hpp"
#include "weft/network/plan/in_parallel.hpp"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/gpu/kernels.hpp"

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

}  // namespace

// Convolutions' operators by the texts of their policies, each compiled once. Thread-safe.
class Operators {
 public:
  explicit Operators(rtc::Options options) : options_(std::move(options)) {}

  absl::StatusOr<rtc::Operator> Get(const ConvolutionPolicy& policy) {
    Entry* entry = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      entry = &entries_[policy.text];
    }
    const std::lock_guard<std::mutex> lock(entry->mutex);
    if (!entry->op.has_value()) {
      rtc::Options options = options_;
      options.values = policy.values;
      entry->op = rtc::Compile(policy.text, options);
    }
    return *entry->op;
  }

  const rtc::Options& options() const { return options_; }

 private:
  struct Entry {
    std::mutex mutex;
    std::optional<absl::StatusOr<rtc::Operator>> op;
  };

  const rtc::Options options_;
  std::mutex mutex_;  // of entries_, which stay where they are
  std::map<std::string, Entry> entries_;
};

// What convolutions read besides tensors, which networks that differ by their tiles alone share.
struct Constants {
  std::string bytes;

  rtc::PerContext<int, rtc::DeviceBytes> copies;  // in the memory of GPUs; there is one key, 0

  // The constants in the memory of the current GPU.
  absl::StatusOr<const char*> OnGpu();
};

struct Network::State {
  Graph graph;
  Plan plan;
  bool on_gpu = false, fuse = true;
  std::vector<Format> formats;  // NetworkOptions::formats
  arch::DeviceLimits gpu;  // that it is planned for; of a network on the CPU as it is by default
  std::string note;        // about the file that it is of; or empty
  std::shared_ptr<const rtc::Archive> file;  // code that was compiled before; or null
  std::vector<std::variant<Convolution, TensorOperator>> steps;  // as plan.steps
  std::shared_ptr<Constants> constants = std::make_shared<Constants>();
  std::shared_ptr<Operators>
      operators;  // of the network's convolutions and of those with other tiles

  absl::Status AddSteps(const NetworkOptions& options);
  // The error of tiles whose first name is that of no convolution.
  absl::Status NoConvolution(const Tiles& tiles) const;
  // What the network runs on.
  Machine GetMachine() const;
  // Adds the code of all kernels, of which Create may have left some to the first run.
  absl::Status CompileInto(const std::shared_ptr<rtc::Archive>& archive) const;
  absl::Status CheckArguments(const Arguments& args, bool gpu) const;
  // The addresses of a plan's tensors in a run.
  std::vector<char*> AddressesOf(const Arguments& args) const;
};

// A step with an operator that was compiled for it.
absl::StatusOr<Convolution> ConvolutionOf(const Step& step, const rtc::Operator& op,
                                          const ConvolutionConstants& constants, std::string tile) {
  const auto& what = std::get<ConvolutionStep>(step.what);
  absl::StatusOr<conv::ConvPlan> plan = op.Plan(what.problem);
  if (!plan.ok()) return OfNode(plan.status(), step.name);
  Convolution made = {op, *std::move(plan), constants, op.values(), std::move(tile)};
  for (const auto& [name, number] : constants.numbers) {
    if (absl::Status s = made.values.Set(name, static_cast<double>(number)); !s.ok())
      return OfNode(s, step.name);
  }
  return made;
}

Machine Network::State::GetMachine() const {
  if (on_gpu) return conv::GpuFactsOf(gpu);
  return conv::CpuFacts{std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
}

absl::Status Network::State::NoConvolution(const Tiles& tiles) const {
  const auto is_convolution = [](const Step& step) {
    return std::holds_alternative<ConvolutionStep>(step.what);
  };
  const auto one = std::find_if(plan.steps.begin(), plan.steps.end(), is_convolution);
  return absl::InvalidArgumentError(
      absl::StrCat("network: tiles name \"", tiles.begin()->first,
                   "\", which is no convolution of the plan of ", plan.batch, " images",
                   one == plan.steps.end() ? "" : absl::StrCat("; one is \"", one->name, "\"")));
}

absl::Status Network::State::AddSteps(const NetworkOptions& options) {
  const Machine machine = GetMachine();
  const auto archive = file == nullptr ? nullptr : std::make_shared<rtc::Archive>(file);
  operators = std::make_shared<Operators>(
      rtc::Options{.policy = "NetworkConvolution",
                   .compiler = options.compiler,
                   .back_end = on_gpu ? rtc::BackEnd::kGpu : rtc::BackEnd::kCpu,
                   .compute_capability = gpu.compute_capability,
                   .cache_folder = options.cache_folder,
                   .cache_bytes = options.cache_bytes,
                   .archive = archive});
  Tiles wanted = options.tiles;
  std::map<std::string, std::pair<ConvolutionPolicy, std::string>> kernels;  // and a node, by texts
  std::vector<std::string> texts(plan.steps.size()), tiles(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (!std::holds_alternative<ConvolutionStep>(step.what)) continue;
    const auto given = wanted.extract(step.name);
    absl::StatusOr<std::string> tile =
        ChooseTile(plan, step, machine, given.empty() ? nullptr : &given.mapped());
    if (!tile.ok()) return tile.status();
    const ConvolutionPolicy policy = PolicyOf(plan, step, *tile);
    kernels.try_emplace(policy.text, policy, step.name);
    texts[i] = policy.text, tiles[i] = *std::move(tile);
  }
  if (!wanted.empty()) return NoConvolution(wanted);
  std::vector<const std::pair<ConvolutionPolicy, std::string>*> jobs;
  for (const auto& kernel : kernels) jobs.push_back(&kernel.second);
  std::vector<absl::Status> compiled(jobs.size());
  InParallel(jobs.size(), [&](std::size_t i) {
    if (const auto op = operators->Get(jobs[i]->first); !op.ok())
      compiled[i] = OfNode(op.status(), jobs[i]->second);
  });
  for (const absl::Status& s : compiled) {
    if (!s.ok()) return s;
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (const auto* tensor = std::get_if<TensorProblem>(&step.what)) {
      absl::StatusOr<TensorOperator> op = TensorOperator::Create(*tensor, archive);
      if (!op.ok()) return OfNode(op.status(), step.name);
      steps.emplace_back(*std::move(op));
      continue;
    }
    const absl::StatusOr<ConvolutionConstants> made =
        AppendConstants(graph, plan, step, &constants->bytes);
    if (!made.ok()) return OfNode(made.status(), step.name);
    const absl::StatusOr<rtc::Operator> op = operators->Get(kernels.at(texts[i]).first);
    absl::StatusOr<Convolution> convolution = ConvolutionOf(step, *op, *made, tiles[i]);
    if (!convolution.ok()) return convolution.status();
    steps.emplace_back(*std::move(convolution));
  }
  return absl::OkStatus();
}

absl::StatusOr<const char*> Constants::OnGpu() {
  const absl::StatusOr<const rtc::DeviceBytes*> copy =
      copies.Get(0, [this](const arch::DeviceLimits&) { return rtc::DeviceBytes::CopyOf(bytes); });
  if (!copy.ok()) return copy.status();
  return (*copy)->data();
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

absl::Status Network::State::CompileInto(const std::shared_ptr<rtc::Archive>& archive) const {
  // What is to be compiled at once, and for whom.
  struct Job {
    std::size_t step = 0;
    int kernel = -1;                             // of a tensor operator
    std::vector<const conv::ConvPlan*> plans{};  // of steps with the same policy
  };
  std::map<std::string, Job> convolutions;
  std::map<int, Job> tensors;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (const auto* c = std::get_if<Convolution>(&steps[i])) {
      const std::string text = PolicyOf(plan, plan.steps[i], c->tile).text;
      convolutions.try_emplace(text, Job{.step = i}).first->second.plans.push_back(&c->plan);
    } else if (on_gpu) {
      for (const int kernel : std::get<TensorOperator>(steps[i]).kernels()) {
        tensors.try_emplace(kernel, Job{.step = i, .kernel = kernel});
      }
    }
  }
  std::vector<Job> jobs;
  for (const auto& [text, job] : convolutions) jobs.push_back(job);
  for (const auto& [kernel, job] : tensors) jobs.push_back(job);
  const auto compile = [&](const Job& job) {
    if (job.kernel >= 0) {
      return TensorKernelsOnGpu().Compile(job.kernel, gpu.compute_capability, archive.get());
    }
    const ConvolutionPolicy policy =
        PolicyOf(plan, plan.steps[job.step], std::get<Convolution>(steps[job.step]).tile);
    rtc::Options options = operators->options();
    options.values = policy.values;
    options.archive = archive;
    const absl::StatusOr<rtc::Operator> op = rtc::Compile(policy.text, options);
    if (!op.ok() || !on_gpu) return op.status();
    for (const conv::ConvPlan* of : job.plans) {
      if (absl::Status s = op->CompileFor(*of, gpu.compute_capability); !s.ok()) return s;
    }
    return absl::OkStatus();
  };
  std::vector<absl::Status> compiled(jobs.size());
  InParallel(jobs.size(), [&](std::size_t i) { compiled[i] = compile(jobs[i]); });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!compiled[i].ok()) return OfNode(compiled[i], plan.steps[jobs[i].step].name);
  }
  return absl::OkStatus();
}

absl::StatusOr<Network> Network::Make(const Graph& graph, const Model* model,
                                      NetworkOptions options) {
  auto state = std::make_shared<State>();
  state->graph = graph;
  state->on_gpu = options.back_end == rtc::BackEnd::kGpu ||
                  (options.back_end == rtc::BackEnd::kAny && rtc::ComputeCapability().ok());
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
      options.tiles.insert(found.plan->tiles.begin(),
                           found.plan->tiles.end());  // behind the caller's
      state->file = model->code;
    }
  }
  state->fuse = options.fuse, state->formats = options.formats;
  PlanOptions of_plan = {.batch = options.batch, .formats = options.formats, .fuse = options.fuse};
  if (state->on_gpu) AddTimes(state->GetMachine(), &of_plan);
  absl::StatusOr<Plan> plan = MakePlan(graph, of_plan);
  if (!plan.ok()) return plan.status();
  if (options.most_arena_bytes > 0 && plan->arena_bytes > options.most_arena_bytes) {
    return TooLarge(graph, *plan, options, of_plan);
  }
  state->plan = *std::move(plan);
  if (absl::Status s = state->AddSteps(options); !s.ok()) {
    return state->note.empty()
               ? s
               : absl::Status(s.code(), absl::StrCat(s.message(), "; ", state->note));
  }
  return Network(std::move(state));
}

absl::StatusOr<Network> Network::Create(const Graph& graph, const NetworkOptions& options) {
  if (absl::Status s = CheckGraph(graph); !s.ok()) return s;
  return Make(graph, nullptr, options);
}

absl::StatusOr<Network> Network::Load(const Model& model, const NetworkOptions& options) {
  return Make(model.graph, &model, options);  // ReadModel has checked the graph
}

absl::StatusOr<Network> Network::Load(std::string_view file, const NetworkOptions& options) {
  const absl::StatusOr<Model> model = ReadModel(file);
  return model.ok() ? Load(*model, options) : model.status();
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
                      .formats = state.formats,
                      .gpu = state.gpu,
                      .tiles = network.tiles()},
                     code});
  }
  return WriteEngine(parts);
}

absl::StatusOr<Network> Network::WithTiles(Tiles tiles) const {
  const Machine machine = state_->GetMachine();
  auto state = std::make_shared<State>(*state_);
  for (std::size_t i = 0; i < state->steps.size(); ++i) {
    const Step& step = plan().steps[i];
    auto* convolution = std::get_if<Convolution>(&state->steps[i]);
    if (convolution == nullptr) continue;
    const auto given = tiles.extract(step.name);
    if (given.empty() || given.mapped() == convolution->tile) continue;
    absl::StatusOr<std::string> tile = ChooseTile(plan(), step, machine, &given.mapped());
    if (!tile.ok()) return tile.status();
    const absl::StatusOr<rtc::Operator> op = state->operators->Get(PolicyOf(plan(), step, *tile));
    if (!op.ok()) return OfNode(op.status(), step.name);
    absl::StatusOr<Convolution> other =
        ConvolutionOf(step, *op, convolution->constants, *std::move(tile));
    if (!other.ok()) return other.status();
    *convolution = *std::move(other);
  }
  if (!tiles.empty()) return state_->NoConvolution(tiles);
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
    const auto* convolution = std::get_if<Convolution>(&state_->steps[i]);
    prepared[i] = convolution != nullptr ? convolution->op.Prepare(convolution->plan)
                                         : std::get<TensorOperator>(state_->steps[i]).Prepare();
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
    const auto* convolution = std::get_if<Convolution>(&step);
    kernels.push_back(convolution != nullptr
                          ? convolution->tile
                          : NameOf(std::get<TensorOperator>(step).problem().kind));
  }
  return kernels;
}

}  // namespace weft::network
