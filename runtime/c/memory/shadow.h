// shadow.h: who accessed what, for finding data races in place (HD_PLAN_WATCH).
//
// For each 8 bytes of memory, a granule, a cell has the number of a set: the accesses to the granule
// that later ones can race with. Sets are immutable, and equal ones are one. So an access takes its
// granule from one set to another, and which one it is depends on nothing but the set and
// the access: the instruction, its bytes of the granule, its thread and the thread's epoch. A cache
// remembers such steps. Loops over memory do few different ones, so nearly all accesses are a
// load of the cell, a look into the cache and a store, and all that is dear is done once for each step:
// comparing clocks, finding equal sets. A cell takes four bytes.
//
// What a set has, and when two of its accesses race, is as in internal/analysis/race, the reference:
// every pair of instructions that race in the execution is found. A step that was remembered need not
// look for races again: what its thread knows has at most grown since, in which case it would
// find fewer.
//
// Numbers of sets are never used twice by a process, so cells need not be cleared between executions:
// a number below hd_sets_first stands for the empty set.
#ifndef HD_MEMORY_SHADOW_H
#define HD_MEMORY_SHADOW_H
#include "core/run.h"
#include "memory/order.h"

enum {
  HD_GRANULE_BITS = 3,
  HD_LEAF_BITS = 24,                // a leaf has the cells of so much memory
  HD_ADDRESS_BITS = 47,
  HD_LEAF_CELLS = 1 << (HD_LEAF_BITS - HD_GRANULE_BITS),
  HD_STEPS = 1 << 13,
};

// A step that was taken before.
struct hd_step_taken {
  uint64_t from;    // set << 32 | serial number of the thread's epoch; 0: none
  uint64_t access;  // see hd_access_key
  uint32_t to;      // the set that it leads to
  uint32_t times;   // that it was taken since it was counted
  uint32_t source;  // shadow.c: the instruction's number
  uint32_t counts;  // 1: the access is counted with this granule, not with another one that it takes
};

extern uint32_t **hd_leaves;              // by address; NULL: none yet
extern struct hd_step_taken *hd_steps_taken;
extern uint32_t hd_sets_first;

// The instruction, what it does, and its bytes in the granule of addr.
static inline uint64_t hd_access_key(uint64_t pc, uint16_t op, uint64_t addr, uint64_t size, bool counts) {
  uint64_t kind = op == HD_OP_FREE ? 15 : (uint64_t)(op - HD_OP_READ);
  return (pc & 0xffffffffffffull) | (addr & 7) << 48 | (size - 1) << 51 | kind << 54 | (uint64_t)counts << 58;
}

static inline struct hd_step_taken *hd_step_at(uint64_t from, uint64_t access) {
  uint64_t h = (from ^ access * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;
  return &hd_steps_taken[h >> (64 - 13)];
}

static inline uint32_t *hd_cell(uint64_t addr) {
  if (HD_UNLIKELY(addr >> HD_ADDRESS_BITS)) return NULL;
  uint32_t *leaf = hd_leaves[addr >> HD_LEAF_BITS];
  return HD_LIKELY(leaf != NULL) ? &leaf[addr >> HD_GRANULE_BITS & (HD_LEAF_CELLS - 1)] : NULL;
}

void hd_shadow_slow(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc);

// An access by t is about to be done.
static inline __attribute__((always_inline)) void hd_shadow_access(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  uint32_t *cell = hd_cell(addr);
  if (HD_LIKELY(cell && t->order && (addr & 7) + size <= 8)) {
    uint32_t set = *cell;
    if (set < hd_sets_first) set = 0;
    uint64_t from = (uint64_t)set << 32 | t->order->serial, access = hd_access_key(pc, op, addr, size, true);
    struct hd_step_taken *s = hd_step_at(from, access);
    if (HD_LIKELY(s->from == from && s->access == access)) {
      s->times++;
      if (s->to != set) *cell = s->to;
      return;
    }
  }
  hd_shadow_slow(t, addr, size, op, pc);
}

bool hd_shadow_begin(uint64_t budget);  // false: there is no address space for it
bool hd_shadow_full(void);              // the budget is used up
void hd_shadow_atomic(struct hd_thread *t, int32_t result); // the pending operation, an atomic one, was done
void hd_shadow_reset(uint64_t addr, uint64_t size);  // what is there is new: accesses to it so far cannot race with later ones
uint64_t hd_shadow_report(void);        // sends the profile, and returns the number of accesses
#endif
