// tbb.c: oneTBB, which std::execution::par uses. Most of it consists of templates in the program,
// whose accesses and atomics the runtime sees. The library assigns tasks to threads and memory to
// tasks.
//
// The runtime does not know which task the library runs. So each call from the library into the
// program, a task or another function, is ordered after everything passed to the library before.
// That may hide a race between two tasks if something was passed to the library before the second
// began.
#include "core/program_memory.h"
#include "libraries/libraries.h"
#include "memory/access.h"
#include "memory/heap.h"

static uint32_t turns;
static char tasks; // the object that orders everything passed to the library
static uint32_t pipelines; // calls of parallel_pipeline in progress
static void begin(void) {
  turns = pipelines = 0;
  hd_callback_returns = false;
}
const struct hd_registration hd_tbb = { .begin = begin };

void hd_tbb_calls(void) {
  struct hd_thread *t = hd.cur;
  if (hd.open) return; // inside of an operation
  uint64_t outer = t->library_pc;
  t->library_pc = t->calls.depth && t->calls.depth <= HD_SHADOW_MAX ? t->calls.frames[t->calls.depth - 1].pc : 0;
  // Before the turn, in which another thread may pass on more: the library has decided by now.
  hd_order_acquire(&tasks);
  hd_order_turn(&turns, &turns);
  t->library_pc = outer;
}

void hd_tbb_returns(void) {
  if (!hd.open) hd_order_release(&tasks);
}

static void hand_over(void) {
  hd_order_release(&tasks);
  hd_order_turn(&turns, &turns);
}

#define HANDS_OVER(name, parameters, ...) \
  HD_LIBRARY(void, name, parameters, __VA_ARGS__) { \
    hand_over(); \
    REAL_LIBRARY(name) __VA_ARGS__; \
  }
// spawn(task &, task_group_context &), with a slot; submit(task &, context &, arena *, flags);
// enqueue(task &, arena *), with a context
HANDS_OVER(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE, (void *task, void *context), (task, context))
HANDS_OVER(_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt, (void *task, void *context, uint16_t slot), (task, context, slot))
HANDS_OVER(_ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm, (void *task, void *context, void *arena, uint64_t flags), (task, context, arena, flags))
HANDS_OVER(_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE, (void *task, void *arena), (task, arena))
HANDS_OVER(_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE, (void *task, void *context, void *arena), (task, context, arena))

// A wait ends when the count in the second word of the wait_context is 0. The program changes the
// count with atomics.
static const void *count_of(const void *wait_context) { return (const char *)wait_context + 8; }

// execute_and_wait(task &, context &, wait_context &, context &)
HD_LIBRARY(void, _ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_, (void *task, void *context, void *wait, void *of), (task, context, wait, of)) {
  hand_over();
  REAL_LIBRARY(_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_)(task, context, wait, of);
  hd_order_acquire(count_of(wait));
}
// wait(wait_context &, context &)
HD_LIBRARY(void, _ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE, (void *wait, void *context), (wait, context)) {
  hand_over();
  REAL_LIBRARY(_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE)(wait, context);
  hd_order_acquire(count_of(wait));
}
// execute(task_arena_base &, delegate_base &): by another thread if the arena is full
HD_LIBRARY(void, _ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE, (void *arena, void *delegate), (arena, delegate)) {
  hand_over();
  REAL_LIBRARY(_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE)(arena, delegate);
  hd_order_acquire(&tasks);
}

// ---- pipelines
//
// The library calls a filter with what an earlier filter returned, and a serial filter after its
// previous call. While a pipeline runs, each call from the library also comes after all such calls
// that have returned. That may hide a race between two calls that do not overlap.

// parallel_pipeline(task_group_context &, size_t, const filter_node &)
HD_LIBRARY(void, _ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE, (void *context, size_t tokens, const void *filters), (context, tokens, filters)) {
  hd_callback_returns = ++pipelines;
  hand_over();
  REAL_LIBRARY(_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE)(context, tokens, filters);
  hd_order_acquire(&tasks);
  hd_callback_returns = --pipelines;
}

// ---- mutexes inside of the library
//
// A scoped_lock's first word is its mutex. A reader comes after the writers before it, a writer
// after the readers, too; the address of the mutex's second byte is the readers' object.
static HD_PROGACCESS const char *mutex_of(void *const *lock) { return *lock; }

static void acquired(const char *mutex, bool writer) {
  hd_order_acquire(mutex);
  if (writer) hd_order_acquire(mutex + 1);
}

// void acquire(mutex &, lock &, bool) and bool try_acquire(mutex &, lock &, …)
#define LOCKS(name, writer) \
  HD_LIBRARY(void, name, (void *mutex, void *lock, bool flag), (mutex, lock, flag)) { \
    hd_order_turn(mutex, &turns); \
    REAL_LIBRARY(name)(mutex, lock, flag); \
    acquired(mutex, writer); \
  }
#define TRIES(name, writer) \
  HD_LIBRARY(bool, name, (void *mutex, void *lock, bool flag), (mutex, lock, flag)) { \
    hd_order_turn(mutex, &turns); \
    bool taken = REAL_LIBRARY(name)(mutex, lock, flag); \
    if (taken) acquired(mutex, writer); \
    return taken; \
  }
LOCKS(_ZN3tbb6detail2r17acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb, flag)
TRIES(_ZN3tbb6detail2r111try_acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb, flag)
LOCKS(_ZN3tbb6detail2r17acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockEb, true)
TRIES(_ZN3tbb6detail2r111try_acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockE, true)
LOCKS(_ZN3tbb6detail2r114acquire_writerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb, true)
LOCKS(_ZN3tbb6detail2r114acquire_readerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb, false)
TRIES(_ZN3tbb6detail2r118try_acquire_writerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockE, true)
TRIES(_ZN3tbb6detail2r118try_acquire_readerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockE, false)

// What a reader releases, a reader does not acquire. Where the kind of lock is not known, it counts
// as a writer's, too, which may hide a race between two readers.
#define UNLOCKS(name, writer) \
  HD_LIBRARY(void, name, (void *lock), (lock)) { \
    const char *mutex = mutex_of(lock); \
    if (writer) hd_order_release(mutex); \
    hd_order_release(mutex + 1); \
    REAL_LIBRARY(name)(lock); \
  }
static bool holds_as_writer(const void *lock) {
  static bool (*is_writer)(const void *);
  if (!is_writer) is_writer = (bool (*)(const void *))hd_real_find("_ZN3tbb6detail2r19is_writerERKNS0_2d116queuing_rw_mutex11scoped_lockE");
  return !is_writer || is_writer(lock);
}
UNLOCKS(_ZN3tbb6detail2r17releaseERNS0_2d116queuing_rw_mutex11scoped_lockE, holds_as_writer(lock))
UNLOCKS(_ZN3tbb6detail2r17releaseERNS0_2d19rtm_mutex11scoped_lockE, true)
UNLOCKS(_ZN3tbb6detail2r17releaseERNS0_2d112rtm_rw_mutex11scoped_lockE, true)

// An upgrade may let other writers go first; a downgrade lets readers in.
#define UPGRADES(name) \
  HD_LIBRARY(bool, name, (void *lock), (lock)) { \
    const char *mutex = mutex_of(lock); \
    hd_order_release(mutex + 1); \
    hd_order_turn(mutex, &turns); \
    bool kept = REAL_LIBRARY(name)(lock); \
    acquired(mutex, true); \
    return kept; \
  }
#define DOWNGRADES(name) \
  HD_LIBRARY(bool, name, (void *lock), (lock)) { \
    hd_order_release(mutex_of(lock)); \
    return REAL_LIBRARY(name)(lock); \
  }
UPGRADES(_ZN3tbb6detail2r117upgrade_to_writerERNS0_2d116queuing_rw_mutex11scoped_lockE)
UPGRADES(_ZN3tbb6detail2r17upgradeERNS0_2d112rtm_rw_mutex11scoped_lockE)
DOWNGRADES(_ZN3tbb6detail2r119downgrade_to_readerERNS0_2d116queuing_rw_mutex11scoped_lockE)
DOWNGRADES(_ZN3tbb6detail2r19downgradeERNS0_2d112rtm_rw_mutex11scoped_lockE)

// Memory of tasks, which the library recycles between threads with its own synchronisation.
// allocate(small_object_pool *&, size), with the execution's data
HD_LIBRARY(void *, _ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm, (void **pool, size_t size), (pool, size)) {
  void *p = REAL_LIBRARY(_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEm)(pool, size);
  hd_block_begins(p, size, hd.cur->library_pc);
  return p;
}
HD_LIBRARY(void *, _ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE, (void **pool, size_t size, const void *execution), (pool, size, execution)) {
  void *p = REAL_LIBRARY(_ZN3tbb6detail2r18allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE)(pool, size, execution);
  hd_block_begins(p, size, hd.cur->library_pc);
  return p;
}
