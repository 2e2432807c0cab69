// progress.h: detection of threads that only wait.
#ifndef HD_CORE_PROGRESS_H
#define HD_CORE_PROGRESS_H
#include "core/run.h"

bool hd_spinning(const struct hd_thread *t);
void hd_observe(struct hd_thread *t, uint64_t pc, uint64_t value); // t read value from its pending operation's object
void hd_vain(struct hd_thread *t, uint16_t op, uint64_t pc, uint64_t object); // t's read by op told nothing new
void hd_spins_at(const struct hd_thread *t, struct hd_waiter *w); // says in w that t spins, if it does so for long
bool hd_tells_nothing(struct hd_thread *t, uint64_t pc, uint64_t value); // t has read this value here before; remembers it
void hd_waste(struct hd_thread *t, uint64_t pc, uint32_t weight, uint32_t futile); // t performed an operation that achieved nothing
static inline void hd_progress(struct hd_thread *t) { t->progress.stale = 0; hd.progress_at = hd.points; }
enum { HD_WROTE_SEEN = 1, HD_WROTE_NAP = 2, HD_WROTE = HD_WROTE_SEEN | HD_WROTE_NAP }; // since the last read, since the last nap
// Attributes the writes since its last call to t, the running thread. Called at each scheduling
// point, and before t's progress.wrote is examined between two of them.
static inline void hd_progress_wrote(struct hd_thread *t) {
  t->progress.wrote |= hd.wrote;
  hd.wrote = 0;
}
#endif
