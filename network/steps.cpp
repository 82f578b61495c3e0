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
#include "weft/network/network_state.hpp"
#include "weft/network/plan/in_parallel.hpp"
#include "weft/rtc/gpu/kernels.hpp"

namespace weft::network {
namespace {

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

}  // namespace

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

}  // namespace weft::network
