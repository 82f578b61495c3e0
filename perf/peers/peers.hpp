// The makers of the peers; peer.hpp's MakePeer chooses.
#pragma once

#include <memory>

#include "perf/peers/peer.hpp"

namespace weft::perf::internal {

enum class LegacyFormat { kNhwc, kInt8x4, kInt8x32 };

std::unique_ptr<Peer> MakeCudnnGraph(const std::string& name, bool half);
std::unique_ptr<Peer> MakeCudnnLegacy(const std::string& name, LegacyFormat format);
std::unique_ptr<Peer> MakeCublasLt(const std::string& name);

}  // namespace weft::perf::internal
