// Our operators as peers of themselves: each layout a peer, each tile one of its variants, so that
// one program checks and times them and other libraries in the same way. Only with WEFT_HAVE_CUDA.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/peers/peer.hpp"
#include "perf/support/epilogues.hpp"
#include "perf/support/layer_rows.hpp"
#include "weft/conv/tile_model.hpp"

namespace weft::perf {

// What --layout takes: nc4 and nc4_nc32 (source NCxHWx<4>, destination NCxHWx<32>), which any GPU
// runs; nc32 and nhwc, which need tensor cores.
const std::vector<std::string>& OurLayouts();

// InvalidArgument names the layouts there are.
absl::Status CheckLayout(const std::string& name);

class OurPeer : public Peer {
 public:
  using Peer::Peer;
  // Of each variant.
  const std::vector<conv::TileFacts>& facts() const { return facts_; }
  const LayoutTiles& tiles() const { return tiles_; }

 protected:
  std::vector<conv::TileFacts> facts_;
  LayoutTiles tiles_;
};

// `layout` is a name that CheckLayout takes. The variants of a layout and epilogue are the same for
// every problem, in the same order, before Prepare too; Build says Unimplemented or InvalidArgument
// where one refuses.
std::unique_ptr<OurPeer> MakeOurs(const std::string& layout, Epilogue epilogue);

namespace internal {

// ours_*.cpp, of one file for each layout, so that they compile in parallel.
std::unique_ptr<OurPeer> MakeOursNc4(const std::string& name, Epilogue epilogue);
std::unique_ptr<OurPeer> MakeOursNc4To32(const std::string& name, Epilogue epilogue);
std::unique_ptr<OurPeer> MakeOursNc32(const std::string& name, Epilogue epilogue);
std::unique_ptr<OurPeer> MakeOursNhwc(const std::string& name, Epilogue epilogue);

}  // namespace internal

}  // namespace weft::perf
