#include "perf/support/jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/support/layers.hpp"

namespace weft::perf {
namespace {

using testing::HasSubstr;

TEST(Jobs, OneListAtSeveralBatches) {
  const auto jobs = MakeJobs({.lists = {"resnet50"}, .batches = {"1", "16"}});
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  const auto layers = LayerList("resnet50");
  EXPECT_EQ(jobs->problems.size(), 2 * layers->size());
  ASSERT_EQ(jobs->files.size(), 2u);
  EXPECT_EQ(jobs->files[0].name(), "resnet50-n1");
  EXPECT_EQ(jobs->files[1].name(), "resnet50-n16");
  int convolutions = 0;
  for (const Jobs::File::Row& row : jobs->files[1].rows) {
    EXPECT_EQ(jobs->problems[row.problem].n, 16);
    convolutions += row.count;
  }
  EXPECT_EQ(convolutions, 53);
}

TEST(Jobs, ProblemsOfSeveralListsAreMeasuredOnce) {
  const auto jobs = MakeJobs({.lists = {"anchors", "resnet50", "small_k"}, .batches = {"1", "16"}});
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  // The anchors hold all the others.
  EXPECT_EQ(jobs->problems.size(), 2 * LayerList("anchors")->size());
  // A layer with a batch of its own has one file.
  ASSERT_EQ(jobs->files.size(), 5u);
  EXPECT_EQ(jobs->files[4].name(), "small_k-n16");
  const Jobs::File& small = jobs->files[4];
  ASSERT_EQ(small.rows.size(), 1u);
  EXPECT_EQ(LayerName(jobs->problems[small.rows[0].problem]), "c64h92w160k32r3s1");
}

TEST(Jobs, LayersByNameFilterAndName) {
  const auto layers = MakeJobs({.lists = {"anchors"},
                                .layers = {"c64h7w7k32r1s1", "n4c64h7w7k32r3s1", "c64h7w7k32r1s1"},
                                .batches = {"2"}});
  ASSERT_TRUE(layers.ok()) << layers.status();
  EXPECT_EQ(layers->problems.size(), 2u);
  ASSERT_EQ(layers->files.size(), 2u);
  EXPECT_EQ(layers->files[0].name(), "layers-n2");
  EXPECT_EQ(layers->files[0].rows.size(), 1u);
  EXPECT_EQ(layers->files[1].name(), "layers-n4");

  const auto filtered = MakeJobs(
      {.lists = {"anchors"}, .batches = {"1"}, .filter = "c512h7w7", .name = "anchors-nc4"});
  ASSERT_TRUE(filtered.ok()) << filtered.status();
  EXPECT_EQ(filtered->problems.size(), 2u);
  EXPECT_EQ(filtered->files[0].name(), "anchors-nc4-n1");
}

TEST(Jobs, SaysWhatIsWrong) {
  const auto message = [](const JobRequest& request) {
    return std::string(MakeJobs(request).status().message());
  };
  EXPECT_THAT(message({.lists = {"anchor"}, .batches = {"1"}}), HasSubstr("the lists are "));
  EXPECT_THAT(message({.lists = {"anchors"}, .batches = {"x"}}),
              HasSubstr("--batch=x is not a positive number"));
  EXPECT_THAT(message({.lists = {"anchors"}, .batches = {"0"}}), HasSubstr("--batch=0"));
  EXPECT_THAT(message({.layers = {"c64"}, .batches = {"1"}}), HasSubstr("a layer is"));
  EXPECT_THAT(message({.lists = {"anchors"}, .batches = {"1"}, .filter = "zz"}),
              HasSubstr("'zz' (--filter)"));
  EXPECT_THAT(message({.lists = {"anchors", "vgg16"}, .batches = {"1"}, .name = "a"}),
              HasSubstr("--name=a is for one list, not for 2"));
}

TEST(Choices, SurviveAFile) {
  conv::Problem a = conv::SquareProblem(16, 64, 56, 64, 3, 1, 1), b = a;
  b.n = 1;
  Choices choices;
  choices.Put(a, "cudnn_graph", "eng1 k2=3");
  choices.Put(a, "cudnn_graph+residual", "eng4");
  choices.Put(b, "cudnn_graph", "eng7");
  choices.Put(b, "cudnn_graph", "eng8");
  const Choices read = Choices::Parse(choices.Text() + "no tabs\n\n");
  EXPECT_EQ(read.Find(a, "cudnn_graph"), "eng1 k2=3");
  EXPECT_EQ(read.Find(a, "cudnn_graph+residual"), "eng4");
  EXPECT_EQ(read.Find(b, "cudnn_graph"), "eng8");
  EXPECT_EQ(read.Find(b, "cublaslt"), "");
  EXPECT_EQ(read.Text(), choices.Text());
}

}  // namespace
}  // namespace weft::perf
