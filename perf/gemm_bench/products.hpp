// What gemm_bench has measured and what is still open: a product is a family (a line of gemms.def) at a
// size, with a row for each of its tiles. Files are written after each product and can be continued.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "perf/support/json.hpp"
#include "perf/support/status.hpp"

namespace weft::perf {

class Products {
 public:
  // One that is to be measured; `row` says which it is and stands in its place until then.
  void Plan(const std::string& family, Json row) {
    row["family"] = family;
    row["status"] = "not run: no time was left";
    products_.push_back({family, row["layer"], false, {std::move(row)}});
  }

  // Takes over what an earlier file has of the planned products, but for those that were not run or
  // failed. InvalidArgument for a file of another commit or GPU: one table is of one commit.
  absl::Status Resume(const std::string& text, const Json& environment) {
    WEFT_LET(const std::vector<Json> earlier,
             RowsToKeep(text, environment, {"commit", "device", "tiles"}));
    for (Product& product : products_) {
      std::vector<Json> rows;
      for (const Json& row : earlier) {
        if (row.value("family", "") == product.family && row.value("layer", "") == product.layer) {
          rows.push_back(row);
        }
      }
      const bool whole = std::none_of(rows.begin(), rows.end(), [](const Json& row) {
        const std::string status = row.value("status", "failed");
        return absl::StartsWith(status, "not run") || absl::StartsWith(status, "failed");
      });
      if (rows.empty() || !whole) continue;
      product.measured = true;
      product.rows = std::move(rows);
    }
    return absl::OkStatus();
  }

  bool IsOpen(std::string_view family, std::string_view layer) const {
    const Product* product = Find(family, layer);
    return product != nullptr && !product->measured;
  }
  // Nothing, where no tile takes the product.
  void Put(std::string_view family, std::string_view layer, std::vector<Json> rows) {
    if (auto* product = const_cast<Product*>(Find(family, layer))) {
      product->measured = true;
      product->rows = std::move(rows);
    }
  }

  std::vector<Json> Rows() const {
    std::vector<Json> rows;
    for (const Product& product : products_) {
      rows.insert(rows.end(), product.rows.begin(), product.rows.end());
    }
    return rows;
  }
  int open() const {
    return static_cast<int>(std::count_if(products_.begin(), products_.end(),
                                          [](const Product& p) { return !p.measured; }));
  }

 private:
  struct Product {
    std::string family, layer;
    bool measured = false;
    std::vector<Json> rows;
  };
  const Product* Find(std::string_view family, std::string_view layer) const {
    for (const Product& product : products_) {
      if (product.family == family && product.layer == layer) return &product;
    }
    return nullptr;
  }

  std::vector<Product> products_;
};

}  // namespace weft::perf
