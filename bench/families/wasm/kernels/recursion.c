/* Fibonacci numbers, by nothing but calls. */
__attribute__((noinline)) static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__attribute__((export_name("run"))) int run(int rounds) {
  int sum = 0;
  volatile int n = 20;
  for (int round = 0; round < rounds; round++) sum += fibonacci(n);
  return sum;
}
