// Our operators as peers of themselves: each layout a peer, each tile one of its variants, so that
// one program checks and times them and other libraries in the same way. Only with WEFT_HAVE_CUDA.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/peers/peer.hpp"
#include "weft/conv/tile_model.hpp"

namespace weft::perf {

// nc32, nhwc: what --layout takes.
const std::vector<std::string>& OurLayouts();

// InvalidArgument names the layouts there are.
absl::Status CheckLayout(const std::string& name);

class OurPeer : public Peer {
 public:
  using Peer::Peer;
  // Of each variant.
  const std::vector<conv::TileFacts>& facts() const { return facts_; }

 protected:
  std::vector<conv::TileFacts> facts_;
};

// A name that CheckLayout takes. The variants of a layout are the same for every problem, in the
// same order, before Prepare too; Build says Unimplemented or InvalidArgument where one refuses.
std::unique_ptr<OurPeer> MakeOurs(const std::string& layout);

}  // namespace weft::perf
