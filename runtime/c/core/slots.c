// slots.c: allocates slots. A slot is an index into hd_threads and a bit in every set of threads;
// a thread that runs code also has a host. Slot and host are reused once the thread has ended
// and the program can no longer refer to it, because it was joined or is detached.
//
// A thread's slot is a function of the schedule: an unused slot while fewer than QUARANTINE have
// retired, then the one that retired first. A pthread_t is the address of the host's control
// block, so the identifier of an ended thread stays unused until that many others have retired,
// and its use is reported as misuse. After that another thread may get it, as with libc.
#include "core/carrier.h"
#include "core/fiber.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/threads.h"

enum { QUARANTINE = 64 };

// Retired slots, in the order in which they retired. Slots of timers, which have no host, have a
// queue of their own.
struct queue { uint16_t *slots; uint32_t first, n; };
static struct queue threads, timers;
_Static_assert(HD_MAX_THREADS <= 1 << 16, "slots in 16 bits");

void hd_slots_begin(void) {
  if (!threads.slots) {
    threads.slots = hd_map(sizeof *threads.slots * HD_MAX_THREADS, "the slots of threads");
    timers.slots = hd_map(sizeof *timers.slots * HD_MAX_THREADS, "the slots of timers");
  }
  threads.first = threads.n = timers.first = timers.n = 0;
}

static void put(struct queue *q, uint32_t slot) {
  q->slots[(q->first + q->n++) % HD_MAX_THREADS] = (uint16_t)slot;
}

// Takes the first slot that no pending operation refers to and whose stack is not in use. (A timer
// may start a thread while the scheduler still runs on the stack of a thread that has ended.)
static struct hd_thread *take(struct queue *q) {
  for (uint32_t k = q->n; k--;) {
    uint32_t slot = q->slots[q->first];
    q->first = (q->first + 1) % HD_MAX_THREADS;
    q->n--;
    struct hd_thread *t = &hd_threads[slot];
    if (!t->referred && t != hd.cur) return t;
    put(q, slot);
  }
  return NULL;
}

static struct hd_thread *unused(void) {
  if (hd.nthreads == HD_MAX_THREADS) return NULL;
  if (hd.nthreads >= hd.nwords * 64) {
    struct hd_set *sets[] = { &hd.enabled, &hd.needers, &hd.timers, &hd.decision };
    for (uint32_t k = 0; k < 4; k++) sets[k]->w[hd.nwords] = 0;
    hd.nwords++;
  }
  struct hd_thread *t = &hd_threads[hd.nthreads];
  t->index = hd.nthreads++;
  return t;
}

static struct hd_thread *again(struct queue *q) {
  struct hd_thread *t = take(q);
  if (!t) return NULL;
  if (hd.record) hd_thread_report(t);
  HD_CALL_MODULES(thread_gone, t);
  return t;
}

struct hd_thread *hd_slot_get(struct hd_host **host) {
  struct hd_thread *t = NULL;
  if (!host) {
    t = again(&timers);
    if (!t) t = unused();
  } else {
    if (threads.n >= QUARANTINE && (t = again(&threads))) {
      *host = t->host;
      HD_CALL_MODULES(host_reused, t->host); // resets the thread-local storage, among others
    } else if (hd.nthreads < HD_MAX_THREADS) {
      *host = hd_host_get();
      if (!*host) hd_more_hosts();
      t = unused();
    } else if ((t = again(&threads))) {
      *host = t->host;
      HD_CALL_MODULES(host_reused, t->host);
    }
  }
  if (!t) hd_unsupported(hd_text("more than %u threads at one time", HD_MAX_THREADS));
  return t;
}

void hd_slot_retire(struct hd_thread *t) {
  if (t->index == 0) return; // main runs on the process's stack, not on a host's
  put(t->fires ? &timers : &threads, t->index);
}

struct hd_thread *hd_thread_numbered(uint32_t number) {
  if (number < hd.nthreads && hd_threads[number].number == number) return &hd_threads[number];
  for (uint32_t i = 0; i < hd.nthreads; i++)
    if (hd_threads[i].number == number) return &hd_threads[i];
  return NULL;
}
