#include "weft/rtc/text/source_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weft/rtc/text/functions.hpp"

namespace weft::rtc {
namespace {

using testing::ElementsAre;

TEST(SourceText, LastType) {
  EXPECT_EQ(LastTypeOf("struct A {};"), "A");
  EXPECT_EQ(LastTypeOf("struct A {}; class B final : A { struct C {}; };"), "B");
  EXPECT_EQ(LastTypeOf("struct A {};\nusing B = A;\nvoid f() { struct C {}; }"), "B");
  EXPECT_EQ(LastTypeOf("// struct A {};\n/* struct B {}; */ int x; \"struct C {};\""), "");
  EXPECT_EQ(LastTypeOf("#define S struct A {}\nstruct B {};"), "B");
  EXPECT_EQ(LastTypeOf("struct A {}; template <class T> struct B { T t; };"), "A");
  EXPECT_EQ(LastTypeOf("template <int i> int v = 1; struct A {};"), "A");
  EXPECT_EQ(LastTypeOf("namespace n::m { namespace { struct A {}; } }"), "n::m::A");
  EXPECT_EQ(LastTypeOf("namespace n { struct A {}; } namespace m = n; struct B {};"), "B");
  EXPECT_EQ(LastTypeOf("struct A {}; struct B;"), "A");
  EXPECT_EQ(LastTypeOf("struct A {}; enum class B { kC }; enum struct D : int { kE };"), "A");
  EXPECT_EQ(LastTypeOf("struct alignas(alignof(float)) [[maybe_unused]] A : B {};"), "A");
  EXPECT_EQ(LastTypeOf("struct A {}; struct alignas("), "A");
}

TEST(SourceText, PossibleMembers) {
  EXPECT_THAT(PossibleMembersOf("struct A { float scale = 1, other; const int* p{}; int t[3]; };"),
              ElementsAre("scale", "other", "p", "t"));
  EXPECT_THAT(PossibleMembersOf("struct A { float f(float x) { return x; } int k = 1'000; };"),
              ElementsAre("x", "k"));
}

TEST(SourceText, FunctionsThatNvrtcLacks) {
  for (const char* source :
       {"std::exp(x)", "using std::exp;", "return exp(x);", "y = -expf(x)", "::tanh(x)",
        "struct A { float exp; float f() { return ::exp(exp); } };"}) {
    EXPECT_FALSE(CheckFunctions(source).ok()) << source;
  }
  for (const char* source :
       {"std::sqrt(x)", "float exp(float x); float y = exp(1);", "a.exp(x)", "a->exp(x)",
        "mine::exp(x)", "float exp = 1;", "// std::exp(x)", "expand(x)", "tanh"}) {
    EXPECT_EQ(CheckFunctions(source), absl::OkStatus()) << source;
  }
  EXPECT_EQ(CheckFunctions("\n float y = std::tanh(x);").message(),
            "rtc: line 2 of the source calls std::tanh, which NVRTC does not have; call "
            "weft::epilogues::Tanh{}(x)");
}

TEST(SourceText, OtherFiles) {
  EXPECT_FALSE(IncludesOtherFiles("#include \"weft/conv/ready_made.hpp\"\n#include <cmath>\n"));
  EXPECT_FALSE(IncludesOtherFiles("int x;  // #include \"mine.hpp\"\n"));
  EXPECT_TRUE(IncludesOtherFiles("int x;\n  #  include \"mine.hpp\"\n"));
  EXPECT_TRUE(IncludesOtherFiles("#include MINE\n"));
  EXPECT_TRUE(IncludesOtherFiles("#include \"mine.hpp\"  // for std::vector<int>\n"));
  EXPECT_TRUE(IncludesOtherFiles("#include <mine.hpp>\n"));
  EXPECT_TRUE(IncludesOtherFiles("#include <mine/vector>\n"));
  EXPECT_TRUE(IncludesOtherFiles("/* x */ #include \"mine.hpp\"\n"));
  EXPECT_TRUE(IncludesOtherFiles("#if __has_include(<mine>)\n#endif\n"));
}

TEST(SourceText, NamesOfMembers) {
  for (const char* name : {"scale", "Mine.scale", "n::Mine.scale", "_x1"}) {
    EXPECT_TRUE(internal::IsNameOfMember(name)) << name;
  }
  for (const char* name : {"", "a b", "1x", "x;", "Mine.", ".x", "Mine.2", "A.b.c"}) {
    EXPECT_FALSE(internal::IsNameOfMember(name)) << name;
  }
}

TEST(SourceText, PolicySourceIsAStruct) {
  EXPECT_EQ(
      PolicySource({.name = "Op", .base = "weft::conv::S8Conv4<>", .dst_layout = "weft::NCHW"}),
      "struct Op : weft::conv::S8Conv4<> {\n  using DstLayout = weft::NCHW;\n};\n");
}

}  // namespace
}  // namespace weft::rtc
