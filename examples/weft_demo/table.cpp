#include "examples/weft_demo/table.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft_demo {
namespace {

std::string Time(double milliseconds) {
  if (milliseconds < 1.0) return absl::StrFormat("%.1f us", milliseconds * 1000.0);
  return absl::StrFormat(milliseconds < 100.0 ? "%.1f ms" : "%.0f ms", milliseconds);
}

constexpr char kFormat[] = "%-24s %4s  %-22s %-18s %-4s %9s %9s %10s %9s  %s";

}  // namespace

absl::Status Table::Open(const std::string& csv) {
  csv_name_ = csv;
  table_ = csv == "-" ? &std::cerr : &std::cout;
  terminal_ = isatty(STDERR_FILENO) != 0;
  if (csv.empty()) return absl::OkStatus();
  if (csv == "-") {
    csv_ = &std::cout;
  } else {
    csv_file_.open(csv);
    if (!csv_file_) {
      return absl::PermissionDeniedError(
          absl::StrCat("--csv=", csv, " cannot be written (", std::strerror(errno),
                       "); accepted are a file in a writable folder, or - for standard output"));
    }
    csv_ = &csv_file_;
  }
  *csv_ << "layer,n,src_layout,dst_layout,kernel,backend,milliseconds,tops,mismatches,"
           "cudnn_milliseconds,cudnn_differences,cudnn_largest\n";
  return absl::OkStatus();
}

void Table::ClearLive() {
  if (live_) std::cerr << "\r\033[K" << std::flush;
  live_ = false;
}

void Table::Live(const std::string& doing) {
  if (!terminal_) return;
  ClearLive();
  std::cerr << doing << std::flush;
  live_ = true;
}

void Table::Print(const std::string& line) {
  ClearLive();
  *table_ << line << std::endl;
}

void Table::PrintHeader() {
  Print(absl::StrFormat(kFormat, "layer", "N", "layouts", "kernel", "on", "time", "TOPS",
                        "mismatches", "cuDNN*", "differs (by)"));
}

void Table::PrintRow(const Row& row) {
  const std::string mismatches = row.mismatches < 0 ? "-" : absl::StrCat(row.mismatches);
  const bool ran = row.cudnn_milliseconds > 0.0, compared = row.cudnn_differences >= 0;
  Print(absl::StrFormat(kFormat, row.layer, absl::StrCat(row.images),
                        absl::StrCat(row.src_layout, "->", row.dst_layout), row.kernel, row.backend,
                        Time(row.milliseconds),
                        absl::StrFormat(row.tops < 1.0 ? "%.4f" : "%.1f", row.tops), mismatches,
                        ran ? Time(row.cudnn_milliseconds) : "-",
                        !compared ? "-"
                        : row.cudnn_differences == 0
                            ? "0"
                            : absl::StrCat(row.cudnn_differences, " (", row.cudnn_largest, ")")));
  if (csv_ == nullptr) return;
  *csv_ << absl::StrFormat("%s,%d,%s,%s,%s,%s,%.6f,%.6f,%s,%s,%s,%s\n", row.layer, row.images,
                           row.src_layout, row.dst_layout, row.kernel, row.backend,
                           row.milliseconds, row.tops, row.mismatches < 0 ? "" : mismatches,
                           ran ? absl::StrFormat("%.6f", row.cudnn_milliseconds) : "",
                           compared ? absl::StrCat(row.cudnn_differences) : "",
                           compared ? absl::StrCat(row.cudnn_largest) : "")
        << std::flush;
}

absl::Status Table::Close() {
  ClearLive();
  if (!csv_file_.is_open()) return absl::OkStatus();
  csv_file_.close();
  if (csv_file_) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("--csv=", csv_name_, ": writing failed (", std::strerror(errno), ")"));
}

}  // namespace weft_demo
