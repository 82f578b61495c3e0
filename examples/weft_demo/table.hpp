// What weft_demo prints: a table that grows row by row, a live line below it, a CSV file.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "absl/status/status.h"

namespace weft_demo {

struct Row {
  std::string layer;
  std::int64_t images = 0;
  std::string src_layout;
  std::string dst_layout;
  std::string kernel;  // operator, tile
  std::string backend;
  double milliseconds = 0.0;
  double tops = 0.0;                    // 10^12 operations a second; a multiply-add is two
  std::int64_t mismatches = -1;         // -1: not compared
  double cudnn_milliseconds = 0.0;      // 0: it was not run
  std::int64_t cudnn_differences = -1;  // outputs of cuDNN that are not ours; -1: not compared
  int cudnn_largest = 0;                // the largest of them
};

class Table {
 public:
  // `csv`: a file to write too, "-" for standard output (the table then goes to standard error), or
  // empty. PermissionDenied if the file cannot be written.
  absl::Status Open(const std::string& csv);

  void Print(const std::string& line);
  void PrintHeader();
  void PrintRow(const Row& row);

  // Shows what is being done until the next line or row, on a terminal. Without one the rows, which
  // come as they are ready, are the progress.
  void Live(const std::string& doing);

  // PermissionDenied if not all of the CSV file could be written.
  absl::Status Close();

 private:
  void ClearLive();

  std::string csv_name_;
  std::ofstream csv_file_;
  std::ostream* table_ = nullptr;
  std::ostream* csv_ = nullptr;  // null: none
  bool terminal_ = false;
  bool live_ = false;
};

}  // namespace weft_demo
