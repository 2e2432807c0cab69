// libomp.c: LLVM's library for OpenMP. It reports its events to a tool (OMPT, OpenMP 5 section 4),
// and the runtime registers as that tool. The library waits with condition variables, which are
// interposed.
#include "core/libc.h"
#include "core/outcome.h"
#include "core/rings.h"
#include "libraries/openmp.h"
#include "memory/access.h"
#include "memory/heap.h"
#include "sync/sync.h"
#include "time/time.h"

// ---- the part of OMPT that the runtime uses
union data { uint64_t value; void *ptr; };
enum endpoint { BEGIN = 1, END = 2 };
enum callback { PARALLEL_BEGIN = 3, PARALLEL_END = 4, TASK_CREATE = 5, TASK_SCHEDULE = 6, IMPLICIT_TASK = 7, DEPENDENCES = 18, SYNC_REGION = 23 };
enum { TASK_COMPLETE = 1, TASK_CANCEL = 3, TASK_INITIAL = 1, TASK_EXPLICIT = 4 };
enum { BARRIER = 1, BARRIER_IMPLICIT, BARRIER_EXPLICIT, BARRIER_IMPLEMENTATION, TASKWAIT, TASKGROUP, REDUCTION, BARRIER_WORKSHARE, BARRIER_PARALLEL, BARRIER_TEAMS };
enum { DEPEND_IN = 1 };
struct dependence { union data variable; int type; };

// A taskgroup.
struct group {
  struct group *outer;
  uint32_t tasks;           // number of its tasks that have not ended
};

// An implicit or explicit task. Tasks lie in the program's memory, so they vanish with the execution.
struct task {
  struct hd_place place;
  struct hd_task task;
  struct hd_team *team;
  bool is_explicit, begun, ended;
  struct task *parent;
  struct group *within;     // the taskgroup in which it was created
  struct group *group;      // the innermost taskgroup that it has begun
  uint32_t children;        // number of its child tasks that have not ended
  uint32_t ndepends;
  struct dependence *depends;
};

static void *make(uint64_t size) {
  void *p = hd_alloc_own(size, hd.cur->pend.pc);
  if (!p) hd_unsupported("OpenMP constructs for which there is no memory left");
  hd_fill(p, 0, size);
  return p;
}

// Attributes the following operations to the program's call at pc.
static void at(const void *pc) {
  if (pc) hd.cur->pend.pc = (uint64_t)pc;
}

static void parallel_begin(union data *outer, const void *frame, union data *parallel, unsigned threads, int flags, const void *pc) {
  if (!hd_active()) return;
  at(pc);
  parallel->ptr = make(sizeof(struct hd_team));
  hd_team_fork(parallel->ptr);
}

static void parallel_end(union data *parallel, union data *outer, int flags, const void *pc) {
  if (!hd_active() || !parallel->ptr) return;
  at(pc);
  hd_team_join(parallel->ptr);
}

// A thread of the team reports the end of its implicit task only when it gets other work. That is
// late but safe: the barrier at the end of the region has already ordered its work before the code
// after the region.
static void implicit_task(int endpoint, union data *parallel, union data *task, unsigned threads, unsigned index, int flags) {
  if (!hd_active() || flags & TASK_INITIAL) return;
  if (endpoint == BEGIN && parallel && parallel->ptr) {
    struct task *t = make(sizeof *t);
    t->team = parallel->ptr;
    task->ptr = t;
    hd_team_enter(&t->place, &t->task, t->team);
  } else if (endpoint == END && task && task->ptr && hd.cur->place == &((struct task *)task->ptr)->place) {
    hd_team_leave();
  }
}

// Returns the task that the running thread executes; NULL outside of parallel regions.
static struct task *current(void) { return (struct task *)hd.cur->place; }

static bool is_barrier(int kind) { return (kind >= BARRIER && kind <= BARRIER_IMPLEMENTATION) || (kind >= BARRIER_WORKSHARE && kind <= BARRIER_TEAMS); }

static void sync_region(int kind, int endpoint, union data *parallel, union data *task, const void *pc) {
  if (!hd_active()) return;
  at(pc);
  if (is_barrier(kind) && endpoint == BEGIN) hd_barrier_arrive();
  else if (is_barrier(kind)) hd_barrier_leave(true); // nothing says that it was not
  else if (kind == TASKWAIT && endpoint == END) hd_task_wait();
  else if (kind == TASKGROUP && endpoint == BEGIN) hd_group_begin();
  else if (kind == TASKGROUP) hd_group_end();
}

static void task_create(union data *outer, const void *frame, union data *task, int flags, int depends, const void *pc) {
  if (!hd_active() || !(flags & TASK_EXPLICIT)) return;
  at(pc);
  struct task *t = make(sizeof *t);
  t->is_explicit = true;
  t->team = hd.cur->place ? hd.cur->place->team : NULL;
  t->parent = current();
  if (t->parent) {
    t->parent->children++;
    t->within = t->parent->group ? t->parent->group : t->parent->within;
  }
  if (t->within) t->within->tasks++;
  hd_task_create(&t->task);
  task->ptr = t;
}

static void dependences(union data *task, const struct dependence *list, int n) {
  if (!hd_active() || !task->ptr || n <= 0) return;
  struct task *t = task->ptr;
  if (!t->is_explicit || t->ndepends) return;
  t->depends = make((uint64_t)n * sizeof *list);
  hd_copy(t->depends, list, (uint64_t)n * sizeof *list);
  t->ndepends = (uint32_t)n;
}

static void task_schedule(union data *prior, int status, union data *next) {
  if (!hd_active()) return;
  struct task *p = prior ? prior->ptr : NULL, *n = next ? next->ptr : NULL;
  if (p && p->is_explicit && p->begun && !p->ended && (status == TASK_COMPLETE || status == TASK_CANCEL) && hd.cur->place == &p->place) {
    p->ended = true;
    for (uint32_t i = 0; i < p->ndepends; i++) hd_depend_end(p->depends[i].variable.ptr, p->depends[i].type != DEPEND_IN);
    hd_task_end();
    if (p->parent) p->parent->children--;
    if (p->within) p->within->tasks--;
  }
  if (!n || !n->is_explicit || n->begun) return;
  n->begun = true;
  hd_task_begin(&n->place, &n->task, n->team);
  for (uint32_t i = 0; i < n->ndepends; i++) hd_depend_begin(n->depends[i].variable.ptr, n->depends[i].type != DEPEND_IN);
}

static int initialize(void *(*lookup)(const char *), int device, union data *data) {
  int (*set)(int, void *) = (int (*)(int, void *))lookup("ompt_set_callback");
  if (!set) return 0;
  set(PARALLEL_BEGIN, parallel_begin);
  set(PARALLEL_END, parallel_end);
  set(IMPLICIT_TASK, implicit_task);
  set(SYNC_REGION, sync_region);
  set(TASK_CREATE, task_create);
  set(TASK_SCHEDULE, task_schedule);
  set(DEPENDENCES, dependences);
  return 1;
}
static void finalize(union data *data) {}

HD_EXPORT void *ompt_start_tool(unsigned version, const char *name) {
  static struct { int (*initialize)(void *(*)(const char *), int, union data *); void (*finalize)(union data *); union data data; } tool = { initialize, finalize, { 0 } };
  return hd_controlled() ? &tool : NULL;
}

// Initialises the library before main. It would otherwise do so at its first use, but detecting the
// machine and reading settings are not part of an execution. The library also creates a file by which
// it detects a second copy of itself in the process. It could not find this file at its end, because
// process identifiers are different by then.
//
// With more threads than processors, threads that wait in a loop call sched_yield.
void hd_libomp_start(void) {
  if (!hd_library_loaded(HD_LIBOMP)) return;
  int (*use)(void) = (int (*)(void))hd_real_find("omp_get_max_threads");
  if (!use) return;
  hd_processors = 1;
  use();
  hd_processors = HD_CPUS;
  const char *name = hd_text("/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)hd_sys(SYS_getpid, 0, 0, 0), (int)hd_sys(SYS_getuid, 0, 0, 0));
  hd_sys(SYS_unlink, name, 0, 0);
}

HD_LIBRARY(int, omp_get_num_procs, (void), ()) { return HD_CPUS; }

// ---- the end of the process
//
// At its end the library waits in a loop without a call (__kmp_free_team) until none of its threads has
// any tasks of the last region in its hands; it wakes a sleeping one first. So before the library ends,
// and behind each mutex that it unlocks at its end, the other threads run until they wait or have had
// enough turns to notice that the region is over.
enum { SETTLED = 16, TRIES = 10000 };
static void settle(uint64_t pc) {
  struct hd_thread *t = hd.cur;
  if (!t->exiting || !hd_access_exempts(pc)) return;
  for (uint32_t i = 0, tries = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (u == t || !hd_access_exempts((uint64_t)(uintptr_t)u->entry)) continue; // not one of the library's
    uint32_t ran = u->ran;
    for (int turns = 0; turns < SETTLED && tries < TRIES && !u->ended && hd_enabled(u); tries++) {
      hd_forced_yield(t, pc, 0);
      if (u->ran != ran) turns++;
      ran = u->ran;
    }
  }
}

static void begin(void) { hd_unlocked = NULL; }
static void exits(struct hd_thread *t) {
  if (!hd_library_loaded(HD_LIBOMP) || !hd_nexempt) return;
  hd_unlocked = settle;
  settle(hd_exempt[0].lo);
}
const struct hd_registration hd_libomp = { .begin = begin, .thread_exits = exits };

// ---- events that OMPT reports too late, or not at all
HD_LIBRARY(void, __kmpc_ordered, (void *where, int thread), (where, thread)) {
  hd_ordered_arrive();
  REAL_LIBRARY(__kmpc_ordered)(where, thread);
  hd_ordered_begin();
}
HD_LIBRARY(void, __kmpc_end_ordered, (void *where, int thread), (where, thread)) {
  hd_ordered_end();
  REAL_LIBRARY(__kmpc_end_ordered)(where, thread);
}
HD_LIBRARY(void, __kmpc_doacross_wait, (void *where, int thread, const int64_t *iteration), (where, thread, iteration)) {
  hd_ordered_arrive();
  REAL_LIBRARY(__kmpc_doacross_wait)(where, thread, iteration);
  hd_ordered_begin();
}
HD_LIBRARY(void, __kmpc_doacross_post, (void *where, int thread, const int64_t *iteration), (where, thread, iteration)) {
  hd_ordered_end();
  REAL_LIBRARY(__kmpc_doacross_post)(where, thread, iteration);
}

// ---- waiting for tasks
//
// The library waits for tasks in a loop without a call, in which it searches for tasks to run. So
// the thread runs tasks here, or lets other threads run, until no task is left to wait for.
static void wait_for(const uint32_t *tasks, void *where, int thread) {
  static int (*run_tasks)(void *, int, int);
  static struct hd_library_function entry = { "__kmpc_omp_taskyield", (void **)&run_tasks };
  if (!run_tasks) hd_library_find(&entry);
  uint64_t pc = hd.cur->library_pc;
  while (*tasks) {
    run_tasks(where, thread, 0);
    if (*tasks) hd_yield(pc);
  }
}

static void wait_for_children(void *where, int thread) {
  if (!current()) return;
  hd_team_turn();
  wait_for(&current()->children, where, thread);
}

HD_LIBRARY(int, __kmpc_omp_taskwait, (void *where, int thread), (where, thread)) {
  wait_for_children(where, thread);
  return REAL_LIBRARY(__kmpc_omp_taskwait)(where, thread);
}
// The library waits for some of the children; the runtime waits for all of them.
HD_LIBRARY(void, __kmpc_omp_wait_deps, (void *where, int thread, int n, void *list, int nalias, void *alias), (where, thread, n, list, nalias, alias)) {
  wait_for_children(where, thread);
  REAL_LIBRARY(__kmpc_omp_wait_deps)(where, thread, n, list, nalias, alias);
  hd_task_wait();
}

static void group_begins(void) {
  struct task *t = current();
  if (!t) return;
  struct group *g = make(sizeof *g);
  g->outer = t->group;
  t->group = g;
}
// The library combines a group's reductions, by calling functions of the program, before it reports
// the group's end.
static void group_waits(void *where, int thread) {
  if (!current()) return;
  hd_team_turn();
  wait_for(&current()->group->tasks, where, thread);
  hd_group_wait();
}
static void group_ends(void) {
  if (current()) current()->group = current()->group->outer;
}

HD_LIBRARY(void, __kmpc_taskgroup, (void *where, int thread), (where, thread)) {
  REAL_LIBRARY(__kmpc_taskgroup)(where, thread);
  group_begins();
}
HD_LIBRARY(void, __kmpc_end_taskgroup, (void *where, int thread), (where, thread)) {
  group_waits(where, thread);
  REAL_LIBRARY(__kmpc_end_taskgroup)(where, thread);
  group_ends();
}
// One thread prepares the data of the whole team, which calls functions of the program, and the others
// wait for it in a loop without a call.
HD_LIBRARY(void *, __kmpc_taskred_modifier_init, (void *where, int thread, int worksharing, int n, void *data), (where, thread, worksharing, n, data)) { hd_unsupported("OpenMP's reduction with the task modifier with libomp, which waits in a loop without a call (gcc's libgomp can be used)"); }

// A taskloop waits for its tasks like a taskgroup. This function creates that group.
HD_LIBRARY(void, __kmpc_taskloop, (void *where, int thread, void *task, int deferred, uint64_t *first, uint64_t *last, int64_t step, int nogroup, int schedule, uint64_t size, void *copy),
           (where, thread, task, deferred, first, last, step, nogroup, schedule, size, copy)) {
  static void (*begin)(void *, int), (*end)(void *, int);
  static struct hd_library_function entries[] = { { "__kmpc_taskgroup", (void **)&begin }, { "__kmpc_end_taskgroup", (void **)&end } };
  for (int i = 0; i < 2; i++)
    if (!*entries[i].real) hd_library_find(&entries[i]);
  if (!nogroup) {
    begin(where, thread);
    group_begins();
  }
  hd_team_turn();
  REAL_LIBRARY(__kmpc_taskloop)(where, thread, task, deferred, first, last, step, 1, schedule, size, copy);
  if (nogroup) return;
  group_waits(where, thread);
  end(where, thread);
  group_ends();
}

// A task's memory comes from the library's own allocator.
HD_LIBRARY(void *, __kmpc_omp_task_alloc, (void *where, int thread, int flags, size_t size, size_t shared, void *entry), (where, thread, flags, size, shared, entry)) {
  void *task = REAL_LIBRARY(__kmpc_omp_task_alloc)(where, thread, flags, size, shared, entry);
  hd_block_begins(task, size + shared, hd.cur->pend.pc);
  return task;
}
