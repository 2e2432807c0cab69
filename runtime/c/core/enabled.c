// enabled.c: when is a pending operation ready, for every kind of operation that can wait.
#include "io/fd.h"

// The objects are in the program's memory, which may be gone. Then the thread goes on, and
// meets the fault, or is told of the misuse, in its own call.
static bool object_ready(const struct hd_thread *u) {
  if (u->pend.op == HD_OP_COND_WAKE) { // the condition variable may be gone, too, once it was woken
    return (u->granted || u->timed_out || hd_cancel_due(u)) && (hd_freed(u->pend.aux) || hd_mutex_free(u->pend.aux));
  }
  if (hd_freed(u->pend.obj)) return true;
  switch (u->pend.op) {
  case HD_OP_MUTEX_LOCK: return hd_mutex_free(u->pend.obj);
  case HD_OP_MUTEX_TIMEDLOCK: return u->timed_out || hd_mutex_free(u->pend.obj);
  case HD_OP_SEM_WAIT: return hd_word_or(u->pend.obj, 1) != 0;
  case HD_OP_SEM_TIMEDWAIT: return u->timed_out || hd_word_or(u->pend.obj, 1) != 0;
  case HD_OP_RWLOCK_RDLOCK: return hd_rwlock_free(u->pend.obj, false);
  case HD_OP_RWLOCK_WRLOCK: return hd_rwlock_free(u->pend.obj, true);
  case HD_OP_RWLOCK_TIMEDRDLOCK: return u->timed_out || hd_rwlock_free(u->pend.obj, false);
  case HD_OP_RWLOCK_TIMEDWRLOCK: return u->timed_out || hd_rwlock_free(u->pend.obj, true);
  case HD_OP_SPIN_LOCK: return hd_word_or(u->pend.obj, 1) == 1;
  case HD_OP_ONCE_BEGIN: return (hd_word_or(u->pend.obj, 0) & 1) == 0;
  }
  return false;
}

bool hd_ready(const struct hd_thread *u) { return hd_op_ready(u) || u->due || (HD_UNLIKELY(hd.npending) && hd_signal_due(u)); }

bool hd_op_ready(const struct hd_thread *u) { return hd_op_possible(u) && !(HD_UNLIKELY(u->owed) && hd_owes(u)); }

bool hd_op_possible(const struct hd_thread *u) {
  if (!u->needs || u->interrupted || (HD_UNLIKELY(u->cancel) && u->pend.op != HD_OP_COND_WAKE && hd_cancel_interrupts(u))) return true;
  switch (u->pend.op) {
  case HD_OP_THREAD_JOIN: { // a second join or one of a detached thread goes on, to be reported
    const struct hd_thread *target = (const struct hd_thread *)u->needs;
    return u->timed_out || target->ended || target->joined || target->detached;
  }
  case HD_OP_BARRIER_LEAVE: return u->granted;
  case HD_OP_FUTEX_WAKEUP: return u->granted || u->timed_out;
  case HD_OP_SIGNAL_WAIT: return hd_signal_ready(u);
  case HD_OP_FD_READ: case HD_OP_FD_WRITE: case HD_OP_FD_POLL: case HD_OP_FD_CONNECT: case HD_OP_FD_ACCEPT: return hd_io_ready(u);
  case HD_OP_SLEEP: return u->timed_out && !hd_timer_before(u->deadline);
  case HD_OP_PROCESS_EXIT: case HD_OP_SIGNAL_RESUME: return false;
  case HD_OP_TIMER_EXPIRE: case HD_OP_THREAD_CREATE: return u->timed_out; // a timer's
  case HD_OP_PROCESS_WAIT: return hd_child_ready(u);
  }
  return object_ready(u);
}

void hd_memory_gone(uint64_t at, uint64_t bytes) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.needers.w[w]; m; m &= m - 1) {
      struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if ((u->needs - at < bytes || u->needs2 - at < bytes) && hd_ready(u)) hd_add(&hd.enabled, u->index);
    }
}

bool hd_waited_for(uint64_t obj, const struct hd_thread *but, uint16_t op) {
  for (uint32_t w = 0; w < hd.nwords; w++)
    for (uint64_t m = hd.needers.w[w]; m; m &= m - 1) {
      const struct hd_thread *u = &hd_threads[w * 64 + (uint32_t)__builtin_ctzll(m)];
      if (u != but && u->pend.op == op && (u->needs == obj || u->needs2 == obj)) return true;
    }
  return false;
}

HD_PROGACCESS void hd_fetch(void *to, const void *p, uint32_t size, uint64_t pc) {
  hd.cur->pend.pc = pc;
  hd_copy(to, p, size);
}

HD_PROGACCESS void hd_refresh(void *p, uint32_t size, uint64_t pc) {
  hd.cur->pend.pc = pc;
  volatile char *c = p;
  c[0] = c[0];
  c[size - 1] = c[size - 1];
}
