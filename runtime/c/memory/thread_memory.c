// thread_memory.c: see thread_memory.h.
//
// Not seen: the stack that the program itself has given a thread, whose memory it may use again; main's; thread_local
// storage of libraries that were loaded while the program ran, which is heap memory; what a host's next thread uses again.
#include "core/fiber.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/sched.h"
#include "memory/thread_memory.h"

uint64_t hd_gone_lo, hd_gone_size;

static void begin(void) { hd_gone_lo = hd_gone_size = 0; }

static const struct hd_host *host_of(uint64_t p) {
  if (!hd_nhosts) return NULL;
  // Hosts are consecutive, unless an address was taken.
  uint64_t stride = hd_nhosts > 1 ? hd_hosts[1].lo - hd_hosts[0].lo : 1;
  uint64_t i = (p - hd_hosts[0].lo) / stride;
  if (i < hd_nhosts && p - hd_hosts[i].lo < hd_hosts[i].hi - hd_hosts[i].lo) return &hd_hosts[i];
  for (i = 0; i < hd_nhosts; i++)
    if (p - hd_hosts[i].lo < hd_hosts[i].hi - hd_hosts[i].lo) return &hd_hosts[i];
  return NULL;
}

const struct hd_thread *hd_gone_owner(uint64_t p) {
  const struct hd_host *d = host_of(p);
  return d && d->used && d->owner && d->owner->host == d && d->owner->ended ? d->owner : NULL;
}

void hd_thread_memory_ends(struct hd_thread *t) {
  const struct hd_host *d = t->host;
  if (!d) return;
  uint64_t hi = hd_gone_lo + hd_gone_size;
  if (!hd_gone_size || d->lo < hd_gone_lo) hd_gone_lo = d->lo;
  if (!hd_gone_size || d->hi > hi) hi = d->hi;
  hd_gone_size = hi - hd_gone_lo;
  hd_memory_gone(d->lo, d->hi - d->lo);
}

void hd_gone_use(uint64_t p, uint64_t pc, const char *what) {
  const struct hd_thread *t = hd_gone_owner(p);
  bool local = p >= t->fs - hd_tls_at_main;
  hd_misuse(pc, p, hd_text("%s T%u's %s after T%u has ended", what, t->number, local ? "thread_local storage" : "stack", t->number));
}

const struct hd_registration hd_thread_memory = { .begin = begin };
