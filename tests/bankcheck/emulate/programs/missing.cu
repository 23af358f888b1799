__global__ void kernel() {}
int main() {
  cudaGraphExec_t exec;
  cudaGraphLaunch(exec, 0);
  kernel<<<1, 1>>>();
}
