// The constants of the tile model, fitted to measured times. `model_check --fit` reads the lines
// "double name = value;" of this file, fits the values and writes them back, so a constant has a
// line of its own. Clocks are those of a multiprocessor, instructions those of a lane, unless a
// comment says otherwise.
#pragma once

namespace weft::gemm::internal {

// The GPU's memory, for every mainloop.
struct MemoryConstants {
  double rate = 1.25;   // times GpuFacts::bytes_per_us
  double kept = 0.069;  // share of the bytes that the L2 keeps between kernels, if they are few
};

// simt and simt_async, each of whose blocks takes one tile.
struct SimtConstants {
  double launch = 0.979;              // microseconds from one kernel to the next
  double start_and_end = 1060.0;      // clocks of a block outside its main loop
  double latency = 1360.0;            // clocks from a global load to its use, and a barrier
  double warps_for_full_rate = 9.43;  // warps with which a multiprocessor reaches its full rate
  double async_warps = 8.0;           // as warps_for_full_rate, for simt_async
  double overlap = 2.23;              // power of Overlapped for the blocks of a multiprocessor
  double lone = 0.0125;               // share of a block's work that its own latency does not hide
  double epilogue = 4.42;             // instructions of the epilogue for an output ...
  double activation = 1.04;           // ... more for an activation other than ReLU ...
  double residual = 4.1;              // ... and for a residual
  double residual_wait = 4040.0;      // clocks of waiting for 32 values of each thread's residual
  double sum_of_parts = 44.9;         // instructions for an output and part of sliced k but one
  double each = 1.13;        // instructions for a dp4a, with its share of loads and of the loop
  double async_each = 1.25;  // instead of `each`, for an fma of simt_async
  double fma_each = 1.7;     // instead of `each`, for an fma of simt
  double per_thread_tile = 1.29;  // more instructions, divided by the outputs of a thread
  double gather = 16.9;           // instructions for a packet of A whose address is computed alone
  double copy = 12.0;             // instructions for an asynchronous copy
  double next = 0.875;  // share of the lesser of computing and memory that does not overlap
};

// mma_sm75 and mma_sm80. Constants without a comment mean what those of SimtConstants do.
struct MmaConstants {
  double launch = 1.94;
  double start_and_end = 105.0;
  double latency = 81.7;
  double warps_for_full_rate = 2.29;
  double overlap = 5.1;
  double lone = 0.672;
  double epilogue = 12.0;
  double activation = 2.03;
  double residual = 25.4;
  double residual_wait = 358.0;
  double narrow_store = 0.914;  // instructions more for an output, in stores of 4 channels, not 8
  double sum_of_parts = 14.6;
  double multiply = 1.06;   // clocks of a k tile's products, times what the tensor cores take alone
  double copy = 1.15;       // instructions for an asynchronous copy ...
  double copy_each = 24.4;  // ... whose address is computed alone (TileFacts::searches_copies)
  double issue = 0.909;     // share of the instructions that does not overlap with the products
  double l2_bytes = 27.3;   // bytes that a multiprocessor gets from the L2 in a clock
  double next = 0.998;
};

// wgmma_sm90, whose blocks are persistent.
struct WgmmaConstants {
  double launch = 0.312;
  double crowded = 0.422;  // microseconds more where this kernel leaves the next one no room
  double copy = 36.1;      // clocks that a producer thread takes to start a TMA copy
  double k_tile = 325.0;   // clocks that a warpgroup waits for its own products of a k tile ...
  double ping_pong_k_tile = 124.0;  // ... and with ping-pong
  double round_trip = 837.0;        // clocks from a stage's loads to its use, beside the loads'
  double fixed = 1950.0;            // clocks of an epilogue ...
  double output = 4.58;             // ... and its instructions for an output
  double dependent = 1.41;          // clocks of an instruction of a warp that issues alone
  double activation = 1.63;
  double residual = 11.4;
  double residual_load = 0.161;     // clocks that a warpgroup waits for the residual of an output
  double narrow_store = 2.88;       // instructions more for an output, in stores of 8 bytes, not 16
  double wide_bytes = 90.9;         // bytes stored in a clock, where outputs are of 4 bytes or more
  double meet = 490.0;              // clocks of cluster split-K's exchange of accumulators ...
  double exchanged = 19.8;          // ... and bytes of them that each block gets in a clock
  double overlap = 1.52;            // power of Overlapped for the units that work on a tile ...
  double ping_pong_overlap = 61.3;  // ... for ping-pong warpgroups ...
  double shared_overlap = 1.75;     // ... and for the blocks of a multiprocessor
  double gather = 5.65;             // times the clocks that a plan counts for threads that load
  double gather_apart = 1.46;       // times the same, where PlanCounts::gathers
  double l2 = 2.17;                 // times bytes_per_us: what all blocks together load from the L2
  double next = 0.0996;
};

// wgmma_sm90 with a sliding-window operand, where one k tile holds all k of a tile
// (gemm/ring/first_layer_producer.hpp).
struct FirstLayerConstants {
  double launch = 2.2;
  double output = 0.122;      // clocks for an output ...
  double group = 190.0;       // ... for each warpgroup's rows of a tile ...
  double thread_byte = 0.08;  // ... and for a byte of a stage, where threads copy it
};

struct ModelConstants {
  MemoryConstants memory;
  SimtConstants simt;
  MmaConstants mma;
  WgmmaConstants wgmma;
  FirstLayerConstants first_layer;
};

}  // namespace weft::gemm::internal
