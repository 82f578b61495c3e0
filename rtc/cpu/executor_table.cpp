#include "weft/rtc/cpu/executor_table.hpp"

namespace weft::rtc {
namespace internal {
namespace {

constexpr ExecutorFunctions kExecutor = {
#define WEFT_EXECUTOR(result, function, field, parameters, arguments) \
  static_cast<result(*) parameters>(&weft::arch::function),
#include "weft/rtc/cpu/executor.def"
#undef WEFT_EXECUTOR
};

}  // namespace
}  // namespace internal

const ExecutorTable& Executor() {
  return internal::kExecutor;
}

}  // namespace weft::rtc
