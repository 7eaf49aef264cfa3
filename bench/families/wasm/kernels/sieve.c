/* Counts the primes below n, again and again. */
static unsigned char composite[1 << 16];

__attribute__((export_name("run"))) int run(int rounds) {
  int primes = 0;
  for (int round = 0; round < rounds; round++) {
    const int n = 1 << 16;
    for (int i = 0; i < n; i++) composite[i] = 0;
    primes = 0;
    for (int i = 2; i < n; i++) {
      if (composite[i]) continue;
      primes++;
      for (int j = 2 * i; j < n; j += i) composite[j] = 1;
    }
  }
  return primes;
}
