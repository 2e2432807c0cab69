// progress.c: who is only waiting. A read that returns what the same instruction read
// before, with no write or other effect of the thread in between, tells the thread
// nothing new; a run of them is a spin loop, which gives way to the others like a yield.
// When every enabled thread only does that for long enough, nobody will ever get further.
#include "rt.h"

enum { SPIN = 6, HOPELESS = 4000 };

bool hd_spinning(const struct hd_thread *t) { return t->stale >= SPIN; }

void hd_observe(struct hd_thread *t, uint64_t pc, uint64_t value) {
  uint32_t i = (uint32_t)(pc ^ pc >> 4) % HD_STALE_SLOTS;
  if (t->seen_pc[i] == pc && t->seen_value[i] == value) {
    t->stale++;
    if (HD_UNLIKELY(hd.points - hd.progress_at > HOPELESS) && t->stale > SPIN) {
      // Everybody who can run must have had the chance to change something.
      uint32_t n = 0;
      for (uint32_t w = 0; w < hd.nwords; w++) n += (uint32_t)__builtin_popcountll(hd.enabled.w[w]);
      bool all = true;
      for (uint32_t k = 0; k < hd.nthreads && all; k++)
        if (hd_has(&hd.enabled, k) && hd_threads[k].stale < SPIN) all = false;
      if (all && hd.points - hd.progress_at > (uint64_t)HOPELESS * n && hd_time_passes()) {
        hd.progress_at = hd.points; // they wait for time to pass
        return;
      }
      if (all && hd.points - hd.progress_at > (uint64_t)HOPELESS * n)
        hd_end(HD_OUT_HANG, 0, pc, t->pend.obj, "no progress");
    }
    return;
  }
  t->seen_pc[i] = pc;
  t->seen_value[i] = value;
  hd_progress(t);
}
