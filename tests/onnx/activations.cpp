// Runs the cases of tests/onnx/activations.py: a convolution and an activation of real values.
#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "tests/conv/policy/policies.hpp"
#include "tests/onnx/activation_forms.hpp"
#include "tests/onnx/nodes.hpp"
#include "tests/onnx/run_case.hpp"

namespace weft::onnx_test {
namespace {

// A case as the file has it: this, then x and w (int8), w_scale (float), b (int32) and, of forms that add one,
// the residual (int8), all planar.
struct Header {
  std::int32_t form, activation;
  std::int32_t n, c, h, w, k, r, s, pad, stride;
  std::int32_t x_zero_point, between_zero_point, y_zero_point;
  float x_scale, between_scale, y_scale;
};

struct Operands {
  std::vector<std::int8_t> x, w, residual;
  std::vector<float> w_scale;
  std::vector<std::int32_t> b;
};

// Form: one of activation_forms.hpp.
template <template <class> class Form>
absl::StatusOr<std::vector<std::int8_t>> Run(const Header& h, const conv::Problem& problem,
                                             const Operands& o) {
  using F = AnyActivation;
  using Epilogue = Form<F>;
  using P = conv::TestPolicy<NCxHWx<4>, Epilogue>;
  using Op = conv::Convolution<P>;
  const auto op = Op::Create(problem);
  if (!op.ok()) return op.status();
  const auto filter = PackNodeFilter<P>(problem, o.w);
  if (!filter.ok()) return filter.status();
  const auto correction = conv::MakeSourceCorrection(problem, *filter, h.x_zero_point);
  if (!correction.ok()) return correction.status();
  const auto blocked = ConvertTensor<NCHW, NCxHWx<4>>(problem.src(), o.x);
  if (!blocked.ok()) return blocked.status();
  const OperatorMemory<std::int8_t> src(*blocked);
  std::vector<std::int8_t> dst(op->dst_size());
  typename Op::Arguments args;
  args.src = src.get(), args.filter = filter->view(), args.dst = dst.data();
  args.source_correction = correction->view();
  args.bias = o.b.data();
  constexpr bool kQuantised = std::is_same_v<Epilogue, QLinearConvThen<F>>;
  const std::vector<float> alpha = kQuantised ? ChannelAlpha(h.x_scale, o.w_scale, h.between_scale)
                                              : RealAlpha(h.x_scale, o.w_scale);
  FillScales<F>(alpha, {h.between_scale, h.between_zero_point}, h.y_scale, h.y_zero_point, &args);
  std::vector<std::int8_t> residual;
  if constexpr (kQuantised) {
    args.epilogue.template Get<OnSteps<F>>().activation.which = h.activation;
  } else {
    args.epilogue.template Get<F>().which = h.activation;
  }
  if constexpr (Epilogue::kHasResidual) {
    residual = *ConvertTensor<NCHW, NCxHWx<4>>(problem.dst(), o.residual);
    args.residual = residual.data();
  }
  if (absl::Status s = op->RunOnCpu(args); !s.ok()) return s;
  return ConvertTensor<NCxHWx<4>, NCHW>(problem.dst(), dst);
}

}  // namespace

std::string RunActivations(std::istream& in, std::ostream& out) {
  Header h;
  while (in.read(reinterpret_cast<char*>(&h), sizeof(h))) {
    conv::Problem p = {.n = h.n, .h = h.h, .w = h.w, .c = h.c, .k = h.k, .r = h.r, .s = h.s};
    p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = h.pad;
    p.stride_h = p.stride_w = h.stride;
    Operands o;
    ReadInto(in, NCHW::Size(p.src()), &o.x);
    ReadInto(in, KCRS::Size(p.filter()), &o.w);
    ReadInto(in, p.k, &o.w_scale);
    ReadInto(in, p.k, &o.b);
    if (h.form >= 2) ReadInto(in, NCHW::Size(p.dst()), &o.residual);
    if (!in) return "the file of cases ends early";
    const auto y = h.form == 0   ? Run<ConvThen>(h, p, o)
                   : h.form == 1 ? Run<QLinearConvThen>(h, p, o)
                   : h.form == 2 ? Run<ConvAddThen>(h, p, o)
                                 : Run<ConvThenAdd>(h, p, o);
    if (!y.ok()) return y.status().ToString();
    out.write(reinterpret_cast<const char*>(y->data()), static_cast<std::int64_t>(y->size()));
  }
  return "";
}

}  // namespace weft::onnx_test
