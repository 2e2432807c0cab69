// tried_lock.c: locks that the program does not take, to find out whether taking them is a fix. The
// controller names ranges of lines by the return addresses of the calls in them. A thread acquires
// the lock before the first such call that the runtime sees, and releases it before the first one
// of the same activation of that function that is not in the range, and when the activation ends.
//
// An activation is a position on the shadow call stack: the hooks at a function's beginning and
// end keep it on every optimisation level, which a frame pointer is not. So calls made from inside
// the range keep the lock, and a recursive call that leaves the range leaves its own only.
//
// The lock is a mutex of the program or one of the runtime's, and is acquired and released by the
// functions behind pthread_mutex_lock and pthread_mutex_unlock: it blocks, is an event, orders
// accesses and can deadlock as in a program with that call.
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/program_memory.h"
#include "core/reached.h"
#include "core/rings.h"
#include "core/run.h"
#include "sync/sync.h"

enum { HASH = HD_MAX_TRIED_SITES * 2, MAX = 4096, MUTEX = 40 };

static uint16_t *index_of; // by hash of the address: index of hd_shm->tried_sites + 1
static struct active { uint32_t thread, depth, range; } *active; // ranges that threads are in, oldest first
static uint32_t nactive;
// A mutex that a thread holds because it is in a range.
static struct kept {
  uint64_t object;
  uint32_t thread;
  uint32_t ranges;  // how many such ranges it is in
  uint32_t program; // how often it would hold the mutex without them
} *kept;
static uint32_t nkept;
static char mutexes[HD_MAX_TRIED][MUTEX] __attribute__((aligned(8))); // the runtime's own; all zero: not locked

static uint32_t place(uint64_t pc) {
  uint32_t i = (uint32_t)(hd_mix(pc, 0) >> 32) % HASH;
  while (index_of[i] && hd_shm->tried_sites[index_of[i] - 1].pc != pc) i = (i + 1) % HASH;
  return i;
}

static uint64_t object_of(uint32_t range) {
  const struct hd_tried_range *r = &hd_shm->tried_ranges[range];
  return r->mutex ? r->mutex : (uint64_t)mutexes[r->own];
}

static struct kept *find(uint64_t object) {
  for (uint32_t i = nkept; i--;)
    if (kept[i].object == object && kept[i].thread == hd.cur->number) return &kept[i];
  return NULL;
}

bool hd_tried_acquires(uint64_t object, bool recursive) {
  struct kept *k = nkept ? find(object) : NULL;
  if (!k || (k->program && !recursive)) return false;
  k->program++;
  return true;
}

enum hd_tried hd_tried_releases(uint64_t object) {
  struct kept *k = nkept ? find(object) : NULL;
  if (!k) return HD_TRIED_NOT;
  if (!k->program) return HD_TRIED_ONLY;
  k->program--;
  return HD_TRIED_RELEASED;
}

static void enter(uint32_t range, uint32_t depth, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  uint64_t object = object_of(range);
  struct kept *k = find(object);
  hd_shm->tried_times[range]++; // it may wait for the lock until the execution ends
  if (k) {
    k->ranges++;
  } else {
    uint32_t program = hd_mutex_depth(object, t);
    if (!program) hd_mutex_lock((void *)object, pc, HD_OP_MUTEX_LOCK, NULL);
    if (nkept == MAX) hd_unsupported("more than 4096 locks at a time that are tried (--try-lock)");
    kept[nkept++] = (struct kept){ object, t->number, 1, program };
  }
  if (nactive == MAX) hd_unsupported("more than 4096 ranges at a time with a lock that is tried (--try-lock)");
  active[nactive++] = (struct active){ t->number, depth, range };
}

static void leave(uint32_t i, uint64_t pc) {
  uint64_t object = object_of(active[i].range);
  nactive--;
  for (struct active *a = &active[i]; a < &active[nactive]; a++) *a = a[1];
  struct kept *k = find(object);
  if (!k || --k->ranges) return;
  uint32_t program = k->program;
  nkept--;
  for (; k < &kept[nkept]; k++) *k = k[1];
  hd_mutex_recount(object, program ? program : 1);
  if (!program) hd_mutex_unlock((void *)object, pc);
}

// Leaves the ranges of the running thread's activation at depth, and of the deeper ones if deeper is set, that
// are in of and not in keep, newest first. Other threads run meanwhile.
static void leave_all(uint32_t depth, bool deeper, uint32_t of, uint32_t keep, uint64_t pc) {
  for (uint32_t i = nactive; i--;) {
    const struct active *a = &active[i];
    if (a->thread != hd.cur->number || (deeper ? a->depth < depth : a->depth != depth)) continue;
    if (!(of >> a->range & 1) || (keep >> a->range & 1)) continue;
    leave(i, pc);
    i = nactive;
  }
}

static bool inside(uint32_t range, uint32_t depth) {
  for (uint32_t i = nactive; i--;)
    if (active[i].thread == hd.cur->number && active[i].depth == depth && active[i].range == range) return true;
  return false;
}

static void reached(uint64_t pc) {
  if (!hd_active()) return;
  uint32_t i = index_of[place(pc)];
  if (!i) return;
  struct hd_tried_site s = hd_shm->tried_sites[i - 1];
  uint32_t depth = hd.cur->calls.depth;
  leave_all(depth, false, s.of, s.in, pc);
  for (uint32_t r = 0; r < hd_shm->ntried; r++)
    if (s.in >> r & 1 && !inside(r, depth)) enter(r, depth, pc);
}

static void leaving(uint32_t depth, uint64_t pc) {
  if (HD_LIKELY(!nactive)) return;
  leave_all(depth, true, ~0u, 0, pc);
}

static void begin(void) {
  nactive = nkept = 0;
  if (HD_LIKELY(!hd_shm->ntried)) return;
  hd_fill(mutexes, 0, sizeof mutexes);
  hd_shm->tried_own = (uint64_t)mutexes;
  hd_shm->tried_stride = MUTEX;
  if (hd_reached) return;
  active = hd_map(MAX * sizeof *active, "ranges with a tried lock");
  kept = hd_map(MAX * sizeof *kept, "tried locks");
  index_of = hd_map(HASH * sizeof *index_of, "instructions with a tried lock");
  for (uint32_t i = 0; i < hd_shm->ntried_sites; i++) index_of[place(hd_shm->tried_sites[i].pc)] = (uint16_t)(i + 1);
  hd_reached = reached;
  hd_leaving = leaving;
}

static void thread_ends(struct hd_thread *t) {
  if (hd_leaving) hd_leaving(0, (uint64_t)t->entry); // the end has no instruction of the program's own
}

const struct hd_registration hd_tried_locks = { .begin = begin, .thread_ends = thread_ends };
