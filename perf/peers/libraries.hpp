// Opening a peer's library.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::perf {

class Library {
 public:
  // The first of `names` that can be opened. NotFound with the loader's words.
  static absl::StatusOr<Library> Open(std::initializer_list<const char*> names);

  // NotFound names the library and the function.
  template <class Function>
  absl::Status Find(const char* name, Function* function) const {
    const absl::StatusOr<void*> found = Symbol(name);
    if (!found.ok()) return found.status();
    *function = reinterpret_cast<Function>(*found);
    return absl::OkStatus();
  }

  // The file that holds `function`.
  static std::string PathOf(const void* function);

 private:
  absl::StatusOr<void*> Symbol(const char* name) const;
  void* library_ = nullptr;
  std::string name_;
};

// What PeerLibraries() (peer.hpp) lists.
void NoteLibrary(const std::string& description);

}  // namespace weft::perf
