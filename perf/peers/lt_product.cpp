#include "perf/peers/lt_product.hpp"

#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/support/device_data.hpp"
#include "perf/support/statistics.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::perf {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

}  // namespace

LtProduct::Described::~Described() {
  if (operation != nullptr) api->MatmulDescDestroy(operation);
  for (cublasLtMatrixLayout_t layout : {a, b, d}) {
    if (layout != nullptr) api->MatrixLayoutDestroy(layout);
  }
}

absl::StatusOr<LtProduct> LtProduct::Create(const LtShape& shape, int most) {
  LtProduct p(shape);
  WEFT_LET(p.api_, LtApi::Get());
  const LtApi& api = *p.api_;
  Described& is = *p.is_;
  is.api = p.api_;
  WEFT_TRY(api.Check(api.MatmulDescCreate(&is.operation, shape.compute(), shape.scale()),
                     "cublasLtMatmulDescCreate"));
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const auto set = [&](cublasLtMatmulDescAttributes_t name, const auto& value) {
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = api.MatmulDescSetAttribute(is.operation, name, &value, sizeof(value));
    }
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, shape.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_TRANSB, shape.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (shape.fast_sums) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  // Not ..._BETA_ZERO, which no algorithm of cuBLASLt 13.1 takes on Hopper.
  if (shape.row_alpha != nullptr) {
    set(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST);
  }
  if (shape.bias != nullptr) {
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, shape.bias);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<std::int32_t>(CUDA_R_32F));
  }
  set(CUBLASLT_MATMUL_DESC_EPILOGUE,
      shape.bias != nullptr ? (shape.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
      : shape.relu          ? CUBLASLT_EPILOGUE_RELU
                            : CUBLASLT_EPILOGUE_DEFAULT);
  const auto layout = [&](cublasLtMatrixLayout_t* to, cudaDataType_t type, std::int64_t rows,
                          std::int64_t columns) {
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = api.MatrixLayoutCreate(to, type, static_cast<std::uint64_t>(rows),
                                      static_cast<std::uint64_t>(columns), rows);
    }
    const auto set_layout = [&](cublasLtMatrixLayoutAttribute_t name, const auto& value) {
      if (status == CUBLAS_STATUS_SUCCESS) {
        status = api.MatrixLayoutSetAttribute(*to, name, &value, sizeof(value));
      }
    };
    if (shape.batch == 1) return;
    set_layout(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(shape.batch));
    set_layout(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, rows * columns);
  };
  const auto operand = [&](cublasLtMatrixLayout_t* to, std::int64_t rows, std::int64_t columns,
                           bool transposed) {
    layout(to, shape.operand, transposed ? columns : rows, transposed ? rows : columns);
  };
  operand(&is.a, shape.rows, shape.depth, shape.transpose_a);
  operand(&is.b, shape.depth, shape.columns, shape.transpose_b);
  layout(&is.d, shape.result, shape.rows, shape.columns);
  cublasLtMatmulPreference_t preference = nullptr;
  if (status == CUBLAS_STATUS_SUCCESS) status = api.MatmulPreferenceCreate(&preference);
  std::vector<cublasLtMatmulHeuristicResult_t> offers(most);
  int found = 0;
  if (status == CUBLAS_STATUS_SUCCESS) {
    (void)api.MatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                           &kWorkspaceBytes, sizeof(kWorkspaceBytes));
    status = api.MatmulAlgoGetHeuristic(api.handle, is.operation, is.a, is.b, is.d, is.d,
                                        preference, most, offers.data(), &found);
  }
  if (preference != nullptr) api.MatmulPreferenceDestroy(preference);
  WEFT_TRY(api.Check(status, "cuBLASLt's heuristic"));
  for (int i = 0; i < found; ++i) {
    if (offers[i].state == CUBLAS_STATUS_SUCCESS) p.algorithms_.push_back(offers[i].algo);
  }
  WEFT_LET(p.workspace_, DeviceBuffer::Create(kWorkspaceBytes));
  return p;
}

std::string LtProduct::Name(int algorithm) const {
  return absl::StrCat("cublasLt ", api_->GetVersion(), " #", algorithm,
                      shape_.fast_sums ? ", fast sums" : "");
}

absl::Status LtProduct::Run(int algorithm, const void* a, const void* b, void* d,
                            cudaStream_t stream, float alpha, float beta, const void* c) const {
  // alpha and beta as values of the scale's type.
  const std::int32_t ints[] = {static_cast<std::int32_t>(alpha), static_cast<std::int32_t>(beta)};
  // Complex ones begin with the real part.
  const float floats[][2] = {{alpha, 0.0f}, {beta, 0.0f}};
  const double doubles[][2] = {{alpha, 0.0}, {beta, 0.0}};
  const Half halves[] = {Half::FromFloat(alpha), Half::FromFloat(beta)};
  const auto scale = [&](int i) -> const void* {
    if (shape_.scale() == CUDA_R_16F) return &halves[i];
    if (shape_.scale() == CUDA_R_32I) return &ints[i];
    if (shape_.scale() == CUDA_R_64F || shape_.scale() == CUDA_C_64F) return doubles[i];
    return floats[i];
  };
  const void* const by =
      shape_.row_alpha != nullptr ? static_cast<const void*>(shape_.row_alpha) : scale(0);
  return api_->Check(api_->Matmul(api_->handle, is_->operation, by, a, is_->a, b, is_->b, scale(1),
                                  c == nullptr ? d : c, is_->d, d, is_->d, &algorithms_[algorithm],
                                  workspace_.data(), kWorkspaceBytes, stream),
                     "cublasLtMatmul");
}

absl::StatusOr<double> MeasureTensorTops(cudaStream_t stream, std::string* source) {
  constexpr std::int64_t kSize = 8192;
  WEFT_LET(const LtProduct product,
           LtProduct::Create({.rows = kSize, .columns = kSize, .depth = kSize, .transpose_a = true},
                             16));
  DeviceBuffer operands[2];
  for (DeviceBuffer& operand : operands) {
    WEFT_LET(operand, DeviceBuffer::Create(kSize * kSize));
    WEFT_TRY(FillPlanar(operand.as<std::int8_t>(), kSize * kSize, &operand - operands, stream));
  }
  WEFT_LET(const DeviceBuffer result, DeviceBuffer::Create(kSize * kSize));
  CudaTimer timer;
  WEFT_TRY(timer.Init());
  double best = 0.0;
  for (int i = 0; i < product.algorithms(); ++i) {
    std::vector<double> samples;
    for (int run = 0; run < 8; ++run) {
      // 2^-7 of the deviation of the sums keeps results within int8.
      const absl::StatusOr<double> us = timer.Time(stream, [&] {
        return product.Run(i, operands[0].data(), operands[1].data(), result.data(), stream, 1e-4f);
      });
      if (!us.ok()) break;
      if (run >= 3) samples.push_back(*us);
    }
    if (samples.empty()) continue;
    const double tops = 2e-6 * kSize * kSize * kSize / Quantile(samples, 0.5);
    if (tops <= best) continue;
    best = tops;
    *source = absl::StrCat("measured: cublaslt #", i, ", 8192^3");
  }
  if (best == 0.0) return absl::NotFoundError("cuBLASLt ran no algorithm");
  return best;
}

}  // namespace weft::perf
