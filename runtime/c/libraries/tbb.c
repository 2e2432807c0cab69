// tbb.c: oneTBB, which std::execution::par uses. Most of it consists of templates in the program,
// whose accesses and atomics the runtime sees. The library assigns tasks to threads and memory to
// tasks.
//
// The runtime does not know which task the library runs. So each call from the library into the
// program, a task or another function, is ordered after everything passed to the library before.
// That may hide a race between two tasks if something was passed to the library before the second
// began.
#include "libraries/libraries.h"
#include "memory/heap.h"

static uint32_t turns;
static char tasks; // the object that orders everything passed to the library
static void begin(void) { turns = 0; }
const struct hd_registration hd_tbb = { .begin = begin };

void hd_tbb_calls(void) {
  struct hd_thread *t = hd.cur;
  if (hd.open) return; // inside of an operation
  uint64_t outer = t->library_pc;
  t->library_pc = t->calls.depth && t->calls.depth <= HD_SHADOW_MAX ? t->calls.frames[t->calls.depth - 1].pc : 0;
  hd_order_turn(&turns, &turns);
  t->library_pc = outer;
  hd_order_acquire(&tasks);
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
