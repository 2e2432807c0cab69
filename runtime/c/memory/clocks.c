// clocks.c: see clocks.h. When the pool is exhausted, operations on clocks do nothing, and the
// execution is no longer watched (memory/watch.c).
#include "core/own_memory.h"
#include "memory/clocks.h"

// The address is fixed so that mappings of the program do not depend on this one.
#define POOL_BASE 0x2e8000000000ull
static char *pool;
static uint64_t size, used, high; // high: bytes below it may not be zero
static bool empty;

bool hd_pool_begin(uint64_t budget) {
  if (!pool) {
    size = (budget + 4095) & ~4095ull;
    if (!(pool = hd_map_at(POOL_BASE, size))) return false;
  }
  used = 0;
  empty = false;
  return true;
}

void *hd_pool(uint64_t bytes) {
  bytes = (bytes + 15) & ~15ull;
  if (bytes > size - used) {
    empty = true;
    return NULL;
  }
  char *p = pool + used;
  used += bytes;
  if (used - bytes < high) hd_fill(p, 0, used < high ? bytes : high - (used - bytes));
  if (used > high) high = used;
  return p;
}

bool hd_pool_empty(void) { return empty; }

static bool room(struct hd_clock *c, uint32_t n) {
  if (n > c->room) {
    uint32_t more = c->room ? c->room : 8;
    while (more < n) more *= 2;
    uint32_t *times = hd_pool((uint64_t)more * sizeof *times);
    if (!times) return false;
    hd_copy(times, c->times, c->n * sizeof *times);
    c->times = times;
    c->room = more;
  }
  for (uint32_t i = c->n; i < n; i++) c->times[i] = 0;
  if (n > c->n) c->n = n;
  return true;
}

void hd_clock_put(struct hd_clock *c, uint32_t chain, uint32_t time) {
  if (room(c, chain + 1)) c->times[chain] = time;
}

void hd_clock_join(struct hd_clock *c, const struct hd_clock *d) {
  if (d->n > c->n && !room(c, d->n)) return;
  for (uint32_t i = 0; i < d->n; i++)
    if (d->times[i] > c->times[i]) c->times[i] = d->times[i];
}

void hd_clock_set(struct hd_clock *c, const struct hd_clock *d) {
  if (d->n > c->n && !room(c, d->n)) return;
  hd_copy(c->times, d->times, d->n * sizeof *c->times);
  c->n = d->n;
}

void hd_clock_meet(struct hd_clock *c, const struct hd_clock *d) {
  if (d->n < c->n) c->n = d->n;
  for (uint32_t i = 0; i < c->n; i++)
    if (d->times[i] < c->times[i]) c->times[i] = d->times[i];
}
