#include "weft/rtc/gpu/cubin.hpp"

#include <elf.h>

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"

namespace weft::rtc {

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

// Whether an address is written to bytes [begin, end) of section `index` when the file is loaded.
bool HasAddress(std::string_view elf, const std::vector<Elf64_Shdr>& sections, std::size_t index,
                std::uint64_t begin, std::uint64_t end) {
  for (const Elf64_Shdr& table : sections) {
    const bool added = table.sh_type == SHT_RELA;
    if ((table.sh_type != SHT_REL && !added) || table.sh_info != index) continue;
    const std::uint64_t step = added ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (std::uint64_t at = 0; at + step <= table.sh_size; at += step) {
      Elf64_Rel entry;
      if (!ReadAt(elf, table.sh_offset + at, &entry)) return true;
      if (entry.r_offset >= begin && entry.r_offset < end) return true;
    }
  }
  return false;
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
      if (HasAddress(elf, sections, symbol.st_shndx, symbol.st_value,
                     symbol.st_value + symbol.st_size)) {
        return absl::InvalidArgumentError(
            "rtc: a functor of the policy has an address as the default of a member, which is "
            "known "
            "on the GPU alone; let it be nullptr, and set it with Values::SetAddress");
      }
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
