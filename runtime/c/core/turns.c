// turns.c: scheduling points of a long loop at which the running thread simply goes on.
//
// A stress test repeats a few operations for 100,000 turns, and most turns bring no new behaviour. With a plan that has
// turns, the policy decides in a thread's first HD_TURNS_NEW visits of an instruction, in a window of later visits, and, if
// the plan says so, in all threads for some points after one of these first visits: a thread then does something that it has
// rarely done. Elsewhere the running thread goes on if its operation is enabled. Such a point is counted, takes time and is
// an event like any other, so a script repeats the execution without turns. hd_policy_due says where fairness needs a decision all the same.
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/policy.h"
#include "core/turns.h"

// The visits of an instruction by a thread. Those of pairs for which there is no room count as first ones.
static struct site { uint64_t pc; uint32_t thread, visits, epoch; } *sites;
static uint32_t epoch, nsites;
static uint64_t until; // points up to which the policy decides in all threads

enum { SLOTS = 2 * HD_TURNS_SITES };

void hd_turns_begin(void) {
  if (!sites) sites = hd_map(sizeof *sites * SLOTS, "the turns of loops");
  epoch++;
  nsites = 0;
  until = 0;
}

// Counts a visit of t to pc. Returns the number of earlier ones.
static uint32_t visit(const struct hd_thread *t, uint64_t pc) {
  for (uint32_t i = (uint32_t)(hd_mix(pc, t->number) >> 20) % SLOTS;; i = (i + 1) % SLOTS) {
    struct site *s = &sites[i];
    if (s->epoch == epoch) {
      if (s->pc == pc && s->thread == t->number) return s->visits++;
      continue;
    }
    if (nsites == HD_TURNS_SITES) return 0;
    nsites++;
    *s = (struct site){ .pc = pc, .thread = t->number, .visits = 1, .epoch = epoch };
    return 0;
  }
}

// Operations that a thread in a loop repeats, and whose effect does not depend on a decision.
static bool repeats(uint16_t op) {
  switch (op) {
  case HD_OP_READ: case HD_OP_WRITE: case HD_OP_READ_RANGE: case HD_OP_WRITE_RANGE:
  case HD_OP_ATOMIC_LOAD: case HD_OP_ATOMIC_STORE: case HD_OP_ATOMIC_RMW: case HD_OP_ATOMIC_CAS:
  case HD_OP_MUTEX_LOCK: case HD_OP_MUTEX_TRYLOCK: case HD_OP_MUTEX_UNLOCK:
  case HD_OP_RWLOCK_RDLOCK: case HD_OP_RWLOCK_WRLOCK: case HD_OP_RWLOCK_TRYRDLOCK: case HD_OP_RWLOCK_TRYWRLOCK: case HD_OP_RWLOCK_UNLOCK:
  case HD_OP_SPIN_LOCK: case HD_OP_SPIN_TRYLOCK: case HD_OP_SPIN_UNLOCK:
    return true;
  default: return false;
  }
}

bool hd_turns_pass(const struct hd_thread *t) {
  uint32_t before = visit(t, t->pend.pc);
  if (before < HD_TURNS_NEW) {
    until = hd.points + 1 + hd.plan.turns_after;
    return false;
  }
  return before - hd.plan.turns_from >= hd.plan.turns && hd.points >= until && repeats(t->pend.op) && !hd_policy_due(t);
}
