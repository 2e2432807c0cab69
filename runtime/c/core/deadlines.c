// deadlines.c: the program's clocks as virtual time.
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>
#include "core/private_state.h"
#include "core/progress.h"
#include "core/run.h"
#include "core/virtual_time.h"

static const uint64_t REAL_START = 1750000000ull * 1000000000, MONO_START = 1000ull * 1000000000;

uint64_t hd_clock_origin(int clock) {
  if (clock < 0) return 1000000; // the CPU-time clock of a process or thread
  switch (clock) {
  case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: case CLOCK_TAI: case CLOCK_REALTIME_ALARM: return REAL_START;
  case CLOCK_PROCESS_CPUTIME_ID: case CLOCK_THREAD_CPUTIME_ID: return 1000000;
  default: return MONO_START;
  }
}

bool hd_deadline(struct hd_deadline *d, int clock, const struct timespec *abs) {
  if (!abs || abs->tv_nsec < 0 || abs->tv_nsec >= 1000000000) return false;
  uint64_t at = abs->tv_sec < 0 ? 0 : (uint64_t)abs->tv_sec * 1000000000ull + (uint64_t)abs->tv_nsec;
  uint64_t from = hd_clock_origin(clock);
  d->vtime = at > from ? at - from : 0;
  hd_private_deadline(at, from);
  return true;
}

uint64_t hd_after(uint64_t ns) {
  uint64_t until = hd.vtime + ns;
  hd_private_after(until, ns);
  return until;
}

void hd_timer(struct hd_thread *t, const struct hd_deadline *d) {
  t->wait.timed = true;
  t->wait.timed_out = false;
  t->wait.deadline = d->vtime;
  t->wait.late = d->vtime <= hd.vtime;
  if (d->vtime < hd.next_deadline) hd.next_deadline = d->vtime;
  hd_add(&hd.timers, t->index);
}

// A loop around such waits is one that tries again and again: no time passes in them.
void hd_timed_out(struct hd_thread *t, uint64_t pc) {
  if (t->wait.late) hd_observe(t, pc, ETIMEDOUT);
}
