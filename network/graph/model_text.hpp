// The text of a model's file, in JSON: all of it but constants and compiled code.
#pragma once

#include <string>
#include <string_view>

#include "weft/layouts/base/abseil.hpp"
#include "weft/network/graph/model_file.hpp"

namespace weft::network {

std::string TextOf(const Model& model);

// Puts the graph, without its constants, and of an engine the plans into *model. InvalidArgument if the text is not that of a model;
// the graph is not checked.
absl::Status ReadText(std::string_view text, bool is_engine, Model* model);

}  // namespace weft::network
