/* Reads a JSON text: tokens, depth and the sum of its numbers, as tools do with their input. */
static const char text[] =
    "{\"name\":\"widget\",\"tags\":[\"a\",\"bc\",\"def\"],\"price\":1299,\"stock\":{\"here\":17,\"there\":[1,2,3,5,8,13]},"
    "\"note\":\"a \\\"quoted\\\" word and a longer text that is only passed over\",\"ok\":true,\"none\":null}";

static int walk(const char *at) {
  int sum = 0, depth = 0, tokens = 0;
  for (;;) {
    char c = *at++;
    if (c == 0) return sum + 1000 * tokens + depth;
    if (c == '{' || c == '[') { depth++; tokens++; }
    else if (c == '}' || c == ']') { depth--; tokens++; }
    else if (c == '"') {
      tokens++;
      while (*at != '"') at += *at == '\\' ? 2 : 1;
      at++;
    } else if (c >= '0' && c <= '9') {
      int number = c - '0';
      while (*at >= '0' && *at <= '9') number = number * 10 + (*at++ - '0');
      sum += number;
      tokens++;
    } else if (c >= 'a' && c <= 'z') {
      while (*at >= 'a' && *at <= 'z') at++;
      tokens++;
    }
  }
}

__attribute__((export_name("run"))) int run(int rounds) {
  int sum = 0;
  for (int round = 0; round < rounds; round++) sum = sum * 3 + walk(text + (round & 1) * 0);
  return sum;
}
