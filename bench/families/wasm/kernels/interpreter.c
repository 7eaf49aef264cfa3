/* A machine with a stack, running a program that sums what a small random generator gives. */
enum { PUSH, LOAD, STORE, ADD, SUB, MUL, AND, SHIFT, JUMP_IF, END };
static const int program[] = {
    PUSH, 0, STORE, 0, PUSH, 7, STORE, 1, PUSH, 5000, STORE, 2,
    /* 12 */ LOAD, 1, PUSH, 1103515245, MUL, PUSH, 12345, ADD, STORE, 1,
    LOAD, 0, LOAD, 1, PUSH, 16, SHIFT, PUSH, 255, AND, ADD, STORE, 0,
    LOAD, 2, PUSH, 1, SUB, STORE, 2, LOAD, 2, JUMP_IF, 12, LOAD, 0, END};

static unsigned interpret(void) {
  unsigned stack[16], variables[4] = {0};
  int top = 0, at = 0;
  for (;;) {
    switch (program[at++]) {
      case PUSH: stack[top++] = (unsigned)program[at++]; break;
      case LOAD: stack[top++] = variables[program[at++]]; break;
      case STORE: variables[program[at++]] = stack[--top]; break;
      case ADD: top--; stack[top - 1] += stack[top]; break;
      case SUB: top--; stack[top - 1] -= stack[top]; break;
      case MUL: top--; stack[top - 1] *= stack[top]; break;
      case AND: top--; stack[top - 1] &= stack[top]; break;
      case SHIFT: top--; stack[top - 1] >>= stack[top] & 31; break;
      case JUMP_IF: at = stack[--top] ? program[at] : at + 1; break;
      default: return stack[--top];
    }
  }
}

__attribute__((export_name("run"))) int run(int rounds) {
  unsigned sum = 0;
  for (int round = 0; round < rounds; round++) sum += interpret();
  return (int)sum;
}
