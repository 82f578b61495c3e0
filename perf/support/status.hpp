// What Debian's Abseil lacks: returning early where a Status is not OK.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status of an expression from this function unless it is OK.
#define WEFT_TRY(...)                                                                    \
  do {                                                                                   \
    if (absl::Status weft_status = (__VA_ARGS__); !weft_status.ok()) return weft_status; \
  } while (false)

// WEFT_LET(DeviceBuffer buffer, DeviceBuffer::Create(64)): `declaration` is initialised or assigned
// with the value of a StatusOr, or its status is returned.
#define WEFT_LET(declaration, ...) \
  WEFT_LET_IMPL(WEFT_LET_NAME(weft_or_, __LINE__), declaration, __VA_ARGS__)
#define WEFT_LET_NAME(a, b) WEFT_LET_NAME_IMPL(a, b)
#define WEFT_LET_NAME_IMPL(a, b) a##b
#define WEFT_LET_IMPL(temporary, declaration, ...)           \
  auto temporary = (__VA_ARGS__);                            \
  if (!temporary.ok()) return std::move(temporary).status(); \
  declaration = *std::move(temporary)
