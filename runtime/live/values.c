// values.c: what the memory of a recorded access holds. A hook of a write comes before the write, so its value is read at
// the thread's next event. All that lets another thread see or overwrite the memory is an event, and comes later; hl_settle
// is called where it is not.
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>
#include "live.h"

static uint64_t heap; // where the program's break was at first

void hl_values_begin(void) { heap = (uint64_t)sbrk(0); }

// Addresses count as equal in a hash, as in the controlled runtime: those above 1 TiB, and those of libc's heap, which lies
// lower in a program that is not position-independent.
static uint64_t placeless(uint64_t v) {
  if (v >> 47 == 0 && v >> 40 != 0) return 1;
  return heap >> 40 == 0 && v >= heap && v < (uint64_t)sbrk(0) ? 1 : v;
}

static uint64_t word(uint64_t address, uint32_t size) {
  uint64_t v = 0;
  memcpy(&v, (const void *)address, size < 8 ? size : 8);
  return v;
}

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ b) * 0x9e3779b97f4a7c15ull;
  x ^= x >> 32, x *= 0xd6e8feb86659fd93ull, x ^= x >> 32;
  return x;
}

uint64_t hl_content(uint32_t kind, uint64_t address, uint32_t size, uint64_t *more) {
  if (address < 1u << 16 || address >> 47) return 0; // the access itself is to fault, and at its own instruction
  if (kind == HL_READ || kind == HL_WRITE || size <= 8) {
    if (size == 16) *more = placeless(word(address + 8, 8));
    return word(address, size);
  }
  uint64_t hash = size;
  for (uint64_t at = address, end = address + size; at < end;) {
    bool whole = at % 8 == 0 && end - at >= 8;
    uint64_t v = word(at, whole ? 8 : 1);
    hash = mix(hash, whole ? placeless(v) : v);
    at += whole ? 8 : 1;
  }
  return hash | 1;
}

void hl_settle_thread(struct hl_thread *t) {
  struct hl_record *r = t->open;
  if (!r) return;
  t->open = NULL;
  t->copying = false;
  r->value = hl_content(r->kind, t->open_at, r->size, &r->more);
}

void hl_settle(void) {
  if (hl_me && hl_me->open && !hl_me->inside) hl_settle_thread(hl_me);
}

__attribute__((destructor)) static void ended(void) { hl_settle(); }
