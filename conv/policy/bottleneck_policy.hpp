// What a user writes to define a bottleneck of a residual network as one operator
// (conv/bottleneck.hpp).
//
//     struct MyBlock {
//       using Element = std::uint8_t;               // of x, in NCxHWx<32>, as y is
//       using FirstEpilogue = ...;                  // of the 1x1 convolution of x
//       using SecondEpilogue = ...;                 // of the 3x3 convolution
//       using Projection = void;                    // or the epilogue of a 1x1 convolution of x ...
//       using Epilogue = ...;                       // of the last 1x1 convolution: y
//       static constexpr auto config = weft::conv::kBottleneck14x2x3;
//     };
//
// Every member is required. An epilogue is a Chain that ends in int8 or uint8. The residual of the
// last one, if it has a Residual (or a QuantizedAdd), is x itself or, where Projection is not void,
// the projection of x. Like conv/policy/policy.hpp this header includes neither Abseil nor CUDA.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/conv/policy/policy.hpp"
#include "weft/gemm/tile/config.hpp"

namespace weft::conv {

// A block of Hopper takes tiles of 8 columns by `rows` rows of an image, one after the other. Each
// of its warpgroups makes whole tiles, while others make theirs; `patches` tiles of x with the pixels
// around them are in shared memory at most, fewer where they have many channels.
struct BottleneckConfig {
  static constexpr gemm::Mainloop kMainloop = gemm::Mainloop::kWgmmaSm90;
  [[gnu::visibility("hidden")]] static constexpr char kName[] = "bottleneck";
  static constexpr int kColumns = 8;  // of a tile
  int rows;                           // of a tile: 4 to 14, an even number
  int warpgroups;                     // that multiply, 1 to 3
  int patches;                        // more than warpgroups

  constexpr BottleneckConfig(int row_count, int warpgroup_count, int patch_count)
      : rows(row_count), warpgroups(warpgroup_count), patches(patch_count) {}
  // Pixels of a tile.
  constexpr int pixels() const { return kColumns * rows; }
  // NOLINTNEXTLINE(runtime/explicit): a view of the same
  constexpr operator gemm::TileDescription() const {
    return {.mainloop = kMainloop,
            .threadblock = {pixels(), 64, 32},
            .warp = {pixels(), 64, 32},
            .thread = {pixels() / 2, 1, 1},
            .instruction = {64, pixels(), 32},
            .stages = patches,
            .alignment = {32, 16},
            .other = kName};
  }
};

// Named by rows x warpgroups x patches: for many images, for fewer, and for more channels than leave
// room for the patches of these.
[[gnu::visibility("hidden")]] inline constexpr BottleneckConfig kBottleneck14x2x3{14, 2, 3};
[[gnu::visibility("hidden")]] inline constexpr BottleneckConfig kBottleneck8x3x4{8, 3, 4};
[[gnu::visibility("hidden")]] inline constexpr BottleneckConfig kBottleneck4x1x2{4, 1, 2};

template <class PolicyT>
concept IsBottleneck = requires {
  typename PolicyT::Element;
  typename PolicyT::FirstEpilogue;
  typename PolicyT::SecondEpilogue;
  typename PolicyT::Projection;
  typename PolicyT::Epilogue;
  requires std::same_as<std::remove_cvref_t<decltype(PolicyT::config)>, BottleneckConfig>;
};

// One of the convolutions by itself: what a bottleneck's bytes are compared with.
template <class ElementT, class EpilogueT>
struct BottleneckPart {
  using Element = ElementT;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = CxRSKx<32>;
  using DstLayout = NCxHWx<32>;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr gemm::MmaSm80Config config = gemm::WithDstAlignment(kMma64x64, 4);
};
template <class PolicyT>
using BottleneckFirst = BottleneckPart<typename PolicyT::Element, typename PolicyT::FirstEpilogue>;
template <class PolicyT>
using BottleneckSecond =
    BottleneckPart<typename PolicyT::FirstEpilogue::Output, typename PolicyT::SecondEpilogue>;
template <class PolicyT>
using BottleneckThird =
    BottleneckPart<typename PolicyT::SecondEpilogue::Output, typename PolicyT::Epilogue>;
// Where there is a projection.
template <class PolicyT>
using BottleneckProjection =
    BottleneckPart<typename PolicyT::Element, typename PolicyT::Projection>;
template <class PolicyT>
inline constexpr bool kProjects = !std::is_void_v<typename PolicyT::Projection>;

namespace internal {

template <class Epilogue>
inline constexpr bool kIsBytesChain = [] {
  if constexpr (!epilogues::IsChain<Epilogue>::value) {
    return false;
  } else if constexpr (!Epilogue::kValid) {
    return false;  // it has said so itself
  } else {
    return sizeof(typename Epilogue::Output) == 1 && Epilogue::OutputStage::kAddsZeroPoint;
  }
}();
// What no part of a bottleneck does.
template <class Epilogue>
inline constexpr bool kOnlyValues =
    !Epilogue::kZeroPoints && !Epilogue::kHasCopy && !Epilogue::kHasRange && !Epilogue::kHasSums &&
    !Epilogue::kHasPool && !Epilogue::kNeedsCoordinate && !Epilogue::kHasChannelValues;

template <class PolicyT>
concept HasItsChains =
    IsBottleneck<PolicyT> && kIsBytesChain<typename PolicyT::FirstEpilogue> &&
    kIsBytesChain<typename PolicyT::SecondEpilogue> && kIsBytesChain<typename PolicyT::Epilogue> &&
    (!kProjects<PolicyT> || kIsBytesChain<typename PolicyT::Projection>);

template <class PolicyT>
constexpr bool ProjectionOnlyValues() {
  if constexpr (kProjects<PolicyT>) {
    return kOnlyValues<typename PolicyT::Projection> && !PolicyT::Projection::kHasResidual;
  } else {
    return true;
  }
}
// The element of what is added to y.
template <class PolicyT>
constexpr auto ResidualType() {
  if constexpr (kProjects<PolicyT>) {
    return std::type_identity<typename PolicyT::Projection::Output>();
  } else {
    return std::type_identity<typename PolicyT::Element>();
  }
}

}  // namespace internal

// Instantiating this type checks a policy; each failure is one sentence.
template <class PolicyT>
struct CheckedBottleneck {
  static_assert(IsBottleneck<PolicyT>,
                "weft: a policy of Bottleneck needs the types Element, FirstEpilogue, "
                "SecondEpilogue, Projection and Epilogue and a `static constexpr auto config`, a "
                "BottleneckConfig such as weft::conv::kBottleneck14x2x3; one is missing (see "
                "conv/policy/bottleneck_policy.hpp)");
  static_assert(
      !IsBottleneck<PolicyT> || internal::HasItsChains<PolicyT>,
      "weft: FirstEpilogue, SecondEpilogue, Epilogue and, unless it is void, Projection of "
      "a Bottleneck are weft::epilogues::Chain<stages...> that end in "
      "ClampTo<std::int8_t> or ClampTo<std::uint8_t>");
  static constexpr bool kValid = false;
};

template <class PolicyT>
  requires(internal::HasItsChains<PolicyT>)
struct CheckedBottleneck<PolicyT> {
  using First = typename PolicyT::FirstEpilogue;
  using Second = typename PolicyT::SecondEpilogue;
  using Third = typename PolicyT::Epilogue;
  static constexpr BottleneckConfig config = PolicyT::config;

  static_assert(std::is_same_v<typename PolicyT::Element, std::int8_t> ||
                    std::is_same_v<typename PolicyT::Element, std::uint8_t>,
                "weft: Element of a Bottleneck is std::int8_t or std::uint8_t");
  static_assert(
      internal::kOnlyValues<First> && internal::kOnlyValues<Second> &&
          internal::kOnlyValues<Third> && internal::ProjectionOnlyValues<PolicyT>() &&
          !First::kHasResidual && !Second::kHasResidual,
      "weft: the epilogues of a Bottleneck have no zero points of source or filter (add "
      "them to the bias), no Copy, MaxPool, ChannelRange, ImageSums, values of channels or "
      "coordinates, and only the last one has a Residual or QuantizedAdd");
  static_assert(!kProjects<PolicyT> || Third::kHasResidual,
                "weft: Epilogue of a Bottleneck with a Projection has a Residual or QuantizedAdd, "
                "which adds it");
  static_assert(!Third::kHasResidual ||
                    std::is_same_v<typename Third::ResidualElement,
                                   typename decltype(internal::ResidualType<PolicyT>())::type>,
                "weft: the Residual<T> or QuantizedAdd<T> of a Bottleneck's Epilogue takes T = "
                "Element, whose bytes x has, or what Projection ends in");
  static_assert(
      config.rows >= 4 && config.rows <= 14 && config.rows % 2 == 0 && config.warpgroups >= 1 &&
          config.warpgroups <= 3 && config.patches > config.warpgroups && config.patches <= 4,
      "weft: config of a Bottleneck is 4 to 14 rows, an even number, by 1 to 3 warpgroups "
      "by more patches than warpgroups, at most 4");
  static constexpr bool kValid = true;
};

// Ready-made policies: S8Bottleneck's residual is x itself, ProjectedS8Bottleneck's the projection.
// A struct that inherits one may say `using Element = std::uint8_t;`.
template <int kRows = 14, int kWarpgroups = 2, int kPatches = 3>
struct BottleneckTile {
  [[gnu::visibility("hidden")]] static constexpr BottleneckConfig config{kRows, kWarpgroups,
                                                                         kPatches};
};
template <class First, class Second, class Third, class TileT = BottleneckTile<>>
struct S8Bottleneck {
  using Element = std::int8_t;
  using FirstEpilogue = First;
  using SecondEpilogue = Second;
  using Projection = void;
  using Epilogue = Third;
  [[gnu::visibility("hidden")]] static constexpr BottleneckConfig config = TileT::config;
};
template <class First, class Second, class Third, class ProjectionT, class TileT = BottleneckTile<>>
struct ProjectedS8Bottleneck : S8Bottleneck<First, Second, Third, TileT> {
  using Projection = ProjectionT;
};

}  // namespace weft::conv
