// Counts into an array with indices that only the run knows, which lies in local memory: must not compile.
__global__ void LocalMemory(const int* from, int* to, int n) {
  int counts[40] = {};
  for (int i = 0; i < n; ++i) ++counts[from[i] % 40];
  for (int i = 0; i < 40; ++i) to[i * 128 + threadIdx.x] = counts[i];
}
