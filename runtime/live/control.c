// control.c: the control file, the modules, the threads.
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <pthread.h>
#include "live.h"

struct hl_control *hl;
struct hl_target *hl_targets;
uint64_t *hl_shared, *hl_found;
_Thread_local struct hl_thread *hl_me;

static struct { uint64_t lo, hi; } text[HL_MODULES];

_Noreturn static void refuse(const char *why) {
  static const char head[] = "heddle: the library of the backend live cannot begin: ";
  (void)!write(2, head, sizeof head - 1);
  (void)!write(2, why, strlen(why));
  (void)!write(2, "\n", 1);
  _exit(125);
}

static int module(struct dl_phdr_info *info, size_t size, void *first) {
  (void)size;
  const char *name = info->dlpi_name;
  if (*(bool *)first) name = NULL; // the executable comes first, without a name
  for (uint64_t i = 0; i < hl->nmodules; i++) {
    if (i == 0 ? name != NULL : name == NULL || strcmp(name, hl->modules[i].path) != 0) continue;
    hl->modules[i].base = info->dlpi_addr;
    uint64_t lo = UINT64_MAX, hi = 0;
    for (int k = 0; k < info->dlpi_phnum; k++) {
      const ElfW(Phdr) *p = &info->dlpi_phdr[k];
      if (p->p_type != PT_LOAD) continue;
      if (info->dlpi_addr + p->p_vaddr < lo) lo = info->dlpi_addr + p->p_vaddr;
      if (info->dlpi_addr + p->p_vaddr + p->p_memsz > hi) hi = info->dlpi_addr + p->p_vaddr + p->p_memsz;
    }
    text[i].lo = lo, text[i].hi = hi;
  }
  *(bool *)first = false;
  return 0;
}

uint64_t hl_place(uint64_t address) {
  for (uint64_t i = 0; i < hl->nmodules; i++)
    if (address - text[i].lo < text[i].hi - text[i].lo) return (i + 1) << 48 | (address - hl->modules[i].base);
  return 0;
}

uint64_t hl_address(uint64_t place) {
  uint64_t i = place >> 48;
  if (i == 0 || i > hl->nmodules || text[i - 1].hi == 0) return 0;
  return hl->modules[i - 1].base + (place & ((1ull << 48) - 1));
}

struct hl_thread *hl_new_thread(void) {
  uint64_t n = __atomic_fetch_add(&hl->threads, 1, __ATOMIC_RELAXED);
  size_t size = sizeof(struct hl_thread) + hl->ntargets * sizeof(uint64_t);
  struct hl_thread *t = hl_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (t == MAP_FAILED) refuse("there is no memory for another thread");
  t->number = (uint32_t)n;
  t->random = (hl->seed + 1) * 0x9e3779b97f4a7c15u + n * 0xbf58476d1ce4e5b9u;
  t->last = (uint64_t *)(t + 1);
  if (hl->stacks && hl->mode == HL_FORCE) hl_calls_begin(t);
  return t;
}

// A thread that the program did not create with pthread_create gets its number at its first hook.
struct hl_thread *hl_thread(void) {
  if (HL_UNLIKELY(!hl_me)) {
    if (!hl) return NULL;
    hl_me = hl_new_thread();
    if (hl->mode == HL_PROFILE) hl_record_begin(hl_me);
  }
  return hl_me;
}

uint64_t hl_random(struct hl_thread *t) {
  uint64_t x = t->random += 0x9e3779b97f4a7c15u; // splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// A child process is another program as far as the control file is concerned.
static void forked(void) { hl = NULL; }

// Runs before the constructors of all other libraries, even libc's (-z initfirst), so getenv does not
// work yet.
__attribute__((constructor)) static void begin(int argc, char **argv, char **env) {
  char **first_env = env;
  static const char variable[] = "HEDDLE_LIVE=";
  const char *name = NULL;
  for (; *env && !name; env++)
    if (strncmp(*env, variable, sizeof variable - 1) == 0) name = *env + sizeof variable - 1;
  if (!name) return; // the program was not started by heddle
  int fd = open(name, O_RDWR | O_CLOEXEC);
  struct stat s;
  if (fd < 0 || fstat(fd, &s) != 0 || (size_t)s.st_size < sizeof *hl) refuse("its control file cannot be read");
  struct hl_control *c = hl_mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (c == MAP_FAILED) refuse("its control file cannot be mapped");
  close(fd);
  if (c->magic != HL_MAGIC || c->version != HL_VERSION) refuse("its control file has another version: build heddle's commands and its library from one source");
  if (c->nmodules > HL_MODULES || sizeof *c + c->ntargets * sizeof(struct hl_target) + c->npatches * sizeof(struct hl_patch) + (c->nshared + c->most_found) * sizeof(uint64_t) != (size_t)s.st_size)
    refuse("its control file is damaged");
  // A program that this one starts inherits the variable. The file is the first one's.
  uint64_t nobody = 0;
  if (!__atomic_compare_exchange_n(&c->ready, &nobody, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    hl_munmap(c, (size_t)s.st_size);
    return;
  }
  hl_targets = (struct hl_target *)(c + 1);
  hl_shared = (uint64_t *)((struct hl_patch *)(hl_targets + c->ntargets) + c->npatches);
  hl_found = hl_shared + c->nshared;
  hl = c;
  bool first = true;
  dl_iterate_phdr(module, &first);
  pthread_attr_t attr;
  void *stack;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &attr) == 0 && pthread_attr_getstack(&attr, &stack, &size) == 0)
    hl->main_stack = (uint64_t)stack + size;
  hl->vectors = (uint64_t)argv;
  hl->strings = (uint64_t)(argc > 0 ? argv[0] : *first_env ? *first_env : NULL);
  hl->strings_end = hl->main_stack;
  hl_values_begin();
  hl_sharing_begin();
  hl_thread();
  if (hl_valued()) hl_record(HL_STACK, 0, (uint64_t)argv, 0, hl->main_stack - (8ull << 20));
  hl_force_begin();
  pthread_atfork(NULL, NULL, forked);
  hl_patch_calls();
  hl->ready = 2;
}
