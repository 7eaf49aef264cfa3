/* SHA-256 of 64 KB. */
typedef unsigned int u32;
static unsigned char input[1 << 16];
static const u32 K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static u32 turn(u32 x, int n) { return (x >> n) | (x << (32 - n)); }

__attribute__((export_name("run"))) int run(int rounds) {
  u32 h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < (int)sizeof input; i += 64) {
      u32 w[64], s[8];
      for (int t = 0; t < 16; t++)
        w[t] = (u32)input[i + 4 * t] << 24 | (u32)input[i + 4 * t + 1] << 16 | (u32)input[i + 4 * t + 2] << 8 | input[i + 4 * t + 3];
      for (int t = 16; t < 64; t++) {
        u32 s0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ (w[t - 15] >> 3);
        u32 s1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
      }
      for (int j = 0; j < 8; j++) s[j] = h[j];
      for (int t = 0; t < 64; t++) {
        u32 S1 = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
        u32 t1 = s[7] + S1 + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[t] + w[t];
        u32 S0 = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
        u32 t2 = S0 + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--) s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
      }
      for (int j = 0; j < 8; j++) h[j] += s[j];
    }
    input[round & 0xffff] = (unsigned char)h[0];
  }
  return (int)h[0];
}
