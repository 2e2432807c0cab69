// clocks.h: vector clocks, and the memory they and all other state of a watched execution lie in.
#ifndef HD_MEMORY_CLOCKS_H
#define HD_MEMORY_CLOCKS_H
#include "core/base.h"

// ---- the pool: zeroed memory that lasts until the execution ends
bool hd_pool_begin(uint64_t budget);    // false: there is no address space for it
void *hd_pool(uint64_t bytes);          // NULL: the budget is used up
bool hd_pool_empty(void);               // an allocation has failed

// What is known of each chain's time (internal/analysis/hb/clock.go). Chains are numbers of threads of
// which each begins after the one before it has ended, as far as anybody can tell. Times start at 1.
struct hd_clock { uint32_t *times; uint32_t n, room; };

static inline uint32_t hd_clock_time(const struct hd_clock *c, uint32_t chain) { return chain < c->n ? c->times[chain] : 0; }
static inline bool hd_clock_covers(const struct hd_clock *c, uint64_t epoch) { return (uint32_t)epoch <= hd_clock_time(c, (uint32_t)(epoch >> 32)); }
static inline uint64_t hd_epoch(uint32_t chain, uint32_t time) { return (uint64_t)chain << 32 | time; }
void hd_clock_put(struct hd_clock *c, uint32_t chain, uint32_t time);
void hd_clock_join(struct hd_clock *c, const struct hd_clock *d);
void hd_clock_set(struct hd_clock *c, const struct hd_clock *d);
void hd_clock_meet(struct hd_clock *c, const struct hd_clock *d); // keeps only what both know
static inline void hd_clock_forget(struct hd_clock *c) { c->n = 0; }
#endif
