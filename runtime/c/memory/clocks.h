// clocks.h: vector clocks, and the pool that holds them and other state of a watched execution.
#ifndef HD_MEMORY_CLOCKS_H
#define HD_MEMORY_CLOCKS_H
#include "core/base.h"

// ---- the pool: zeroed memory that lasts until the execution ends
bool hd_pool_begin(uint64_t budget);    // false: the address space is too small
void *hd_pool(uint64_t bytes);          // NULL: the budget is exhausted
bool hd_pool_empty(void);               // an allocation has failed

// A vector clock: the known time of each chain (internal/analysis/hb/clock.go). A chain is a sequence
// of threads, each of which happens after the end of the one before it. Times start at 1.
struct hd_clock { uint32_t *times; uint32_t n, room; };

static inline uint32_t hd_clock_time(const struct hd_clock *c, uint32_t chain) { return chain < c->n ? c->times[chain] : 0; }
static inline bool hd_clock_covers(const struct hd_clock *c, uint64_t epoch) { return (uint32_t)epoch <= hd_clock_time(c, (uint32_t)(epoch >> 32)); }
static inline uint64_t hd_epoch(uint32_t chain, uint32_t time) { return (uint64_t)chain << 32 | time; }
void hd_clock_put(struct hd_clock *c, uint32_t chain, uint32_t time);
void hd_clock_join(struct hd_clock *c, const struct hd_clock *d);
void hd_clock_set(struct hd_clock *c, const struct hd_clock *d);
void hd_clock_meet(struct hd_clock *c, const struct hd_clock *d); // sets c to the minimum of both, by component
static inline void hd_clock_forget(struct hd_clock *c) { c->n = 0; }
#endif
