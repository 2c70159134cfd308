// What a program for WebAssembly has in place of the C library: memory that is only ever taken, and
// a clock that the page provides.
#define LOCM_API
#define LOCMI_FUNCTION static __attribute__((unused))
#define LOCMI_INLINE static inline __attribute__((always_inline, unused))

__attribute__((import_module("env"), import_name("now"))) extern double locmi_now_ms(void);

LOCMI_FUNCTION int64_t locm_now_ns(void) { return (int64_t)(locmi_now_ms() * 1e6); }

void *memcpy(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }

void *memmove(void *to, const void *from, size_t n) { return __builtin_memmove(to, from, n); }

void *memset(void *to, int value, size_t n) { return __builtin_memset(to, value, n); }

__attribute__((no_builtin("memcmp"))) int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
  for (; n && *x == *y; n--, x++, y++) continue;
  return n ? *x - *y : 0;
}

__attribute__((no_builtin("strlen"))) size_t strlen(const char *text) {
  size_t n = 0;
  while (text[n]) n++;
  return n;
}

static void *locmi_take(size_t n) {
  extern unsigned char __heap_base;
  static unsigned char *next;
  const size_t page = 65536;
  unsigned char *start = next ? next : &__heap_base;
  size_t end = (size_t)start + ((n + 15) & ~(size_t)15), have = __builtin_wasm_memory_size(0) * page;
  if (end > have && __builtin_wasm_memory_grow(0, (end - have + page - 1) / page) == (size_t)-1) {
    return NULL;
  }
  next = (unsigned char *)end;
  return start;
}

// Both call it, for a compiler may make a call of `calloc` of what `malloc` and `memset` do.
LOCMI_FUNCTION void *malloc(size_t n) { return locmi_take(n); }

LOCMI_FUNCTION void *calloc(size_t n, size_t size) {
  void *start = locmi_take(n * size);
  return start ? memset(start, 0, n * size) : NULL;
}

LOCMI_FUNCTION void free(void *start) { (void)start; }
