// signature.c: the trace signature, a hash that is equal for executions that order conflicting
// operations in the same way. Each object has a running hash. Every operation adds a hash of
// itself and the object's hash to the signature; an operation that changes the object also
// updates the object's hash. The sum does not depend on the order of independent operations.
#include "core/event.h"
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/run.h"

enum { SLOTS = 1 << 12 };
static struct { uint64_t obj, hash; uint32_t epoch; } *table;
static uint32_t epoch;

void hd_signature_reset(void) {
  if (!table) table = hd_map(sizeof *table * SLOTS, "the signature");
  epoch++;
  hd.signature = 0;
}

void hd_signature(struct hd_thread *t) {
  uint64_t obj = hd_name(t->pend.obj);
  uint32_t i = (uint32_t)(hd_mix(obj, 0x51) >> 20) % SLOTS;
  // A displaced object loses its history, so a few more executions have equal signatures.
  if (table[i].epoch != epoch || table[i].obj != obj) {
    table[i].epoch = epoch;
    table[i].obj = obj;
    table[i].hash = obj;
  }
  uint64_t h = hd_mix(table[i].hash, t->name + hd_name(t->pend.pc) * 31 + t->pend.op);
  hd.signature += h;
  switch (t->pend.op) {
  case HD_OP_READ: case HD_OP_READ_RANGE: case HD_OP_ATOMIC_LOAD: case HD_OP_THREAD_START: case HD_OP_THREAD_END:
    break;
  default:
    table[i].hash = h;
  }
}
