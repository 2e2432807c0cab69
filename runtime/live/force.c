// force.c: CTrigger's controlled execution (ASPLOS'09, §5). For a target (p, c, r) a thread is
// suspended before c, if its last access at p was to the same address, until another thread comes to r
// there; or before r until another comes to c. One thread at a time is suspended for a target, for a
// limited time, and a limited number of times.
//
// A hook is called before its access, so that r has not been done when its hook returns. The thread
// before c therefore waits a little longer (hl_control.pass_ns).
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "live.h"

enum role { ROLE_P = 1, ROLE_C = 2, ROLE_R = 4, ROLE_OUTER_C = 8, ROLE_OUTER_R = 16 };
enum phase { NOBODY, BEFORE_C, BEFORE_R, GO };

// What goes on for a target. waiting is a futex.
static struct state {
  uint32_t waiting; // enum phase
  uint32_t thread;
  uint64_t address; // 0: any
  uint64_t spent;
} *states;

// The instructions of the targets: a table with open addressing.
static struct place { uint64_t pc; uint32_t target, roles; } *places;
static uint64_t mask;

static uint32_t lock;
static void take(void) {
  while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 1, &(struct timespec){ 0, 100000 }, NULL, 0);
}
static void give(void) {
  __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void add(uint64_t place, uint32_t target, uint32_t role) {
  uint64_t pc = hl_address(place);
  if (pc == 0) return;
  for (uint64_t i = pc * 0x9e3779b97f4a7c15u >> 20;; i++) {
    struct place *p = &places[i & mask];
    if (p->pc == pc && p->target == target) {
      p->roles |= role;
      return;
    }
    if (p->pc == 0) {
      *p = (struct place){ pc, target, role };
      return;
    }
  }
}

void hl_force_begin(void) {
  if (hl->ntargets == 0) return;
  uint64_t size = 16;
  while (size < 16 * hl->ntargets) size *= 2;
  places = mmap(NULL, size * sizeof *places, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  states = mmap(NULL, hl->ntargets * sizeof *states, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (places == MAP_FAILED || states == MAP_FAILED) {
    hl->ntargets = 0;
    return;
  }
  mask = size - 1;
  for (uint32_t i = 0; i < hl->ntargets; i++) {
    struct hl_target *t = &hl_targets[i];
    add(t->p, i, ROLE_P);
    add(t->c, i, ROLE_C);
    add(t->r, i, ROLE_R);
    add(t->outer_c, i, ROLE_OUTER_C);
    add(t->outer_r, i, ROLE_OUTER_R);
  }
}

static void rest(uint64_t ns) {
  struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
  syscall(SYS_nanosleep, &t, NULL);
}

// Suspends the caller until the state leaves phase, or the time limit is reached. The lock is held on entry
// and on return.
static bool suspend(struct state *s, enum phase phase, uint32_t thread, uint64_t address) {
  s->waiting = phase, s->thread = thread, s->address = address, s->spent++;
  give();
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t limit = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + hl->limit_ns;
  end.tv_sec = (time_t)(limit / 1000000000), end.tv_nsec = (long)(limit % 1000000000);
  while (__atomic_load_n(&s->waiting, __ATOMIC_ACQUIRE) == (uint32_t)phase)
    if (syscall(SYS_futex, &s->waiting, FUTEX_WAIT_BITSET_PRIVATE, phase, &end, NULL, FUTEX_BITSET_MATCH_ANY) != 0 && errno == ETIMEDOUT) break;
  take();
  bool met = s->waiting == GO;
  s->waiting = NOBODY;
  return met;
}

static void release(struct state *s) {
  __atomic_store_n(&s->waiting, GO, __ATOMIC_RELEASE);
  syscall(SYS_futex, &s->waiting, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static bool overlaps(uint64_t a, uint64_t b) { return a == 0 || b == 0 || a == b; }

static void before_c(struct hl_thread *t, uint32_t i, uint64_t address) {
  struct hl_target *x = &hl_targets[i];
  struct state *s = &states[i];
  if (x->thread_c && x->thread_c != t->number + 1) return;
  if (x->stack_c && !x->outer_c && x->stack_c != hl_calls_now(t)) return;
  x->came_c++;
  if (s->waiting == BEFORE_R && s->thread != t->number && overlaps(s->address, address)) {
    x->met++;
    release(s);
    give();
    rest(hl->pass_ns);
    take();
  } else if (s->waiting == NOBODY && s->spent < hl->budget) {
    x->suspended_c++;
    if (suspend(s, BEFORE_C, t->number, address)) {
      give();
      rest(hl->pass_ns);
      take();
    } else {
      x->expired++;
    }
  }
}

static void before_r(struct hl_thread *t, uint32_t i, uint64_t address) {
  struct hl_target *x = &hl_targets[i];
  struct state *s = &states[i];
  if (x->thread_r && x->thread_r != t->number + 1) return;
  if (x->stack_r && !x->outer_r && x->stack_r != hl_calls_now(t)) return;
  x->came_r++;
  if (s->waiting == BEFORE_C && s->thread != t->number && overlaps(s->address, address)) {
    x->met++;
    if (!x->stay) release(s);
  } else if (s->waiting == NOBODY && s->spent < hl->budget && (hl_random(t) & 1)) {
    x->suspended_r++;
    if (!suspend(s, BEFORE_R, t->number, address)) x->expired++;
  }
}

static void arrive(uint64_t pc, uint64_t address, bool acquires) {
  struct hl_thread *t = hl_thread();
  if (!t || t->inside) return;
  t->inside = true;
  int error = errno;
  bool locked = false;
  for (uint64_t i = pc * 0x9e3779b97f4a7c15u >> 20; places[i & mask].pc != 0; i++) {
    struct place *p = &places[i & mask];
    if (p->pc != pc) continue;
    if (!locked) take();
    locked = true;
    struct hl_target *x = &hl_targets[p->target];
    uint64_t *last = &t->last[p->target];
    if (acquires) {
      if (p->roles & ROLE_OUTER_C && *last != 0) before_c(t, p->target, *last);
      else if (p->roles & ROLE_OUTER_R) before_r(t, p->target, 0);
      continue;
    }
    if (p->roles & ROLE_C && (x->p == 0 || *last == address)) {
      if (!x->outer_c) before_c(t, p->target, address);
      *last = 0;
    }
    if (p->roles & ROLE_R && (!x->outer_r || states[p->target].waiting == BEFORE_C)) before_r(t, p->target, address);
    if (p->roles & ROLE_P) *last = address;
  }
  if (locked) give();
  errno = error;
  t->inside = false;
}

void hl_force_access(uint64_t pc, uint64_t address, uint64_t size) {
  (void)size;
  if (places) arrive(pc, address, false);
}

void hl_force_acquire(uint64_t pc) {
  if (places) arrive(pc, 0, true);
}

// Noise at synchronisation operations, as ConTest makes it: one in eight is delayed.
void hl_delay(void) {
  struct hl_thread *t = hl_thread();
  if (!t || t->inside || hl_random(t) % 8 != 0) return;
  t->inside = true;
  int error = errno;
  rest(hl_random(t) % (hl->limit_ns + 1));
  errno = error;
  t->inside = false;
}
