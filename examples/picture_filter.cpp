// picture_filter [--filter=blur|sharpen|edges|emboss] [--backend=cpu|cuda] IN OUT
//
// Convolves a picture with an int8 filter. IN is a binary PPM (P6) or a PNG; OUT's name says which
// of the two is written.
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "examples/picture_filter/apply.hpp"
#include "examples/picture_filter/filters.hpp"
#include "examples/picture_filter/picture_io.hpp"

ABSL_FLAG(std::string, filter, "edges", "blur, sharpen, edges or emboss");
ABSL_FLAG(std::string, backend, "", "cpu or cuda; by default cuda if there is a GPU, else cpu");

namespace picture_filter {
namespace {

absl::Status Run(const std::vector<char*>& arguments) {
  if (arguments.size() != 3) {
    return absl::InvalidArgumentError(absl::StrCat(arguments.size() - 1,
                                                   " file names given; give two: the picture to "
                                                   "read and the picture to write"));
  }
  const std::string in = arguments[1], out = arguments[2];
  const std::string name = absl::GetFlag(FLAGS_filter);
  const std::optional<Filter> filter = FilterByName(name);
  if (!filter) {
    return absl::InvalidArgumentError(
        absl::StrCat("--filter=", name, " is unknown; accepted are ", kFilterNames));
  }
  const auto choice = examples::ChooseBackend(absl::GetFlag(FLAGS_backend));
  if (!choice.ok()) return choice.status();
  if (absl::Status s = CheckOutputName(out); !s.ok()) return s;

  const absl::StatusOr<Picture> picture = ReadPicture(in);
  if (!picture.ok()) return picture.status();
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<Picture> result = Apply(*filter, *picture, choice->backend);
  if (!result.ok()) return result.status();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (absl::Status s = WritePicture(out, *result); !s.ok()) return s;
  std::cout << absl::StrCat(name, " of ", in, ", ", picture->width, " x ", picture->height,
                            " pixels, on the ",
                            choice->backend == examples::Backend::kCpu ? "CPU" : "GPU", " in ",
                            static_cast<int>(time.count() + 0.5), " ms: ", out, "\n");
  return absl::OkStatus();
}

}  // namespace
}  // namespace picture_filter

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "picture_filter [--filter=blur|sharpen|edges|emboss] [--backend=cpu|cuda] IN OUT\n"
      "Convolves a picture, a binary PPM or a PNG, and writes a .ppm or .png.");
  const absl::Status status = picture_filter::Run(absl::ParseCommandLine(argc, argv));
  if (status.ok()) return 0;
  std::cerr << "picture_filter: " << status.message() << "\n";
  return 1;
}
