// pidfd.c: descriptors of child processes, which are ready when the process has ended. The end shows as an event, like the
// one that sends SIGCHLD (children.c), so that it does not depend on the child's speed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include "core/identity.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/registration.h"
#include "core/run.h"
#include "threads/threads.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "process/process.h"

static short mask(const struct hd_file *f) {
  switch (hd_child_state((int)f->count)) {
  case HD_CHILD_OVER: return POLLIN | POLLRDNORM;
  case HD_CHILD_REAPED: return POLLIN | POLLRDNORM | POLLHUP;
  default: return 0;
  }
}

static void begin(void) { hd_pidfd_mask = mask; }

// Of a child, or 0 of the program itself; negative: -errno.
static int process_of(int pid, uint64_t pc) {
  struct hd_named n;
  enum hd_child_state state = hd_child_state(pid);
  if (state != HD_CHILD_UNKNOWN) return state == HD_CHILD_REAPED ? -ESRCH : pid;
  if (pid == hd_pid()) return 0;
  return hd_named(pid, "pidfd_open", pc, &n) ? -EINVAL /* another thread */ : -ESRCH;
}

static long open_process(int pid, unsigned flags, uint64_t pc) {
  enum { THREAD = O_EXCL };
  hd.cur->pend.pc = pc;
  if (flags & THREAD) hd_unsupported("pidfd_open of a thread");
  if (flags & ~(unsigned)O_NONBLOCK || pid <= 0) return -EINVAL;
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  int number = process_of(pid, pc);
  if (number < 0) return hd_io_done(t, 0, -number);
  struct hd_file *f = hd_file_new(HD_FD_PIDFD);
  f->count = (uint64_t)number;
  f->nonblock = flags & O_NONBLOCK;
  long fd = hd_fd_new(f, true);
  if (fd < 0) { hd_file_release(f); return hd_io_done(t, 0, -fd); }
  f->fd = (int)fd;
  f->id = hd_fd_object(HD_FD_PIDFD, (int)fd);
  t->pend.obj = f->id;
  t->pend.aux = (uint64_t)fd;
  hd_io_done(t, 0, 0);
  if (number) hd_child_watch(number, hd_programs_pc(t, pc));
  return fd;
}

static long send_to(int fd, int sig, const siginfo_t *info, unsigned flags, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (flags) return -EINVAL;
  if (info) hd_unsupported("pidfd_send_signal with a siginfo_t");
  const struct hd_file *f = hd_file_of(fd);
  if (!f || f->kind != HD_FD_PIDFD) return -EBADF;
  if (f->count) return -hd_child_signal((int)f->count, sig, pc);
  return kill(hd_pid(), sig) ? -errno : 0;
}

extern int pidfd_open(pid_t, unsigned), pidfd_send_signal(int, int, siginfo_t *, unsigned);
HD_INTERPOSE(int, pidfd_open, (pid_t pid, unsigned flags), (pid, flags)) { return (int)hd_errno_result(open_process(pid, flags, HD_RA)); }
HD_INTERPOSE(int, pidfd_send_signal, (int fd, int sig, siginfo_t *info, unsigned flags), (fd, sig, info, flags)) {
  return (int)hd_errno_result(send_to(fd, sig, info, flags, HD_RA));
}

const struct hd_registration hd_pidfds = { .begin = begin };
