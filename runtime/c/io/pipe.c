// pipe.c: pipes and eventfds: making them. Their data is in transfer.c.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/run.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/stream.h"

enum { PIPE_SIZE = 65536 }; // what the kernel gives, counted in bytes instead of pages

static long make_pipe(int *out, int flags, uint64_t pc) {
  if (flags & O_DIRECT) { hd.cur->pend.pc = pc; hd_unsupported("a pipe of packets (O_DIRECT)"); }
  if (flags & ~(O_NONBLOCK | O_CLOEXEC)) return -EINVAL;
  hd_refresh(out, 2 * sizeof *out, pc);
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  struct hd_file *r = hd_file_new(HD_FD_PIPE), *w = hd_file_new(HD_FD_PIPE);
  long x = hd_fd_new(r, flags & O_CLOEXEC), y = x < 0 ? x : hd_fd_new(w, flags & O_CLOEXEC);
  if (y < 0) {
    if (x >= 0) { hd_fd_set((int)x, NULL); hd_sys(SYS_close, x, 0, 0); }
    hd_file_release(r);
    hd_file_release(w);
    return hd_io_done(t, 0, -y);
  }
  r->fd = (int)x;
  w->fd = (int)y;
  r->nonblock = w->nonblock = flags & O_NONBLOCK;
  r->id = w->id = hd_fd_object(HD_FD_PIPE, (int)x);
  r->in = w->out = hd_stream_new(w, r, PIPE_SIZE, r->id, false);
  t->pend.obj = r->id;
  t->pend.aux = (uint64_t)x;
  int fds[2] = { (int)x, (int)y };
  hd_io_done(t, 0, 0);
  hd_to_program(out, fds, sizeof fds);
  return 0;
}

// ---- pipes that a child process gets
//
// They must be the kernel's: their contents move there, and from now on the other end is in another
// process.
static void dup_over(struct hd_file *f, int with, int fd) {
  long cloexec = hd_sys(SYS_fcntl, fd, F_GETFD, 0) & FD_CLOEXEC;
  hd_sys(SYS_dup3, with, fd, cloexec ? O_CLOEXEC : 0);
  hd_fd_set(fd, NULL);
  hd_file_release(f);
}

static void give_away(struct hd_stream *s) {
  static char bytes[PIPE_SIZE];
  struct hd_file *r = s->reader, *w = s->writer;
  int fds[2];
  if (s->len > sizeof bytes || hd_sys(SYS_pipe2, fds, 0, 0) < 0) hd_unsupported("a child process that inherits a pipe (the kernel gives no other)");
  uint32_t n = s->len;
  hd_stream_look(s, bytes, n);
  if (n) hd_sys(SYS_write, fds[1], bytes, n);
  if (r && r->nonblock) hd_sys(SYS_fcntl, fds[0], F_SETFL, O_NONBLOCK);
  if (w && w->nonblock) hd_sys(SYS_fcntl, fds[1], F_SETFL, O_NONBLOCK);
  for (int fd = 0; fd < HD_MAX_FD; fd++) {
    struct hd_file *f = hd_file_of(fd);
    if (f && f == r) dup_over(f, fds[0], fd);
    else if (f && f == w) dup_over(f, fds[1], fd);
  }
  hd_sys(SYS_close, fds[0], 0, 0);
  hd_sys(SYS_close, fds[1], 0, 0);
}

void hd_pipes_inherited(void) {
  bool pipes = false;
  for (int fd = 0; fd < HD_MAX_FD; fd++) {
    struct hd_file *f = hd_file_of(fd);
    if (!f) continue;
    if (f->kind == HD_FD_PIPE) pipes = true;
    else if (!(hd_sys(SYS_fcntl, fd, F_GETFD, 0) & FD_CLOEXEC)) hd_unsupported("a child process that inherits a socket, eventfd, timerfd, signalfd or epoll set (without FD_CLOEXEC)");
  }
  if (!pipes) return;
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (u != hd.cur && !u->ended && u->wait.io) hd_unsupported("starting a process that inherits pipes while another thread waits for a descriptor");
  }
  for (int fd = 0; fd < HD_MAX_FD; fd++) {
    struct hd_file *f = hd_file_of(fd);
    if (f && f->kind == HD_FD_PIPE) give_away(f->in ? f->in : f->out);
  }
}

static long make_event(unsigned initial, int flags, uint64_t pc) {
  if (flags & ~(EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK)) return -EINVAL;
  struct hd_thread *t = hd_io_point(HD_OP_FD_OPEN, pc, 0, -1, 0, NULL);
  struct hd_file *f = hd_file_new(HD_FD_EVENTFD);
  f->count = initial;
  f->semaphore = flags & EFD_SEMAPHORE;
  f->nonblock = flags & EFD_NONBLOCK;
  long fd = hd_fd_new(f, flags & EFD_CLOEXEC);
  if (fd < 0) { hd_file_release(f); return hd_io_done(t, 0, -fd); }
  f->fd = (int)fd;
  f->id = hd_fd_object(HD_FD_EVENTFD, (int)fd);
  t->pend.obj = f->id;
  t->pend.aux = (uint64_t)fd;
  hd_io_done(t, initial, 0);
  return fd;
}

static long event_rw(int fd, bool write, uint64_t *v, uint64_t pc) {
  struct iovec iov = { v, sizeof *v };
  struct hd_msg m = { .iov = &iov, .niov = 1, .size = sizeof *v, .offset = -1 };
  long r = hd_transfer(fd, write, &m, pc);
  return r < 0 ? r : r == 8 ? 0 : -EIO;
}

HD_INTERPOSE(int, pipe, (int out[2]), (out)) {
  return (int)hd_errno_result(make_pipe(out, 0, HD_RA));
}
HD_INTERPOSE(int, pipe2, (int out[2], int flags), (out, flags)) {
  return (int)hd_errno_result(make_pipe(out, flags, HD_RA));
}
HD_INTERPOSE(int, eventfd, (unsigned initial, int flags), (initial, flags)) {
  return (int)hd_errno_result(make_event(initial, flags, HD_RA));
}
HD_INTERPOSE(int, eventfd_read, (int fd, eventfd_t *v), (fd, v)) {
  return (int)hd_errno_result(event_rw(fd, false, v, HD_RA));
}
HD_INTERPOSE(int, eventfd_write, (int fd, eventfd_t v), (fd, v)) {
  return (int)hd_errno_result(event_rw(fd, true, &v, HD_RA));
}
