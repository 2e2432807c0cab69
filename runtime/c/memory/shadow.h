// shadow.h: remembers accesses to memory, to find data races in place (HD_PLAN_WATCH).
//
// Each granule, 8 bytes of memory, has a cell of 4 bytes with the number of a set: the accesses to the
// granule that later accesses can race with. Sets are immutable, and equal sets have one number. An
// access is therefore a step of its granule from one set to another, and the new set depends only on
// the old set and the access: the instruction, its bytes of the granule, its thread and the thread's
// epoch. A cache remembers steps. Loops over memory take few different steps, so nearly every access
// costs a load of the cell, a lookup in the cache and a store; only new steps compare clocks and
// search for equal sets.
//
// internal/analysis/race is the reference for the contents of sets and for what counts as a race: both
// find every pair of instructions that race in the execution. A remembered step need not be checked for
// races again, because its thread's clock can only have grown since, and it would find fewer races.
//
// Bytes that several instructions access in an order that depends on the data, as in a compressor's
// output, would multiply sets: one for each combination of instructions, epochs and bytes. So when an
// execution has many sets, an access to a single byte that takes a new step splits its granule: the
// cell becomes hd_split, and each of the eight bytes gets a cell of its own. The sets of bytes are
// ordinary sets whose records cover all bytes, so all bytes with the same accesses share a set, and
// instructions share the steps. A granule is whole again once its eight bytes have one set after an
// access to all of them.
//
// A process does not reuse numbers of sets, so cells need not be cleared between executions: all
// earlier numbers denote the empty set.
//
// An allocation is a write of its block, without a check for races: accesses to the memory's previous contents cannot
// race with it. A later write of the bytes replaces it. Large ranges cost a step for each page of cells, not for
// each cell: see CELLS in shadow.c.
#ifndef HD_MEMORY_SHADOW_H
#define HD_MEMORY_SHADOW_H
#include "core/run.h"
#include "memory/order.h"
#include "memory/shared_state.h"

enum {
  HD_GRANULE_BITS = 3,
  HD_LEAF_BITS = 24,                // a leaf has the cells of 1 << HD_LEAF_BITS bytes of memory
  HD_ADDRESS_BITS = 47,
  HD_LEAF_CELLS = 1 << (HD_LEAF_BITS - HD_GRANULE_BITS),
  HD_STEPS = 1 << 13,
};

// A remembered step.
struct hd_step_taken {
  uint64_t from;    // set << 32 | serial number of the thread's epoch; 0: none
  uint64_t access;  // see hd_access_key
  uint32_t to;      // the resulting set
  uint32_t times;   // how often it was taken since its count was last added to the instruction's
  uint32_t source;  // shadow.c: the instruction's number
  uint32_t pad;
};

// At fixed addresses, which saves each access a load. Mapped while executions are watched.
#define HD_LEAVES 0x2e0000000000ull
#define HD_STEPS_TAKEN 0x2e1000000000ull
#define HD_BYTE_LEAVES 0x2e0800000000ull
#define hd_leaves ((uint32_t **)HD_LEAVES) // by address >> HD_LEAF_BITS; NULL: not mapped yet
#define hd_byte_leaves ((uint32_t **)HD_BYTE_LEAVES) // the same for the cells of bytes; those of a whole granule have no meaning
#define hd_steps_taken ((struct hd_step_taken *)HD_STEPS_TAKEN)

// Identifies an access apart from its thread: the instruction, and the offset in its granule. An
// instruction always accesses the same number of bytes in the same way, with two exceptions: some
// read and then write, and ranges vary, so the part of an access to one of several granules
// includes its number of bytes.
#define HD_KEY_WRITES (1ull << 48)
#define HD_KEY_PART (1ull << 49) // the 3 bits above hold the number of bytes - 1
#define HD_KEY_FREES (1ull << 53)
#define HD_KEY_ALLOCATES (HD_KEY_FREES | HD_KEY_WRITES)
#define HD_KEY_BYTE (1ull << 54) // the step of a byte's cell, without the offset: it is equal for all bytes
static inline uint64_t hd_access_key(uint64_t pc, uint64_t addr, uint16_t op) {
  return (pc ^ addr << 61) ^ (op == HD_OP_WRITE || op == HD_OP_WRITE_RANGE ? HD_KEY_WRITES : op == HD_OP_FREE ? HD_KEY_FREES : op == HD_OP_MALLOC ? HD_KEY_ALLOCATES : 0);
}

static inline struct hd_step_taken *hd_step_at(uint64_t from, uint64_t access) {
  uint64_t h = (access ^ (from << 23 | from >> 41)) * 0x9e3779b97f4a7c15ull;
  return &hd_steps_taken[h >> (64 - 13)];
}

// Reports whether t's access is a remembered step, and performs the step, which changes only the cell.
// The instruction is then not a scheduling point, the memory is not freed, and an access of at most 8
// bytes lies in one granule: other steps are not remembered.
static inline __attribute__((always_inline)) bool hd_shadow_hit(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  if (size > 16) return false; // a range
  bool two = size == 16;
  if (two && HD_UNLIKELY(addr & 15)) return false;
  uint32_t *leaf = hd_leaves[addr >> HD_LEAF_BITS & ((1u << (HD_ADDRESS_BITS - HD_LEAF_BITS)) - 1)]; // a larger address faults
  if (HD_UNLIKELY(!leaf)) return false;
  uint32_t *cell = &leaf[addr >> HD_GRANULE_BITS & (HD_LEAF_CELLS - 1)];
  if (two && HD_UNLIKELY(cell[0] != cell[1])) return false;
  uint64_t from = (uint64_t)*cell << 32 | t->serial, access = hd_access_key(pc, addr, op) ^ (two ? HD_KEY_PART | 7ull << 50 : 0);
  struct hd_step_taken *s = hd_step_at(from, access);
  if (HD_UNLIKELY(s->from != from || s->access != access)) return false;
  s->times++;
  if (two) cell[1] = s->to;
  if (s->to != (uint32_t)(from >> 32)) *cell = s->to; // without the check, the next access to the granule would depend on this store
  return true;
}

extern uint32_t hd_split; // what the cells of split granules contain

// The same for an access to one byte of a split granule.
static inline bool hd_shadow_byte_hit(struct hd_thread *t, uint64_t addr, uint16_t op, uint64_t pc) {
  uint32_t *leaf = hd_leaves[addr >> HD_LEAF_BITS & ((1u << (HD_ADDRESS_BITS - HD_LEAF_BITS)) - 1)];
  if (!leaf || leaf[addr >> HD_GRANULE_BITS & (HD_LEAF_CELLS - 1)] != hd_split) return false;
  uint32_t *cell = &hd_byte_leaves[addr >> HD_LEAF_BITS][addr & ((1u << HD_LEAF_BITS) - 1)];
  uint64_t from = (uint64_t)*cell << 32 | t->serial, access = hd_access_key(pc, 0, op) ^ HD_KEY_BYTE;
  struct hd_step_taken *s = hd_step_at(from, access);
  if (HD_UNLIKELY(s->from != from || s->access != access)) return false;
  s->times++;
  if (s->to != (uint32_t)(from >> 32)) *cell = s->to;
  return true;
}

// Called before an access by t.
void hd_shadow_access(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc);
// The same by an instruction that is a scheduling point.
void hd_shadow_point(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc);
bool hd_shadow_begin(uint64_t budget);  // false: the address space is too small
bool hd_shadow_full(void);              // the budget is exhausted
void hd_shadow_give_up(void);           // treats it as exhausted
// Called before (arrive) and after (atomic) hd_order_event if the pending operation is an atomic access.
void hd_shadow_arrive(struct hd_thread *t);
void hd_shadow_atomic(struct hd_thread *t, int32_t result);
// The pending operation begins or ends the lifetime of object (bound), or uses it. before is what happened
// before it.
void hd_shadow_lifetime(struct hd_thread *t, uint64_t object, bool bound, const struct hd_clock *before);
// t makes a call on an object of shared_state.h.
void hd_shadow_call(struct hd_thread *t, uint64_t object, enum hd_share how, uint64_t pc);
void hd_shadow_reset(uint64_t addr, uint64_t size);  // forgets accesses to this memory, whose contents are new
// The same, and t's allocation of the memory at pc counts as a write of it, or of its first HD_ALLOCATED bytes.
#define HD_ALLOCATED (64ull << 20)
void hd_shadow_allocated(struct hd_thread *t, uint64_t addr, uint64_t size, uint64_t pc);
uint64_t hd_shadow_report(void);        // sends the profile, and returns the number of accesses
#endif
