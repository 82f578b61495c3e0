#include "weft/rtc/gpu/cubin_image.hpp"

#include <elf.h>

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/conv/policy/depthwise_config.hpp"

namespace weft::rtc {

struct OwnedImage::Data {
  PolicyRecord record;
  // What the record refers to. Parameters are aligned to 64 bytes and copied, never read here.
  std::string bytes;
};

OwnedImage::OwnedImage(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

const PolicyRecord& OwnedImage::record() const { return data_->record; }

KernelRecord OwnedImage::kernel(int index) const {
  if (index < 0 || index >= kMostKernels) return {};
  return data_->record.kernel[index];
}

absl::StatusOr<OwnedImage> OwnedImage::FromBytes(std::string_view bytes) {
  auto data = std::make_shared<Data>();
  data->bytes = std::string(bytes);
  PolicyRecord& r = data->record;
  if (bytes.size() >= sizeof(PolicyRecord)) {
    std::memcpy(static_cast<void*>(&r), bytes.data(), sizeof(PolicyRecord));
  }
  if (bytes.size() < sizeof(PolicyRecord) || r.bytes != sizeof(PolicyRecord)) {
    return absl::InternalError(
        absl::StrCat("rtc: the compiled policy is of another version of Weft: it has ",
                     bytes.size(), " bytes of facts, and ", sizeof(PolicyRecord), " are expected"));
  }
  conv::PolicyImage& image = r.image;
  image.facts.src_layout = r.src_layout;
  image.facts.dst_layout = r.dst_layout;
  image.facts.prologue.name = r.prologue;
  // Who compares descriptions of tiles compares addresses.
  image.facts.config.other = std::string_view(r.other) == conv::DepthwiseConfig::kName
                                 ? conv::DepthwiseConfig::kName
                             : r.other[0] != 0 ? r.other
                                               : nullptr;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = r.defaults[i], size = image.params[i].at.bytes;
    if (at < 0) continue;
    if (at + size > static_cast<std::int64_t>(bytes.size())) {
      return absl::InternalError("rtc: the compiled policy lacks its parameters");
    }
    image.params[i].defaults = data->bytes.data() + at;
  }
  return OwnedImage(std::move(data));
}

namespace {

// Copies a structure from byte `at` of the file. False where the file ends before.
template <class Type>
bool ReadAt(std::string_view file, std::uint64_t at, Type* to) {
  if (at > file.size() || file.size() - at < sizeof(Type)) return false;
  std::memcpy(to, file.data() + at, sizeof(Type));
  return true;
}

// The text at byte `at`, which ends with a 0; empty where the file ends before.
std::string_view TextAt(std::string_view file, std::uint64_t at) {
  if (at >= file.size()) return {};
  const std::string_view rest = file.substr(at);
  const std::size_t end = rest.find('\0');
  return end == rest.npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace

absl::StatusOr<std::string> VariableOf(std::string_view elf, std::string_view name) {
  const auto fault = [&](const char* what) {
    return absl::InternalError(absl::StrCat("rtc: the compiled policy ", what));
  };
  Elf64_Ehdr header;
  if (!ReadAt(elf, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return fault("is no ELF file");
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!ReadAt(elf, header.e_shoff + i * sizeof(Elf64_Shdr), &sections[i])) {
      return fault("ends within its sections");
    }
  }
  for (const Elf64_Shdr& table : sections) {
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections.size()) continue;
    const std::uint64_t names = sections[table.sh_link].sh_offset;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!ReadAt(elf, table.sh_offset + at, &symbol)) return fault("ends within its symbols");
      if (TextAt(elf, names + symbol.st_name) != name) continue;
      if (symbol.st_shndx >= sections.size()) return fault("has a variable that is nowhere");
      const Elf64_Shdr& section = sections[symbol.st_shndx];
      if (section.sh_type == SHT_NOBITS) return std::string(symbol.st_size, '\0');
      const std::uint64_t begin = section.sh_offset + symbol.st_value;
      if (begin > elf.size() || elf.size() - begin < symbol.st_size) {
        return fault("ends within its facts");
      }
      return std::string(elf.substr(begin, symbol.st_size));
    }
  }
  return fault("lacks its facts");
}

}  // namespace weft::rtc
