// locals.c: finds the frames that contain objects on stacks. The controller names the objects by
// the function's variables (internal/symbol/local.go).
//
// For each frame, the access hooks record the function's call site, and its stack pointer and frame
// pointer after the prologue. The canonical frame address lies just above the slot with the return address.
// The runtime searches for that slot from the caller's frame down: only what the caller pushed
// lies between.
//
// The function's position is where the function called the next one that has access hooks, or, in the innermost one,
// the place of the thread's operation. If a function without access hooks lies between, both are places
// in that one, and the position is the word just below the recorded stack pointer: the return address of the
// function's call. If the function has moved its stack pointer since, this word means nothing, or is a former
// position. The controller, which knows the functions, chooses.
#include "core/event.h"
#include "core/fiber.h"
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/rings.h"
#include "core/run.h"

enum { SEEN = 1 << 12, SLOTS = 4096, OTHERS = 256 /* threads whose stacks are searched */ };
static struct { uint64_t hash, positions; uint32_t epoch; } *seen;
static uint32_t epoch;

void hd_locals_begin(void) {
  epoch++;
  if (!seen) seen = hd_map(sizeof *seen * SEEN, "frames");
}

// Reports whether h, an object in a frame, has not been seen in this execution while the frame's
// function was at this position: blocks of a function may have different variables at one place.
// positions is a set of hashes, and a new position with the hash of another passes for an old one. If the
// table is full, fresh returns false, and the object has no name.
static bool fresh(uint64_t h, uint64_t position) {
  uint64_t bit = 1ull << (hd_mix(position, 0) >> 58);
  for (uint32_t s = 0, i = (uint32_t)(h >> 40) % SEEN; s < 16; s++, i = (i + 1) % SEEN) {
    if (seen[i].epoch != epoch) {
      seen[i].epoch = epoch;
      seen[i].hash = h;
      seen[i].positions = bit;
      return true;
    }
    if (seen[i].hash == h) {
      bool known = seen[i].positions & bit;
      seen[i].positions |= bit;
      return !known;
    }
  }
  return false;
}

static bool on_stack(const struct hd_thread *u, uint64_t addr, uintptr_t *hi) {
  if (u->ended || u->fires || !u->calls.depth) return false;
  *hi = hd_stack_hi(u);
  return addr < *hi && addr >= u->calls.frames[(u->calls.depth < HD_SHADOW_MAX ? u->calls.depth : HD_SHADOW_MAX) - 1].sp;
}

static HD_PROGACCESS uint64_t word_at(uint64_t at) { return *(volatile uint64_t *)at; }

static HD_PROGACCESS uint64_t return_slot(uint64_t from, uint64_t down_to, uint64_t call_site) {
  for (uint64_t at = (from & ~7ull) - 8, k = 0; at >= down_to && k < SLOTS; at -= 8, k++)
    if (word_at(at) == call_site) return at;
  return 0;
}

// The innermost function that u is in called others at the stack pointer that it had at its beginning, or does so now; the last
// of them to return is still the first of the frames that u has left.
void hd_local_left(const struct hd_thread *u, uint64_t obj, uint64_t event) {
  uint32_t d = u->calls.depth;
  if (!d || d >= HD_SHADOW_MAX) return;
  const struct hd_frame *caller = &u->calls.frames[d - 1], *left = caller + 1;
  uint64_t cfa = caller->sp + 16, sp = left->sp + 16;
  if (obj < sp || obj >= cfa - 16 || left->sp >= caller->sp || !hd_known(u->calls.functions[d]) || !hd_known(word_at(cfa - 8))) return;
  struct hd_local rec = { .object = obj, .pc = hd_name(u->calls.functions[d]), .function = hd_name(u->calls.functions[d]), .cfa = (int64_t)(obj - cfa), .sp = (int64_t)(obj - sp), .fp = (int64_t)(obj - left->fp), .event = event };
  hd_out(HD_REC_LOCAL, &rec, sizeof rec);
}

void hd_local(const struct hd_thread *t, uint64_t pc, uint64_t obj, uint64_t event) {
  const struct hd_thread *u = t;
  uintptr_t hi = 0;
  if (!on_stack(u, obj, &hi)) {
    uint32_t i = 0, most = hd.nthreads < OTHERS ? hd.nthreads : OTHERS;
    for (; i < most && !on_stack(&hd_threads[i], obj, &hi); i++) {}
    if (i == most) return;
    u = &hd_threads[i];
  }
  if (u->calls.depth > HD_SHADOW_MAX) return; // the innermost frames were not recorded
  uint32_t d = u->calls.depth;
  uint64_t limit = hi;
  while (d--) { // finds the innermost frame that extends above obj
    limit = d ? u->calls.frames[d - 1].sp + 16 : hi;
    if (limit > obj) break;
  }
  const struct hd_frame *f = &u->calls.frames[d];
  uint64_t sp = f->sp + 16; // before the call of the hook, which pushed a return address and a frame pointer
  uint64_t below = word_at(sp - 8), position = d + 1 < u->calls.depth ? f[1].pc : u == t ? pc : u->pend.pc;
  if (obj < sp || !fresh(hd_mix(hd_mix(obj, sp), f->pc), hd_mix(position, below))) return;
  uint64_t slot = return_slot(limit, sp, f->pc);
  if (!slot || obj >= slot) return;
  struct hd_local rec = {
    .object = obj, .pc = hd_name(position), .below = hd_name(below), .function = hd_name(u->calls.functions[d]),
    .cfa = (int64_t)(obj - (slot + 8)), .sp = (int64_t)(obj - sp), .fp = (int64_t)(obj - f->fp), .event = event,
  };
  hd_out(HD_REC_LOCAL, &rec, sizeof rec);
}
