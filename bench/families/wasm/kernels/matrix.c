/* Multiplies two matrices of doubles. */
#define N 96
static double a[N][N], b[N][N], c[N][N];

__attribute__((export_name("run"))) int run(int rounds) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = (i * 7 + j * 3) % 11;
      b[i][j] = (i * 5 + j * 13) % 17;
    }
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
        c[i][j] = sum;
      }
    a[0][0] = c[N - 1][N - 1] - 100 * (int)(c[N - 1][N - 1] / 100);
  }
  return (int)c[3][5];
}
