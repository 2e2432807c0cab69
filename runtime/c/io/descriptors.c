// descriptors.c: which descriptor leads to what: open file descriptions, their streams, and the
// placeholders that keep their numbers in the kernel.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/socket.h"
#include "io/stdio.h"

enum { MAX_FILES = 4096, MAX_STREAMS = 4096, MAX_INODES = 1024 };
static const uint64_t ARENA = 4ull << 30; // of address space, for the contents of pipes and sockets

static struct hd_file *table[HD_MAX_FD], *files;
static struct hd_stream *streams;
static struct hd_sock *socks;
static struct hd_watch *watches; // HD_MAX_WATCHES for each epoll set
static uint32_t nfiles, nstreams;
static int top;                  // table is empty from here on
static char *arena;
static uint64_t arena_used;
static struct { uint64_t dev, ino; int fd; } inodes[MAX_INODES];
static uint32_t ninodes, nstandard; // the first nstandard exist in every execution
static int placeholder[3];       // pipe, socket, anything else; opened with O_PATH

const char *hd_proc_path(char *out, const char *before, uint32_t number, const char *after) {
  char digits[12];
  int d = 0;
  uint64_t n = hd_strlen(before);
  hd_copy(out, before, n);
  do digits[d++] = (char)('0' + number % 10); while ((number /= 10));
  while (d) out[n++] = digits[--d];
  hd_copy(out + n, after, hd_strlen(after) + 1);
  return out;
}

const char *hd_fd_path(char *out, int fd) { return hd_proc_path(out, "/proc/self/fd/", (uint32_t)fd, ""); }

void hd_placeholders_make(void) {
  int pair[2], sock;
  if (hd_sys(SYS_pipe2, pair, O_CLOEXEC, 0) < 0) hd_refuse("no descriptors are left for heddle's own use");
  sock = (int)hd_sys(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int from[] = { pair[0], sock >= 0 ? sock : pair[0], (int)hd_sys(SYS_eventfd2, 0, O_CLOEXEC, 0) };
  for (int i = 0; i < 3; i++) {
    char path[HD_FD_PATH];
    hd_fd_path(path, from[i]);
    placeholder[i] = (int)hd_sys4(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
    if (placeholder[i] < 0) hd_refuse("cannot open %s (error %d): is /proc mounted?", path, -placeholder[i]);
  }
  hd_sys(SYS_close, pair[0], 0, 0);
  hd_sys(SYS_close, pair[1], 0, 0);
  if (sock >= 0) hd_sys(SYS_close, sock, 0, 0);
  hd_sys(SYS_close, from[2], 0, 0);
}

int *hd_placeholders(void) { return placeholder; }

static void begin(void) {
  for (int i = 0; i < top; i++) table[i] = NULL;
  top = 0;
  for (uint32_t i = 0; i < nfiles; i++) files[i].kind = 0;
  nfiles = nstreams = 0;
  ninodes = nstandard;
  arena_used = 0;
}

struct hd_file *hd_file_of(int fd) { return (unsigned)fd < HD_MAX_FD ? table[fd] : NULL; }

void hd_fd_set(int fd, struct hd_file *f) {
  table[fd] = f;
  if (fd < 3) hd_stdio_moved |= (uint8_t)(1 << fd);
  if (fd >= top) top = fd + 1;
}

long hd_fd_new(struct hd_file *f, bool cloexec) {
  int from = placeholder[f->kind == HD_FD_PIPE ? 0 : f->kind == HD_FD_SOCKET ? 1 : 2];
  long fd = hd_sys(SYS_fcntl, from, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  if (fd >= HD_MAX_FD) {
    hd_sys(SYS_close, fd, 0, 0);
    fd = -EMFILE;
  }
  if (fd < 0) return fd;
  hd_fd_opened();
  hd_fd_set((int)fd, f);
  return fd;
}

uint64_t hd_fd_object(int kind, int fd) {
  struct hd_thread *t = hd.cur;
  return 1ull << HD_FD_OBJECT_BIT | (uint64_t)kind << HD_FD_KIND_SHIFT | (uint64_t)(fd & 0xfff) << HD_FD_SHIFT |
         (hd_mix(t->name, ++t->nfiles) >> 20 & ((1u << HD_FD_SHIFT) - 1));
}

// A descriptor of the kernel's on which a read may block.
bool hd_is_external(int fd) {
  struct stat st;
  if (hd_sys(SYS_fstat, fd, &st, 0) != 0) return false;
  if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode)) return false;
  return !(S_ISCHR(st.st_mode) && st.st_rdev >> 8 == 1); // /dev/null and similar devices
}

// A kernel file is named by the order in which the execution first used it, and by its descriptor:
// inode numbers depend on the machine.
uint64_t hd_kernel_object(int fd) {
  struct stat st;
  if (hd_reserved_fd(fd) || hd_sys(SYS_fstat, fd, &st, 0) != 0) return 0;
  uint32_t i = 0;
  while (i < ninodes && (inodes[i].dev != st.st_dev || inodes[i].ino != st.st_ino)) i++;
  if (i == ninodes && i < MAX_INODES) {
    inodes[i].dev = st.st_dev;
    inodes[i].ino = st.st_ino;
    inodes[i].fd = fd;
    ninodes++;
  }
  int kind = hd_is_external(fd) ? HD_FD_EXTERNAL : HD_FD_FILE;
  if (i < MAX_INODES) fd = inodes[i].fd;
  return 1ull << HD_FD_OBJECT_BIT | (uint64_t)kind << HD_FD_KIND_SHIFT | (uint64_t)(fd & 0xfff) << HD_FD_SHIFT | (i + 1);
}

// The file system may give a new file the inode number of a removed one.
void hd_inode_made(const struct stat *st) {
  for (uint32_t i = 0; i < ninodes; i++)
    if (inodes[i].dev == st->st_dev && inodes[i].ino == st->st_ino) inodes[i].dev = inodes[i].ino = ~0ull;
}

// Files other than those open from the start are numbered when they are opened, in the same order
// in all executions that the analyses treat as equivalent.
void hd_standard_named(void) {
  for (int fd = 0; fd < 3; fd++) hd_kernel_object(fd);
  nstandard = ninodes;
}

// ---- open file descriptions
//
// Frames on the program's stack contain their addresses, which must not depend on what the process has done before.
static void *map(uint32_t area, uint64_t bytes, const char *what) {
  void *p = hd_map_at(0x2b0000000000ull + ((uint64_t)area << 36), bytes);
  return p ? p : hd_map(bytes, what);
}

static struct hd_stream *stream_slot(void) {
  if (!streams) {
    streams = map(0, sizeof *streams * MAX_STREAMS, "streams");
    arena = map(1, ARENA, "what is in pipes and sockets");
  }
  for (uint32_t i = 0; i < nstreams; i++)
    if (!streams[i].used) return &streams[i];
  if (nstreams == MAX_STREAMS) hd_unsupported("more than 2048 pipes and connections at a time");
  streams[nstreams].cap = 0;
  return &streams[nstreams++];
}

HD_ON_SIDE_STACK(struct hd_stream *, hd_stream_new, (struct hd_file *writer, struct hd_file *reader, uint32_t cap, uint64_t id, bool packets)) {
  struct hd_stream *s = stream_slot();
  char *buf = s->cap >= cap ? s->buf : NULL; // of a closed stream
  if (!buf) {
    if (arena_used + cap > ARENA) hd_unsupported("more than 4 GB of pipes and sockets");
    buf = arena + arena_used;
    arena_used += (cap + 4095) & ~4095u;
  }
  *s = (struct hd_stream){ .id = id, .reader = reader, .writer = writer, .buf = buf, .cap = cap, .used = true, .packets = packets };
  return s;
}

HD_ON_SIDE_STACK(struct hd_file *, hd_file_new, (int kind)) {
  if (!files) {
    files = map(2, sizeof *files * MAX_FILES, "open files");
    socks = map(3, sizeof *socks * MAX_FILES, "sockets");
    watches = map(4, sizeof *watches * HD_MAX_WATCHES * HD_MAX_EPOLLS, "epoll sets");
  }
  uint32_t i = 0, sets = 0;
  while (i < nfiles && files[i].kind) i++;
  if (i == MAX_FILES) hd_unsupported("more than 4096 pipes, sockets and the like at a time");
  if (i == nfiles) nfiles++;
  struct hd_file *f = &files[i];
  hd_fill(f, 0, sizeof *f);
  f->kind = (uint8_t)kind;
  f->refs = 1;
  f->fd = -1;
  if (kind == HD_FD_SOCKET) {
    f->sock = &socks[i];
    hd_fill(f->sock, 0, sizeof *f->sock);
  }
  if (kind == HD_FD_EPOLL) {
    uint64_t taken = 0;
    for (uint32_t k = 0; k < nfiles; k++)
      if (k != i && files[k].kind == HD_FD_EPOLL) {
        sets++;
        taken |= 1ull << ((files[k].watches - watches) / HD_MAX_WATCHES);
      }
    if (sets == HD_MAX_EPOLLS) hd_unsupported("more than 64 epoll sets at a time");
    f->watches = watches + HD_MAX_WATCHES * (uint32_t)__builtin_ctzll(~taken);
  }
  return f;
}

struct hd_file *hd_files_each(uint32_t *at) {
  while (*at < nfiles) {
    struct hd_file *f = &files[(*at)++];
    if (f->kind) return f;
  }
  return NULL;
}

void hd_file_hold(struct hd_file *f) { f->refs++; }

static void free_if_done(struct hd_stream *s) {
  if (!s->reader && !s->writer) s->used = false;
}

void hd_streams_leave(struct hd_file *f) {
  struct hd_stream *in = f->in, *out = f->out;
  f->in = f->out = NULL;
  if (out) {
    out->writer = NULL;
    free_if_done(out);
  }
  if (in) {
    in->reader = NULL;
    free_if_done(in);
  }
}

void hd_file_release(struct hd_file *f) {
  if (--f->refs) return;
  hd_epoll_forget(f, -1);
  if (f->kind == HD_FD_SOCKET) hd_sock_closed(f);
  if (f->kind != HD_FD_SOCKET || !hd_is_tcp(f)) {
    if (f->out) hd_ended(f->out->reader);
    if (f->in) hd_ended(f->in->writer);
  }
  hd_streams_leave(f);
  f->kind = 0;
}

const struct hd_registration hd_descriptors = { .begin = begin };
