// shared_memory.c: shared memory by name and by number. Named objects are files and are undone as
// such (undo.c). System V segments stay in the kernel until they are removed: the end of the
// execution that created them does. The program gets heddle's numbers for them, because the kernel's
// would differ in each execution.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"
#include "memory/mappings.h"
#include "io/blocking.h"
#include "files/files.h"

static bool path_of(char *out, uint64_t room, const char *name) {
  static const char dir[] = "/dev/shm/";
  char own[256];
  if (!hd_fetch_string(own, name, sizeof own)) return false;
  const char *s = own;
  while (*s == '/') s++;
  uint64_t n = hd_strlen(s);
  if (!n || n + sizeof dir > room) return false;
  for (const char *c = s; *c; c++) if (*c == '/') return false;
  hd_copy(out, dir, sizeof dir - 1);
  hd_copy(out + sizeof dir - 1, s, n + 1);
  return true;
}

HD_INTERPOSE(int, shm_open, (const char *name, int flags, mode_t mode), (name, flags, mode)) {
  char path[300];
  hd.cur->pend.pc = HD_RA;
  if (!path_of(path, sizeof path, name)) return (int)hd_errno_result(-EINVAL);
  return hd_open_at(AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode, HD_RA);
}

HD_INTERPOSE(int, shm_unlink, (const char *name), (name)) {
  char path[300];
  hd.cur->pend.pc = HD_RA;
  if (!path_of(path, sizeof path, name)) return (int)hd_errno_result(-ENOENT);
  return unlink(path);
}

// ---- System V
enum { MOST = 64 };
static struct { int id; bool made; } segment[MOST]; // the program's number is the index + 1
static uint32_t nsegments;

// The kernel's number, -1 if the program has no such segment.
static int real_id(int id) { return id > 0 && (uint32_t)id <= nsegments ? segment[id - 1].id : -1; }

HD_INTERPOSE(int, shmget, (key_t key, size_t size, int flags), (key, size, flags)) {
  hd.cur->pend.pc = HD_RA;
  hd_require_isolation(HD_ISOLATION_FORK, "shmget");
  struct hd_thread *t = hd_op(HD_OP_FD_CTL, HD_RA, 0);
  t->pend.aux = ~0u; // no descriptor
  bool create = key == IPC_PRIVATE || flags & IPC_CREAT;
  long id = hd_sys(SYS_shmget, key, size, create && key != IPC_PRIVATE ? flags | IPC_EXCL : flags);
  bool made = create && id >= 0;
  if (id == -EEXIST && !(flags & IPC_EXCL)) id = hd_sys(SYS_shmget, key, size, flags);
  if (id < 0) return (int)hd_errno_result(hd_io_done(t, 0, -id));
  uint32_t i = 0;
  while (i < nsegments && segment[i].id != id) i++;
  if (i == MOST) hd_unsupported("more than 64 shared memory segments");
  if (i == nsegments) {
    segment[nsegments].id = (int)id;
    segment[nsegments++].made = made;
  }
  hd_io_done(t, i + 1, 0);
  return (int)i + 1;
}

HD_INTERPOSE(void *, shmat, (int id, const void *at, int flags), (id, at, flags)) {
  hd.cur->pend.pc = HD_RA;
  hd_require_isolation(HD_ISOLATION_FORK, "shmat");
  struct shmid_ds ds;
  int real = real_id(id);
  if (real >= 0 && hd_sys(SYS_shmctl, real, IPC_STAT, &ds) >= 0) {
    if (!at) at = hd_map_place(ds.shm_segsz);
    if (ds.shm_nattch) hd_mapped_twice();
  }
  long p = hd_sys(SYS_shmat, real, at, flags);
  if (p < 0 && p > -4096) { errno = (int)-p; return (void *)-1; }
  return (void *)p;
}

HD_INTERPOSE(int, shmctl, (int id, int command, struct shmid_ds *ds), (id, command, ds)) {
  if (command != IPC_STAT && command != IPC_SET && command != IPC_RMID) {
    hd.cur->pend.pc = HD_RA;
    hd_unsupported("shmctl other than IPC_STAT, IPC_SET and IPC_RMID");
  }
  return (int)hd_errno_result(hd_sys(SYS_shmctl, real_id(id), command, ds));
}

static const char *shares(void) { return nsegments ? "shared memory" : NULL; }

// At the end of an execution. Attachments end with the process.
static void end(void) {
  for (uint32_t i = 0; i < nsegments; i++)
    if (segment[i].made) hd_sys(SYS_shmctl, segment[i].id, IPC_RMID, NULL);
  nsegments = 0;
}

const struct hd_registration hd_shared_memory = { .end = end, .shares = shares };
