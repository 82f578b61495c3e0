#include "tests/gemm/table/problems.hpp"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "weft/layouts/formats.hpp"

namespace weft::gemm::table {
namespace {

// Multiplications of one problem, with those of a tile that lie outside of the matrices: more would take the time that
// other problems need.
std::int64_t MostProducts(Rows rows) {
  return rows == Rows::kPairwise ? 4'000'000 : 1'000'000;
}

std::vector<std::int64_t> Ascending(const std::set<std::int64_t>& all) {
  std::vector<std::int64_t> list;
  for (const std::int64_t x : all) {
    if (x > 0) list.push_back(x);
  }
  return list;
}

// Extents at and around one block, and behind the second one.
std::vector<std::int64_t> Around(std::int64_t block) {
  return Ascending({1, block - 1, block, block + 1, 2 * block + 3});
}

// Likewise of k; the largest has more k tiles than there are stages, or blocks that share them.
std::vector<std::int64_t> Depths(const TileDescription& config) {
  const std::int64_t tile = config.threadblock.k;
  const int several = std::max(config.stages, config.cluster_split_k) + 1;
  return Ascending({1, tile - 1, tile, tile + 1, several * tile + 1});
}

std::int64_t StoreOf(const GemmFacts& facts) {
  return facts.row_major_c ? 8 * facts.config.alignment.dst / facts.store.element_bits : 1;
}

// With the leading dimensions, strides and extents that the operator takes.
GemmProblem Placed(const GemmFacts& facts, GemmProblem p, const Batch& batch) {
  const std::int64_t store = StoreOf(facts);
  const bool padded = batch.placement != Placement::kDense && batch.placement != Placement::kOneA;
  p.n = RoundUp(p.n, store);
  p.batch = batch.count, p.own_bias = batch.own_bias;
  p.lda =
      RoundUp(facts.a.k_major ? p.k : p.m, std::int64_t{facts.a.access}) + padded * facts.a.access;
  p.ldb = RoundUp(facts.b.k_major ? p.k : p.n, std::int64_t{facts.b.access}) +
          padded * 3 * facts.b.access;
  p.ldc = (facts.row_major_c ? p.n : p.m) + padded * store;
  switch (batch.placement) {
    case Placement::kDense:
    case Placement::kPadded:
      break;
    case Placement::kOneA:
      p.stride_a = 0;
      p.stride_b = (facts.b.k_major ? p.n : p.k) * p.ldb + 3 * facts.b.access;
      p.stride_c = (facts.row_major_c ? p.m : p.n) * p.ldc + 48;
      break;
    case Placement::kBlocksOfC:
      p.stride_b = 0;
      p.stride_a = p.lda, p.lda *= p.batch;
      p.stride_c = RoundUp(p.ldc, std::int64_t{16}), p.ldc = p.batch * p.stride_c;
      break;
    case Placement::kWindows:
      p.stride_a = facts.a.access;
      break;
  }
  return p;
}

std::vector<std::int32_t> OffsetsOf(Groups groups, std::int64_t rows) {
  const auto m = static_cast<std::int32_t>(rows);
  switch (groups) {
    case Groups::kOne:
      return {m};
    case Groups::kFirstEmpty:
      return {0, m / 2, m};
    case Groups::kLastEmpty:
      return {m - m / 3, m, m};
    case Groups::kAllEmpty:
      return {0, 0};
    case Groups::kRowsOfNone:
      return {m / 3, m / 3, m - m / 4};
    case Groups::kMany:
      break;
  }
  std::vector<std::int32_t> ends;
  for (int g = 0; g < 9; ++g) ends.push_back(std::min(m, g * g));
  return ends;
}

// As few products as leave several tiles, where a problem has too many.
void Shrink(const GemmFacts& facts, std::int64_t most, GemmProblem* p) {
  const TileShape& tile = facts.config.threadblock;
  const auto products = [&] {
    return p->batch * RoundUp(p->m, std::int64_t{tile.m}) * RoundUp(p->n, std::int64_t{tile.n}) *
           RoundUp(p->k, std::int64_t{tile.k});
  };
  const auto least = [](std::int64_t* extent, std::int64_t to) { *extent = std::min(*extent, to); };
  if (products() > most) least(&p->k, 2 * tile.k + 1);
  if (products() > most) least(&p->m, tile.m + 1);
  if (products() > most) least(&p->n, tile.n + 1);
  if (products() > most) least(&p->k, tile.k + 1);
}

Problem MakeProblem(const GemmFacts& facts, Rows rows, GemmProblem p, int place,
                    const Values& values) {
  Problem problem;
  problem.values = values;
  Batch batch = kBatches[facts.grouped ? 0 : place];
  p.batch = batch.count;
  Shrink(facts, MostProducts(rows), &p);
  if (facts.grouped) {
    problem.group_offsets = OffsetsOf(kGroups[place], p.m);
    batch = {static_cast<std::int64_t>(problem.group_offsets.size()),
             place % 2 == 0 ? Placement::kDense : Placement::kPadded, place % 3 == 1};
  }
  problem.product = Placed(facts, p, batch);
  return problem;
}

int Places(const GemmFacts& facts) {
  return facts.listed    ? 2
         : facts.grouped ? static_cast<int>(std::size(kGroups))
                         : static_cast<int>(std::size(kBatches));
}

// Extents of 0, and of one tile and a little beside them.
std::vector<Problem> Empty(const GemmFacts& facts, Rows rows) {
  const TileShape& tile = facts.config.threadblock;
  const std::int64_t m[] = {0, tile.m + 1, 1}, n[] = {0, 1, tile.n + 1}, k[] = {tile.k + 1, 0};
  std::vector<Problem> all;
  for (const std::vector<int>& row : Combined({3, 3, 2, Places(facts), 2}, rows)) {
    all.push_back(MakeProblem(facts, rows, {.m = m[row[0]], .n = n[row[1]], .k = k[row[2]]}, row[3],
                              kValues[row[4]]));
  }
  Problem none = all.front();  // of no products, or no groups
  if (!facts.listed) {
    none.product.batch = 0, none.group_offsets.clear();
    all.push_back(none);
  }
  // Nothing to add up, in every tile.
  GemmProblem zero = {.m = tile.m + 1, .n = tile.n + 1, .k = 0};
  all.push_back(MakeProblem(facts, rows, zero, 0, kValues[0]));
  return all;
}

}  // namespace

std::string ToString(const Problem& problem) {
  const GemmProblem& p = problem.product;
  std::string s = absl::StrCat("{.m = ", p.m, ", .n = ", p.n, ", .k = ", p.k, ", .lda = ", p.lda,
                               ", .ldb = ", p.ldb, ", .ldc = ", p.ldc, ", .batch = ", p.batch);
  for (const auto& [name, stride] :
       {std::pair{"a", p.stride_a}, {"b", p.stride_b}, {"c", p.stride_c}}) {
    if (stride != GemmProblem::kPacked) absl::StrAppend(&s, ", .stride_", name, " = ", stride);
  }
  absl::StrAppend(&s, p.own_bias ? ", .own_bias = true}" : "}");
  if (!problem.group_offsets.empty()) {
    absl::StrAppend(&s, " of groups up to ", absl::StrJoin(problem.group_offsets, ", "));
  }
  return absl::StrCat(s, problem.values.exact ? " of integers" : " of many binades",
                      problem.values.in_place ? " in place" : "");
}

std::vector<Problem> ProblemsFor(const GemmFacts& facts, Rows rows) {
  const TileDescription& config = facts.config;
  const std::vector<std::int64_t> m = Around(config.threadblock.m),
                                  n = Around(config.threadblock.n), k = Depths(config);
  const auto size = [](const auto& list) { return static_cast<int>(std::size(list)); };
  std::vector<Problem> all;
  for (const std::vector<int>& row :
       Combined({size(m), size(n), size(k), Places(facts), size(kValues)}, rows)) {
    all.push_back(MakeProblem(facts, rows, {.m = m[row[0]], .n = n[row[1]], .k = k[row[2]]}, row[3],
                              kValues[row[4]]));
  }
  for (Problem& p : Empty(facts, rows)) all.push_back(std::move(p));
  return all;
}

Problem PastOneTile(const GemmFacts& facts) {
  const TileShape& tile = facts.config.threadblock;
  const Batch padded = kBatches[1];
  return {.product = Placed(facts, {.m = tile.m + 1, .n = tile.n + 1, .k = 2 * tile.k + 1}, padded),
          .group_offsets = {},
          .values = kValues[0]};
}

std::vector<std::vector<Problem>> ListsFor(const GemmFacts& facts, Rows rows) {
  std::vector<Problem> some, none;  // with tiles and without
  for (Problem& p : ProblemsFor(facts, rows)) {
    (p.product.IsEmpty() ? none : some).push_back(std::move(p));
  }
  std::vector<std::vector<Problem>> lists = {none};
  const std::size_t counts[] = {1, 2, 5, 9};  // of the products of a list, again and again
  for (std::size_t i = 0, next = 0; i < some.size(); ++next) {
    std::vector<Problem>& list = lists.emplace_back();
    while (i < some.size() && list.size() < counts[next % std::size(counts)]) {
      list.push_back(some[i++]);
      // Here and there one without tiles, also as the first.
      if (i % 3 == 1) list.insert(i % 2 == 0 ? list.begin() : list.end(), none[i % none.size()]);
    }
  }
  return lists;
}

}  // namespace weft::gemm::table
