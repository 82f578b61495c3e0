// The file that docs/networks.md describes: a header, the text (model_text.hpp), constants and compiled code.
#include "weft/network/graph/model_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/model_text.hpp"
#include "weft/rtc/cache/digest.hpp"

namespace weft::network {
namespace {

constexpr std::string_view kMagic = "WEFTNET\n";
constexpr std::uint32_t kVersion = 1, kEngineVersion = 2;  // of a graph alone, and of an engine
constexpr std::size_t kHeader = 128, kTextSize = 16, kConstantsSize = 24, kDigest = 32,
                      kDigestBytes = 64, kCodeSize = 96, kFilling = 104;

template <class Number>
Number NumberAt(std::string_view bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

void Put(std::string* file, std::size_t at, const void* bytes, std::size_t count) {
  std::memcpy(file->data() + at, bytes, count);
}

absl::Status Damaged(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("network: ", why));
}

}  // namespace

std::string WriteGraph(const Graph& graph) {
  return WriteModel({.graph = graph});
}

absl::StatusOr<Graph> ReadGraph(std::string_view bytes) {
  absl::StatusOr<Model> model = ReadModel(bytes);
  if (!model.ok()) return model.status();
  return std::move(model->graph);
}

std::string WriteModel(const Model& model) {
  const Graph& graph = model.graph;
  std::string text = TextOf(model);
  text.resize((text.size() + 63) / 64 * 64, ' ');
  const std::string code = model.code == nullptr ? "" : model.code->Bytes();
  std::string file(kHeader, '\0');
  const std::uint64_t text_size = text.size(),
                      constants_size = graph.constants == nullptr ? 0 : graph.constants->size(),
                      code_size = code.size();
  const std::uint32_t version = model.plans.empty() ? kVersion : kEngineVersion;
  Put(&file, 0, kMagic.data(), kMagic.size());
  Put(&file, kMagic.size(), &version, sizeof(version));
  Put(&file, kTextSize, &text_size, sizeof(text_size));
  Put(&file, kConstantsSize, &constants_size, sizeof(constants_size));
  Put(&file, kCodeSize, &code_size, sizeof(code_size));
  file.reserve(file.size() + text_size + constants_size + code_size);
  file += text;
  if (graph.constants != nullptr) file += *graph.constants;
  file += code;
  const std::string digest = rtc::Sha256(std::string_view(file).substr(kHeader));
  Put(&file, kDigest, digest.data(), kDigestBytes);
  return file;
}

absl::StatusOr<Model> ReadModel(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return Damaged(
        "these bytes are no file of a model, which begins with WEFTNET; make one by "
        "weft_run model.onnx --save model.weft");
  }
  if (bytes.size() < kHeader)
    return Damaged(absl::StrCat("the file ends after ", bytes.size(), " bytes, within its header"));
  const auto version = NumberAt<std::uint32_t>(bytes, kMagic.size());
  if (version != kVersion && version != kEngineVersion) {
    return Damaged(absl::StrCat("the file has version ", version, "; this library reads versions ",
                                kVersion, " and ", kEngineVersion));
  }
  const auto text_size = NumberAt<std::uint64_t>(bytes, kTextSize);
  const auto constants_size = NumberAt<std::uint64_t>(bytes, kConstantsSize);
  const auto code_size = NumberAt<std::uint64_t>(bytes, kCodeSize);
  const std::uint64_t rest = bytes.size() - kHeader;
  if (text_size > rest || constants_size > rest - text_size ||
      code_size != rest - text_size - constants_size || text_size % 64 != 0) {
    return Damaged(absl::StrCat("the file has ", rest, " bytes behind its header, which says ",
                                text_size, " of text, ", constants_size, " of constants and ",
                                code_size, " of compiled code; it is cut off or damaged"));
  }
  const auto is_zero = [](char c) { return c == 0; };
  const std::string_view filling[] = {bytes.substr(12, 4),
                                      bytes.substr(kFilling, kHeader - kFilling)};
  for (const std::string_view zeros : filling) {
    if (!std::all_of(zeros.begin(), zeros.end(), is_zero))
      return Damaged("the file's header is damaged");
  }
  if (version == kVersion && code_size > 0) return Damaged("the file's header is damaged");
  if (rtc::Sha256(bytes.substr(kHeader)) != bytes.substr(kDigest, kDigestBytes)) {
    return Damaged("the file's bytes are not those of its checksum; it is damaged");
  }
  Model model;
  const bool is_engine = version == kEngineVersion;
  if (absl::Status s = ReadText(bytes.substr(kHeader, text_size), is_engine, &model); !s.ok())
    return s;
  if (is_engine) {
    absl::StatusOr<std::shared_ptr<const rtc::Archive>> code =
        rtc::Archive::FromBytes(bytes.substr(kHeader + text_size + constants_size));
    if (!code.ok()) return code.status();
    model.code = *std::move(code);
  }
  model.graph.constants =
      std::make_shared<const std::string>(bytes.substr(kHeader + text_size, constants_size));
  if (absl::Status s = CheckGraph(model.graph); !s.ok()) return s;
  return model;
}

}  // namespace weft::network
