// Golden vectors: what one micro-kernel gave on a GPU, as a text file.
//
//     # shfl: tests/gemm/arch/golden_cases.hpp
//     device NVIDIA H200, compute capability 9.0
//     driver 575.57.08
//     in 64
//     0123abcd ...                     (words in hexadecimal, 8 a line)
//     out 32
//     ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <string>
#include <vector>

namespace weft::arch::testing {

struct GoldenFile {
  std::string device;
  std::string driver;
  std::vector<uint32_t> in;
  std::vector<uint32_t> out;
};

// The folder beside this header. Compilers under ccache may know a relative path only, so the
// working directory and those above it are searched too.
inline std::filesystem::path GoldenFolder() {
  const std::filesystem::path beside = std::filesystem::path(__FILE__).parent_path() / "golden";
  if (std::filesystem::exists(beside)) return beside;
  const std::filesystem::path below = "tests/gemm/arch/golden";
  std::filesystem::path at = std::filesystem::current_path();
  while (!std::filesystem::exists(at / below) && at != at.root_path()) at = at.parent_path();
  return at / below;
}

inline std::filesystem::path GoldenPath(const std::filesystem::path& folder,
                                        const std::string& name) {
  return folder / (name + ".txt");
}

// Empty vectors if there is no such file, or it is not as described above.
inline GoldenFile ReadGolden(const std::filesystem::path& path) {
  std::ifstream file(path);
  GoldenFile golden;
  std::string word;
  size_t count = 0;
  const auto read_words = [&](std::vector<uint32_t>* words) {
    file >> std::hex;
    words->resize(count);
    for (uint32_t& w : *words) file >> w;
    file >> std::dec;
  };
  std::getline(file, word);  // the comment
  if (file >> word && word == "device") std::getline(file >> std::ws, golden.device);
  if (file >> word && word == "driver") std::getline(file >> std::ws, golden.driver);
  if (file >> word >> count && word == "in" && count < 65536) read_words(&golden.in);
  if (file >> word >> count && word == "out" && count < 65536) read_words(&golden.out);
  return file ? golden : GoldenFile{};
}

inline bool WriteGolden(const std::filesystem::path& path, const std::string& name,
                        const GoldenFile& golden, const char* source = "golden_cases.hpp") {
  std::ofstream file(path);
  const auto write_words = [&](const char* title, const std::vector<uint32_t>& words) {
    file << title << ' ' << std::dec << words.size() << std::hex << std::setfill('0');
    for (size_t i = 0; i < words.size(); ++i) {
      file << (i % 8 == 0 ? '\n' : ' ') << std::setw(8) << words[i];
    }
    file << '\n';
  };
  file << "# " << name << ": tests/gemm/arch/" << source << "\ndevice " << golden.device
       << "\ndriver " << golden.driver << '\n';
  write_words("in", golden.in);
  write_words("out", golden.out);
  return static_cast<bool>(file.flush());
}

}  // namespace weft::arch::testing
