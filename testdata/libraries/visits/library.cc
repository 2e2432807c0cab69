// A library with a lock and a flag of its own, which the test compiles without access hooks.
#include "library.h"
#include <pthread.h>
#include <sched.h>

static int taken, posted;

extern "C" {
void own_lock() {
  while (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE)) sched_yield();
}
void own_unlock() { __atomic_store_n(&taken, 0, __ATOMIC_RELEASE); }
void own_nothing() {}
void own_locked(void (*f)()) {
  own_lock();
  f();
  own_unlock();
}
void own_post() { __atomic_store_n(&posted, 1, __ATOMIC_RELEASE); }
void own_wait() {
  while (!__atomic_load_n(&posted, __ATOMIC_ACQUIRE)) sched_yield();
}
static void *start(void *f) {
  reinterpret_cast<void (*)()>(f)();
  own_post();
  return nullptr;
}
void own_start(void (*f)()) {
  pthread_t t;
  pthread_create(&t, nullptr, start, reinterpret_cast<void *>(f));
  pthread_detach(t);
}
const own_functions *own_table() {
  static const own_functions table = {own_lock, own_unlock};
  return &table;
}
Lock *own_new() {
  struct Own final : Lock {
    void lock() override { own_lock(); }
    void unlock() override { own_unlock(); }
  };
  static Own lock;
  return &lock;
}
}
