// shared_state.c: see shared_state.h.
#include "memory/shadow.h"
#include "memory/shared_state.h"

// Objects have shadow cells of their own, apart from those of the memory at their addresses.
#define STATE_BASE 0x2f0000000000ull // no memory lies there
static uint64_t cell_of(enum hd_shared of, uint64_t object) {
  return STATE_BASE + ((uint64_t)of << HD_SHARED_SHIFT) + (hd_mix(object, of) & ((1u << HD_SHARED_SHIFT) - 8));
}

// Calls that have left their record in the present epoch of their thread. Another one would add nothing.
enum { RECENT = 64 };
static struct { uint64_t cell; uint32_t serial, how; } recent[RECENT];

HD_ON_SIDE_STACK(bool, hd_shares_slow, (enum hd_shared of, uint64_t object, enum hd_share how, uint64_t pc)) {
  struct hd_thread *t = hd.cur;
  if (!hd.watcher) { // happens-before is not known
    if (how != HD_LOOKS_AT) hd.result.notes |= HD_NOTE_UNORDERED << of;
    return true;
  }
  uint64_t cell = cell_of(of, object);
  uint32_t i = (uint32_t)(cell >> 3) % RECENT;
  if (t->serial && recent[i].cell == cell && recent[i].serial == t->serial && recent[i].how == how) return false;
  hd_shadow_call(t, cell, how, pc);
  recent[i].cell = cell;
  recent[i].serial = t->serial;
  recent[i].how = how;
  return true;
}

void hd_shared_ended(enum hd_shared of, uint64_t object) {
  if (!hd_active() || !hd.watcher) return;
  uint64_t cell = cell_of(of, object);
  hd_shadow_reset(cell, 1);
  recent[(cell >> 3) % RECENT].cell = 0;
}
