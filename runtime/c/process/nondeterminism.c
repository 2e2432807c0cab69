// nondeterminism.c: random numbers and properties of the machine, which differ between
// executions or processes. A program under control gets the same values every time.
//
// Not covered: the instructions rdrand, rdseed and cpuid, and calls of the kernel's vDSO that bypass
// libc. std::random_device is interposed, so it does not use rdrand.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>
#include "core/libc.h"
#include "core/program_memory.h"
#include "core/run.h"
#include "io/random.h"
#include "process/process.h"

void hd_nondeterminism_init(void) {
  uint64_t *p = (uint64_t *)getauxval(AT_RANDOM); // libc has already read its own random values
  if (p) { p[0] = 0x6865646c65000001; p[1] = 0x72616e646f6d0002; }
}

HD_INTERPOSE_MODELLED(ssize_t, getrandom, (void *p, size_t n, unsigned flags), (p, n, flags)) {
  if (flags & ~7u) { errno = EINVAL; return -1; }
  if (hd_active()) hd.cur->pend.pc = HD_RA;
  hd_random_fill(p, n);
  return (ssize_t)n;
}
HD_INTERPOSE_MODELLED(int, getentropy, (void *p, size_t n), (p, n)) {
  if (n > 256) { errno = EIO; return -1; }
  if (hd_active()) hd.cur->pend.pc = HD_RA;
  hd_random_fill(p, n);
  return 0;
}
HD_INTERPOSE_MODELLED(void, arc4random_buf, (void *p, size_t n), (p, n)) {
  if (hd_active()) hd.cur->pend.pc = HD_RA;
  hd_random_fill(p, n);
}
HD_INTERPOSE_MODELLED(uint32_t, arc4random, (void), ()) { return (uint32_t)hd_random_word(); }
HD_EXPORT uint32_t arc4random_uniform(uint32_t n) { return !hd_machine_is_modelled() ? REAL(arc4random_uniform)(n) : n ? (uint32_t)hd_random_word() % n : 0; }
// std::random_device::_M_getval()
HD_INTERPOSE_MODELLED(unsigned, _ZNSt13random_device9_M_getvalEv, (void *self), (self)) { return (unsigned)hd_random_word(); }

// ---- the machine
HD_EXPORT int sched_getcpu(void) {
  unsigned cpu = 0;
  if (!hd_active()) hd_sys(SYS_getcpu, &cpu, 0, 0);
  return (int)cpu;
}
HD_EXPORT int getcpu(unsigned *cpu, unsigned *node) {
  if (!hd_active()) return (int)hd_errno_result(hd_sys(SYS_getcpu, cpu, node, 0));
  if (cpu) *cpu = 0;
  if (node) *node = 0;
  return 0;
}
HD_EXPORT long sysconf(int name) {
  if (hd_machine_is_modelled() && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)) return hd_processors;
  if (hd_machine_is_modelled() && name == _SC_AVPHYS_PAGES) name = _SC_PHYS_PAGES;
  return REAL(sysconf)(name);
}
HD_INTERPOSE_WHILE(hd_machine_is_modelled(), int, get_nprocs, (void), ()) { return hd_processors; }
HD_INTERPOSE_WHILE(hd_machine_is_modelled(), int, get_nprocs_conf, (void), ()) { return hd_processors; }

// A machine that does nothing else.
HD_INTERPOSE_MODELLED(int, sysinfo, (struct sysinfo *to), (to)) {
  struct sysinfo now;
  if (hd_active()) hd.cur->pend.pc = HD_RA;
  long r = hd_sys(SYS_sysinfo, &now, 0, 0);
  if (r < 0) return (int)hd_errno_result(r);
  struct timespec t = { 0 };
  clock_gettime(CLOCK_BOOTTIME, &t);
  struct sysinfo told = { .uptime = t.tv_sec, .totalram = now.totalram, .freeram = now.totalram, .totalswap = now.totalswap, .freeswap = now.totalswap, .procs = 1, .totalhigh = now.totalhigh, .freehigh = now.totalhigh, .mem_unit = now.mem_unit };
  hd_to_program(to, &told, sizeof told);
  return 0;
}
HD_INTERPOSE_MODELLED(long, get_avphys_pages, (void), ()) { return get_phys_pages(); }

// Whether the kernel holds a page in memory differs from execution to execution; whether it is mapped does not.
HD_INTERPOSE(int, mincore, (void *at, size_t n, unsigned char *resident), (at, n, resident)) {
  enum { PAGE = 4096, PART = 1024 };
  unsigned char yes[PART];
  hd.cur->pend.pc = HD_RA;
  long r = hd_sys(SYS_mincore, at, n, resident);
  if (r < 0) return (int)hd_errno_result(r);
  hd_fill(yes, 1, sizeof yes);
  for (uint64_t pages = (n + PAGE - 1) / PAGE, i = 0; i < pages; i += PART)
    hd_to_program(resident + i, yes, pages - i < PART ? pages - i : PART);
  return 0;
}

// Their state is a register of the kernel thread, which carries other threads of the program.
static int absent(void) { return errno = ENOSYS, -1; }
HD_INTERPOSE(int, pkey_alloc, (unsigned flags, unsigned rights), (flags, rights)) { return absent(); }
HD_INTERPOSE(int, pkey_free, (int key), (key)) { return absent(); }
extern int mprotect(void *, size_t, int);
HD_INTERPOSE(int, pkey_mprotect, (void *at, size_t n, int how, int key), (at, n, how, key)) { return key == -1 ? mprotect(at, n, how) : absent(); }

// ---- names of temporary files
static bool suffix(char *name, int tail, char **xs) {
  uint64_t n = hd_strlen(name);
  if (tail < 0 || n < 6 + (uint64_t)tail) return false;
  *xs = name + n - (uint64_t)tail - 6;
  for (int i = 0; i < 6; i++)
    if ((*xs)[i] != 'X') return false;
  return true;
}
static void letters(char *xs) {
  uint64_t w = hd_random_word();
  for (int i = 0; i < 6; i++, w /= 62) xs[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[w % 62];
}

static int temporary(char *name, int tail, int flags) {
  char *xs;
  if (!hd_active()) return REAL(mkostemps)(name, tail, flags);
  if (!suffix(name, tail, &xs)) { errno = EINVAL; return -1; }
  for (int tries = 0; tries < 1000; tries++) {
    letters(xs);
    int fd = open(name, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}
HD_EXPORT int mkstemp(char *name) { return temporary(name, 0, 0); }
HD_EXPORT int mkstemps(char *name, int tail) { return temporary(name, tail, 0); }
HD_EXPORT int mkostemp(char *name, int flags) { return temporary(name, 0, flags); }
HD_EXPORT int mkostemps(char *name, int tail, int flags) { return temporary(name, tail, flags); }
HD_EXPORT int mkstemp64(char *name) { return temporary(name, 0, 0); }
HD_EXPORT int mkstemps64(char *name, int tail) { return temporary(name, tail, 0); }
HD_EXPORT int mkostemp64(char *name, int flags) { return temporary(name, 0, flags); }
HD_EXPORT int mkostemps64(char *name, int tail, int flags) { return temporary(name, tail, flags); }

extern int mkdir(const char *, unsigned);
HD_EXPORT char *mkdtemp(char *name) {
  char *xs;
  if (!hd_active()) return REAL(mkdtemp)(name);
  if (!suffix(name, 0, &xs)) { errno = EINVAL; return NULL; }
  for (int tries = 0; tries < 1000; tries++) {
    letters(xs);
    if (mkdir(name, 0700) == 0) return name;
    if (errno != EEXIST) break;
  }
  return NULL;
}
