/*
 * Tools for Narthex in C: what a module exports, and what it can ask of its host.
 * See docs/formats/wasm-abi.md. One header, no library: include it in one file of the tool.
 */
#ifndef NARTHEX_H
#define NARTHEX_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the module's own memory. */
typedef struct {
  const char *data;
  size_t size;
} nx_bytes;

/* Numbers of the host's functions. */
enum {
  NX_LOG = 1,
  NX_CLOCK = 2,
  NX_RANDOM = 3,
  NX_HAS_CAPABILITY = 4,
  NX_FS_READ = 5,
  NX_FS_WRITE = 6,
  NX_FETCH = 7,
  NX_CONTENT_GET = 8,
  NX_CONTENT_PUT = 9
};

/* What the host says instead of an answer. */
enum { NX_INVALID = -1, NX_DENIED = -2, NX_NOT_FOUND = -3, NX_TOO_LARGE = -4, NX_FAILED = -5 };

__attribute__((import_module("narthex"), import_name("host"))) int64_t nx_host(int32_t code, const void *request,
                                                                                size_t size);

/* The tool itself: give it this name. */
int64_t run(const char *input, size_t size);

/* Puts a declaration into the module: a file of JSON, found from where the compiler was started. */
#define NX_DECLARATION(file) \
  __asm__(".section .custom_section.narthex.tool,\"\",@\n\t.incbin \"" file "\"\n\t.text\n")

/* Memory is never given back: an instance lives for one call. */
extern unsigned char __heap_base;
static uintptr_t nx_top;

__attribute__((export_name("alloc"))) void *nx_alloc(size_t size) {
  if (nx_top == 0) nx_top = (uintptr_t)&__heap_base;
  uintptr_t place = (nx_top + 15) & ~(uintptr_t)15;
  uintptr_t end = place + size;
  size_t pages = __builtin_wasm_memory_size(0);
  if (end > pages * 65536) {
    size_t more = (end - pages * 65536 + 65535) / 65536;
    if (__builtin_wasm_memory_grow(0, more) == (size_t)-1) __builtin_trap();
  }
  nx_top = end;
  return (void *)place;
}

/* The compiler makes calls of these by itself. */
void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  unsigned char *out = to;
  const unsigned char *in = from;
  while (size--) *out++ = *in++;
  return to;
}

void *memset(void *to, int value, size_t size) {
  unsigned char *out = to;
  while (size--) *out++ = (unsigned char)value;
  return to;
}

static inline int64_t nx_pack(const void *data, size_t size) {
  return ((int64_t)(uint32_t)(uintptr_t)data << 32) | (uint32_t)size;
}

/* What `run` gives: one JSON value. */
static inline int64_t nx_answer(const char *json, size_t size) { return nx_pack(json, size); }

/* What `run` gives instead: why there is none. */
static inline int64_t nx_fail(const char *text, size_t size) { return nx_pack(text, size) | INT64_MIN; }

#define NX_FAIL(text) nx_fail(text, sizeof(text) - 1)

/* Asks the host: 0 and its answer, or one of the negative numbers above. */
static inline int nx_ask(int32_t code, const void *request, size_t size, nx_bytes *answer) {
  int64_t given = nx_host(code, request, size);
  if (given < 0) return (int)given;
  answer->data = (const char *)(uintptr_t)(uint32_t)(given >> 32);
  answer->size = (uint32_t)given;
  return 0;
}

static inline int nx_log(const char *text, size_t size) {
  nx_bytes nothing;
  return nx_ask(NX_LOG, text, size, &nothing);
}

/* Milliseconds since 1970: of the session for tools that repeat, else of the wall. */
static inline int nx_clock(uint64_t *now) {
  nx_bytes answer;
  int status = nx_ask(NX_CLOCK, 0, 0, &answer);
  if (status == 0) memcpy(now, answer.data, sizeof *now);
  return status;
}

static inline int nx_random(uint32_t size, nx_bytes *answer) { return nx_ask(NX_RANDOM, &size, sizeof size, answer); }

/* `fs_read`, `fs_read src/a.txt`, `net_read example.com:443`, `clock`: 1 or 0. */
static inline int nx_has_capability(const char *right, size_t size) {
  nx_bytes answer;
  int status = nx_ask(NX_HAS_CAPABILITY, right, size, &answer);
  return status == 0 ? answer.data[0] : 0;
}

static inline int nx_fs_read(const char *path, size_t size, nx_bytes *content) {
  return nx_ask(NX_FS_READ, path, size, content);
}

static inline int nx_fs_write(const char *path, size_t path_size, const void *content, size_t content_size) {
  char *request = nx_alloc(4 + path_size + content_size);
  uint32_t length = path_size;
  nx_bytes nothing;
  memcpy(request, &length, 4);
  memcpy(request + 4, path, path_size);
  memcpy(request + 4 + path_size, content, content_size);
  return nx_ask(NX_FS_WRITE, request, 4 + path_size + content_size, &nothing);
}

/* Head and body, each way: {"url": ..., "method": ..., "headers": [[name, value]]}, {"status": ..., "headers": ...}. */
static inline int nx_fetch(const char *head, size_t head_size, const void *body, size_t body_size, nx_bytes *answer_head,
                           nx_bytes *answer_body) {
  char *request = nx_alloc(4 + head_size + body_size);
  uint32_t length = head_size;
  nx_bytes answer;
  memcpy(request, &length, 4);
  memcpy(request + 4, head, head_size);
  memcpy(request + 4 + head_size, body, body_size);
  int status = nx_ask(NX_FETCH, request, 4 + head_size + body_size, &answer);
  if (status != 0) return status;
  memcpy(&length, answer.data, 4);
  answer_head->data = answer.data + 4;
  answer_head->size = length;
  answer_body->data = answer.data + 4 + length;
  answer_body->size = answer.size - 4 - length;
  return 0;
}

/* By 64 hex digits. */
static inline int nx_content_get(const char *hash, nx_bytes *content) {
  return nx_ask(NX_CONTENT_GET, hash, 64, content);
}

/* Gives the 64 hex digits under which the session can read it, once the call has ended. */
static inline int nx_content_put(const void *content, size_t size, nx_bytes *hash) {
  return nx_ask(NX_CONTENT_PUT, content, size, hash);
}

#endif
