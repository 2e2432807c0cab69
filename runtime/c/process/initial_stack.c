// initial_stack.c: the initial stack, as laid out by the kernel. From the top down it holds the path
// of the executable, the strings of the environment and of the arguments, and the vectors of
// pointers to them. Their size determines the addresses of everything below: the vectors, and the
// stack of constructors and main. The controller (internal/target/cprog/padding.go) adds variables
// at the end of the environment to make the size constant. The runtime removes them before any code
// of the program runs.
#define _GNU_SOURCE
#include <elf.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "core/carrier.h"
#include "core/fiber.h"
#include "core/registration.h"
#include "core/rings.h"
#include "libraries/libraries.h"
#include "memory/mappings.h"
#include "process/process.h"

enum { PAGE = 4096, PATH_PAGES = 3 };
static uintptr_t top;       // of the stack; 0: unknown

static bool begins(const char *s, const char *with) {
  while (*with && *s == *with) { s++; with++; }
  return !*with;
}

// Removes the variables that loaded the runtime, so that neither the program nor its children see
// them. Returns the new end of the vector; *padding is the first padding variable, or NULL.
static char **clean(char **envp, char **padding) {
  char **out = envp;
  bool openmp = hd_library_loaded(HD_OPENMP);
  *padding = NULL;
  for (char **e = envp; *e; e++) {
    char *s = *e;
    if (begins(s, HD_PADDING)) {
      *padding = s;
      break; // all further variables are padding
    }
    bool ours = false;
    static const char preload[] = "LD_PRELOAD=";
    if (begins(s, preload)) { // the controller puts its own path first
      uint64_t i = sizeof preload - 1, j = i;
      while (s[j] && s[j] != ':' && s[j] != ' ') j++;
      if (s[j]) { j++; while ((s[i++] = s[j++])) ; }
      else ours = true;
    }
    static const char *const settings[] = { "OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=0", "KMP_BLOCKTIME=0", "KMP_AFFINITY=disabled", "OMP_NUM_THREADS=4" };
    for (uint32_t i = 0; !openmp && i < sizeof settings / sizeof *settings; i++) ours |= hd_streq(s, settings[i]);
    if (hd_streq(s, "GLIBC_TUNABLES=glibc.pthread.rseq=0") || hd_streq(s, "LD_BIND_NOW=1")) ours = true;
    if (!ours) *out++ = s;
  }
  *out = NULL;
  return out;
}

static uintptr_t up(uintptr_t a) { return (a + PAGE - 1) & ~(uintptr_t)(PAGE - 1); }
static uintptr_t down(uintptr_t a) { return a & ~(uintptr_t)(PAGE - 1); }

void hd_initial_stack_init(char **argv, char **envp) {
  char **vectors_end = envp, *padding;
  while (*vectors_end) vectors_end++;
  Elf64_auxv_t *aux = (Elf64_auxv_t *)(vectors_end + 1);
  char **end = clean(envp, &padding);
  uint64_t n = 0, bytes = 0;
  Elf64_auxv_t *path = NULL;
  for (; aux[n].a_type != AT_NULL; n++)
    if (aux[n].a_type == AT_EXECFN) path = &aux[n];
  n++;
  char *at = path ? (char *)path->a_un.a_val : NULL;
  if (at) {
    bytes = hd_strlen(at) + 1;
    top = up((uintptr_t)at + bytes);
  }
  hd_shm->vectors = (uintptr_t)argv;
  if (*argv && top) hd_shm->strings = (uintptr_t)*argv, hd_shm->strings_end = top;
  if (!padding) return;
  // The path ends at the top of the stack, so its address depends on its length: move it.
  if (at) {
    uintptr_t place = top - PATH_PAGES * PAGE;
    if (place + bytes <= (uintptr_t)at && (uintptr_t)padding < place) {
      hd_copy((char *)place, at, bytes);
      path->a_un.a_val = place;
      hd_padding[0] = (struct hd_extent){ up((uintptr_t)padding), place };
      hd_padding[1] = (struct hd_extent){ place, top }; // not written during executions
    }
  }
  // Programs find the auxiliary vector behind the environment, so it moves, too. libc keeps a
  // pointer to the original.
  if ((char *)(end + 1) + n * sizeof *aux <= (char *)aux) {
    hd_copy((char *)(end + 1), (char *)aux, n * sizeof *aux);
    hd_padding[2] = (struct hd_extent){ up((uintptr_t)(end + 1) + n * sizeof *aux), down((uintptr_t)aux) };
  }
  for (uint32_t i = 0; i < 3; i += 2)
    if (hd_padding[i].lo < hd_padding[i].hi) hd_sys(SYS_madvise, hd_padding[i].lo, hd_padding[i].hi - hd_padding[i].lo, MADV_DONTNEED);
}

// ---- the stack of main
//
// The kernel maps this stack on use, up to a limit that includes arguments, environment and
// padding. The runtime maps all that the program may use in advance, so that the snapshot covers it
// (memory/snapshot.c) and padding does not reduce it. The kernel leaves GAP bytes free for it at least.
static void grow(void) {
  uintptr_t sp = hd_main_sp;
  enum { GAP = 120 << 20, SPARE = 64 << 10 };
  if (hd_main_stack || !top) return;
  struct rlimit r;
  if (getrlimit(RLIMIT_STACK, &r) != 0) return;
  uint64_t native = r.rlim_cur < GAP ? down(r.rlim_cur) : GAP, size = hd_stack_mapped(native), used = top - sp;
  if (size > GAP - used) size = GAP - used;
  struct rlimit more = { size + used + SPARE, r.rlim_max };
  if (more.rlim_cur > r.rlim_max) more.rlim_cur = r.rlim_max;
  bool raised = more.rlim_cur > r.rlim_cur && setrlimit(RLIMIT_STACK, &more) == 0;
  uint64_t limit = raised ? more.rlim_cur : r.rlim_cur;
  if (limit < size + used + SPARE) size = limit > used + SPARE ? limit - used - SPARE : 0;
  if (size) *(volatile char *)(sp - size) = 0;
  if (raised) setrlimit(RLIMIT_STACK, &r);
  hd_main_low = sp - size;
  hd_main_stack = native < size ? native : size;
}

const struct hd_registration hd_initial_stack = { .save = grow };
