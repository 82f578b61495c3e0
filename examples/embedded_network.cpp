// A network that is compiled while this program is built and lies in it: weft_add_network in examples/operators.cmake. Where the program
// runs it needs no compiler and no file. The network finds the edges of a picture; examples/embedded_network/make_model.py
// made its file, edges.weft.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "edges.hpp"
#include "examples/support/backend.hpp"
#include "weft/gemm/buffer.hpp"
#include "weft/network/network.hpp"

namespace {

using weft::Backend, weft::Buffer;
using weft::network::Network;

constexpr int kH = 24, kW = 48;

// A disc and a bar.
std::vector<float> Picture() {
  std::vector<float> picture(kH * kW);
  for (int h = 0; h < kH; ++h) {
    for (int w = 0; w < kW; ++w) {
      const bool disc = std::hypot(2.0 * (h - 11), w - 15.0) < 14.0;
      const bool bar = w >= 34 && w < 42 && h >= 4 && h < 20;
      picture[static_cast<std::size_t>(h * kW + w)] = disc ? 1.0f : bar ? 0.5f : 0.0f;
    }
  }
  return picture;
}

absl::Status Run(Backend backend) {
  const bool gpu = backend == Backend::kCuda;
  const auto start = std::chrono::steady_clock::now();
  const auto network = Network::Load(
      weft::network::embedded::edges(),
      {.batch = 1, .back_end = gpu ? weft::rtc::BackEnd::kGpu : weft::rtc::BackEnd::kCpu});
  if (!network.ok()) return network.status();
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;

  const auto x = Buffer<float>::CopyOf(Picture(), backend).value();
  const auto y = Buffer<float>::Zeros(kH * kW, backend).value();
  const auto arena = Buffer<std::int8_t>::Zeros(network->arena_bytes() + 256, backend).value();
  const auto address = reinterpret_cast<std::uintptr_t>(arena.data());
  const Network::Arguments args = {.inputs = {x.data()},
                                   .outputs = {y.data()},
                                   .arena = reinterpret_cast<void*>((address + 255) / 256 * 256)};
  const absl::Status status = gpu ? network->Run(args, nullptr) : network->RunOnCpu(args);
  if (!status.ok()) return status;

  const std::vector<float> edges = y.Read().value();
  std::int64_t strong = 0;
  for (int h = 0; h < kH; ++h) {
    std::string line;
    for (int w = 0; w < kW; ++w) {
      const float edge = edges[static_cast<std::size_t>(h * kW + w)];
      line += edge > 2.0f ? '#' : edge > 0.5f ? '+' : '.';
      strong += edge > 0.5f;
    }
    std::cout << line << "\n";
  }
  std::cout << network->Describe() << strong << " pixels are on an edge; loaded in "
            << taken.count() << " ms\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const auto choice = examples::ChooseBackend(argc, argv);
  const absl::Status status = choice.ok() ? Run(choice->backend) : choice.status();
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
