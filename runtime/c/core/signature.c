// signature.c: the trace signature, a hash that is equal for executions that order conflicting
// operations in the same way. Each object has a running hash. Every operation adds a hash of
// itself and the object's hash to the signature; an operation that changes the object also
// updates the object's hash. The sum does not depend on the order of independent operations.
#include "core/event.h"
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/run.h"

// Memory has a hash for each byte, so accesses of different sizes to the same bytes conflict.
enum { SLOTS = 1 << 12, BYTES = 8 };
static struct { uint64_t obj, hash[BYTES]; uint32_t epoch; } *table;
static uint32_t epoch;

void hd_signature_reset(void) {
  if (!table) table = hd_map(sizeof *table * SLOTS, "the signature");
  epoch++;
  hd.signature = 0;
}

static uint64_t *hashes(uint64_t obj) {
  uint32_t i = (uint32_t)(hd_mix(obj, 0x51) >> 20) % SLOTS;
  // A displaced object loses its history, so a few more executions have equal signatures.
  if (table[i].epoch != epoch || table[i].obj != obj) {
    table[i].epoch = epoch;
    table[i].obj = obj;
    for (uint32_t b = 0; b < BYTES; b++) table[i].hash[b] = obj;
  }
  return table[i].hash;
}

static bool looks(uint16_t op) {
  switch (op) {
  case HD_OP_READ: case HD_OP_READ_RANGE: case HD_OP_ATOMIC_LOAD: case HD_OP_THREAD_START: case HD_OP_THREAD_END: return true;
  default: return false;
  }
}

void hd_signature(struct hd_thread *t) {
  uint16_t op = t->pend.op;
  uint64_t pc = hd_name(t->pend.pc), obj = hd_name(t->pend.obj);
  if (op == HD_OP_PROCESS_EXIT && !t->pend.pc) { // the last thread to end, whichever that is
    op = HD_OP_THREAD_END;
    obj = hd_name(t->fs);
  }
  uint64_t id = t->name + pc * 31 + op;
  uint32_t size = t->pend.size;
  if (size == 0) {
    uint64_t *h = hashes(obj), sum = hd_mix(h[0], id);
    hd.signature += sum;
    if (!looks(op)) h[0] = sum;
    return;
  }
  // The bytes of up to two words; of a larger range, the first ones.
  uint32_t first = obj % BYTES, n = size < BYTES ? size : BYTES;
  uint64_t *low = hashes(obj - first), *high = first + n > BYTES ? hashes(obj - first + BYTES) : NULL, before = 0;
  for (uint32_t b = first; b < first + n; b++) before = before * 31 + (b < BYTES ? low[b] : high[b - BYTES]);
  uint64_t sum = hd_mix(before, id);
  hd.signature += sum;
  if (looks(op)) return;
  for (uint32_t b = first; b < first + n; b++) *(b < BYTES ? &low[b] : &high[b - BYTES]) = sum;
}
