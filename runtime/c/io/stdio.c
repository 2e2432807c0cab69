// stdio.c: stdio streams over the descriptors that the runtime models. libc fills and empties
// a stream's buffer inside its own functions, past the PLT and under a lock of its own, where no
// other thread could run. So such a stream comes from fopencookie: libc formats and buffers, its
// reads and writes call back here, and a mutex that the scheduler knows excludes other threads.
// Without such a stream, all this costs one comparison.
//
// When a pipe or a socket replaces standard input, output or error, a stream over it replaces
// stdin, stdout or stderr, with the bytes that were not written yet.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/cancellation.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "core/run.h"
#include "memory/heap.h"
#include "memory/shared_state.h"
#include "memory/texts.h"
#include "sync/sync.h"
#include "io/descriptors.h"
#include "io/random.h"
#include "io/stdio.h"
#include "io/stream.h"

enum { MOST = 256, BUFFER = 4096 /* what the kernel says of pipes and sockets */ };
enum { UNBUFFERED = 0x2, BY_LINE = 0x200, USER_LOCK = 0x8000 }; // libc's _flags

struct channel {
  FILE *f;      // NULL: free
  FILE *plain;  // the standard stream that it replaces, or NULL
  int fd;
  int child;    // popen's, or 0
  void (*wait)(int child, int fd, uint64_t n); // lets the child print
  uint64_t pc;  // of the call under way
  struct { pthread_mutex_t lock; char buf[BUFFER]; } *memory; // in the program's memory, so the snapshot restores it
};
static struct channel channels[MOST];
static uint32_t nchannels; // slots that were ever used
uint8_t hd_stdio_moved;    // descriptors 0, 1, 2 that may lead elsewhere now

// Calls on a stream of libc's are not scheduling points and leave no event. The program cannot see in which order
// threads print to stdout and stderr, unless it asks for the position or redirects them.
HD_ON_SIDE_STACK(void, hd_stream_used, (const void *stream, enum hd_share how, uint64_t pc)) {
  enum { NO_WRITES = 0x8 }; // libc's _flags
  const FILE *f = stream;
  int fd = f->_fileno;
  bool standard = fd == 1 || fd == 2;
  if (!standard && how == HD_ADDS) how = HD_CHANGES;
  if (!hd_shares(HD_SHARED_STREAM, (uint64_t)f, how, pc) || standard || fd < 0 || how == HD_LOOKS_AT) return;
  bool writes = !(f->_flags & NO_WRITES);
  struct stat st;
  if (hd_sys(SYS_fstat, fd, &st, 0) != 0) return;
  hd_shares(HD_SHARED_STREAM, hd_mix(st.st_dev, st.st_ino), writes ? HD_CHANGES : HD_LOOKS_AT, pc);
  if (writes) hd_shares(HD_SHARED_STREAM, HD_STATE_FILES, HD_ADDS, pc);
}

static void begin(void) {
  for (uint32_t i = 0; i < nchannels; i++) channels[i].f = NULL;
  nchannels = 0;
  hd_stdio_moved = 0;
}

static struct channel *find(const FILE *f) {
  for (uint32_t i = 0; i < nchannels; i++)
    if (channels[i].f && (channels[i].f == f || channels[i].plain == f)) return &channels[i];
  return NULL;
}

bool hd_stdio_modelled(const void *f) { return find(f) != NULL; }

void *hd_stdio_lock(const void *f, uint64_t pc) {
  if (hd_stdio_moved) hd_stdio_settle(pc);
  struct channel *c = nchannels ? find(f) : NULL;
  return c ? &c->memory->lock : NULL;
}

// ---- libc's callbacks for its buffers
//
// They are not cancellation points, since stdio has none here.
static long transfer(struct channel *c, bool write, char *buf, size_t n) {
  if (!hd_active()) return hd_errno_result(hd_sys(write ? SYS_write : SYS_read, c->fd, buf, (long)n));
  struct hd_thread *t = hd.cur;
  struct iovec v = { buf, n };
  struct hd_msg m = { .iov = &v, .niov = 1, .size = n, .offset = -1 };
  uint8_t was = t->cancel & HD_CANCEL_DISABLED;
  t->cancel |= HD_CANCEL_DISABLED;
  long r = hd_transfer(c->fd, write, &m, c->pc);
  if (!was) t->cancel &= (uint8_t)~HD_CANCEL_DISABLED;
  return hd_errno_result(r);
}
static ssize_t cookie_read(void *cookie, char *buf, size_t n) {
  const struct channel *c = cookie;
  if (c->child && hd_active()) c->wait(c->child, c->fd, n);
  return transfer(cookie, false, buf, n);
}
static ssize_t cookie_write(void *c, const char *buf, size_t n) {
  size_t done = 0;
  while (done < n) {
    long r = transfer(c, true, (char *)buf + done, n - done);
    if (r < 0) break;
    done += (size_t)r;
  }
  return (ssize_t)done;
}
static int cookie_seek(void *c, off64_t *at, int whence) {
  (void)c, (void)at, (void)whence;
  errno = ESPIPE;
  return -1;
}
static int cookie_close(void *cookie) {
  struct channel *c = cookie;
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_close, c->fd, 0, 0));
  return (int)hd_errno_result(hd_close(c->fd, c->pc));
}

static FILE *open_channel(int fd, const char *mode, FILE *plain, uint64_t pc) {
  uint32_t i = 0;
  while (i < nchannels && channels[i].f) i++;
  if (i == MOST) hd_unsupported("more than 256 stdio streams over pipes and sockets at a time");
  struct channel *c = &channels[i];
  *c = (struct channel){ .fd = fd, .plain = plain, .pc = pc };
  c->memory = hd_alloc_own(sizeof *c->memory, pc);
  if (!c->memory) return NULL;
  c->memory->lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  FILE *f = REAL(fopencookie)(c, mode, (cookie_io_functions_t){ cookie_read, cookie_write, cookie_seek, cookie_close });
  if (!f) return NULL;
  f->_flags |= USER_LOCK;
  int how = plain && plain->_flags & UNBUFFERED ? _IONBF : plain && plain->_flags & BY_LINE ? _IOLBF : _IOFBF;
  REAL(setvbuf)(f, how == _IONBF ? NULL : c->memory->buf, how, BUFFER);
  c->f = f;
  if (i == nchannels) nchannels++;
  return f;
}

// ---- the standard streams
static FILE **standard(int fd) { return fd == 0 ? &stdin : fd == 1 ? &stdout : &stderr; }

static void move(FILE *from, FILE *to) { // the bytes that were not written yet
  size_t n = (size_t)(from->_IO_write_ptr - from->_IO_write_base);
  if (!n) return;
  from->_IO_write_ptr = from->_IO_write_base;
  REAL(fwrite)(from->_IO_write_base, 1, n, to);
}

void hd_stdio_settle(uint64_t pc) {
  int err = errno;
  for (int fd = 0; fd < 3; fd++) {
    if (!(hd_stdio_moved & 1 << fd)) continue;
    hd_stdio_moved &= (uint8_t)~(1 << fd);
    FILE **var = standard(fd);
    struct channel *c = find(*var);
    bool modelled = hd_file_of(fd) != NULL;
    if (modelled && !c && *var && (*var)->_fileno == fd) {
      FILE *plain = *var;
      if (plain->_IO_read_ptr < plain->_IO_read_end) hd_unsupported("a pipe or a socket in the place of standard input, of which stdio has read some already");
      FILE *f = open_channel(fd, fd ? "w" : "r", plain, pc);
      if (!f) continue;
      if (fd) move(plain, f);
      *var = f;
    } else if (!modelled && c && c->plain) {
      *var = c->plain;
      if (fd) move(c->f, c->plain);
      c->f = NULL;
    }
  }
  errno = err;
}

// ---- calls
struct use {
  struct channel *c; // NULL: a stream of libc's
  void *lock;        // that the call holds, or NULL
  uint64_t pc;
};
static struct use enter(FILE **f, enum hd_share how, uint64_t pc) {
  struct use u = { .pc = pc };
  if (!hd_active()) return u;
  if (how == HD_CHANGES) hd.effects++;
  if (hd_stdio_moved) hd_stdio_settle(pc);
  u.c = nchannels ? find(*f) : NULL;
  u.lock = u.c ? &u.c->memory->lock : hd_stream_lock(*f);
  if (u.lock) hd_mutex_lock(u.lock, pc, HD_OP_MUTEX_LOCK, NULL);
  if (u.c) {
    u.c->pc = pc;
    *f = u.c->f;
  } else if (hd_beside_others() && *f) {
    hd_stream_used(*f, how, pc);
  }
  return u;
}
static void leave(struct use *u) {
  if (HD_LIKELY(!u->lock) || !hd_active() || (u->c && !u->c->f)) return;
  int err = errno;
  hd_mutex_unlock(u->lock, u->pc);
  errno = err;
}
#define ENTER(f, how) struct use held __attribute__((cleanup(leave), unused)) = enter(&(f), how, HD_RA)
#define WITH(f) ENTER(f, HD_CHANGES)
#define PRINTS_TO(f) ENTER(f, HD_ADDS)
#define ASKS(f) ENTER(f, HD_LOOKS_AT)

static void flush_all(uint64_t pc) {
  for (uint32_t i = 0; i < nchannels; i++) {
    FILE *f = channels[i].f;
    if (!f) continue;
    struct use held __attribute__((cleanup(leave), unused)) = enter(&f, HD_ADDS, pc);
    REAL(fflush)(f);
  }
}
void hd_stdio_flush(uint64_t pc) {
  if (hd_stdio_moved) hd_stdio_settle(pc);
  flush_all(pc);
}

HD_EXPORT int fflush(FILE *f) {
  if (!f && hd_active()) {
    hd_stdio_flush(HD_RA);
    hd_stream_locks_pass(HD_RA);
  }
  PRINTS_TO(f);
  return REAL(fflush)(f);
}

bool hd_stdio_close(void *stream, uint64_t pc, int *result) {
  FILE *f = stream;
  struct channel *c = nchannels ? find(f) : NULL;
  if (!c) {
    hd_stream_closes(f, pc);
    return false;
  }
  enter(&f, HD_ADDS, pc);
  int flushed = REAL(fflush)(c->f), err = errno;
  hd_mutex_unlock(&c->memory->lock, pc);
  if (c->plain) *standard(c->fd) = c->plain;
  int closed = REAL(fclose)(c->f);
  if (flushed) errno = err;
  c->f = NULL;
  hd_release(c->memory, pc);
  *result = flushed || closed ? EOF : 0;
  return true;
}

HD_INTERPOSE(FILE *, fdopen, (int fd, const char *mode), (fd, mode)) {
  hd.cur->pend.pc = HD_RA;
  if (hd_reserved_fd(fd)) return errno = EBADF, NULL;
  struct hd_file *g = hd_file_of(fd);
  bool chance = !g && hd_random_readable(fd);
  if (!g && !chance) return REAL(fdopen)(fd, mode);
  char how[16], plain[3] = { 0 };
  if (!hd_fetch_string(how, mode, sizeof how) || (*how != 'r' && *how != 'w' && *how != 'a')) return errno = EINVAL, NULL;
  bool plus = false, cloexec = false;
  for (const char *c = how; *c && *c != ','; c++) { plus |= *c == '+'; cloexec |= *c == 'e'; }
  bool reads = *how == 'r' || plus, writes = *how != 'r' || plus;
  if (g && g->kind == HD_FD_PIPE && ((reads && !g->in) || (writes && !g->out))) return errno = EINVAL, NULL;
  if (cloexec) hd_sys(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
  plain[0] = *how;
  plain[1] = plus ? '+' : 0;
  return chance ? hd_random_stream(fd, plain) : open_channel(fd, plain, NULL, HD_RA);
}

// A stream over a pipe of the kernel's whose other end a child has (popen).
void *hd_stdio_child(int fd, const char *mode, int child, void (*wait)(int child, int fd, uint64_t n), uint64_t pc) {
  FILE *f = open_channel(fd, mode, NULL, pc);
  if (f) {
    find(f)->child = child;
    find(f)->wait = wait;
  }
  return f;
}
int hd_stdio_child_of(const void *f) { struct channel *c = find(f); return c ? c->child : 0; }

static int number(FILE *f) {
  if (hd_active() && hd_stdio_moved) hd_stdio_settle(hd.cur->pend.pc);
  struct channel *c = nchannels ? find(f) : NULL;
  return c ? c->fd : -1;
}
HD_EXPORT int fileno(FILE *f) { int fd = number(f); return fd >= 0 ? fd : REAL(fileno)(f); }
HD_EXPORT int fileno_unlocked(FILE *f) { int fd = number(f); return fd >= 0 ? fd : REAL(fileno)(f); }

// ---- writing
//
// What libc reads of the program's memory is reported once no other thread can use the stream.
HD_ON_SIDE_STACK(void, hd_text_seen, (const char *s, uint64_t pc)) {
  if (hd_access_seen(pc)) hd_text_read(s, SIZE_MAX, pc);
}
HD_ON_SIDE_STACK(void, hd_bytes_seen, (const void *p, size_t n, uint64_t pc)) {
  if (hd_access_seen(pc)) hd_bytes_read(p, n, pc);
}
static void read_already(const uint8_t *unused) {
  (void)unused;
  if (hd_active()) hd_text_done();
}
#define READS(what) \
  uint8_t reads __attribute__((cleanup(read_already), unused)) = 0; \
  what
HD_EXPORT int fputs(const char *s, FILE *f) {
  PRINTS_TO(f);
  READS(hd_text_seen(s, HD_RA));
  return REAL(fputs)(s, f);
}
HD_EXPORT int fputc(int c, FILE *f) { PRINTS_TO(f); return REAL(fputc)(c, f); }
HD_EXPORT int putc(int c, FILE *f) { PRINTS_TO(f); return REAL(fputc)(c, f); }
HD_EXPORT int _IO_putc(int c, FILE *f) { PRINTS_TO(f); return REAL(fputc)(c, f); }
HD_EXPORT int putchar(int c) { FILE *f = stdout; PRINTS_TO(f); return REAL(fputc)(c, f); }
HD_EXPORT size_t fwrite(const void *p, size_t size, size_t n, FILE *f) {
  PRINTS_TO(f);
  READS(hd_bytes_seen(p, size * n, HD_RA));
  return REAL(fwrite)(p, size, n, f);
}
HD_EXPORT int puts(const char *s) {
  FILE *f = stdout;
  PRINTS_TO(f);
  READS(hd_text_seen(s, HD_RA));
  if (!held.c) return REAL(puts)(s);
  return REAL(fputs)(s, f) < 0 || REAL(fputc)('\n', f) < 0 ? EOF : 1;
}
HD_EXPORT void perror(const char *s) { FILE *f = stderr; PRINTS_TO(f); REAL(perror)(s); }
HD_EXPORT int vfprintf(FILE *f, const char *fmt, va_list ap) { PRINTS_TO(f); READS(hd_printed(fmt, ap, HD_RA)); return REAL(vfprintf)(f, fmt, ap); }
HD_EXPORT int vprintf(const char *fmt, va_list ap) { FILE *f = stdout; PRINTS_TO(f); READS(hd_printed(fmt, ap, HD_RA)); return REAL(vfprintf)(f, fmt, ap); }
HD_EXPORT int __vfprintf_chk(FILE *f, int flag, const char *fmt, va_list ap) { PRINTS_TO(f); READS(hd_printed(fmt, ap, HD_RA)); return REAL(__vfprintf_chk)(f, flag, fmt, ap); }
HD_EXPORT int __vprintf_chk(int flag, const char *fmt, va_list ap) { FILE *f = stdout; PRINTS_TO(f); READS(hd_printed(fmt, ap, HD_RA)); return REAL(__vfprintf_chk)(f, flag, fmt, ap); }
#define PRINT(call) \
  va_list ap; \
  va_start(ap, fmt); \
  PRINTS_TO(f); \
  READS(hd_printed(fmt, ap, HD_RA)); \
  int r = call; \
  va_end(ap); \
  return r
HD_EXPORT int fprintf(FILE *f, const char *fmt, ...) { PRINT(REAL(vfprintf)(f, fmt, ap)); }
HD_EXPORT int printf(const char *fmt, ...) { FILE *f = stdout; PRINT(REAL(vfprintf)(f, fmt, ap)); }
HD_EXPORT int __fprintf_chk(FILE *f, int flag, const char *fmt, ...) { PRINT(REAL(__vfprintf_chk)(f, flag, fmt, ap)); }
HD_EXPORT int __printf_chk(int flag, const char *fmt, ...) { FILE *f = stdout; PRINT(REAL(__vfprintf_chk)(f, flag, fmt, ap)); }

// ---- reading
//
// What libc has written to the program's memory is reported before another thread can use the stream.
HD_ON_SIDE_STACK(char *, hd_line_read, (char *s, uint64_t pc)) {
  if (s && HD_UNLIKELY(hd_access_seen(pc))) hd_text_written(s, pc);
  return s;
}
HD_ON_SIDE_STACK(size_t, hd_items_read, (const void *p, size_t size, size_t n, uint64_t pc)) {
  if (n && HD_UNLIKELY(hd_access_seen(pc))) hd_bytes_written(p, size * n, pc);
  return n;
}
HD_ON_SIDE_STACK(ssize_t, hd_lines_read, (char **line, const size_t *room, ssize_t n, uint64_t pc)) {
  if (HD_UNLIKELY(hd_access_seen(pc))) {
    hd_bytes_written(line, sizeof *line, pc);
    hd_bytes_written(room, sizeof *room, pc);
    if (n > 0) hd_bytes_written(*line, (size_t)n + 1, pc);
  }
  return n;
}
HD_EXPORT char *fgets(char *s, int n, FILE *f) { WITH(f); return hd_line_read(REAL(fgets)(s, n, f), HD_RA); }
HD_EXPORT char *__fgets_chk(char *s, size_t room, int n, FILE *f) { WITH(f); return hd_line_read(REAL(__fgets_chk)(s, room, n, f), HD_RA); }
HD_EXPORT int fgetc(FILE *f) { WITH(f); return REAL(fgetc)(f); }
HD_EXPORT int getc(FILE *f) { WITH(f); return REAL(fgetc)(f); }
HD_EXPORT int _IO_getc(FILE *f) { WITH(f); return REAL(fgetc)(f); }
HD_EXPORT int getchar(void) { FILE *f = stdin; WITH(f); return REAL(fgetc)(f); }
HD_EXPORT int ungetc(int c, FILE *f) { WITH(f); return REAL(ungetc)(c, f); }
HD_EXPORT size_t fread(void *p, size_t size, size_t n, FILE *f) { WITH(f); return hd_items_read(p, size, REAL(fread)(p, size, n, f), HD_RA); }
HD_EXPORT size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f) { WITH(f); return hd_items_read(p, size, REAL(__fread_chk)(p, room, size, n, f), HD_RA); }
HD_EXPORT ssize_t getdelim(char **line, size_t *n, int end, FILE *f) { WITH(f); return hd_lines_read(line, n, REAL(getdelim)(line, n, end, f), HD_RA); }
HD_EXPORT ssize_t __getdelim(char **line, size_t *n, int end, FILE *f) { WITH(f); return hd_lines_read(line, n, REAL(getdelim)(line, n, end, f), HD_RA); }
HD_EXPORT ssize_t getline(char **line, size_t *n, FILE *f) { WITH(f); return hd_lines_read(line, n, REAL(getdelim)(line, n, '\n', f), HD_RA); }
HD_EXPORT int __isoc99_vfscanf(FILE *f, const char *fmt, va_list ap);
static int scan(FILE *f, const char *fmt, va_list ap, uint64_t pc) {
  va_list again;
  va_copy(again, ap);
  int n = REAL(__isoc99_vfscanf)(f, fmt, ap);
  hd_scanned(fmt, again, n, pc);
  va_end(again);
  return n;
}
#define SCAN() \
  va_list ap; \
  va_start(ap, fmt); \
  WITH(f); \
  int r = scan(f, fmt, ap, HD_RA); \
  va_end(ap); \
  return r
HD_EXPORT int __isoc99_vfscanf(FILE *f, const char *fmt, va_list ap) { WITH(f); return scan(f, fmt, ap, HD_RA); }
HD_EXPORT int __isoc99_vscanf(const char *fmt, va_list ap) { FILE *f = stdin; WITH(f); return scan(f, fmt, ap, HD_RA); }
HD_EXPORT int __isoc99_fscanf(FILE *f, const char *fmt, ...) { SCAN(); }
HD_EXPORT int __isoc99_scanf(const char *fmt, ...) { FILE *f = stdin; SCAN(); }

// ---- what is asked of a stream
HD_EXPORT int feof(FILE *f) { ASKS(f); return REAL(feof)(f); }
HD_EXPORT int ferror(FILE *f) { ASKS(f); return REAL(ferror)(f); }
HD_EXPORT long ftell(FILE *f) { ASKS(f); return REAL(ftell)(f); }
HD_EXPORT off_t ftello(FILE *f) { ASKS(f); return REAL(ftello)(f); }
HD_EXPORT off64_t ftello64(FILE *f) { ASKS(f); return REAL(ftello64)(f); }
HD_EXPORT int fgetpos(FILE *f, fpos_t *at) { ASKS(f); return REAL(fgetpos)(f, at); }
HD_EXPORT int fgetpos64(FILE *f, fpos64_t *at) { ASKS(f); return REAL(fgetpos64)(f, at); }
HD_EXPORT int fseek(FILE *f, long to, int from) { WITH(f); return REAL(fseek)(f, to, from); }
HD_EXPORT int fseeko(FILE *f, off_t to, int from) { WITH(f); return REAL(fseeko)(f, to, from); }
HD_EXPORT int fseeko64(FILE *f, off64_t to, int from) { WITH(f); return REAL(fseeko64)(f, to, from); }
HD_EXPORT void rewind(FILE *f) { WITH(f); REAL(rewind)(f); }
HD_EXPORT int fsetpos(FILE *f, const fpos_t *at) { WITH(f); return REAL(fsetpos)(f, at); }
HD_EXPORT int fsetpos64(FILE *f, const fpos64_t *at) { WITH(f); return REAL(fsetpos64)(f, at); }
HD_EXPORT void clearerr(FILE *f) { WITH(f); REAL(clearerr)(f); }
HD_EXPORT int setvbuf(FILE *f, char *buf, int mode, size_t size) { WITH(f); return REAL(setvbuf)(f, buf, mode, size); }
HD_EXPORT void setbuf(FILE *f, char *buf) { WITH(f); REAL(setvbuf)(f, buf, buf ? _IOFBF : _IONBF, BUFSIZ); }
HD_EXPORT void setlinebuf(FILE *f) { WITH(f); REAL(setvbuf)(f, NULL, _IOLBF, 0); }

// libc may still buffer lines that a terminal would already show.
static void failing(void) {
  if (!hd_stdio_modelled(stdout)) REAL(fflush)(stdout);
}

const struct hd_registration hd_stdio = { .begin = begin, .failing = failing };
