// gomp.c: the functions of libgomp, gcc's library for OpenMP, that compiled programs call. The
// library does the work. It waits with raw futex calls, which process/instructions.c intercepts.
#include "core/outcome.h"
#include "core/program_memory.h"
#include "libraries/openmp.h"

// ---- parallel regions
//
// The library expects a reduction's descriptor in the first word of the data.
struct region {
  void *first;
  void (*run)(void *);
  void *data;
  struct hd_team team;
};

static HD_PROGACCESS void *first_word(void *const *data) { return data ? *data : NULL; }

static void run_region(void *p) {
  struct region *r = p;
  if (!hd_active()) {
    r->run(r->data);
    return;
  }
  struct hd_place place;
  struct hd_task implicit;
  hd_team_enter(&place, &implicit, &r->team);
  r->run(r->data);
  hd_team_leave();
}

static inline struct region region(void (*run)(void *), void *data, bool reduces) {
  return (struct region){ .first = reduces ? first_word(data) : NULL, .run = run, .data = data };
}

#define REGION(ret, name, parameters, reduces, result, ...) \
  HD_LIBRARY(ret, name, parameters, __VA_ARGS__) { \
    struct region r = region(run, data, reduces); \
    hd_team_fork(&r.team); \
    result REAL_LIBRARY(name)

#define RUN void (*run)(void *), void *data, unsigned threads
#define LOOP RUN, long start, long end, long step
#define JOIN hd_team_join(&r.team); }

REGION(void, GOMP_parallel, (RUN, unsigned flags), false, , (run, data, threads, flags))
  (run_region, &r, threads, flags); JOIN
REGION(unsigned, GOMP_parallel_reductions, (RUN, unsigned flags), true, unsigned n =, (run, data, threads, flags))
  (run_region, &r, threads, flags);
  hd_team_join(&r.team);
  return n;
}
REGION(void, GOMP_parallel_sections, (RUN, unsigned count, unsigned flags), false, , (run, data, threads, count, flags))
  (run_region, &r, threads, count, flags); JOIN

#define CHUNKED(name) \
  REGION(void, name, (LOOP, long chunk, unsigned flags), false, , (run, data, threads, start, end, step, chunk, flags)) \
    (run_region, &r, threads, start, end, step, chunk, flags); JOIN
#define UNCHUNKED(name) \
  REGION(void, name, (LOOP, unsigned flags), false, , (run, data, threads, start, end, step, flags)) \
    (run_region, &r, threads, start, end, step, flags); JOIN
CHUNKED(GOMP_parallel_loop_static)
CHUNKED(GOMP_parallel_loop_dynamic)
CHUNKED(GOMP_parallel_loop_guided)
CHUNKED(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKED(GOMP_parallel_loop_nonmonotonic_guided)
UNCHUNKED(GOMP_parallel_loop_runtime)
UNCHUNKED(GOMP_parallel_loop_nonmonotonic_runtime)
UNCHUNKED(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

// ---- barriers, including those at the end of a construct
#define BARRIER(name) \
  HD_LIBRARY(void, name, (void), ()) { \
    hd_barrier_arrive(); \
    REAL_LIBRARY(name)(); \
    hd_barrier_leave(false); \
  }
#define BARRIER_CANCEL(name) \
  HD_LIBRARY(bool, name, (void), ()) { \
    hd_barrier_arrive(); \
    bool cancelled = REAL_LIBRARY(name)(); \
    hd_barrier_leave(cancelled); \
    return cancelled; \
  }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
BARRIER_CANCEL(GOMP_barrier_cancel)
BARRIER_CANCEL(GOMP_loop_end_cancel)
BARRIER_CANCEL(GOMP_sections_end_cancel)

HD_LIBRARY(void, GOMP_workshare_task_reduction_unregister, (bool cancelled), (cancelled)) {
  hd_barrier_arrive();
  REAL_LIBRARY(GOMP_workshare_task_reduction_unregister)(cancelled);
  hd_barrier_leave(cancelled);
}

// ---- single with copyprivate: the first thread gets NULL, and passes its values to the others
HD_LIBRARY(void *, GOMP_single_copy_start, (void), ()) {
  hd_team_turn();
  void *data = REAL_LIBRARY(GOMP_single_copy_start)();
  if (data && hd.cur->place && hd.cur->place->team) hd_order_acquire(&hd.cur->place->team->copied);
  return data;
}
HD_LIBRARY(void, GOMP_single_copy_end, (void *data), (data)) {
  if (hd.cur->place && hd.cur->place->team) hd_order_release(&hd.cur->place->team->copied);
  REAL_LIBRARY(GOMP_single_copy_end)(data);
}

// ---- ordered
HD_LIBRARY(void, GOMP_ordered_start, (void), ()) {
  hd_ordered_arrive();
  REAL_LIBRARY(GOMP_ordered_start)();
  hd_ordered_begin();
}
HD_LIBRARY(void, GOMP_ordered_end, (void), ()) {
  hd_ordered_end();
  REAL_LIBRARY(GOMP_ordered_end)();
}

// ---- tasks
//
// The library copies a task's data into its own memory, or calls a function of the program to do
// so. The runtime always passes a function of its own, which puts a header before the data. A
// taskloop writes the bounds of a task's share into the first two words, and expects the descriptor
// of its reductions in the third word of the data.
enum { DEPEND_OUT = 1, MOST_DEPENDENCES = 1 << 16, FLAG_DEPEND = 8 };

struct depend { const void *address; bool writes; };
struct head {
  long bounds[2];
  void (*run)(void *);
  void *data;
  bool loop;
  struct hd_team *team;
  struct hd_task task;
  uint32_t ndepends;
  struct depend depends[];
};

struct creation {
  void (*run)(void *);
  void *data;
  void *reductions;         // a taskloop's descriptor; the library reads it
  void (*copy)(void *, void *);
  long size, align;
  bool loop;
  uint32_t ndepends;
  void **depend;
};

// The library's list of dependences has one of two formats: the number of all dependences, the number
// of writing ones, and the addresses; or 0, the number of all, of writing, of mutexinoutset and of
// reading ones, then the addresses, and then the depobj objects, which are an address and a kind.
static HD_PROGACCESS uint64_t word_at(void *const *list, uint64_t i) { return (uint64_t)list[i]; }

static uint32_t count_depends(void *const *list) {
  if (!list) return 0;
  uint64_t n = word_at(list, 0) ? word_at(list, 0) : word_at(list, 1);
  return n < MOST_DEPENDENCES ? (uint32_t)n : 0;
}

static void read_depends(struct depend *to, uint32_t n, void *const *list) {
  enum { KIND_IN = 1 };
  bool old = word_at(list, 0) != 0;
  uint64_t at = old ? 2 : 5, writes = old ? word_at(list, 1) : word_at(list, 2) + word_at(list, 3);
  uint64_t plain = old ? n : writes + word_at(list, 4);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t p = word_at(list, at + i);
    if (i < plain) to[i] = (struct depend){ (const void *)p, i < writes };
    else to[i] = (struct depend){ (const void *)word_at((void *const *)p, 0), word_at((void *const *)p, 1) != KIND_IN };
  }
}

static void copy_task(void *to, void *from) {
  struct head *h = to;
  const struct creation *c = from;
  uint64_t data = (uint64_t)(h->depends + c->ndepends), align = (uint64_t)c->align;
  h->data = (void *)((data + align - 1) & ~(align - 1));
  h->run = c->run;
  h->loop = c->loop;
  h->team = hd_active() && hd.cur->place ? hd.cur->place->team : NULL;
  h->ndepends = c->ndepends;
  if (c->ndepends) read_depends(h->depends, c->ndepends, c->depend);
  if (c->copy) c->copy(h->data, c->data);
  else hd_from_program(h->data, c->data, (uint64_t)c->size);
  if (hd_active()) hd_task_create(&h->task);
}

static void run_task(void *p) {
  struct head *h = p;
  if (h->loop) hd_to_program(h->data, h->bounds, sizeof h->bounds);
  if (!hd_active()) {
    h->run(h->data);
    return;
  }
  struct hd_place place;
  hd_task_begin(&place, &h->task, h->team);
  for (uint32_t i = 0; i < h->ndepends; i++) hd_depend_begin(h->depends[i].address, h->depends[i].writes);
  h->run(h->data);
  for (uint32_t i = 0; i < h->ndepends; i++) hd_depend_end(h->depends[i].address, h->depends[i].writes);
  hd_task_end();
}

static long head_size(const struct creation *c) {
  return (long)(sizeof(struct head) + c->ndepends * sizeof(struct depend)) + c->align + c->size;
}

static struct creation creation(void (*run)(void *), void *data, void (*copy)(void *, void *), long size, long align, void **depend) {
  return (struct creation){ .run = run, .data = data, .copy = copy, .size = size, .align = align > 0 ? align : 1, .ndepends = count_depends(depend), .depend = depend };
}
enum { HEAD_ALIGN = _Alignof(struct head) };
_Static_assert(offsetof(struct creation, reductions) == 2 * sizeof(void *), "libgomp's gomp_data_head");

static HD_PROGACCESS void *third_word(void *const *data) { return data[2]; }

HD_LIBRARY(void, GOMP_task, (void (*run)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool deferred, unsigned flags, void **depend, int priority, void *detach),
           (run, data, copy, size, align, deferred, flags, depend, priority, detach)) {
  struct creation c = creation(run, data, copy, size, align, flags & FLAG_DEPEND ? depend : NULL);
  hd_team_turn();
  REAL_LIBRARY(GOMP_task)(run_task, &c, copy_task, head_size(&c), HEAD_ALIGN, deferred, flags, depend, priority, detach);
}

#define TASKLOOP(name, T) \
  HD_LIBRARY(void, name, (void (*run)(void *), void *data, void (*copy)(void *, void *), long size, long align, unsigned flags, unsigned long n, int priority, T start, T end, T step), \
             (run, data, copy, size, align, flags, n, priority, start, end, step)) { \
    enum { NOGROUP = 1 << 11, REDUCES = 1 << 12 }; \
    struct creation c = creation(run, data, copy, size, align, NULL); \
    c.loop = true; \
    if (flags & REDUCES) c.reductions = third_word(data); \
    hd_team_turn(); \
    if (!(flags & NOGROUP)) hd_group_begin(); \
    REAL_LIBRARY(name)(run_task, &c, copy_task, head_size(&c), HEAD_ALIGN, flags, n, priority, start, end, step); \
    if (!(flags & NOGROUP)) hd_group_end(); \
  }
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

#define WAIT(name, parameters, ...) \
  HD_LIBRARY(void, name, parameters, __VA_ARGS__) { \
    hd_team_turn(); \
    REAL_LIBRARY(name) __VA_ARGS__; \
    hd_task_wait(); \
  }
WAIT(GOMP_taskwait, (void), ())
WAIT(GOMP_taskwait_depend, (void **depend), (depend))

HD_LIBRARY(void, GOMP_taskgroup_start, (void), ()) {
  hd_group_begin();
  REAL_LIBRARY(GOMP_taskgroup_start)();
}
HD_LIBRARY(void, GOMP_taskgroup_end, (void), ()) {
  hd_team_turn();
  REAL_LIBRARY(GOMP_taskgroup_end)();
  hd_group_end();
}

// ---- doacross loops
//
// The library waits in a loop without a call, so no other thread would run to end it.
HD_LIBRARY(void, GOMP_doacross_wait, (long first, ...), (first)) { hd_unsupported("OpenMP's ordered depend(sink) with libgomp, which waits in a loop without a call (clang's libomp can be used)"); }
HD_LIBRARY(void, GOMP_doacross_ull_wait, (unsigned long long first, ...), (first)) { hd_unsupported("OpenMP's ordered depend(sink) with libgomp, which waits in a loop without a call (clang's libomp can be used)"); }
