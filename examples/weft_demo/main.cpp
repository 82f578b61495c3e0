// weft_demo [--backend=cpu|cuda]: an operator of one's own (my_operator.hpp) on a picture and on a layer of a
// network, each compared with plain loops, on the CPU and, if there is one, on the GPU.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "examples/support/backend.hpp"
#include "examples/weft_demo/layer.hpp"
#include "examples/weft_demo/sketch.hpp"

#if WEFT_DEMO_GPU
#include "examples/weft_demo/gpu.hpp"
#endif

namespace weft_demo {
namespace {

constexpr char kOperator[] = "examples/weft_demo/my_operator.hpp";

// Below the times of the picture's layer, and below the picture.
constexpr char kWhySlower[] =
    R"(  On the CPU the operator is the GPU's kernel, each of its threads a fiber that is checked as it runs: that
  serves tests and debuggers, and may be slower than the loops. Padding is the share of a kernel's multiplications
  that only fill up its tiles: they take as long as the others. This layer has 16 channels, 3 of them colours, which
  fill little of a tile, and less of a larger one.
)";
constexpr char kCaption[] =
    R"(  Left the picture; right the output, as ink on white paper: the filter finds what is darker than its
  surroundings, and the activation says how much ink that gives.
)";

// A file of the sources: of those that this program was built from, or of the working directory's.
std::string Source(const std::string& path) {
  const std::string built_from = absl::StrCat(WEFT_DEMO_SOURCES, "/", path);
  return std::filesystem::exists(built_from) ? built_from : path;
}

// What is between `begin` and `end` of my_operator.hpp.
void PrintOperator() {
  std::ifstream file(Source(kOperator));
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "// end") return;
    if (inside) std::cout << (line.empty() ? "" : "    ") << line << "\n";
    if (line == "// begin") inside = true;
  }
}

std::string Time(double milliseconds) {
  if (milliseconds < 1.0) return absl::StrFormat("%.1f us", milliseconds * 1000.0);
  return absl::StrFormat(milliseconds < 100.0 ? "%.1f ms" : "%.0f ms", milliseconds);
}

void PrintRow(const std::string& where, const std::string& what, const std::string& rest) {
  std::cout << absl::StrFormat("  %-4s %-15s %s\n", where, what, rest) << std::flush;
}

// Every way to compute a layer, a line each. Counts what is wrong.
class Comparison {
 public:
  explicit Comparison(const Layer& layer) : layer_(layer), want_(Loops(layer)) {
    PrintRow("CPU", "plain loops", absl::StrFormat("%9s", Time(want_.milliseconds)));
  }

  // A GPU that is too old for a kernel is told by a line; other failures are returned.
  absl::Status Add(bool on_gpu, Kernel kernel) {
    const auto answer = on_gpu ? RunOnGpu(layer_, kernel) : RunOnCpu(layer_, kernel);
    if (on_gpu && absl::IsFailedPrecondition(answer.status())) {
      PrintRow("GPU", Name(kernel), std::string(answer.status().message()));
      return absl::OkStatus();
    }
    if (!answer.ok()) return answer.status();
    std::int64_t different = 0;
    for (std::size_t i = 0; i < want_.dst.size(); ++i) different += answer->dst[i] != want_.dst[i];
    different_ += different;
    if (on_gpu) fastest_ = std::min(fastest_, answer->milliseconds);
    PrintRow(on_gpu ? "GPU" : "CPU", Name(kernel),
             absl::StrFormat("%9s   %d of %d outputs differ from the loops; padding %.0f%%",
                             Time(answer->milliseconds), different, want_.dst.size(),
                             100.0 * answer->padding));
    dst_ = answer->dst;
    return absl::OkStatus();
  }

  // The outputs of the last kernel that ran.
  const std::vector<std::int8_t>& dst() const { return dst_; }
  std::int64_t different() const { return different_; }
  // Of the kernels on the GPU, in milliseconds.
  std::optional<double> fastest() const {
    if (fastest_ == kNever) return std::nullopt;
    return fastest_;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  const Layer& layer_;
  const Answer want_;
  std::vector<std::int8_t> dst_;
  std::int64_t different_ = 0;
  double fastest_ = kNever;
};

// A row for cuDNN, beside a kernel of ours that took `ours` milliseconds.
void PrintCudnn([[maybe_unused]] const Layer& layer, [[maybe_unused]] double ours) {
#if WEFT_DEMO_GPU
  const absl::StatusOr<CudnnTime> time = TimeCudnn(layer);
  if (time.ok()) {
    PrintRow("GPU", absl::StrCat("cuDNN ", time->version),
             absl::StrFormat("%9s   %.2f times your time, with a ReLU in place of your activation "
                             "(int8, channels last, the fastest of %d plans)",
                             Time(time->milliseconds), time->milliseconds / ours, time->plans));
  } else {
    PrintRow("GPU", "cuDNN", absl::StrCat("did not run: ", std::string(time.status().message())));
  }
#endif
}

// The kernels that the GPU at hand can run, all of them for the CPU.
std::vector<Kernel> Kernels(bool on_gpu) {
  if (!on_gpu) return {Kernel::kAnyGpu, Kernel::kHopper};
  const int capability = weft::arch::QueryDevice().limits.compute_capability;
  if (capability == 90) return {Kernel::kAnyGpu, Kernel::kHopper};
  return {Kernel::kAnyGpu};
}

absl::Status Compare(bool with_gpu, Comparison* comparison) {
  for (const bool on_gpu : {false, true}) {
    if (on_gpu && !with_gpu) continue;
    for (const Kernel kernel : Kernels(on_gpu)) {
      if (absl::Status s = comparison->Add(on_gpu, kernel); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

std::string BesideEachOther(const std::string& left, const std::string& right) {
  std::string both;
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const std::size_t i_end = left.find('\n', i), j_end = right.find('\n', j);
    absl::StrAppend(&both, "  ", left.substr(i, i_end - i), "  ", right.substr(j, j_end - j), "\n");
    i = i_end + 1;
    j = j_end + 1;
  }
  return both;
}

// The outputs that differ from the loops'.
absl::StatusOr<std::int64_t> Run(int argc, char** argv) {
  const auto choice = examples::ChooseBackend(argc, argv);
  if (!choice.ok()) return choice.status();
  const bool with_gpu = choice->backend == examples::Backend::kCuda;
  if (with_gpu) {
    std::cout << "On the " << weft::arch::DeviceName() << " and the CPU.\n";
  } else {
    std::cout << "On the CPU" << (choice->why.empty() ? "" : absl::StrCat(" (", choice->why, ")"))
              << ".\n";
  }
  std::cout << "\nYour operator is " << kOperator << ":\n\n";
  PrintOperator();

  const Picture before = PictureOrRings(Source("examples/picture_filter/chelsea.png"));
  std::cout << absl::StrFormat(
      "\nA picture through it, %d x %d pixels, a 5x5 filter for each colour:\n", before.width,
      before.height);
  const Layer lines = LineLayer(before);
  Comparison of_picture(lines);
  if (absl::Status s = Compare(with_gpu, &of_picture); !s.ok()) return s;
  std::cout << kWhySlower;
  const Picture after = OnPaper(lines, of_picture.dst());
  const std::string name =
      picture_filter::CheckOutputName("weft_demo.png").ok() ? "weft_demo.png" : "weft_demo.ppm";
  if (absl::Status s = picture_filter::WritePicture(name, SideBySide(before, after)); !s.ok())
    return s;
  constexpr int kColumns = 48;
  std::cout << "  before and after: " << std::filesystem::absolute(name).string() << "\n"
            << kCaption << "\n"
            << BesideEachOther(InCharacters(before, kColumns), InCharacters(after, kColumns));

  const std::int64_t images = with_gpu ? 16 : 1;
  std::cout << absl::StrFormat(
      "\nA layer of ResNet-50 through it, 3x3, 64 to 64 channels of 56 x 56, %d image%s:\n", images,
      images == 1 ? "" : "s");
  const Layer layer = RandomLayer(images);
  Comparison of_layer(layer);
  if (absl::Status s = Compare(with_gpu, &of_layer); !s.ok()) return s;
  if (of_layer.fastest()) {
    PrintCudnn(layer, *of_layer.fastest());
  } else if (with_gpu && argc > 1) {  // the flag asked for it
    return absl::FailedPreconditionError("--backend=cuda: no kernel ran on this GPU");
  }

  std::cout
      << "\nNext:\n  change the activation or the config in " << kOperator
      << ", run `cmake --workflow --preset demo` again\n"
         "  run the library's tests: `cmake --workflow --preset test`, the second line of "
         "README.md\n"
         "  read docs/custom_operators.md: from a layer of yours to an operator in your project\n";
  return of_picture.different() + of_layer.different();
}

}  // namespace
}  // namespace weft_demo

int main(int argc, char** argv) {
  const absl::StatusOr<std::int64_t> different = weft_demo::Run(argc, argv);
  if (different.ok()) return *different == 0 ? 0 : 1;
  std::cerr << "weft_demo: " << different.status().message() << "\n";
  return 1;
}
