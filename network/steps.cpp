// The steps of a network: which kernel each has, with which tile, and what it reads besides tensors.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/names.hpp"
#include "weft/network/in_parallel.hpp"
#include "weft/network/network_state.hpp"
#include "weft/rtc/gpu/kernels.hpp"

namespace weft::network {
namespace {

absl::Status SetNumbers(const ConvolutionConstants& constants, rtc::Values* values) {
  for (const auto& [name, number] : constants.numbers) {
    if (absl::Status s = values->Set(name, static_cast<double>(number)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// A step with an operator that was compiled for it.
absl::StatusOr<StepKernel> KernelOf(const ConvolutionStep& what, const rtc::Operator& op,
                                    const ConvolutionConstants& constants, std::string tile) {
  absl::StatusOr<conv::ConvPlan> plan = op.Plan(what.problem);
  if (!plan.ok()) return plan.status();
  Convolution made = {op, *std::move(plan), constants, op.values(), std::move(tile)};
  if (absl::Status s = SetNumbers(constants, &made.values); !s.ok()) return s;
  return made;
}

absl::StatusOr<StepKernel> KernelOf(const BottleneckStep& what, const rtc::Bottleneck& op,
                                    const BlockConstants& constants, std::string tile) {
  absl::StatusOr<conv::BottleneckPlan> plan = op.Plan(what.problem);
  if (!plan.ok()) return plan.status();
  Block made = {op, *std::move(plan), constants, op.values(rtc::BottleneckPart::kThird),
                std::move(tile)};
  if (absl::Status s = SetNumbers(constants.third, &made.values); !s.ok()) return s;
  return made;
}

bool HasTile(const Step& step) {
  return !std::holds_alternative<TensorProblem>(step.what);
}

}  // namespace

Machine Network::State::GetMachine() const {
  if (on_gpu) return conv::GpuFactsOf(gpu);
  return conv::CpuFacts{std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
}

absl::Status Network::State::NoConvolution(const Tiles& tiles) const {
  const auto one = std::find_if(plan.steps.begin(), plan.steps.end(), HasTile);
  return absl::InvalidArgumentError(
      absl::StrCat("network: tiles name \"", tiles.begin()->first,
                   "\", which is no convolution of the plan of ", plan.batch, " images",
                   one == plan.steps.end() ? "" : absl::StrCat("; one is \"", one->name, "\"")));
}

absl::StatusOr<StepKernel> Network::State::MakeStep(const Step& step, const std::string& tile,
                                                    const StepKernel* like) {
  const ConvolutionPolicy policy = PolicyOf(plan, step, tile);
  if (const auto* what = std::get_if<BottleneckStep>(&step.what)) {
    absl::StatusOr<BlockConstants> made = like != nullptr
                                              ? std::get<Block>(*like).constants
                                              : AppendConstants(graph, *what, &constants->bytes);
    if (!made.ok()) return made.status();
    const absl::StatusOr<rtc::Bottleneck> op = operators->bottlenecks.Get(policy);
    return op.ok() ? KernelOf(*what, *op, *made, tile) : op.status();
  }
  absl::StatusOr<ConvolutionConstants> made =
      like != nullptr ? std::get<Convolution>(*like).constants
                      : AppendConstants(graph, plan, step, &constants->bytes);
  if (!made.ok()) return made.status();
  const absl::StatusOr<rtc::Operator> op = operators->convolutions.Get(policy);
  return op.ok() ? KernelOf(std::get<ConvolutionStep>(step.what), *op, *made, tile) : op.status();
}

absl::Status Network::State::AddSteps(const NetworkOptions& options) {
  const Machine machine = GetMachine();
  const auto archive = file == nullptr ? nullptr : std::make_shared<rtc::Archive>(file);
  operators = std::make_shared<Operators>(
      rtc::Options{.compiler = options.compiler,
                   .back_end = on_gpu ? rtc::BackEnd::kGpu : rtc::BackEnd::kCpu,
                   .compute_capability = gpu.compute_capability,
                   .cache_folder = options.cache_folder,
                   .cache_bytes = options.cache_bytes,
                   .archive = archive});
  Tiles wanted = options.tiles;
  std::map<std::string, std::size_t> kernels;  // a step with each, by texts
  std::vector<std::string> tiles(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (!HasTile(step)) continue;
    const auto given = wanted.extract(step.name);
    absl::StatusOr<std::string> tile =
        ChooseTile(plan, step, machine, given.empty() ? nullptr : &given.mapped());
    if (!tile.ok()) return tile.status();
    tiles[i] = *std::move(tile);
    kernels.try_emplace(PolicyOf(plan, step, tiles[i]).text, i);
  }
  if (!wanted.empty()) return NoConvolution(wanted);
  std::vector<std::size_t> jobs;
  for (const auto& [text, step] : kernels) jobs.push_back(step);
  std::vector<absl::Status> compiled(jobs.size());
  InParallel(jobs.size(), [&](std::size_t i) {
    const Step& step = plan.steps[jobs[i]];
    const ConvolutionPolicy policy = PolicyOf(plan, step, tiles[jobs[i]]);
    const absl::Status s = std::holds_alternative<BottleneckStep>(step.what)
                               ? operators->bottlenecks.Get(policy).status()
                               : operators->convolutions.Get(policy).status();
    if (!s.ok()) compiled[i] = OfNode(s, step.name);
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
    absl::StatusOr<StepKernel> made = MakeStep(step, tiles[i], nullptr);
    if (!made.ok()) return OfNode(made.status(), step.name);
    steps.push_back(*std::move(made));
  }
  return absl::OkStatus();
}

absl::StatusOr<const char*> Constants::OnGpu() {
  const absl::StatusOr<const rtc::DeviceBytes*> copy =
      copies.Get(0, [this](const arch::DeviceLimits&) { return rtc::DeviceBytes::CopyOf(bytes); });
  if (!copy.ok()) return copy.status();
  return (*copy)->data();
}

absl::Status Network::State::CompileInto(const std::shared_ptr<rtc::Archive>& archive) const {
  // What is to be compiled at once, and for whom.
  struct Job {
    int kernel = -1;                   // of a tensor operator
    std::vector<std::size_t> steps{};  // with the same policy
  };
  std::map<std::string, Job> policies;
  std::map<int, Job> tensors;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (const std::string* const tile = TileOf(steps[i])) {
      policies[PolicyOf(plan, plan.steps[i], *tile).text].steps.push_back(i);
    } else if (on_gpu) {
      for (const int kernel : std::get<TensorOperator>(steps[i]).kernels()) {
        tensors.try_emplace(kernel, Job{.kernel = kernel, .steps = {i}});
      }
    }
  }
  std::vector<Job> jobs;
  for (const auto& [text, job] : policies) jobs.push_back(job);
  for (const auto& [kernel, job] : tensors) jobs.push_back(job);
  const auto compile = [&](const Job& job) {
    if (job.kernel >= 0) {
      return TensorKernelsOnGpu().Compile(job.kernel, gpu.compute_capability, archive.get());
    }
    const std::size_t first = job.steps[0];
    const ConvolutionPolicy policy = PolicyOf(plan, plan.steps[first], *TileOf(steps[first]));
    if (std::holds_alternative<Block>(steps[first])) {
      const auto op = operators->bottlenecks.CompileInto(policy, archive);
      return op.ok() && on_gpu ? op->CompileFor(gpu.compute_capability) : op.status();
    }
    const auto op = operators->convolutions.CompileInto(policy, archive);
    if (!op.ok() || !on_gpu) return op.status();
    for (const std::size_t step : job.steps) {
      const conv::ConvPlan& of = std::get<Convolution>(steps[step]).plan;
      if (absl::Status s = op->CompileFor(of, gpu.compute_capability); !s.ok()) return s;
    }
    return absl::OkStatus();
  };
  std::vector<absl::Status> compiled(jobs.size());
  InParallel(jobs.size(), [&](std::size_t i) { compiled[i] = compile(jobs[i]); });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!compiled[i].ok()) return OfNode(compiled[i], plan.steps[jobs[i].steps[0]].name);
  }
  return absl::OkStatus();
}

absl::StatusOr<Network> Network::WithTiles(Tiles tiles) const {
  const Machine machine = state_->GetMachine();
  auto state = std::make_shared<State>(*state_);
  for (std::size_t i = 0; i < state->steps.size(); ++i) {
    const Step& step = plan().steps[i];
    if (!HasTile(step)) continue;
    const auto given = tiles.extract(step.name);
    if (given.empty() || given.mapped() == *TileOf(state->steps[i])) continue;
    const absl::StatusOr<std::string> tile = ChooseTile(plan(), step, machine, &given.mapped());
    if (!tile.ok()) return tile.status();
    absl::StatusOr<StepKernel> other = state->MakeStep(step, *tile, &state_->steps[i]);
    if (!other.ok()) return OfNode(other.status(), step.name);
    state->steps[i] = *std::move(other);
  }
  if (!tiles.empty()) return state_->NoConvolution(tiles);
  return Network(std::move(state));
}

}  // namespace weft::network
