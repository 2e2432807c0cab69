// before_main.c: threads that the program or a library starts before main, in a constructor.
// heddle controls threads from main on, so they begin there: main's first operations create
// them, with the identifiers that the constructors received.
#define _GNU_SOURCE
#include <pthread.h>
#include "core/fiber.h"
#include "core/registration.h"
#include "core/rings.h"
#include "threads/threads.h"

enum { MOST = 256 };
static struct {
  uintptr_t id;
  void *(*entry)(void *);
  void *arg;
  uint64_t pc;
  size_t stack;
  bool detached;
} early[MOST];
static uint32_t n;

bool hd_before_main(void) { return hd_controlled() && hd_mode == HD_EARLY; }

int hd_early_create(uintptr_t *id, const void *attr, void *(*entry)(void *), void *arg, uint64_t pc) {
  if (n == MOST) hd_refuse("the program starts more than 256 threads before main");
  size_t size;
  bool detached;
  if (hd_thread_wishes(attr, &size, &detached)) hd_refuse("the program starts a thread before main with a stack of its own (pthread_attr_setstack): heddle controls threads from main on");
  hd_hosts_make(n + 1);
  *id = hd_hosts[n].fs;
  early[n].id = *id;
  early[n].entry = entry;
  early[n].arg = arg;
  early[n].pc = pc;
  early[n].stack = size;
  early[n].detached = detached;
  n++;
  return 0;
}

int hd_early_detach(uintptr_t id) {
  for (uint32_t i = 0; i < n; i++)
    if (early[i].id == id) early[i].detached = true;
  return 0;
}

_Noreturn void hd_early_join(void) {
  hd_refuse("the program waits before main for a thread to end: heddle controls threads from main on, and those that were started before begin with it");
}

static void begin(void) {
  for (uint32_t i = 0; i < n; i++) hd_hosts[i].used = true; // threads that begin in this loop may start others
  for (uint32_t i = 0; i < n; i++) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (early[i].stack) pthread_attr_setstacksize(&attr, early[i].stack);
    if (early[i].detached) pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    hd_early_host = &hd_hosts[i];
    uintptr_t id;
    hd_thread_create(&id, &attr, early[i].entry, early[i].arg, early[i].pc);
  }
}

const struct hd_registration hd_threads_before_main = { .main_begins = begin };
