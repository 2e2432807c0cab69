// setup.c: executions that do not repeat the program's set-up, which is all that main does before it
// creates the first thread. Set-up may take seconds, of which a search would execute few.
//
// Under fork isolation, the first execution forks a server where it is about to create its first
// thread. Later executions are children of that process in which everything is as it was there: the
// program's memory, the runtime's, and the kernel's state of the process. What fork shares instead of
// copying is put back by the modules (hd_registration.continues), or prevents all this
// (hd_registration.shares).
//
// The set-up of an execution must be the one that its plan would have given. With a single thread there
// is nothing to choose, so a plan can change it only by what differing() compares. But a plan's
// decisions have a state, such as random streams, priorities and a position in a script, which each
// decision of the set-up changes. So the set-up is logged, and each execution first makes the decisions
// of its own plan for it (rehearse). If one of them would have ended the execution or differed, the
// execution begins at main.
//
// The set of memory instructions that are scheduling points changes often, but hardly any of them is executed in the
// set-up. Which ones are is known once an execution has had them in its set.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "core/carrier.h"
#include "core/fiber.h"
#include "core/holds.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/policy.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/setup.h"
#include "core/threads.h"

enum {
  MOST = 1 << 18,        // entries of the log
  SENT = 16 << 20,       // bytes of records
  SERVERS = 4,
  POINTS = 1 << 12,      // most instructions in a set of points
  KNOWN = 4 * POINTS,    // slots of the table of instructions that have been in one
  WORTH_NS = 2000000,    // processor time of a set-up from which a server is worth a fork
  // The same for giving up the snapshot, whose executions need no fork.
  WORTH_NS_SNAPSHOT = 20000000,
};

// What happened in the set-up that plans decide about.
enum kind { POINT, COMMIT, ASIDE };
struct entry {
  uint64_t pc, obj;
  uint32_t size;
  uint32_t wasted;     // POINT: hd.wasted
  int32_t result;      // COMMIT
  uint16_t op;
  uint8_t kind;
  uint16_t flags;
};
static struct entry *entries;
static uint32_t nentries;
static char *sent;       // records of the set-up
static uint32_t nsent;
static const char *refused; // why not; NULL: no reason so far
static struct hd_set_up refused_at;
static uint64_t began_ns;

bool hd_setup_open, hd_setup_looking;

// What a plan's set-up depends on.
struct key {
  uint64_t points;       // a hash of those that it executes
  uint64_t skip, most, watch;
  uint64_t shared;       // a hash of the plan's shared instructions
  uint32_t flags;
};
enum { FLAGS = HD_PLAN_EVENTS | HD_PLAN_ACCESSES | HD_PLAN_STACKS | HD_PLAN_VALUES | HD_PLAN_FUNCTIONS | HD_PLAN_STATES | HD_PLAN_WATCH | HD_PLAN_SHARED | HD_PLAN_KNOWN };

// Shared by all processes. Without a pid it is vacant.
static struct server {
  struct key key;
  const struct hd_plan *plan; // to be executed next
  uint64_t index;
  long pid, child;
  uint32_t asked, answered;   // futex words: numbers of requests
  uint32_t used;              // the last request of all
} *servers;
static struct {
  uint64_t pc[POINTS], executed[POINTS]; // the set of points; those of them that the set-up of the last execution has executed
  uint32_t n, version, nexecuted;
  bool learnt;                // there was such an execution since the set was chosen
} *points;
static uint32_t points_version; // of the set that this process has
static int vacant = -1;       // where this execution may put a server
static long server_process;   // the one stopped at main
static uint32_t requests;
static struct { uint64_t pc; bool executed; } *known; // instructions that have been in a set of points
static uint32_t nknown;
static bool sharing;          // this process shares set-ups with the present set of points

static uint64_t cpu_ns(void) {
  struct { long s, ns; } now = { 0, 0 };
  hd_sys(SYS_clock_gettime, 2 /* CLOCK_PROCESS_CPUTIME_ID */, &now, 0);
  return (uint64_t)now.s * 1000000000 + (uint64_t)now.ns;
}

void hd_setup_make(void) {
  entries = hd_map(sizeof *entries * MOST, "the log of the set-up");
  sent = hd_map(SENT, "the records of the set-up");
  servers = hd_map_shared(sizeof *servers * SERVERS, "servers of executions");
  points = hd_map_shared(sizeof *points, "the set of points");
  known = hd_map(sizeof *known * KNOWN, "the points of set-ups");
  sharing = true;
}

static bool wanted(void) { return !(hd_shm->options & HD_OPT_SETUP_NEVER) && !hd_threads_real && !hd_shm->nomitted && !hd_shm->ntried; }

// A plan that changes what an operation of the set-up does cannot share it.
static bool plain(const struct hd_plan *p) { return !p->fault && !(p->flags & HD_PLAN_VISITS); }

// Returns the slot of an instruction in known, an empty one if it is not there.
static uint32_t slot_of(uint64_t pc) {
  uint32_t i = (uint32_t)(hd_mix(pc, 0x70) >> 20) % KNOWN;
  while (known[i].pc && known[i].pc != pc) i = (i + 1) % KNOWN;
  return i;
}

// Reports whether it is known which instructions of the set of points the set-up executes.
static bool points_known(void) {
  for (uint32_t i = 0; i < points->n; i++)
    if (!known[slot_of(points->pc[i])].pc) return false;
  return true;
}

// Takes over what the last execution has told of the set of points.
static void learn(void) {
  if (!points->learnt || points_known()) return;
  if (nknown + points->n > KNOWN / 2) {
    sharing = false;
    return;
  }
  for (uint32_t i = 0; i < points->n; i++) {
    uint32_t k = slot_of(points->pc[i]);
    if (known[k].pc) continue;
    nknown++;
    known[k].pc = points->pc[i];
    for (uint32_t j = 0; j < points->nexecuted; j++) known[k].executed |= points->executed[j] == points->pc[i];
  }
}

static struct key key_of(const struct hd_plan *p) {
  uint64_t executed = 0;
  for (uint32_t i = 0; i < points->n; i++)
    if (known[slot_of(points->pc[i])].executed) executed += hd_mix(points->pc[i], 0x70);
  uint64_t shared = 0;
  const uint64_t *list = hd_plan_shared((const uint64_t *)((const struct hd_step *)(p + 1) + p->nsteps), p);
  for (uint32_t i = 0; i < p->nshared; i++) shared = hd_mix(shared, list[i]);
  bool accesses = p->flags & HD_PLAN_ACCESSES, watch = p->flags & HD_PLAN_WATCH;
  return (struct key){ .points = executed, .shared = shared, .flags = p->flags & FLAGS, .skip = accesses ? p->skip_accesses : 0,
                       .most = accesses ? p->max_accesses : 0, .watch = watch ? p->watch_budget : 0 };
}
static bool differing(const struct key *a, const struct key *b) {
  return a->points != b->points || a->shared != b->shared || a->flags != b->flags || a->skip != b->skip || a->most != b->most || a->watch != b->watch;
}

// ---- in an execution
static void refuse(const char *why, uint32_t op) {
  hd_setup_open = false;
  refused = why;
  refused_at = (struct hd_set_up){ .pc = hd.cur ? hd_name(hd.cur->pend.pc) : 0, .op = op };
}

void hd_setup_refuse(const char *why) { refuse(why, HD_OP_NONE); }

void hd_setup_begin(void) {
  static bool looked;
  bool once = hd_isolation == HD_ISOLATION_SNAPSHOT && !looked; // to tell whether fork isolation is worth it
  looked = true;
  nentries = nsent = 0;
  refused = NULL;
  hd_setup_looking = hd_setup_open = (once || (hd_isolation == HD_ISOLATION_FORK && vacant >= 0)) && wanted() && plain(&hd.plan);
  if (once) began_ns = cpu_ns();
}

static struct entry *add(const struct hd_thread *t, enum kind kind) {
  if (nentries == MOST) {
    hd_setup_refuse("too many operations");
    return NULL;
  }
  struct entry *e = &entries[nentries++];
  *e = (struct entry){ .kind = kind, .op = t->pend.op, .flags = t->pend.flags, .size = t->pend.size, .pc = t->pend.pc, .obj = t->pend.obj };
  return e;
}

// Operations whose effects are in memory, or in what the modules put back.
static bool shareable(uint16_t op) {
  switch (op) {
  case HD_OP_MUTEX_INIT: case HD_OP_MUTEX_DESTROY: case HD_OP_MUTEX_LOCK: case HD_OP_MUTEX_TRYLOCK: case HD_OP_MUTEX_UNLOCK:
  case HD_OP_COND_INIT: case HD_OP_COND_DESTROY: case HD_OP_COND_SIGNAL: case HD_OP_COND_BROADCAST:
  case HD_OP_SEM_INIT: case HD_OP_SEM_DESTROY: case HD_OP_SEM_WAIT: case HD_OP_SEM_TRYWAIT: case HD_OP_SEM_POST: case HD_OP_SEM_GETVALUE:
  case HD_OP_BARRIER_INIT: case HD_OP_BARRIER_DESTROY: case HD_OP_ONCE_BEGIN: case HD_OP_ONCE_END:
  case HD_OP_RWLOCK_INIT: case HD_OP_RWLOCK_DESTROY: case HD_OP_RWLOCK_RDLOCK: case HD_OP_RWLOCK_WRLOCK: case HD_OP_RWLOCK_TRYRDLOCK:
  case HD_OP_RWLOCK_TRYWRLOCK: case HD_OP_RWLOCK_UNLOCK: case HD_OP_RWLOCK_QUEUE:
  case HD_OP_SPIN_INIT: case HD_OP_SPIN_DESTROY: case HD_OP_SPIN_LOCK: case HD_OP_SPIN_TRYLOCK: case HD_OP_SPIN_UNLOCK:
  case HD_OP_YIELD: case HD_OP_FUTEX_WAKE:
  case HD_OP_READ: case HD_OP_WRITE: case HD_OP_READ_RANGE: case HD_OP_WRITE_RANGE: case HD_OP_FREE:
  case HD_OP_ATOMIC_LOAD: case HD_OP_ATOMIC_STORE: case HD_OP_ATOMIC_RMW: case HD_OP_ATOMIC_CAS: case HD_OP_ATOMIC_FENCE:
  case HD_OP_OMP_LOCK_INIT: case HD_OP_OMP_LOCK_DESTROY: case HD_OP_OMP_LOCK: case HD_OP_OMP_TEST_LOCK: case HD_OP_OMP_UNLOCK:
  case HD_OP_SIGNAL_MASK: case HD_OP_SIGNAL_ACTION:
  case HD_OP_FD_OPEN: case HD_OP_FD_READ: case HD_OP_FD_WRITE: case HD_OP_FD_CLOSE: case HD_OP_FD_CTL: return true;
  }
  return false;
}

HD_COLD void hd_setup_point(const struct hd_thread *t, bool again) {
  if (!shareable(t->pend.op)) {
    bool timer = t->pend.op == HD_OP_THREAD_CREATE; // a timer is a thread, and the set-up ends before the program creates another
    refuse(timer ? "a timer" : "", timer ? HD_OP_NONE : t->pend.op);
    return;
  }
  if (again || hd.nborn != 1 || hd.npending || t->wait.timed || t->wait.owed || !hd_has(&hd.enabled, t->index) || hd_spinning(t) || hd.late) {
    hd_setup_refuse("a wait");
    return;
  }
  struct entry *e = add(t, POINT);
  if (e) e->wasted = hd.wasted;
}

HD_COLD void hd_setup_done(const struct hd_thread *t, int32_t result, bool aside) {
  struct entry *e = add(t, aside ? ASIDE : COMMIT);
  if (e) e->result = result;
}

struct record { uint32_t type, size; };

HD_COLD void hd_setup_sent(uint32_t type, const void *a, uint32_t na, const void *b, uint32_t nb) {
  uint32_t size = (na + nb + 7) & ~7u;
  if (type == HD_REC_WHERE) return; // an answer
  if (size > SENT - nsent || SENT - nsent - size < sizeof(struct record)) {
    hd_setup_refuse("too many records");
    return;
  }
  *(struct record *)(sent + nsent) = (struct record){ type, na + nb };
  nsent += (uint32_t)sizeof(struct record);
  hd_copy(sent + nsent, a, na);
  if (nb) hd_copy(sent + nsent + na, b, nb);
  nsent += size;
}

// ---- in a process that continues from a set-up
static _Noreturn void differs(void) {
  for (;;) hd_sys(SYS_exit_group, HD_SETUP_DIFFERS, 0, 0);
}

static void choose(struct hd_thread *t) {
  hd.wake_choice = -1;
  hd_policy_fair();
  if (hd.late) differs();
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
  if (hd.plan.nholds) hd_holds_look();
  int32_t i = hd.pos < hd.plan.nsteps ? hd_script_rehearse() : -1;
  if (i == HD_SCRIPT_DIVERGES) differs();
  bool script = i >= 0;
  if (!script) i = (int32_t)hd_policy_choose();
  if (hd.plan.nholds) hd_holds_chosen(t, script);
  if ((uint32_t)i != t->index || t->detour) differs();
}

// Makes the plan's decisions of the set-up, as sched.c would have made them.
static void rehearse(struct hd_thread *t) {
  struct hd_pending pend = t->pend;
  struct hd_wait wait = t->wait;
  uint32_t stale = t->progress.stale, at = hd.points, wasted = 0;
  t->wait = (struct hd_wait){ 0 };
  t->progress.stale = 0;
  t->detour = 0;
  t->planned = 0;
  t->holds = t->felt = 0;
  hd.points = 0;
  hd.last = ~0u;
  hd_thread_planned(t, NULL, true);
  for (uint32_t i = 0; i < nentries; i++) {
    const struct entry *e = &entries[i];
    t->pend = (struct hd_pending){ .op = e->op, .flags = e->flags, .size = e->size, .pc = e->pc, .obj = e->obj };
    if (e->kind == POINT) {
      if (++hd.points > hd.plan.max_steps) differs();
      hd.vain += e->wasted - wasted;
      wasted = e->wasted;
      hd_policy_arrive(t);
      if (hd.plan.nholds) hd_holds_arrive(t);
      choose(t);
    } else {
      if (hd.last != t->index) hd.since = hd.points;
      hd.last = t->index;
      t->ran = t->acted = hd.points;
      hd_policy_done(t);
      if (e->kind == COMMIT && hd.plan.nholds) hd_holds_done(t, e->result);
    }
  }
  hd.vain += hd.wasted - wasted;
  if (hd.points != at) hd_fatal("the set-up has %u scheduling points, and %u were logged", at, hd.points);
  t->pend = pend;
  t->wait = wait;
  t->progress.stale = stale;
}

static void continue_with(struct hd_thread *t, const struct hd_plan *p, uint64_t index) {
  hd_mode = HD_ACTIVE;
  if (points_version != points->version) hd_points_set(points->pc, points->n);
  hd_plan_take(p, index);
  rehearse(t);
  __atomic_store_n(&hd_shm->setups_shared, hd_shm->setups_shared + 1, __ATOMIC_RELAXED);
  hd.result.notes |= HD_NOTE_CONTINUED;
  HD_CALL_MODULES(continues);
  for (uint32_t at = 0; at < nsent;) {
    const struct record *r = (const struct record *)(sent + at);
    hd_out(r->type, r + 1, r->size);
    at += (uint32_t)sizeof *r + ((r->size + 7) & ~7u);
  }
}

static void wake(uint32_t *word) { hd_sys(SYS_futex, word, FUTEX_WAKE, 1); }

// Ends this process unless it is a child of the one stopped at main, which it does not survive.
static void stay_with_server(void) {
  hd_sys(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
  if (hd_sys(SYS_getppid, 0, 0, 0) != server_process) hd_sys(SYS_exit_group, 0, 0, 0);
}

// A process next to this one: a child of the process stopped at main.
static long sibling(void) { return hd_sys6(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0, 0); }

static void serve(struct hd_thread *t, struct server *s) {
  stay_with_server();
  hd_mode = HD_CARRIER;
  vacant = -1;
  for (uint32_t answered = 0;;) {
    uint32_t asked = __atomic_load_n(&s->asked, __ATOMIC_ACQUIRE);
    if (asked == answered) {
      hd_sys4(SYS_futex, &s->asked, FUTEX_WAIT, asked, 0);
      continue;
    }
    answered = asked;
    long pid = sibling();
    if (pid == 0) {
      stay_with_server();
      continue_with(t, s->plan, s->index);
      return;
    }
    s->child = pid;
    __atomic_store_n(&s->answered, asked, __ATOMIC_RELEASE);
    wake(&s->answered);
  }
}

static const char *shared(void) {
  if (hd.ntimers || hd.npending || hd.nsuspended || hd.drift || hd.suspected || hd.late || hd.outside || hd.slack != hd.plan.slack) return "a wait";
  if (hd.result.notes & HD_NOTE_EXTERNAL) return "another process";
  HD_EACH_MODULE(m) {
    const char *why = m->shares ? m->shares() : NULL;
    if (why) return why;
  }
  return NULL;
}

// Tells the process stopped at main which instructions of the set of points the set-up has executed. A server's key lacks
// the hash of them, which that process adds.
static void tell_points(void) {
  points->nexecuted = 0;
  for (uint32_t i = 0; i < nentries; i++) {
    const struct entry *e = &entries[i];
    if (e->kind != POINT || !hd_is_point(e->pc)) continue;
    uint64_t pc = hd_name(e->pc);
    bool told = false;
    for (uint32_t j = 0; j < points->nexecuted && !told; j++) told = points->executed[j] == pc;
    if (!told && points->nexecuted < POINTS) points->executed[points->nexecuted++] = pc;
  }
  points->learnt = true;
}

HD_ON_SIDE_STACK(void, hd_setup_over, (struct hd_thread *t)) {
  hd_setup_open = false;
  if (!hd_setup_looking) return;
  hd_setup_looking = false;
  bool always = hd_shm->options & HD_OPT_SETUP_ALWAYS, snapshot = hd_isolation == HD_ISOLATION_SNAPSHOT;
  if (snapshot ? cpu_ns() - began_ns < WORTH_NS_SNAPSHOT : !always && cpu_ns() < WORTH_NS) return;
  if (!refused) {
    refused = hd.nborn == 1 ? shared() : "a timer";
    refused_at = (struct hd_set_up){ 0 };
  }
  if (refused) {
    hd_out2(HD_REC_SET_UP, &refused_at, sizeof refused_at, refused, (uint32_t)hd_strlen(refused) + 1);
    return;
  }
  tell_points();
  if (snapshot) {
    hd.result.notes |= HD_NOTE_SETUP;
    return;
  }
  struct server *s = &servers[vacant];
  *s = (struct server){ 0 };
  long pid = sibling();
  if (pid == 0) serve(t, s);
  else if (pid > 0) s->pid = pid;
}

// ---- in the process stopped at main
void hd_setup_points(const struct hd_plan *p) {
  const uint64_t *pc = (const uint64_t *)((const struct hd_step *)(p + 1) + p->nsteps) + p->nthreads;
  if (p->npoints > POINTS) sharing = false;
  if (!sharing) return;
  hd_copy(points->pc, pc, p->npoints * sizeof *pc);
  points->n = p->npoints;
  points_version = ++points->version;
}

static void end(struct server *s) {
  if (!s->pid) return;
  hd_sys(SYS_kill, s->pid, SIGKILL, 0);
  hd_sys4(SYS_wait4, s->pid, 0, 0, 0);
  s->pid = 0;
}

void hd_setup_forget(void) {
  for (uint32_t i = 0; i < SERVERS; i++) end(&servers[i]);
}

// Asks a server for a process that executes the plan; 0: it has none.
static long ask(struct server *s, const struct hd_plan *p, uint64_t index) {
  s->plan = p;
  s->index = index;
  uint32_t n = s->asked + 1;
  __atomic_store_n(&s->asked, n, __ATOMIC_RELEASE);
  wake(&s->asked);
  for (uint32_t answered; (answered = __atomic_load_n(&s->answered, __ATOMIC_ACQUIRE)) != n;) {
    struct { long s, ns; } timeout = { 0, 100000000 };
    hd_sys4(SYS_futex, &s->answered, FUTEX_WAIT, answered, &timeout);
    if (__atomic_load_n(&s->answered, __ATOMIC_ACQUIRE) == n) break;
    if (hd_sys(SYS_getppid, 0, 0, 0) != hd_controller) hd_sys(SYS_exit_group, 0, 0, 0);
    if (hd_sys4(SYS_wait4, s->pid, 0, WNOHANG, 0) == s->pid) {
      s->pid = 0;
      return 0;
    }
  }
  return s->child > 0 ? s->child : 0;
}

uint32_t hd_setup_run(uint32_t (*f)(const struct hd_plan *, uint64_t), const struct hd_plan *p, uint64_t index) {
  vacant = -1;
  if (!sharing || !wanted() || !plain(p)) return hd_fork_run(f, p, index);
  server_process = hd_sys(SYS_getpid, 0, 0, 0);
  bool known_points = points_known();
  struct key key = key_of(p);
  struct server *last = &servers[0];
  for (uint32_t i = 0; i < SERVERS; i++) {
    struct server *s = &servers[i];
    if (!s->pid || (last->pid && s->used < last->used)) last = s;
    if (!known_points || !s->pid || differing(&s->key, &key)) continue;
    s->used = ++requests;
    long pid = ask(s, p, index);
    uint32_t r = pid ? hd_fork_wait(pid, hd_sys(SYS_pidfd_open, pid, 0, 0)) : HD_SETUP_DIFFERS;
    return r == HD_SETUP_DIFFERS ? hd_fork_run(f, p, index) : r;
  }
  end(last);
  vacant = (int)(last - servers);
  points->learnt = false;
  uint32_t r = hd_fork_run(f, p, index);
  learn();
  if (last->pid) {
    last->key = key_of(p);
    last->used = ++requests;
  }
  return r;
}
