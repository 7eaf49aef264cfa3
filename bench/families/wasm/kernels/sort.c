/* Sorts numbers, by quicksort with a stack of its own and insertion sort for short pieces. */
#define N 20000
static int numbers[N];
static int stack[128];

__attribute__((export_name("run"))) int run(int rounds) {
  unsigned check = 0;
  for (int round = 0; round < rounds; round++) {
    unsigned state = 12345u + round;
    for (int i = 0; i < N; i++) numbers[i] = (int)((state = state * 1664525u + 1013904223u) >> 8);
    int top = 0;
    stack[top++] = 0;
    stack[top++] = N - 1;
    while (top > 0) {
      int high = stack[--top], low = stack[--top];
      while (high - low > 16) {
        int pivot = numbers[(low + high) / 2], i = low, j = high;
        while (i <= j) {
          while (numbers[i] < pivot) i++;
          while (numbers[j] > pivot) j--;
          if (i <= j) {
            int other = numbers[i];
            numbers[i++] = numbers[j];
            numbers[j--] = other;
          }
        }
        if (j - low < high - i) {
          stack[top++] = i;
          stack[top++] = high;
          high = j;
        } else {
          stack[top++] = low;
          stack[top++] = j;
          low = i;
        }
      }
    }
    for (int i = 1; i < N; i++) {
      int number = numbers[i], j = i - 1;
      for (; j >= 0 && numbers[j] > number; j--) numbers[j + 1] = numbers[j];
      numbers[j + 1] = number;
    }
    check = check * 31 + (unsigned)numbers[N / 3];
  }
  return (int)check;
}
