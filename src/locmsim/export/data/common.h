#if defined(_WIN32)
#include <windows.h>
#else
#include <time.h>
#endif

#if defined(__GNUC__)
#define LOCMI_FUNCTION static __attribute__((unused))
#define LOCMI_INLINE static inline __attribute__((always_inline, unused))
#else
#define LOCMI_FUNCTION static inline
#define LOCMI_INLINE static inline
#endif

// The time in nanoseconds, from any start.
LOCMI_FUNCTION int64_t locm_now_ns(void) {
#if defined(_WIN32)
  LARGE_INTEGER now, second;
  QueryPerformanceFrequency(&second);
  QueryPerformanceCounter(&now);
  return now.QuadPart / second.QuadPart * 1000000000 +
         now.QuadPart % second.QuadPart * 1000000000 / second.QuadPart;
#else
  struct timespec now;
#if defined(CLOCK_MONOTONIC)
  clock_gettime(CLOCK_MONOTONIC, &now);
#else
  timespec_get(&now, TIME_UTC);  // of C11 alone, without POSIX
#endif
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
#endif
}

