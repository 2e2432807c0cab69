// kernel_threads.c: runs each thread of the program on a kernel thread of its own instead of on
// the carrier, so that a debugger can show it. The host that lends a thread its stack and thread
// control block also runs it. Still only one thread runs at a time: the thread that makes a
// decision wakes the chosen one and then sleeps. Nothing else differs, so executions are the same.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include "core/fiber.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/side_stack.h"

bool hd_threads_real;
uint64_t hd_kernel_mask;
static uint32_t main_turn;

static uint32_t *turn(const struct hd_thread *t) { return t->host ? &t->host->park : &main_turn; }

static void wake(const struct hd_thread *t) {
  uint32_t *word = turn(t);
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  hd_sys4(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, 0);
}

static void wait(uint32_t *word) {
  while (!__atomic_exchange_n(word, 0, __ATOMIC_ACQUIRE)) hd_sys4(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, 0);
}

void hd_hand_over(struct hd_thread *from, struct hd_thread *to) {
  wake(to);
  wait(turn(from));
}

// Switches from a thread that has ended. Another thread may get its host at once, so the kernel
// thread must leave the stack before any other thread runs.
void hd_hand_over_leave(struct hd_thread *from, struct hd_thread *to) {
  if (from->host) {
    from->host->next = to;
    hd_fiber_jump(from->host->base);
  }
  wake(to);
  for (;;) wait(&main_turn);
}

static void name(const struct hd_thread *t) {
  char text[16] = "T";
  uint32_t n = 1, digits = 1;
  for (uint32_t v = t->number; v >= 10; v /= 10) digits++;
  for (uint32_t v = t->number, i = digits; i--; v /= 10) text[n + i] = (char)('0' + v % 10);
  hd_sys(SYS_prctl, PR_SET_NAME, text, 0);
}

// Until now signals were blocked, and no stack existed to handle one on. This kernel thread's own frames
// lie where the program's are to be.
HD_ON_SIDE_STACK(void, hd_kernel_thread_ready, (void)) {
  HD_CALL_MODULES(kernel_thread);
  hd_sys4(SYS_rt_sigprocmask, SIG_SETMASK, &hd_kernel_mask, 0, 8);
}

void hd_seat_wait(struct hd_host *d) {
  hd_sys(SYS_prctl, PR_SET_NAME, "not in use", 0);
  bool ready = false;
  for (;;) {
    wait(&d->park);
    hd_side_top = hd_side_of(hd.cur->index);
    if (!ready) hd_kernel_thread_ready();
    ready = true;
    name(hd.cur);
    hd_fiber_switch(&d->base, hd.cur->sp);
    wake(d->next);
  }
}
