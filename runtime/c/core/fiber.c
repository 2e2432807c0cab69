// fiber.c: host threads and fibers. A host thread is a kernel thread created in advance and
// parked until the process ends. A fiber runs on the carrier with a host's stack and thread
// control block, so libc's per-thread state is genuine.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include "core/fiber.h"
#include "core/libc.h"
#include "core/own_memory.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/side_stack.h"

struct hd_host *hd_hosts; // HD_MAX_THREADS of them
uint32_t hd_nhosts;
struct hd_host *hd_early_host;
uintptr_t hd_main_sp, hd_main_fs;

static void *host_main(void *arg) {
  struct hd_host *d = arg;
  uint64_t all = ~0ull;
  hd_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, 0, 8);
  d->fs = (uintptr_t)pthread_self();
  // The fiber may use the stack below this frame. The kernel holds this thread in the futex
  // call and touches none of its memory until the process ends.
  d->sp = ((uintptr_t)__builtin_frame_address(0) - 1024) & ~63ull;
  __atomic_store_n(&d->state, 1, __ATOMIC_RELEASE);
  hd_sys4(SYS_futex, &d->state, FUTEX_WAKE_PRIVATE, 1, 0);
  if (hd_threads_real) hd_seat_wait(d);
  for (;;) hd_sys4(SYS_futex, &d->park, FUTEX_WAIT_PRIVATE, 0, 0);
  return NULL;
}

void hd_hosts_make(uint32_t n) {
  if (!hd_hosts) hd_hosts = hd_map(sizeof(struct hd_host) * HD_MAX_THREADS, "hosts");
  uint64_t size = hd_stack_mapped(hd_default_stack()), guard = HD_STACK_GUARD;
  if (n > HD_MAX_THREADS - 1) n = HD_MAX_THREADS - 1;
  hd_side_open(n + 1);
  for (; hd_nhosts < n; hd_nhosts++) {
    struct hd_host *d = &hd_hosts[hd_nhosts];
    // The address is a hint: if it is taken, the kernel chooses another.
    long p = hd_sys6(SYS_mmap, (long)(HD_STACKS_BASE + hd_random_gap + hd_nhosts * (size + guard)), (long)(size + guard), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (p < 0) hd_fatal("no memory for the stack of thread %u", hd_nhosts + 1);
    hd_sys(SYS_mprotect, p, guard, PROT_NONE);
    hd_sys(SYS_madvise, p, size + guard, MADV_NOHUGEPAGE);
    d->lo = (uintptr_t)p + guard;
    d->hi = d->lo + size;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, (void *)d->lo, size);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_t id;
    int err = REAL(pthread_create)(&id, &attr, host_main, d);
    pthread_attr_destroy(&attr);
    if (err) hd_fatal("cannot make thread %u (error %d): raise the limit on threads (ulimit -u)", hd_nhosts + 1, err);
    while (!__atomic_load_n(&d->state, __ATOMIC_ACQUIRE))
      hd_sys4(SYS_futex, &d->state, FUTEX_WAIT_PRIVATE, 0, 0);
    hd_set_guard(d->fs, HD_GUARD); // no function of libc's that is running on it ever returns
  }
}

struct hd_host *hd_host_get(void) {
  struct hd_host *early = hd_early_host;
  if (HD_UNLIKELY(early != NULL) && hd.cur->index == 0) {
    hd_early_host = NULL;
    return early;
  }
  for (; hd.nhosts < hd_nhosts; hd.nhosts++) {
    struct hd_host *d = &hd_hosts[hd.nhosts];
    if (!d->used) { d->used = true; return d; }
  }
  return NULL;
}

void hd_fiber_start(struct hd_thread *t, uintptr_t sp, void (*entry)(void)) {
  t->start = sp;
  t->sp = hd_fiber_frame(sp, entry, true);
}
