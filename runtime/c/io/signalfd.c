// signalfd.c: descriptors from which pending signals are read. What a thread reads, and whether it would block, depends on
// the signals that are pending for it, so a descriptor is ready for one thread and not for another.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include "core/interrupts.h"
#include "core/libc.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "signals/signals.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/stream.h"

static bool any;

static void begin(void) { any = false; }

bool hd_signalfd_any(void) { return any; }

bool hd_signalfd_ready(const struct hd_file *f) { return hd_signals_pending(hd_io_tested()) & f->count; }

uint64_t hd_signalfd_edges(const struct hd_file *f) {
  uint64_t sum = 0;
  for (uint64_t m = f->count; m; m &= m - 1) sum += hd_signals_sent[__builtin_ctzll(m) + 1];
  return sum;
}

static struct signalfd_siginfo told(const struct hd_signal *s) {
  siginfo_t info;
  hd_signal_info(&info, s);
  struct signalfd_siginfo to = { .ssi_signo = (uint32_t)info.si_signo, .ssi_code = info.si_code };
  if (info.si_code == SI_TIMER) {
    to.ssi_tid = (uint32_t)info.si_timerid;
    to.ssi_overrun = (uint32_t)info.si_overrun;
  } else if (info.si_code != SI_KERNEL) {
    to.ssi_pid = (uint32_t)info.si_pid;
    to.ssi_uid = info.si_uid;
  }
  if (info.si_code == SI_TIMER || info.si_code == SI_QUEUE) {
    to.ssi_ptr = (uint64_t)info.si_value.sival_ptr;
    to.ssi_int = info.si_value.sival_int;
  }
  if (s->child && info.si_code > 0) to.ssi_status = info.si_status;
  return to;
}

long hd_signalfd_read(struct hd_file *f, struct hd_msg *m) {
  struct hd_signal s;
  uint64_t n = 0, room = m->size / sizeof(struct signalfd_siginfo);
  if (!room) return -EINVAL;
  for (; n < room && hd_signal_take(hd.cur, f->count, &s); n++) {
    struct signalfd_siginfo to = told(&s);
    hd_scatter(m, &to, sizeof to);
  }
  return n ? (long)(n * sizeof(struct signalfd_siginfo)) : -EAGAIN;
}

static long create(uint64_t mask, int flags, uint64_t pc) {
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  struct hd_file *f = hd_file_new(HD_FD_SIGNALFD);
  f->count = mask;
  f->nonblock = flags & SFD_NONBLOCK;
  long fd = hd_fd_new(f, flags & SFD_CLOEXEC);
  if (fd < 0) { hd_file_release(f); return hd_io_done(t, 0, -fd); }
  any = true;
  f->fd = (int)fd;
  f->id = hd_fd_object(HD_FD_SIGNALFD, (int)fd);
  t->pend.obj = f->id;
  t->pend.aux = (uint64_t)fd;
  hd_io_done(t, 0, 0);
  return fd;
}

static long change(int fd, uint64_t mask, uint64_t pc) {
  struct hd_file *f = hd_file_of(fd);
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, pc, f ? f->id : 0, fd, 0, NULL);
  f = hd_file_of(fd);
  if (!f && (hd_reserved_fd(fd) || hd_sys(SYS_fcntl, fd, 1 /* F_GETFD */, 0) < 0)) return hd_io_done(t, 0, EBADF);
  if (!f || f->kind != HD_FD_SIGNALFD) return hd_io_done(t, 0, EINVAL);
  f->count = mask;
  f->in_seq++; // the kernel wakes its watches
  hd_io_done(t, 0, 0);
  return fd;
}

HD_INTERPOSE(int, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags)) {
  uint64_t mask;
  hd_fetch(&mask, set, sizeof mask, HD_RA);
  mask &= ~(hd_bit(SIGKILL) | hd_bit(SIGSTOP));
  if (flags & ~(SFD_NONBLOCK | SFD_CLOEXEC)) return (int)hd_errno_result(-EINVAL);
  return (int)hd_errno_result(fd == -1 ? create(mask, flags, HD_RA) : change(fd, mask, HD_RA));
}

const struct hd_registration hd_signalfds = { .begin = begin };
