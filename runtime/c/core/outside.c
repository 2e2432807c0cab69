// outside.c: threads that wait for other processes while other threads are enabled. Without enabled threads the
// scheduler waits as long as it takes (sched.c). With some it cannot, because the other process may wait for what these
// do next. So it waits in turns that get longer, for MOST in all, which counts little of the time in which a child process
// computes. An execution that has used that up is unfinished, which is not a hang.
#include "core/outside.h"
#include "core/registration.h"
#include "core/run.h"

enum { MS = 1000000 };
static const uint64_t FIRST = 100ull * MS, MOST = 10000ull * MS; // ns

static enum hd_outside wait_for(const struct hd_thread *t, uint64_t ns) {
  enum hd_outside shown = HD_OUTSIDE_NOTHING;
  HD_EACH_MODULE(m) {
    if (!m->outside || !m->outside(t, NULL)) continue;
    if (m->outside_acts((long)ns)) return HD_OUTSIDE_ACTED;
    hd.outside += ns;
    shown = HD_OUTSIDE_NOT_YET;
  }
  return shown;
}

static enum hd_outside rest(const struct hd_thread *t) {
  uint64_t left = hd.outside < MOST ? MOST - hd.outside : 0, turn = FIRST + hd.outside;
  enum hd_outside shown = wait_for(t, turn < left ? turn : left);
  return shown == HD_OUTSIDE_NOT_YET && !left ? HD_OUTSIDE_NEVER : shown;
}

HD_COLD enum hd_outside hd_outside_rest(void) { return rest(NULL); }

HD_COLD void hd_outside_long(void) {
  if (hd.outside < MOST) wait_for(NULL, MS);
}

HD_COLD bool hd_outside_for(const struct hd_thread *t) {
  while (!hd_has(&hd.enabled, t->index)) {
    enum hd_outside shown = rest(t);
    if (shown == HD_OUTSIDE_NOTHING || shown == HD_OUTSIDE_NEVER) break;
  }
  // The decision in progress is made only now.
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] |= hd.enabled.w[w];
  return hd_has(&hd.enabled, t->index);
}
