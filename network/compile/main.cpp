// weft_network_compile: makes an engine of a model's file, for machines without a compiler. weft_add_network (cmake/WeftNetwork.cmake)
// runs it while a project is built.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "weft/network/engine/gpus.hpp"
#include "weft/network/network.hpp"

namespace {

constexpr char kUsage[] =
    "weft_network_compile MODEL.weft --output ENGINE.weft [--batch 1,64] [--gpu H200,90a] [--cpu]\n"
    "  --batch   numbers of images, 1 unless given\n"
    "  --gpu     GPUs by name or architecture; none of them need be here, but NVRTC\n"
    "  --cpu     for CPUs, by g++\n"
    "  --cache   the folder of compiled kernels (docs/rtc.md)\n";

struct Wanted {
  std::string model, output, cache;
  std::vector<std::int64_t> batches = {1};
  std::vector<weft::network::NetworkOptions> machines;
};

absl::Status Wrong(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(why, "\n", kUsage));
}

absl::StatusOr<Wanted> Read(const std::vector<std::string>& words) {
  Wanted wanted;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--cpu") {
      wanted.machines.push_back({.back_end = weft::rtc::BackEnd::kCpu});
      continue;
    }
    if (word.rfind("--", 0) != 0) {
      if (!wanted.model.empty())
        return Wrong(absl::StrCat("two models, ", wanted.model, " and ", word));
      wanted.model = word;
      continue;
    }
    if (i + 1 == words.size()) return Wrong(absl::StrCat(word, " has nothing behind it"));
    const std::string& value = words[++i];
    if (word == "--output") {
      wanted.output = value;
    } else if (word == "--cache") {
      wanted.cache = value;
    } else if (word == "--batch") {
      wanted.batches.clear();
      for (const absl::string_view number : absl::StrSplit(value, ',')) {
        std::int64_t batch = 0;
        if (!absl::SimpleAtoi(number, &batch) || batch < 1) {
          return Wrong(absl::StrCat(
              "--batch ", value, " is not one or more numbers above 0 with commas between them"));
        }
        wanted.batches.push_back(batch);
      }
    } else if (word == "--gpu") {
      for (const absl::string_view name : absl::StrSplit(value, ',')) {
        const auto gpu = weft::network::GpuNamed({name.data(), name.size()});
        if (!gpu.ok()) return gpu.status();
        wanted.machines.push_back({.back_end = weft::rtc::BackEnd::kGpu, .gpu = *gpu});
      }
    } else {
      return Wrong(absl::StrCat(word, " is no option"));
    }
  }
  if (wanted.model.empty()) return Wrong("no model is given");
  if (wanted.output.empty()) return Wrong("no --output is given");
  if (wanted.machines.empty()) return Wrong("no machine is given: --gpu, --cpu or both");
  return wanted;
}

absl::Status Run(const Wanted& wanted) {
  std::ifstream file(wanted.model, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // a folder has none
  const std::string bytes = text.str();
  if (!file || !text || bytes.empty())
    return absl::NotFoundError(absl::StrCat(wanted.model, " cannot be read"));
  const absl::StatusOr<weft::network::Model> model = weft::network::ReadModel(bytes);
  if (!model.ok()) return model.status();
  std::vector<weft::network::Network> networks;
  for (weft::network::NetworkOptions options : wanted.machines) {
    for (const std::int64_t batch : wanted.batches) {
      options.batch = batch;
      options.cache_folder = wanted.cache;
      absl::StatusOr<weft::network::Network> network =
          weft::network::Network::Load(*model, options);
      if (!network.ok()) return network.status();
      networks.push_back(*std::move(network));
    }
  }
  const absl::StatusOr<std::string> engine = weft::network::Network::Save(networks);
  if (!engine.ok()) return engine.status();
  if (!(std::ofstream(wanted.output, std::ios::binary) << *engine).flush()) {
    return absl::PermissionDeniedError(absl::StrCat(wanted.output, " cannot be written"));
  }
  return absl::OkStatus();
}

}  // namespace

int main(int count, char** words) {
  const absl::StatusOr<Wanted> wanted = Read({words + 1, words + count});
  const absl::Status status = wanted.ok() ? Run(*wanted) : wanted.status();
  if (status.ok()) return 0;
  std::cerr << "weft_network_compile: " << status.message() << "\n";
  return 1;
}
