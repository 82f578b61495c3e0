// Touches an accumulator of a wgmma in flight, so ptxas gives up the pipeline: must not compile.
__global__ void SerialisedWgmma(float* p, unsigned long long a, unsigned long long b, int n) {
  float d[4] = {p[0], p[1], p[2], p[3]};
  for (int i = 0; i < n; ++i) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "l"(a), "l"(b));
    d[0] += 1;
  }
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) p[i + 4 * threadIdx.x] = d[i];
}
