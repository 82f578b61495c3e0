#include "perf/weft_perf/network_report.hpp"

#include "perf/weft_perf/run.hpp"

namespace weft::perf {

std::string NetworkMethod() {
  return "53 convolutions with their scales, biases, ReLUs and residual additions, int8; the 3x3/2 "
         "max pooling after conv1 is left out on both sides (the next layers read an input of "
         "their own); every layer has an output buffer of its own on both sides; one CUDA graph an "
         "inference; ours, ours with the model's tiles and cuDNN interleaved; medians; weights and "
         "activations stay where consecutive inferences leave them (for N = 1 mostly in the L2). "
         "Ours: NCxHWx<4> image, the format of the row from the first layer's output on, tile of "
         "each layer "
         "chosen by measuring all; cuDNN: NHWC int8, graph API, plan of each layer chosen by "
         "measuring all, residual fused; conv1 also from a copy of the image in half precision "
         "made beforehand, if faster, with a half result that a second graph converts";
}

Json LayerRows(const Network& network, const std::vector<LayerFacts>& facts) {
  Json layers = Json::array();
  for (int i = 0; i < static_cast<int>(facts.size()); ++i) {
    const LayerFacts& f = facts[i];
    const NetworkLayer& layer = network.layers[i];
    const char* const after = layer.after == After::kRelu      ? "relu"
                              : layer.after == After::kNothing ? "nothing"
                                                               : "residual relu";
    Json json = {{"name", layer.name},
                 {"layer", LayerName(layer.problem)},
                 {"after", after},
                 {"kernel", f.ours.variant},
                 {"kernels_tried", f.ours.ran},
                 {"model_kernel", f.model_tile},
                 {"plan", f.cudnn.variant},
                 {"plans_tried", f.cudnn.ran},
                 {"mismatches", f.mismatches}};
    if (f.ours.short_us > 0) json["ours_us"] = Rounded(f.ours.short_us);
    if (f.model_us > 0) json["model_us"] = Rounded(f.model_us);
    if (f.cudnn.short_us > 0) json["cudnn_us"] = Rounded(f.cudnn.short_us);
    if (f.plan_differences >= 0) {
      json["cudnn_differences"] = f.plan_differences;
      json["cudnn_largest_difference"] = f.plan_largest;
    }
    json["zeros"] = Rounded(f.values.zeros, 4);
    json["saturated"] = Rounded(f.values.saturated, 5);
    layers.push_back(json);
  }
  return layers;
}

}  // namespace weft::perf
