// omit.c: omits synchronisation calls, to find out whether the program needs them. The
// controller names the calls by their return addresses. Omitting an acquire also omits the
// matching release, so the runtime records each omitted acquire until then. An injected fault
// (core/injection.h) omits one call of one thread.
#include "core/injection.h"
#include "core/omit.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/rings.h"
#include "core/run.h"

enum { HASH = HD_MAX_OMITTED_SITES * 4, OWED = 4096 };

bool hd_omitting;
static uint32_t nomitted; // calls that the controller names
static uint16_t *index_of; // by hash of the address: index of hd_shm->omitted_sites + 1
static struct owed {
  uint64_t object;
  uint32_t thread;
  uint32_t held;  // how many times the thread really held the object at that time
  uint32_t count;
} *owed;
static uint32_t nowed;

static uint32_t place(uint64_t pc) {
  uint32_t i = (uint32_t)(hd_mix(pc, 0) >> 32) % HASH;
  while (index_of[i] && hd_shm->omitted_sites[index_of[i] - 1].pc != pc) i = (i + 1) % HASH;
  return i;
}

void hd_omit_begin(void) {
  nowed = 0;
  hd_omitting = hd_shm->nomitted || hd.plan.fault == HD_FAULT_DROPPED;
  if (HD_LIKELY(!hd_omitting)) return;
  if (!owed) owed = hd_map(OWED * sizeof *owed, "locks that were not taken");
  if (nomitted == hd_shm->nomitted) return;
  index_of = hd_map(HASH * sizeof *index_of, "calls to ignore");
  nomitted = hd_shm->nomitted;
  for (uint32_t i = 0; i < nomitted; i++) index_of[place(hd_shm->omitted_sites[i].pc)] = (uint16_t)(i + 1);
}

// Returns the index of the controller's call that returns to pc, -1 if there is no such call. For a
// call in a function of a library's header, the caller of that function decides.
static int which(uint64_t pc) {
  const struct hd_thread *t = hd.cur;
  for (uint32_t d = t->calls.depth < HD_SHADOW_MAX ? t->calls.depth : HD_SHADOW_MAX;; pc = t->calls.frames[--d].pc) {
    uint32_t i = index_of[place(pc)];
    if (!i) return -1;
    uint32_t w = hd_shm->omitted_sites[i - 1].which;
    if (w != HD_OMITTED_CALLER) return (int)w;
    if (!d) return -1;
  }
}

bool hd_omit_now(uint64_t pc) { return hd_injects(HD_FAULT_DROPPED, pc); }

bool hd_omit(uint64_t pc) {
  if (hd_omit_now(pc)) return true;
  int w = nomitted ? which(pc) : -1;
  if (w < 0) return false;
  hd_shm->omitted_times[w]++;
  return true;
}

bool hd_omit_lock(uint64_t pc, uint64_t object, uint32_t held) {
  if (!hd_omit(pc)) return false;
  uint32_t thread = hd.cur->number;
  for (uint32_t i = nowed; i--;)
    if (owed[i].object == object && owed[i].thread == thread) {
      if (owed[i].held != held) break;
      owed[i].count++;
      return true;
    }
  if (nowed == OWED) hd_unsupported("more than 4096 locks at a time that were not taken (--omit)");
  owed[nowed++] = (struct owed){ object, thread, held, 1 };
  return true;
}

static struct owed *newest(uint64_t object) {
  for (uint32_t i = nowed; i--;)
    if (owed[i].object == object && owed[i].thread == hd.cur->number) return &owed[i];
  return NULL;
}

bool hd_omit_held(uint64_t object) { return newest(object) != NULL; }

bool hd_omit_unlock(uint64_t object, uint32_t held) {
  struct owed *o = newest(object);
  if (!o || held > o->held) return false; // since then the thread has really acquired the lock
  if (--o->count == 0)
    for (struct owed *end = &owed[--nowed]; o < end; o++) *o = o[1];
  return true;
}
