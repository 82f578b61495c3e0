#include "perf/peers/libraries.hpp"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "perf/peers/peer.hpp"

namespace weft::perf {
namespace {

std::vector<std::string>& Noted() {
  static std::vector<std::string> noted;
  return noted;
}

}  // namespace

absl::StatusOr<Library> Library::Open(std::initializer_list<const char*> names) {
  std::string why;
  for (const char* name : names) {
    Library library;
    library.name_ = name;
    library.library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library.library_ != nullptr) return library;
    absl::StrAppend(&why, why.empty() ? "" : "; ", dlerror());
  }
  return absl::NotFoundError(why);
}

absl::StatusOr<void*> Library::Symbol(const char* name) const {
  void* const symbol = dlsym(library_, name);
  if (symbol == nullptr) return absl::NotFoundError(absl::StrCat(name_, " has no ", name));
  return symbol;
}

std::string Library::PathOf(const void* function) {
  Dl_info info = {};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

void NoteLibrary(const std::string& description) {
  Noted().push_back(description);
}

std::vector<std::string> PeerLibraries() {
  return Noted();
}

}  // namespace weft::perf
