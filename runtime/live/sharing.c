// sharing.c: recordings of the accesses to shared memory alone (sharing.h).
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "live.h"

static void *map(size_t size) {
  void *p = hl_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}
// Tells the controller, even if the program crashes later.
static void tell(uint64_t pc) {
  uint64_t n = __atomic_fetch_add(&hl->nfound, 1, __ATOMIC_RELAXED);
  if (n < hl->most_found) hl_found[n] = hl_place(pc);
}
#define SHARING_MAP(bytes) map(bytes)
#define SHARING_CLEAR(p, bytes) ((void)(p)) // for one execution only
#define SHARING_TELL(pc) tell(pc)
#include "sharing.h"

#define MOST (1ull << 30) // bytes of words, for twice as much memory of the program

static struct sharing *s;

void hl_sharing_begin(void) {
  if (!hl->sharing) return;
  s = map(sizeof *s);
  if (s) sharing_begin(s, MOST);
}

static bool wanted(uint64_t pc) {
  uint64_t place = hl_place(pc), lo = 0, hi = hl->nshared;
  while (lo < hi) {
    uint64_t mid = (lo + hi) / 2;
    if (hl_shared[mid] < place) lo = mid + 1;
    else hi = mid;
  }
  return lo < hl->nshared && hl_shared[lo] == place;
}

bool hl_sharing_access(const struct hl_thread *t, uint64_t pc, uint64_t address, uint64_t size, bool write) {
  if (!s) return true;
  if (sharing_idle(s, t->number, pc, address, size, write)) return false;
  uint32_t site = sharing_site(s, pc);
  if (!site) return true;
  uint32_t state = __atomic_load_n(&s->sites[site].state, __ATOMIC_RELAXED);
  if (!(state & SHARING_KNOWN)) {
    state = SHARING_KNOWN | (wanted(pc) ? SHARING_WANTED : 0);
    __atomic_fetch_or(&s->sites[site].state, state, __ATOMIC_RELAXED);
  }
  // What main does before it creates a thread is before all else.
  if (__atomic_load_n(&hl->threads, __ATOMIC_RELAXED) > 1) sharing_access(s, t->number, site, address, size, write);
  return state & SHARING_WANTED;
}

void hl_sharing_free(uint64_t address, uint64_t size) {
  struct hl_thread *t = hl_thread();
  if (s && t && !t->inside && __atomic_load_n(&hl->threads, __ATOMIC_RELAXED) > 1) sharing_access(s, t->number, 0, address, size, true);
}

void hl_sharing_forget(uint64_t address, uint64_t size) {
  if (s) sharing_forget(s, address, size);
}

// The caller is a new thread, and its stack was perhaps that of another.
void hl_sharing_thread(struct hl_thread *t) {
  if (!s) return;
  pthread_attr_t attr;
  void *lowest = NULL;
  size_t size = 0;
  t->inside = true;
  if (pthread_getattr_np(pthread_self(), &attr) == 0) pthread_attr_getstack(&attr, &lowest, &size), pthread_attr_destroy(&attr);
  t->inside = false;
  sharing_forget(s, (uint64_t)lowest, size);
}
