// heddle: A worker does one kind of memory access over and over, while main waits for it: what one call of one access hook costs. Arguments: the kind, how many times.
// kind: clean
// args: read4 1000
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Several lines of cache; each turn of a loop touches one element, as most loops do.
enum { ELEMENTS = 1 << 10 };
static union {
  uint8_t u8[ELEMENTS * 16];
  uint16_t u16[ELEMENTS * 8];
  uint32_t u32[ELEMENTS * 4];
  uint64_t u64[ELEMENTS * 2];
  unsigned __int128 u128[ELEMENTS];
} memory;
static char other[ELEMENTS * 16];
static const char *kind;
static long times;
static uint64_t result; // written once

#define READS(bits) \
  if (!strcmp(kind, "read" #bits)) \
    for (long i = 0; i < times; i++) sum += memory.u##bits[i % ELEMENTS];
#define WRITES(bits) \
  if (!strcmp(kind, "write" #bits)) \
    for (long i = 0; i < times; i++) memory.u##bits[i % ELEMENTS] = (uint8_t)i;

static uint64_t __attribute__((noinline)) function(uint64_t a) { return a + memory.u64[a % 2]; }

static void *work(void *arg) {
  uint64_t sum = 0;
  (void)arg;
  READS(8) READS(16) READS(32) READS(64)
  if (!strcmp(kind, "read128")) for (long i = 0; i < times; i++) sum += (uint64_t)memory.u128[i % ELEMENTS];
  WRITES(8) WRITES(16) WRITES(32) WRITES(64) WRITES(128)
  if (!strcmp(kind, "unaligned64")) {
    for (long i = 0; i < times; i++) {
      struct __attribute__((packed)) word { uint64_t v; };
      sum += ((struct word *)(memory.u8 + 3 + 8 * (i % ELEMENTS)))->v;
    }
  }
  if (!strcmp(kind, "copy64")) for (long i = 0; i < times; i++) memcpy(other + 64 * (i % (ELEMENTS / 4)), memory.u8 + 64 * (i % (ELEMENTS / 4)), 64);
  if (!strcmp(kind, "copy4096")) for (long i = 0; i < times; i++) memcpy(other, memory.u8, 4096);
  if (!strcmp(kind, "function")) for (long i = 0; i < times; i++) sum = function(sum);
  result = sum;
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  kind = argv[1];
  times = atol(argv[2]);
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  printf("%llu\n", (unsigned long long)result);
  return 0;
}
