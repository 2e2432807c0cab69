// fiber.c: donors and fibers. A donor is a real pthread made beforehand and parked in
// the kernel for good; a fiber borrows its stack and thread control block, so that
// everything libc keeps per thread is genuine, and runs them on the carrier.
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "core/rt.h"

struct hd_donor *hd_donors; // HD_MAX_THREADS of them
uint32_t hd_ndonors;
static int fsgsbase = -1;

void hd_set_fs(uintptr_t fs) {
  if (HD_LIKELY(fsgsbase > 0)) {
    __asm__ volatile("wrfsbase %0" : : "r"(fs) : "memory");
    return;
  }
  if (fsgsbase < 0) {
    fsgsbase = getauxval(AT_HWCAP2) >> 1 & 1; // HWCAP2_FSGSBASE
    hd_set_fs(fs);
    return;
  }
  hd_sys(SYS_arch_prctl, ARCH_SET_FS, fs, 0);
}

uint64_t hd_default_stack(void) {
  static uint64_t n;
  if (n) return n;
  struct rlimit r;
  n = 8 << 20;
  if (getrlimit(RLIMIT_STACK, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur > n) n = r.rlim_cur;
  if (n > 64 << 20) n = 64 << 20;
  n = (n + 4095) & ~4095ull;
  return n;
}

static void *donor_main(void *arg) {
  struct hd_donor *d = arg;
  uint64_t all = ~0ull;
  hd_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, 0, 8);
  d->fs = (uintptr_t)pthread_self();
  // Below this frame is free for the fiber. The kernel holds this thread in the futex
  // call and touches none of its memory until the process ends.
  d->sp = ((uintptr_t)__builtin_frame_address(0) - 1024) & ~63ull;
  __atomic_store_n(&d->state, 1, __ATOMIC_RELEASE);
  hd_sys4(SYS_futex, &d->state, FUTEX_WAKE_PRIVATE, 1, 0);
  if (hd_threads_real) hd_seat_wait(d);
  for (;;) hd_sys4(SYS_futex, &d->park, FUTEX_WAIT_PRIVATE, 0, 0);
  return NULL;
}

void hd_donors_make(uint32_t n) {
  if (!hd_donors) hd_donors = hd_map(sizeof(struct hd_donor) * HD_MAX_THREADS, "donors");
  uint64_t size = hd_default_stack(), guard = 65536;
  if (n > HD_MAX_THREADS - 1) n = HD_MAX_THREADS - 1;
  for (; hd_ndonors < n; hd_ndonors++) {
    struct hd_donor *d = &hd_donors[hd_ndonors];
    // As a hint: where something else is, the kernel chooses.
    long p = hd_sys6(SYS_mmap, (long)(HD_STACKS_BASE + hd_ndonors * (size + guard)), (long)(size + guard), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (p < 0) hd_fatal("no memory for the stack of thread %u", hd_ndonors + 1);
    hd_sys(SYS_mprotect, p, guard, PROT_NONE);
    hd_sys(SYS_madvise, p, size + guard, MADV_NOHUGEPAGE);
    d->lo = (uintptr_t)p + guard;
    d->hi = d->lo + size;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, (void *)d->lo, size);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_t id;
    int err = REAL(pthread_create)(&id, &attr, donor_main, d);
    pthread_attr_destroy(&attr);
    if (err) hd_fatal("cannot make thread %u (error %d): raise the limit on threads (ulimit -u)", hd_ndonors + 1, err);
    while (!__atomic_load_n(&d->state, __ATOMIC_ACQUIRE))
      hd_sys4(SYS_futex, &d->state, FUTEX_WAIT_PRIVATE, 0, 0);
  }
}

struct hd_donor *hd_donor_get(void) {
  struct hd_donor *early = hd_early_donor;
  if (HD_UNLIKELY(early != NULL) && hd.cur->index == 0) {
    hd_early_donor = NULL;
    return early;
  }
  for (; hd.ndonors < hd_ndonors; hd.ndonors++) {
    struct hd_donor *d = &hd_donors[hd.ndonors];
    if (!d->used) { d->used = true; return d; }
  }
  return NULL;
}

// Puts a frame on the stack below sp that makes the first switch to it call
// hd_thread_main.
void hd_fiber_start(struct hd_thread *t, uintptr_t sp) {
  uint64_t *s = (uint64_t *)(sp & ~15ull);
  *--s = 0; *--s = 0;
  *--s = (uint64_t)hd_fiber_entry; // return address; leaves the stack 16-aligned at its call
  *--s = 0;                        // rbp
  *--s = (uint64_t)hd_thread_main; // rbx
  *--s = 0; *--s = 0; *--s = 0; *--s = 0; // r12 r13 r14 r15
  uint32_t mxcsr; uint16_t cw;
  __asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(mxcsr), "=m"(cw));
  *--s = mxcsr | (uint64_t)cw << 32;
  t->sp = s;
}
