// named_semaphore.c: named semaphores. They live in the program's heap and end with the
// execution; the kernel's files, which other processes may have open, stay untouched.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdarg.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "memory/heap.h"
#include "sync/sync.h"

enum { MOST = 256 };
static struct named {
  char name[NAME_MAX - 3]; // NAME_MAX without glibc's "sem."
  bool named;              // until sem_unlink
  uint32_t opens;
  sem_t *sem;
} all[MOST];
static uint32_t n;

static void begin(void) { n = 0; }
bool hd_semnamed_used(void) { return n > 0; }

// The name without leading slashes; 0 or errno.
static int name_of(char *out, const char *name) {
  char text[PATH_MAX];
  if (!hd_fetch_string(text, name, sizeof text)) return ENAMETOOLONG;
  const char *from = text;
  while (*from == '/') from++;
  uint64_t size = hd_strlen(from) + 1;
  if (size == 1) return EINVAL;
  for (const char *c = from; *c; c++) if (*c == '/') return EINVAL;
  if (size > sizeof all->name) return ENAMETOOLONG;
  hd_copy(out, from, size);
  return 0;
}

static struct named *find(const char *name) {
  for (uint32_t i = 0; i < n; i++)
    if (all[i].named && hd_streq(all[i].name, name)) return &all[i];
  return NULL;
}

// A semaphore that exists outside the program belongs to another process.
static void look_outside(const char *name) {
  static const char dir[] = "/dev/shm/sem.";
  char path[sizeof dir + sizeof all->name];
  hd_copy(path, dir, sizeof dir - 1);
  hd_copy(path + sizeof dir - 1, name, hd_strlen(name) + 1);
  if (hd_sys(SYS_access, path, 0, 0) == 0)
    hd_unsupported("sem_open of a semaphore that another process created (remove the file /dev/shm/sem.NAME if it is left over)");
}

static struct named *make(const char *name, unsigned value, uint64_t pc) {
  if (n == MOST) hd_unsupported("more than 256 named semaphores in one execution");
  sem_t *sem = hd_heap_alloc(sizeof *sem, 16, pc);
  if (!sem || REAL(sem_init)(sem, 1, value) != 0) return NULL;
  struct named *s = &all[n++];
  hd_copy(s->name, name, hd_strlen(name) + 1);
  s->named = true;
  s->opens = 0;
  s->sem = sem;
  return s;
}

static sem_t *open_named(const char *text, int flags, unsigned value, uint64_t pc) {
  struct hd_thread *t = hd.cur;
  t->pend.pc = pc;
  char name[sizeof all->name];
  int err = name_of(name, text);
  if (!err && flags & O_CREAT && value > SEM_VALUE_MAX) err = EINVAL;
  struct named *s = err ? NULL : find(name);
  t = hd_op(HD_OP_SEM_OPEN, pc, s ? (uint64_t)s->sem : 0);
  if (!err) {
    s = find(name); // other threads have run
    if (s && flags & O_CREAT && flags & O_EXCL) err = EEXIST;
    else if (!s) {
      look_outside(name);
      if (!(flags & O_CREAT)) err = ENOENT;
      else if (!(s = make(name, value, pc))) err = ENOMEM;
    }
  }
  if (!err) {
    s->opens++;
    hd_sem_closed(s->sem, false);
    t->pend.obj = (uint64_t)s->sem;
    hd_progress(t);
  }
  int count = 0;
  if (!err) REAL(sem_getvalue)(s->sem, &count);
  hd_commit(t, (uint64_t)count, err);
  if (err) errno = err;
  return err ? SEM_FAILED : s->sem;
}

HD_EXPORT sem_t *sem_open(const char *name, int flags, ...) {
  mode_t mode = 0;
  unsigned value = 0;
  if (flags & O_CREAT) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    value = va_arg(more, unsigned);
    va_end(more);
  }
  return hd_active() ? open_named(name, flags, value, HD_RA) : REAL(sem_open)(name, flags, mode, value);
}

HD_INTERPOSE(int, sem_close, (sem_t *sem), (sem)) {
  struct hd_thread *t = hd_op(HD_OP_SEM_CLOSE, HD_RA, (uint64_t)sem);
  struct named *s = NULL;
  for (uint32_t i = 0; i < n && !s; i++)
    if (all[i].sem == sem && all[i].opens) s = &all[i];
  if (s && --s->opens == 0) hd_sem_closed(sem, true);
  if (s) hd_progress(t);
  hd_commit(t, s ? s->opens : 0, s ? 0 : EINVAL);
  if (!s) errno = EINVAL;
  return s ? 0 : -1;
}

// Threads that opened it can still use it.
HD_INTERPOSE(int, sem_unlink, (const char *text), (text)) {
  hd.cur->pend.pc = HD_RA;
  char name[sizeof all->name];
  int err = name_of(name, text);
  if (err == EINVAL) err = ENOENT;
  struct named *s = err ? NULL : find(name);
  struct hd_thread *t = hd_op(HD_OP_SEM_UNLINK, HD_RA, s ? (uint64_t)s->sem : 0);
  if (!err) {
    s = find(name);
    if (!s) look_outside(name);
    if (s) s->named = false;
    else err = ENOENT;
    t->pend.obj = s ? (uint64_t)s->sem : 0;
    hd_progress(t);
  }
  hd_commit(t, 0, err);
  if (err) errno = err;
  return err ? -1 : 0;
}

const struct hd_registration hd_named_semaphores = { .begin = begin };
