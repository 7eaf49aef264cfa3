/* Counts the bytes, lines and words of a file of the workspace: {"path": "notes.txt"}. */
#include "../include/narthex.h"

NX_DECLARATION("word_count.json");

/*
 * The input has passed the schema and is canonical JSON: one object, no blanks, and `path` is all it can have.
 * Escapes are left to grown-up parsers: a path that needs one is refused.
 */
static const char PREFIX[] = "{\"path\":\"";

static int find_path(const char *input, size_t size, nx_bytes *path) {
  size_t start = sizeof PREFIX - 1;
  for (size_t i = 0; i < start; i++) {
    if (i >= size || input[i] != PREFIX[i]) return 0;
  }
  for (size_t end = start; end < size; end++) {
    if (input[end] == '\\') return 0;
    if (input[end] != '"') continue;
    path->data = input + start;
    path->size = end - start;
    return 1;
  }
  return 0;
}

static char *write_text(char *to, const char *text) {
  while (*text) *to++ = *text++;
  return to;
}

static char *write_number(char *to, uint64_t number) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

__attribute__((export_name("run"))) int64_t run(const char *input, size_t size) {
  static char answer[128];
  nx_bytes path, content;
  if (!find_path(input, size, &path)) return NX_FAIL("the path has characters that this tool cannot read");
  switch (nx_fs_read(path.data, path.size, &content)) {
    case 0:
      break;
    case NX_NOT_FOUND:
      return NX_FAIL("there is no such file");
    case NX_DENIED:
      return NX_FAIL("the file may not be read");
    default:
      return NX_FAIL("the file cannot be read");
  }
  uint64_t lines = 0, words = 0;
  int in_word = 0;
  for (size_t i = 0; i < content.size; i++) {
    char c = content.data[i];
    int blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (c == '\n') lines++;
    if (!blank && !in_word) words++;
    in_word = !blank;
  }
  nx_log("counted", 7);
  char *end = write_text(answer, "{\"bytes\":");
  end = write_number(end, content.size);
  end = write_text(end, ",\"lines\":");
  end = write_number(end, lines);
  end = write_text(end, ",\"words\":");
  end = write_number(end, words);
  end = write_text(end, "}");
  return nx_answer(answer, (size_t)(end - answer));
}
