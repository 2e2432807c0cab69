// glib.c: GLib's mutexes, conditions, queues and thread pools. They wait with futexes, by syscall(),
// and decide with atomics that the runtime does not see, so a scheduling point precedes each
// decision.
//
// Not modelled: the order established by GLib's main loop, asynchronous results and D-Bus.
#include "libraries/libraries.h"

static uint32_t turns;
static void begin(void) { turns = 0; }
const struct hd_registration hd_glib = { .begin = begin };

static void turn(const void *object) { hd_order_turn(object, &turns); }

// ---- locks
#define ACQUIRE(name, object) \
  HD_LIBRARY(void, name, (void *object), (object)) { \
    turn(object); \
    REAL_LIBRARY(name)(object); \
    hd_order_acquire(object); \
  }
#define TRY(name) \
  HD_LIBRARY(int, name, (void *lock), (lock)) { \
    turn(lock); \
    int taken = REAL_LIBRARY(name)(lock); \
    if (taken) hd_order_acquire(lock); \
    return taken; \
  }
#define RELEASE(name) \
  HD_LIBRARY(void, name, (void *lock), (lock)) { \
    hd_order_release(lock); \
    REAL_LIBRARY(name)(lock); \
  }
ACQUIRE(g_mutex_lock, lock) TRY(g_mutex_trylock) RELEASE(g_mutex_unlock)
ACQUIRE(g_rec_mutex_lock, lock) TRY(g_rec_mutex_trylock) RELEASE(g_rec_mutex_unlock)
// A reader comes after the writers before it, a writer after the readers, too. The address of the
// lock's second byte is the object that readers release.
static const char *readers(const void *lock) { return (const char *)lock + 1; }
HD_LIBRARY(void, g_rw_lock_writer_lock, (void *lock), (lock)) {
  turn(lock);
  REAL_LIBRARY(g_rw_lock_writer_lock)(lock);
  hd_order_acquire(lock);
  hd_order_acquire(readers(lock));
}
HD_LIBRARY(int, g_rw_lock_writer_trylock, (void *lock), (lock)) {
  turn(lock);
  int taken = REAL_LIBRARY(g_rw_lock_writer_trylock)(lock);
  if (taken) {
    hd_order_acquire(lock);
    hd_order_acquire(readers(lock));
  }
  return taken;
}
RELEASE(g_rw_lock_writer_unlock)
ACQUIRE(g_rw_lock_reader_lock, lock) TRY(g_rw_lock_reader_trylock)
HD_LIBRARY(void, g_rw_lock_reader_unlock, (void *lock), (lock)) {
  hd_order_release(readers(lock));
  REAL_LIBRARY(g_rw_lock_reader_unlock)(lock);
}

// ---- locks of one bit of an integer or a pointer: the bit's byte is the object
static const char *bit_of(const volatile void *word, int bit) { return (const char *)word + ((unsigned)bit >> 3 & 7); }

#define BIT_LOCK(kind) \
  HD_LIBRARY(void, kind##_lock, (volatile void *word, int bit), (word, bit)) { \
    turn(bit_of(word, bit)); \
    REAL_LIBRARY(kind##_lock)(word, bit); \
    hd_order_acquire(bit_of(word, bit)); \
  } \
  HD_LIBRARY(int, kind##_trylock, (volatile void *word, int bit), (word, bit)) { \
    turn(bit_of(word, bit)); \
    int taken = REAL_LIBRARY(kind##_trylock)(word, bit); \
    if (taken) hd_order_acquire(bit_of(word, bit)); \
    return taken; \
  } \
  HD_LIBRARY(void, kind##_unlock, (volatile void *word, int bit), (word, bit)) { \
    hd_order_release(bit_of(word, bit)); \
    REAL_LIBRARY(kind##_unlock)(word, bit); \
  }
BIT_LOCK(g_bit)
BIT_LOCK(g_pointer_bit)
// of GLib 2.80: the lock and a read of the pointer, the unlock and a write
HD_LIBRARY(void, g_pointer_bit_lock_and_get, (void *word, unsigned bit, uint64_t *pointer), (word, bit, pointer)) {
  turn(bit_of(word, (int)bit));
  REAL_LIBRARY(g_pointer_bit_lock_and_get)(word, bit, pointer);
  hd_order_acquire(bit_of(word, (int)bit));
}
HD_LIBRARY(void, g_pointer_bit_unlock_and_set, (void *word, unsigned bit, void *pointer, uint64_t preserved), (word, bit, pointer, preserved)) {
  hd_order_release(bit_of(word, (int)bit));
  REAL_LIBRARY(g_pointer_bit_unlock_and_set)(word, bit, pointer, preserved);
}

// ---- conditions: a wait releases its mutex and acquires it again
HD_LIBRARY(void, g_cond_wait, (void *cond, void *mutex), (cond, mutex)) {
  hd_order_release(mutex);
  REAL_LIBRARY(g_cond_wait)(cond, mutex);
  hd_order_acquire(mutex);
}
HD_LIBRARY(int, g_cond_wait_until, (void *cond, void *mutex, int64_t until), (cond, mutex, until)) {
  hd_order_release(mutex);
  int woken = REAL_LIBRARY(g_cond_wait_until)(cond, mutex, until);
  hd_order_acquire(mutex);
  return woken;
}

// ---- queues between threads
#define PUSH(name) \
  HD_LIBRARY(void, name, (void *queue, void *data), (queue, data)) { \
    hd_order_release(queue); \
    turn(queue); \
    REAL_LIBRARY(name)(queue, data); \
  }
#define POP(name, parameters, ...) \
  HD_LIBRARY(void *, name, parameters, __VA_ARGS__) { \
    turn(queue); \
    void *data = REAL_LIBRARY(name) __VA_ARGS__; \
    if (data) hd_order_acquire(queue); \
    return data; \
  }
PUSH(g_async_queue_push) PUSH(g_async_queue_push_front)
POP(g_async_queue_pop, (void *queue), (queue))
POP(g_async_queue_try_pop, (void *queue), (queue))
POP(g_async_queue_timeout_pop, (void *queue, uint64_t us), (queue, us))

// ---- once
struct once { void *object; void *(*run)(void *); void *arg; };
static void *run_once(void *p) {
  struct once *o = p;
  void *result = o->run(o->arg);
  hd_order_release(o->object);
  return result;
}
HD_LIBRARY(void *, g_once_impl, (void *object, void *(*run)(void *), void *arg), (object, run, arg)) {
  struct once o = { object, run, arg };
  turn(object);
  void *result = REAL_LIBRARY(g_once_impl)(object, run_once, &o);
  hd_order_acquire(object);
  return result;
}
HD_LIBRARY(int, g_once_init_enter, (volatile void *at), (at)) {
  turn((const void *)at);
  int first = REAL_LIBRARY(g_once_init_enter)(at);
  if (!first) hd_order_acquire((const void *)at);
  return first;
}
HD_LIBRARY(void, g_once_init_leave, (volatile void *at, uint64_t result), (at, result)) {
  hd_order_release((const void *)at);
  REAL_LIBRARY(g_once_init_leave)(at, result);
}

// ---- thread pools: a push happens before the function's call, and the call before the end of the pool
struct pool { void (*run)(void *, void *); void *arg; };

static void run_pooled(void *data, void *p) {
  struct pool *pool = p;
  if (!hd_active()) {
    pool->run(data, pool->arg);
    return;
  }
  uint64_t outer = hd.cur->library_pc;
  hd.cur->library_pc = 0;
  hd_order_acquire(pool);
  pool->run(data, pool->arg);
  hd_order_release((const char *)pool + 1);
  hd.cur->library_pc = outer;
}

// The public fields of GThreadPool, with the values that a program expects.
struct visible { void (*run)(void *, void *); void *arg; int exclusive; };

static struct pool *wrapped(void (*run)(void *, void *), void *arg) {
  extern void *malloc(size_t);
  struct pool *p = malloc(sizeof *p); // never freed, because the pool's threads may use it at any time
  if (p) *p = (struct pool){ run, arg };
  return p;
}

HD_LIBRARY(struct visible *, g_thread_pool_new, (void (*run)(void *, void *), void *arg, int most, int exclusive, void **error), (run, arg, most, exclusive, error)) {
  struct pool *p = wrapped(run, arg);
  return REAL_LIBRARY(g_thread_pool_new)(p ? run_pooled : run, p ? (void *)p : arg, most, exclusive, error);
}
HD_LIBRARY(int, g_thread_pool_push, (struct visible *pool, void *data, void **error), (pool, data, error)) {
  if (pool->run == run_pooled) hd_order_release(pool->arg);
  turn(pool);
  return REAL_LIBRARY(g_thread_pool_push)(pool, data, error);
}
HD_LIBRARY(void, g_thread_pool_free, (struct visible *pool, int immediate, int wait), (pool, immediate, wait)) {
  const char *p = pool->run == run_pooled ? pool->arg : NULL;
  turn(pool);
  REAL_LIBRARY(g_thread_pool_free)(pool, immediate, wait);
  if (p && wait) hd_order_acquire(p + 1);
}
