// timerfd.c: timers as descriptors, in virtual time.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include "core/libc.h"
#include "core/program_memory.h"
#include "core/run.h"
#include "core/virtual_time.h"
#include "io/blocking.h"
#include "io/descriptors.h"

uint64_t hd_timerfd_count(const struct hd_file *f) {
  if (!f->expires || hd.vtime < f->expires) return 0;
  return f->interval ? (hd.vtime - f->expires) / f->interval + 1 : 1;
}

void hd_timerfd_taken(struct hd_file *f) {
  uint64_t n = hd_timerfd_count(f);
  f->in_seq++;
  f->expires = f->interval ? f->expires + n * f->interval : 0;
}

static struct timespec split(uint64_t ns) { return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) }; }
static bool valid(const struct timespec *t) { return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000; }
static uint64_t join(const struct timespec *t) { return (uint64_t)t->tv_sec * 1000000000ull + (uint64_t)t->tv_nsec; }

static struct itimerspec now_of(const struct hd_file *f) {
  uint64_t next = f->expires;
  if (next && next <= hd.vtime) next = f->interval ? next + hd_timerfd_count(f) * f->interval : 0;
  return (struct itimerspec){ .it_interval = split(f->interval), .it_value = split(next ? next - hd.vtime : 0) };
}

static long create(int clock, int flags, uint64_t pc) {
  if (flags & ~(TFD_NONBLOCK | TFD_CLOEXEC)) return -EINVAL;
  switch (clock) {
  case CLOCK_REALTIME: case CLOCK_MONOTONIC: case CLOCK_BOOTTIME: case CLOCK_REALTIME_ALARM: case CLOCK_BOOTTIME_ALARM: break;
  default: return -EINVAL;
  }
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  struct hd_file *f = hd_file_new(HD_FD_TIMERFD);
  f->clock = clock;
  f->nonblock = flags & TFD_NONBLOCK;
  long fd = hd_fd_new(f, flags & TFD_CLOEXEC);
  if (fd < 0) { hd_file_release(f); return hd_io_done(t, 0, -fd); }
  f->fd = (int)fd;
  f->id = hd_fd_object(HD_FD_TIMERFD, (int)fd);
  t->pend.obj = f->id;
  t->pend.aux = (uint64_t)fd;
  hd_io_done(t, 0, 0);
  return fd;
}

static long bad(int fd, const struct hd_file *f) {
  return f || (!hd_reserved_fd(fd) && hd_sys(SYS_fcntl, fd, 1 /* F_GETFD */, 0) >= 0) ? EINVAL : EBADF;
}

static long set(int fd, int flags, const struct itimerspec *new, struct itimerspec *old, uint64_t pc) {
  struct itimerspec v, was;
  hd.cur->pend.pc = pc;
  hd_from_program(&v, new, sizeof v);
  struct hd_file *f = hd_file_of(fd);
  struct hd_thread *t = hd_io_point(HD_OP_FD_CTL, pc, f ? f->id : 0, fd, 0, NULL);
  f = hd_file_of(fd);
  if (!f || f->kind != HD_FD_TIMERFD) return hd_io_done(t, 0, bad(fd, f));
  if (!valid(&v.it_value) || !valid(&v.it_interval) || flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)) return hd_io_done(t, 0, EINVAL);
  was = now_of(f);
  uint64_t at = join(&v.it_value);
  if (at && flags & TFD_TIMER_ABSTIME) {
    uint64_t from = hd_clock_origin(f->clock);
    at = at > from ? at - from : 1;
  } else if (at) {
    at += hd.vtime;
  }
  f->expires = at;
  f->interval = join(&v.it_interval);
  f->in_seq++; // earlier reports were of another setting
  hd_io_done(t, 0, 0);
  hd_io_rearm();
  if (old) hd_to_program(old, &was, sizeof was);
  return 0;
}

static long get(int fd, struct itimerspec *out, uint64_t pc) {
  hd.cur->pend.pc = pc;
  struct hd_file *f = hd_file_of(fd);
  if (!f || f->kind != HD_FD_TIMERFD) return -bad(fd, f);
  struct itimerspec now = now_of(f);
  hd_to_program(out, &now, sizeof now);
  return 0;
}

HD_INTERPOSE(int, timerfd_create, (int clock, int flags), (clock, flags)) {
  return (int)hd_errno_result(create(clock, flags, HD_RA));
}
HD_INTERPOSE(int, timerfd_settime, (int fd, int flags, const struct itimerspec *new, struct itimerspec *old), (fd, flags, new, old)) {
  return (int)hd_errno_result(set(fd, flags, new, old, HD_RA));
}
HD_INTERPOSE(int, timerfd_gettime, (int fd, struct itimerspec *out), (fd, out)) {
  return (int)hd_errno_result(get(fd, out, HD_RA));
}
