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
// all earlier numbers stand for the empty set.
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
  uint32_t pad;
};

// At fixed addresses, which costs an access less than loading where they are. Mapped while anything is watched.
#define HD_LEAVES 0x2e0000000000ull
#define HD_STEPS_TAKEN 0x2e1000000000ull
#define hd_leaves ((uint32_t **)HD_LEAVES) // by address; NULL: none yet
#define hd_steps_taken ((struct hd_step_taken *)HD_STEPS_TAKEN)

// What identifies an access besides its thread: the instruction, and where in its granule it begins. An
// instruction always does the same to as many bytes, except that some read and then write, and that
// ranges differ: what is done to one granule of several says to how many of its bytes.
#define HD_KEY_WRITES (1ull << 48)
#define HD_KEY_PART (1ull << 49) // and above it, in 3 bits, the number of bytes - 1
#define HD_KEY_FREES (1ull << 53)
static inline uint64_t hd_access_key(uint64_t pc, uint64_t addr, uint16_t op) {
  return (pc ^ addr << 61) ^ (op == HD_OP_WRITE || op == HD_OP_WRITE_RANGE ? HD_KEY_WRITES : op == HD_OP_FREE ? HD_KEY_FREES : 0);
}

static inline struct hd_step_taken *hd_step_at(uint64_t from, uint64_t access) {
  uint64_t h = (access ^ (from << 23 | from >> 41)) * 0x9e3779b97f4a7c15ull;
  return &hd_steps_taken[h >> (64 - 13)];
}

// What t is about to do was done before from the same set, and nothing but the cell changes. So the
// instruction is not a scheduling point, the memory has not been freed, and the access lies in one
// granule: no step is remembered where that is otherwise.
static inline __attribute__((always_inline)) bool hd_shadow_hit(struct hd_thread *t, uint64_t addr, uint16_t op, uint64_t pc) {
  uint32_t *leaf = hd_leaves[addr >> HD_LEAF_BITS & ((1u << (HD_ADDRESS_BITS - HD_LEAF_BITS)) - 1)]; // a larger address faults
  if (HD_UNLIKELY(!leaf)) return false;
  uint32_t *cell = &leaf[addr >> HD_GRANULE_BITS & (HD_LEAF_CELLS - 1)];
  uint64_t from = (uint64_t)*cell << 32 | t->serial, access = hd_access_key(pc, addr, op);
  struct hd_step_taken *s = hd_step_at(from, access);
  if (HD_UNLIKELY(s->from != from || s->access != access)) return false;
  s->times++;
  if (s->to != (uint32_t)(from >> 32)) *cell = s->to; // a store would make the next access to the granule wait for all this
  return true;
}

// An access by t is about to be done.
void hd_shadow_access(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc);
// The same by an instruction that is a scheduling point.
void hd_shadow_point(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc);
bool hd_shadow_begin(uint64_t budget);  // false: there is no address space for it
bool hd_shadow_full(void);              // the budget is used up
// The pending operation is an atomic access: before and after what it acquires and releases.
void hd_shadow_arrive(struct hd_thread *t);
void hd_shadow_atomic(struct hd_thread *t, int32_t result);
void hd_shadow_reset(uint64_t addr, uint64_t size);  // what is there is new: accesses to it so far cannot race with later ones
uint64_t hd_shadow_report(void);        // sends the profile, and returns the number of accesses
#endif
