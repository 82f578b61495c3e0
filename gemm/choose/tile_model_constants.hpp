// What the tile model has fitted to measured times. `model_check --fit` reads the lines "double name = value;"
// of this file, fits the values and writes them back: one constant to a line. Clocks are those of a
// multiprocessor, instructions those of a lane, unless a comment says otherwise.
#pragma once

namespace weft::gemm::internal {

// Of the GPU's memory, for every mainloop.
struct MemoryConstants {
  double rate = 1.25;   // of bytes_per_us
  double kept = 0.069;  // of the L2, what it holds from one kernel to the next
};

// Of a mainloop whose blocks take one tile each.
struct SimtConstants {
  double launch = 0.979;              // microseconds from one kernel to the next
  double start_and_end = 1060.0;      // clocks of a block outside its main loop
  double latency = 1360.0;            // clocks from a global load to its use, and a barrier
  double warps_for_full_rate = 9.43;  // of a multiprocessor
  double async_warps = 8.0;           // the same where copies are asynchronous
  double overlap = 2.23;              // how far the blocks of a multiprocessor overlap
  double lone = 0.0125;               // of a block's work, what its own latency does not hide
  double epilogue = 4.42;             // instructions for an output ...
  double activation = 1.04;           // ... more for an activation other than ReLU ...
  double residual = 4.1;              // ... and for a residual
  double residual_wait = 4040.0;      // clocks until a block's residual has come
  double sum_of_parts = 44.9;         // instructions for an output and a part of k but the first
  double each = 1.13;        // instructions for a dp4a, with its share of loads and of the loop
  double async_each = 1.25;  // the same where copies are asynchronous
  double fma_each = 1.7;     // of an fma
  double per_thread_tile = 1.29;  // ... and more, over the outputs of a thread
  double gather = 16.9;           // instructions for a packet of A that is looked for by itself
  double copy = 12.0;             // ... for an asynchronous copy
  double next = 0.875;            // of the lesser of computing and memory, what comes on top
};

struct MmaConstants {
  double launch = 1.94;
  double start_and_end = 105.0;
  double latency = 81.7;
  double warps_for_full_rate = 2.29;
  double overlap = 5.1;  // how far the blocks of a multiprocessor overlap
  double lone = 0.672;
  double epilogue = 12.0;
  double activation = 2.03;
  double residual = 25.4;
  double residual_wait = 358.0;
  double narrow_store = 0.914;  // instructions for an output, a store of 4 channels instead of 8
  double sum_of_parts = 14.6;
  double multiply = 1.06;   // clocks of a k tile; 1: what the tensor cores take by themselves
  double copy = 1.15;       // instructions for an asynchronous copy ...
  double copy_each = 24.4;  // ... that is looked for by itself (TileFacts::searches_copies)
  double issue = 0.909;     // of the instructions that come on top of the k tile
  double l2_bytes = 27.3;   // for a multiprocessor and a clock
  double next = 0.998;
};

struct WgmmaConstants {
  double launch = 0.312;
  double crowded = 0.422;  // microseconds more where this kernel leaves the next one no room
  double copy = 36.1;      // clocks of a thread for a copy of TMA
  double k_tile = 325.0;   // clocks of a k tile that a warpgroup waits for itself ...
  double ping_pong_k_tile = 124.0;  // ... and with ping-pong
  double round_trip = 837.0;        // clocks from the loads of a stage to its use, its own aside
  double fixed = 1950.0;            // clocks of an epilogue ...
  double output = 4.58;             // ... and instructions for an output
  double dependent = 1.41;          // clocks of an instruction of a warp by itself
  double activation = 1.63;
  double residual = 11.4;
  double residual_load = 0.161;  // clocks of a warpgroup until the residual of an output has come
  double narrow_store = 2.88;    // instructions for an output, of stores of 8 bytes instead of 16
  double wide_bytes = 90.9;      // outputs of 4 bytes and more that all blocks store, a clock
  double meet = 490.0;           // clocks of a cluster's blocks for one exchange ...
  double exchanged = 19.8;       // ... and bytes a clock that each of them gets
  double overlap = 1.52;         // how far the units overlap, for a tile ...
  double ping_pong_overlap = 61.3;  // ... with ping-pong, the warpgroups ...
  double shared_overlap = 1.75;     // ... and the blocks of a multiprocessor
  double gather = 5.65;             // of the instructions that a plan counts for threads that load
  double gather_apart = 1.46;       // as many, of rows of A that do not lie in memory as they are
  double l2 = 2.17;                 // of bytes_per_us, the bytes that all blocks load
  double next = 0.0996;
};

// Of wgmma_sm90 whose tiles are one k tile of rows that overlap (gemm/hopper/resident_ring.hpp).
struct WholeKConstants {
  double launch = 2.2;
  double output = 0.122;      // clocks for an output ...
  double group = 190.0;       // ... for the rows of a warpgroup ...
  double thread_byte = 0.08;  // ... and for a byte of these that threads copy
};

struct ModelConstants {
  MemoryConstants memory;
  SimtConstants simt;
  MmaConstants mma;
  WgmmaConstants wgmma;
  WholeKConstants whole_k;
};

}  // namespace weft::gemm::internal
