#include "weft/network/plan/choose_formats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/names.hpp"

namespace weft::network {
namespace {

using Formats = std::vector<Format>;

// What a kernel that is bound by memory takes besides its bytes.
constexpr double kLaunchMicroseconds = 2.0;
// Formats are left as they are for less than this part of the time, since the model errs by more.
constexpr double kWorthwhile = 0.02;

Format UsualFormat(const Tensor& t) {
  if (t.element == Element::kFloat) return Format::kNchw;
  return t.c <= 4 ? Format::kNc4 : Format::kNc32;
}

// The formats that a tensor may have, the one that it has without a search first.
Formats ChoicesOf(const Tensor& t, bool in_blocks, const Formats& allowed) {
  const Format usual = UsualFormat(t);
  if (t.element == Element::kFloat || allowed.empty()) return {usual};
  Formats choices;
  for (const Format format : allowed) {
    if (format == Format::kNhwc && (in_blocks || t.c % 16 != 0)) continue;
    if (std::find(choices.begin(), choices.end(), format) == choices.end())
      choices.push_back(format);
  }
  if (choices.empty()) return {usual};
  const auto first = std::find(choices.begin(), choices.end(), usual);
  if (first != choices.end()) std::iter_swap(choices.begin(), first);
  if (in_blocks) choices.resize(1);
  return choices;
}

// A chain is a path of tensors, each of which a kernel makes of the one before. The best formats of one chain, while those of all
// other tensors stay, are found by dynamic programming along it; chains take turns until none gets better.
class Search {
 public:
  Search(const Graph& graph, const std::vector<FormatKernel>& kernels, std::vector<Formats> choices,
         const PlanOptions& options)
      : graph_(graph), kernels_(kernels), choices_(std::move(choices)), options_(options) {
    FindChains();
  }

  Formats Best() {
    Formats usual;
    for (const Formats& choices : choices_) usual.push_back(choices.front());
    const double before = Total(usual);
    Formats best = usual;
    double least = before;
    // A search from one format everywhere finds what no single chain gains alone.
    std::vector<Formats> starts = {usual};
    for (const Format format : std::set<Format>(options_.formats.begin(), options_.formats.end())) {
      starts.push_back(usual);
      for (std::size_t i = 0; i < choices_.size(); ++i) {
        if (std::find(choices_[i].begin(), choices_[i].end(), format) != choices_[i].end()) {
          starts.back()[i] = format;
        }
      }
    }
    for (Formats& formats : starts) {
      const double time = Improve(&formats);
      if (time < least) least = time, best = formats;
    }
    // Also where the usual formats cannot run.
    return least < before * (1.0 - kWorthwhile) ? best : usual;
  }

  double Total(const Formats& formats) {
    double total = 0.0;
    for (std::size_t i = 0; i < kernels_.size(); ++i) total += TimeOf(i, formats);
    return total;
  }

 private:
  double Bytes(int index, Format format) const {
    const Tensor& t = graph_.tensors[static_cast<std::size_t>(index)];
    return static_cast<double>(t.Type(options_.batch, format).bytes());
  }
  double ConvertTime(int index, Format from, Format to) const {
    if (from == to) return 0.0;
    return TensorTime(Bytes(index, from) + Bytes(index, to), options_);
  }

  // Microseconds of a kernel. A convolution reads another tensor in the format that it writes.
  double TimeOf(std::size_t index, const Formats& formats) {
    const FormatKernel& k = kernels_[index];
    const auto format = [&](int tensor) {
      return tensor < 0 ? Format::kNchw : formats[static_cast<std::size_t>(tensor)];
    };
    const Format src = format(k.src), other = format(k.other), dst = format(k.dst);
    const auto [at, is_new] = times_.try_emplace({index, src, other, dst}, 0.0);
    if (!is_new) return at->second;
    if (!k.is_convolution) {
      double bytes = Bytes(k.src, src) + Bytes(k.dst, dst);
      if (k.other >= 0) bytes += Bytes(k.other, other);
      return at->second = TensorTime(bytes, options_);
    }
    TileQuestion question = k.question;
    question.src = src, question.dst = dst;
    at->second = options_.time(question);
    if (k.other >= 0) at->second += ConvertTime(k.other, other, dst);
    return at->second;
  }

  void FindChains() {
    std::vector<bool> used(choices_.size(), false);
    for (const FormatKernel& k : kernels_) {
      std::vector<int> chain;
      for (int next = k.src; next >= 0 && !used[static_cast<std::size_t>(next)];) {
        chain.push_back(next);
        used[static_cast<std::size_t>(next)] = true;
        const auto reader =
            std::find_if(kernels_.begin(), kernels_.end(), [&](const FormatKernel& other) {
              return other.src == next && !used[static_cast<std::size_t>(other.dst)];
            });
        next = reader == kernels_.end() ? -1 : reader->dst;
      }
      if (!chain.empty()) chains_.push_back(std::move(chain));
    }
  }

  // The kernels that each tensor of a chain adds to those of the tensors before it.
  std::vector<std::vector<std::size_t>> KernelsOf(const std::vector<int>& chain) const {
    std::vector<std::vector<std::size_t>> stages(chain.size());
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      const int tensors[] = {kernels_[k].src, kernels_[k].other, kernels_[k].dst};
      for (std::size_t i = chain.size(); i-- > 0;) {
        if (std::find(std::begin(tensors), std::end(tensors), chain[i]) == std::end(tensors))
          continue;
        stages[i].push_back(k);
        break;
      }
    }
    return stages;
  }

  // The formats of a chain with the least time, where a kernel that reads from further back in the chain sees what that has now.
  Formats Along(const std::vector<int>& chain, const Formats& now) {
    struct Reached {
      double time = 0.0;
      std::size_t before = 0;  // which format of the tensor before
    };
    const auto stages = KernelsOf(chain);
    std::vector<std::vector<Reached>> reached(chain.size());
    Formats formats = now;
    const auto choices = [&](std::size_t i) -> const Formats& {
      return choices_[static_cast<std::size_t>(chain[i])];
    };
    for (std::size_t i = 0; i < chain.size(); ++i) {
      for (const Format to : choices(i)) {
        Reached best{.time = std::numeric_limits<double>::infinity()};
        for (std::size_t j = 0; j < (i == 0 ? 1 : choices(i - 1).size()); ++j) {
          double time = 0.0;
          if (i > 0) {
            formats[static_cast<std::size_t>(chain[i - 1])] = choices(i - 1)[j];
            time = reached[i - 1][j].time;
          }
          formats[static_cast<std::size_t>(chain[i])] = to;
          for (const std::size_t k : stages[i]) time += TimeOf(k, formats);
          if (time < best.time) best = {time, j};
        }
        reached[i].push_back(best);
      }
      for (std::size_t j = i > 0 ? i - 1 : 0; j <= i; ++j) {
        formats[static_cast<std::size_t>(chain[j])] = now[static_cast<std::size_t>(chain[j])];
      }
    }
    std::size_t at = 0;
    for (std::size_t j = 0; j < reached.back().size(); ++j) {
      if (reached.back()[j].time < reached.back()[at].time) at = j;
    }
    for (std::size_t i = chain.size(); i-- > 0;) {
      formats[static_cast<std::size_t>(chain[i])] = choices(i)[at];
      at = reached[i][at].before;
    }
    return formats;
  }

  // Lets chains take turns. The time of all kernels in the end.
  double Improve(Formats* formats) {
    double time = Total(*formats);
    for (bool better = true; better;) {
      better = false;
      for (const std::vector<int>& chain : chains_) {
        Formats other = Along(chain, *formats);
        const double of_other = Total(other);
        if (!(of_other < time)) continue;
        *formats = std::move(other);
        time = of_other;
        better = true;
      }
    }
    return time;
  }

  const Graph& graph_;
  const std::vector<FormatKernel>& kernels_;
  const std::vector<Formats> choices_;  // by tensors
  const PlanOptions& options_;
  std::vector<std::vector<int>> chains_;
  std::map<std::tuple<std::size_t, Format, Format, Format>, double> times_;
};

}  // namespace

double PredictedTime(const Graph& graph, const std::vector<FormatKernel>& kernels,
                     const std::vector<Format>& formats, const PlanOptions& options) {
  return Search(graph, kernels, std::vector<Formats>(formats.size()), options).Total(formats);
}

double TensorTime(double bytes, const PlanOptions& options) {
  return kLaunchMicroseconds + bytes / options.bytes_per_us;
}

void AddTimes(const Machine& machine, PlanOptions* options) {
  options->time = [machine](const TileQuestion& question) {
    const absl::StatusOr<std::vector<TileCandidate>> tiles = CandidateTiles(question, machine);
    return tiles.ok() ? tiles->front().microseconds : std::numeric_limits<double>::infinity();
  };
  if (const auto* gpu = std::get_if<conv::GpuFacts>(&machine); gpu != nullptr) {
    options->bytes_per_us = gpu->bytes_per_us;
  }
}

absl::StatusOr<std::vector<Format>> ChooseFormats(const Graph& graph,
                                                  const std::vector<FormatKernel>& kernels,
                                                  const std::vector<bool>& in_blocks,
                                                  const PlanOptions& options) {
  for (const Format format : options.formats) {
    if (format != Format::kNchw) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "network: formats has ", NameOf(format), "; give some of ", NameOf(Format::kNc4), ", ",
        NameOf(Format::kNc32), " and ", NameOf(Format::kNhwc), ", which kernels compute in"));
  }
  std::vector<Formats> choices;
  Formats first;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    choices.push_back(ChoicesOf(graph.tensors[i], in_blocks[i], options.formats));
    first.push_back(choices.back().front());
  }
  if (options.formats.empty() || !options.time) return first;
  return Search(graph, kernels, std::move(choices), options).Best();
}

}  // namespace weft::network
