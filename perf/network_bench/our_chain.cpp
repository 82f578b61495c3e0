#include "perf/network_bench/our_chain.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "perf/support/device_data.hpp"
#include "weft/network/profile.hpp"
#include "weft/network/report.hpp"

namespace weft::perf {
namespace {

constexpr int kPoison = 0xB5;

bool IsConvolution(const network::Step& step) {
  return !std::holds_alternative<network::TensorProblem>(step.what);
}

}  // namespace

absl::StatusOr<OurChain> OurChain::Create(const Chain& chain, const ChainTensors& tensors,
                                          const std::vector<network::Format>& formats,
                                          Stream stream) {
  WEFT_LET(network::Network network,
           network::Network::Create(
               chain.graph(),
               {.batch = tensors.batch(), .back_end = rtc::BackEnd::kGpu, .formats = formats}));
  OurChain made(std::move(network), tensors);
  const std::vector<network::Step>& steps = made.model_.plan().steps;
  made.begin_ =
      static_cast<int>(std::find_if(steps.begin(), steps.end(), IsConvolution) - steps.begin());
  made.end_ =
      static_cast<int>(steps.rend() - std::find_if(steps.rbegin(), steps.rend(), IsConvolution));
  WEFT_LET(made.arena_, DeviceBuffer::Create(made.model_.arena_bytes()));
  made.args_.arena = made.arena_.data();
  for (int i = 0; i < Chain::kQuantised; ++i) made.args_.inputs.push_back(tensors.input(i).data());
  for (std::size_t i = 0; i < chain.graph().outputs.size(); ++i) {
    WEFT_LET(DeviceBuffer output,
             DeviceBuffer::Create(made.model_.output_bytes(static_cast<int>(i))));
    made.args_.outputs.push_back(output.data());
    made.outputs_.push_back(std::move(output));
  }
  WEFT_TRY(made.model_.Prepare());
  WEFT_TRY(made.model_.Run(made.args_, stream));
  WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream), "the chain's first run"));
  return made;
}

absl::StatusOr<network::Tuned> OurChain::Tune(Stream stream, const network::TuneOptions& options) {
  network::Network::Arguments args = args_;
  args.begin = begin_, args.end = end_;
  WEFT_LET(network::Tuned found, network::Tune(model_, args, stream, options));
  WEFT_LET(tuned_, model_.WithTiles(found.tiles));
  WEFT_TRY(tuned_.Prepare());
  return found;
}

absl::Status OurChain::Enqueue(const network::Network& network, bool without_first,
                               Stream stream) const {
  network::Network::Arguments args = args_;
  args.begin = begin_ + (without_first ? 1 : 0), args.end = end_;
  return network.Run(args, stream);
}

absl::StatusOr<long long> OurChain::Mismatches(const network::Network& network,
                                               Stream stream) const {
  for (const DeviceBuffer& output : outputs_) WEFT_TRY(output.Fill(kPoison));
  network::Network::Arguments args = args_;
  args.begin = begin_;
  WEFT_TRY(network.Run(args, stream));
  long long mismatches = 0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const DeviceBuffer& wanted = (*tensors_)[network.graph().outputs[i]];
    WEFT_LET(const Differences found, Compare(outputs_[i].as<std::int8_t>(),
                                              wanted.as<std::int8_t>(), wanted.bytes(), stream));
    mismatches += found.count;
  }
  return mismatches;
}

absl::StatusOr<Json> OurChain::Steps(Stream stream) const {
  WEFT_LET(const network::Profile profile, network::MeasureOnGpu(tuned_, args_, stream));
  const std::vector<network::StepReport> steps = network::ReportOf(tuned_);
  const std::vector<std::string> models = model_.Kernels();
  Json made = Json::array();
  for (int i = begin_; i < end_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    made.push_back({{"name", steps[at].name},
                    {"kernel", steps[at].kernel},
                    {"model_kernel", models[at]},
                    {"us", Rounded(profile.step_us[at])}});
  }
  return made;
}

}  // namespace weft::perf
