// thread_local.c: destructors of C++ thread_local objects, which keep the library that they are in.
#include "core/libc.h"
#include "core/registration.h"
#include "core/run.h"
#include "memory/heap.h"
#include "loader/loader.h"

// The list of C++ destructors lives in the program's heap, so the snapshot restores it.
struct hd_tls_dtor { void (*fn)(void *); void *obj; struct hd_tls_dtor *next; void *library; };
static struct hd_tls_dtor *early_dtors; // registered by main before main

HD_INTERPOSE_WHILE(hd_controlled() && hd_mode != HD_CHILD, int, __cxa_thread_atexit_impl, (void (*fn)(void *), void *obj, void *dso), (fn, obj, dso)) {
  struct hd_tls_dtor *d = hd_heap_alloc(sizeof *d, 16, HD_RA);
  if (!d) return -1;
  struct hd_tls_dtor **list = hd_mode == HD_ACTIVE ? &hd.cur->dtors : &early_dtors;
  d->fn = fn;
  d->obj = obj;
  d->next = *list;
  *list = d;
  d->library = hd_mode == HD_ACTIVE ? hd_library_hold(dso, HD_RA) : NULL;
  return 0;
}

static void run(struct hd_thread *t) {
  for (struct hd_tls_dtor *d; (d = t->dtors);) {
    t->dtors = d->next;
    d->fn(d->obj);
    if (d->library) hd_library_drop(d->library);
  }
}

static void main_thread(struct hd_thread *t) { t->dtors = early_dtors; }

const struct hd_registration hd_thread_local = { .main = main_thread, .thread_ends = run, .thread_exits = run };
