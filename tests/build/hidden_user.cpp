// What a shared library of a user's may hold of Weft: an operator of every kind, each of whose calls is compiled. The test
// `hidden` looks at what it exports; nothing of it runs.
#include <cstdint>
#include <vector>

#include "weft/conv/condconv.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/deconvolution.hpp"
#include "weft/conv/depthwise_pointwise.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/pooled_average.hpp"
#include "weft/conv/ready_made_operators.hpp"
#include "weft/gemm/dispatch.hpp"
#include "weft/gemm/gemm.hpp"
#include "weft/gemm/gemm_list.hpp"
#include "weft/gemm/ready_made.hpp"

namespace user {

template <class Op, class... Problem>
void Use(const Problem&... problem) {
  const auto op = Op::Create(problem...);
  if (!op.ok()) return;
  const typename Op::Arguments args{};
  if (op->CheckArguments(args).ok() && op->Run(args, nullptr).ok())
    op->RunOnCpu(args).IgnoreError();
  op->Describe();
}

// A function that takes a constant's address, as std::max or a test's EXPECT_EQ do.
template <class T>
const T* Look(const T& constant) {
  return &constant;
}

template <class Op>
void UseList(const std::vector<weft::gemm::GemmProblem>& problems) {
  const auto op = Op::Create(problems);
  if (!op.ok()) return;
  const std::vector<typename Op::Arguments> args(problems.size());
  if (op->Table(args).ok()) op->RunOnCpu(args).IgnoreError();
  op->Describe();
}

template <class ElementT, class EpilogueT, class TileT>
using Product = weft::gemm::TiledGemm<ElementT, EpilogueT, TileT>;

void All(const weft::conv::Problem& problem, const weft::gemm::GemmProblem& product,
         const weft::conv::DeconvolutionProblem& transposed) {
  using namespace weft;  // NOLINT: a function of this file
  using epilogues::BiasRelu;
  Look(conv::S8Conv32<>::config), Look(conv::Mma128x64::config), Look(gemm::kMma128x128);
  Use<conv::Convolution<conv::S8Conv4<>>>(problem);
  Use<conv::Convolution<conv::S8Conv32<epilogues::BiasHSwish<>>>>(problem);
  Use<conv::Convolution<conv::S8Conv32<BiasRelu<>, NHWC, conv::Wgmma64x64Deep>>>(problem);
  Use<conv::Convolution<conv::S8ConvNhwc<BiasRelu<>, NHWC, conv::WgmmaGather64x64>>>(problem);
  Use<conv::Convolution<conv::S8Depthwise32<>>>(problem);
  Use<conv::Dispatch<conv::S8Conv4SmallFamily<>>>(problem);
  Use<conv::Deconvolution<conv::S8Deconv4<>>>(transposed);
  Use<conv::CondConv<conv::S8CondConv32<>>>(problem, std::int64_t{8});
  Use<conv::DepthwisePointwise<conv::S8DepthwisePointwise32<>>>(problem, std::int64_t{64});
  using Sums = epilogues::Chain<epilogues::ToAccumulator>;
  using namespace gemm::product_tiles;  // NOLINT
  Use<gemm::Gemm<Product<std::int8_t, BiasRelu<>, Mma128x128>>>(product);
  Use<gemm::Dispatch<gemm::DoubleGemmFamily<>>>(product);
  using Listed = gemm::Listed<Product<std::int8_t, Sums, Mma128x128>>;
  UseList<gemm::Gemm<Listed>>({product});
}

}  // namespace user
