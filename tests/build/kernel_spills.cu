// Needs more registers than 1024 threads have: must not compile.
__global__ void __launch_bounds__(1024) Spill(float* p, int n) {
  float a[200];
#pragma unroll
  for (int i = 0; i < 200; ++i) a[i] = p[i * 1024 + threadIdx.x];
  for (int j = 0; j < n; ++j) {
#pragma unroll
    for (int i = 0; i < 200; ++i) a[i] = a[i] * a[(i + 1) % 200] + j;
  }
#pragma unroll
  for (int i = 0; i < 200; ++i) p[i * 1024 + threadIdx.x] = a[i];
}
