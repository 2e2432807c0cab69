// base.h: attributes, the hash that derives names, and string helpers for every file of the runtime.
#ifndef HD_CORE_BASE_H
#define HD_CORE_BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "arch/arch.h"
#include "heddle_abi.h"

#define HD_EXPORT __attribute__((visibility("default")))
// For variables that hooks read: tells other files that the runtime itself defines the variable,
// so they read it without a lookup. (-fvisibility=hidden applies to definitions only.)
#define HD_OWN __attribute__((visibility("hidden")))
#define HD_COLD __attribute__((cold, noinline))
#define HD_RA ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define HD_LIKELY(x) __builtin_expect(!!(x), 1)
#define HD_UNLIKELY(x) __builtin_expect(!!(x), 0)
// Marks a function that accesses the program's memory through the program's pointers. A fault
// in this section counts as the program's; a fault elsewhere in the runtime counts as a bug of
// the runtime (signals/crash.c). Inlining or splitting such a function would move the access
// out of the section.
#ifdef __clang__
#define HD_PROGACCESS __attribute__((section("hd_progaccess"), noinline))
#else
#define HD_PROGACCESS __attribute__((section("hd_progaccess"), noipa))
#endif

// Marks the functions that a compiler calls for the copy of a structure whose write it has announced
// (core/injection.c).
#define HD_COPIES __attribute__((section("hd_copies")))

static inline uint64_t hd_mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ b) * 0x9e3779b97f4a7c15ull;
  x ^= x >> 32; x *= 0xd6e8feb86659fd93ull; x ^= x >> 32;
  return x;
}
static inline uint64_t hd_strlen(const char *s) {
  uint64_t n = 0;
  while (s[n]) { n++; __asm__ volatile("" ::: "memory"); } // keeps the compiler from turning the loop into a call to strlen
  return n;
}
static inline int hd_streq(const char *a, const char *b) {
  while (*a && *a == *b) { a++; b++; }
  return *a == *b;
}
#endif
