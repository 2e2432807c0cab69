// loader.c: dlopen, dlclose and other functions that acquire the loader's locks.
//
// The loader runs constructors and destructors with its own lock held, and they may wait. Another
// thread that then reached the lock would block the carrier, so each of the loader's two locks has
// a counterpart, modelled like a mutex of the program, which is acquired first. No thread is
// switched out inside the loader's own code: its state is consistent whenever another thread runs.
// The locks' order and deadlocks are then visible like those of any other lock.
//
// Functions that only look something up, such as dlsym, acquire a lock only if another thread holds
// it: uncontended they are not scheduling points.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>
#include "core/carrier.h"
#include "core/event.h"
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "memory/mappings.h"
#include "sync/sync.h"
#include "loader/loader.h"

// Handles that this execution opened, and how often. Any other handle is from before main, and its
// library cannot be restored once it is unmapped.
enum { HANDLES = 1 << 12 };
static struct { void *handle; uint32_t count; } *handles;
static uint32_t nhandles;

static uint32_t handle_index(void *handle) {
  uint32_t i = 0;
  while (i < nhandles && handles[i].handle != handle) i++;
  return i;
}

static void opened(void *handle) {
  if (!handle || hd_isolation_granted) return;
  if (!handles) handles = hd_map(HANDLES * sizeof *handles, "handles of libraries");
  uint32_t i = handle_index(handle);
  if (i == HANDLES) hd_require_isolation(HD_ISOLATION_FORK, "more than 4096 libraries");
  if (i == nhandles) {
    handles[nhandles].handle = handle;
    handles[nhandles++].count = 0;
  }
  handles[i].count++;
}

static void closing(void *handle) {
  if (hd_isolation_granted) return;
  uint32_t i = handle_index(handle);
  if (i == nhandles || !handles[i].count) hd_require_isolation(HD_ISOLATION_FORK, "dlclose of what was loaded before main");
  else handles[i].count--;
}

// Libraries that were kept because of their thread_local objects.
enum { DROPPED = 256 };
static void *dropped[DROPPED];
static uint32_t ndropped;

static void begin_execution(void) {
  static const pthread_mutex_t free = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  hd_loader_locks[HD_LOADER_LOCK] = hd_loader_locks[HD_LOADER_LIST] = free;
  nhandles = ndropped = 0;
  hd_late_reset();
}

static bool taken(int which) {
  uint64_t m = (uint64_t)&hd_loader_locks[which];
  return !hd_mutex_free(m) && !hd_mutex_held(m, hd.cur);
}
static void lock(int which, uint64_t pc) {
  hd_late = hd_renamed = true; // the lock has a name
  hd_mutex_lock(&hd_loader_locks[which], pc, HD_OP_MUTEX_LOCK, NULL);
}
static void unlock(int which, uint64_t pc) { hd_mutex_unlock(&hd_loader_locks[which], pc); }

static void pass(int which, uint64_t pc) {
  if (HD_LIKELY(!taken(which))) return;
  lock(which, pc);
  unlock(which, pc);
}

// In a system call: libc itself called the loader, whose lock another fiber holds.
static const char *stuck(uint64_t pc) {
  if (!hd_loading || !taken(HD_LOADER_LOCK) || !hd_is_syscall(hd_word_at(pc - HD_SYSCALL_SIZE, HD_SYSCALL_SIZE))) return NULL;
  return "a function of libc that waits for the loader's lock on its own, while another thread runs a constructor";
}


void hd_loader_pass(uint64_t pc) { pass(HD_LOADER_LOCK, pc); }

static void begin(uint64_t pc) {
  hd.cur->pend.pc = pc;
  lock(HD_LOADER_LOCK, pc);
  pass(HD_LOADER_LIST, pc);
  hd_loading++;
}

static void end(uint64_t pc) {
  hd_late_look();
  hd_event_settle();
  hd_loading--;
  unlock(HD_LOADER_LOCK, pc);
}

// ---- dlopen
//
// Where dlopen looks for a name without a slash depends on the calling module. It must not be the
// runtime, so the call returns into the caller's module: to a return instruction there, which then
// returns here (entry.S).
static HD_PROGACCESS bool searched(const char *path) {
  bool slash = false, token = false;
  for (const char *c = path; *c; c++) {
    slash |= *c == '/';
    token |= *c == '$';
  }
  return !slash || token;
}

static int find_ret(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  uint64_t *at = arg;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uint64_t lo = info->dlpi_addr + p->p_vaddr, hi = lo + p->p_filesz;
    if (p->p_type != PT_LOAD || (p->p_flags & (PF_X | PF_R)) != (PF_X | PF_R) || *at < lo || *at >= hi) continue;
    // The first is that of _init, which no unwinder knows and where it stops.
    for (const uint8_t *c = (const uint8_t *)lo; c < (const uint8_t *)hi; c++)
      if (*c == HD_RETURN_BYTE) { *at = (uint64_t)c; return 1; }
  }
  return 0;
}

static void *open_from(uint64_t pc, const char *path, int mode) {
  uint64_t ret = pc;
  if (path && searched(path) && REAL(dl_iterate_phdr)(find_ret, &ret)) return hd_call_from(ret, (void *)REAL(dlopen), path, mode);
  return REAL(dlopen)(path, mode);
}

// Started with LD_BIND_NOW, the loader binds all functions at once. A missing function that the
// program may never call must not make it fail.
static bool lacks(const char *error) {
  static const char words[] = "undefined symbol";
  for (; error && *error; error++) {
    uint32_t i = 0;
    while (words[i] && error[i] == words[i]) i++;
    if (!words[i]) return true;
  }
  return false;
}

static void *do_open(const char *path, int mode, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (mode & RTLD_DEEPBIND) hd_unsupported("dlopen with RTLD_DEEPBIND: the library's threads and locks would be libc's own, which heddle does not see");
  hd_area_prepare();
  begin(pc);
  void *r = open_from(pc, path, mode);
  if (!r && !(mode & RTLD_NOW)) {
    if (lacks(dlerror())) hd_unsupported("dlopen with RTLD_LAZY of a library that lacks functions: link it with what it needs");
    r = open_from(pc, path, mode); // so that dlerror reports it again
  }
  opened(r);
  end(pc);
  return r;
}

static void *own_dlopen(const char *path, int mode) { return do_open(path, mode, HD_RA); }

static void *own_dlmopen(Lmid_t space, const char *path, int mode) {
  hd.cur->pend.pc = HD_RA;
  if (space != LM_ID_BASE) hd_unsupported("dlmopen into a namespace of its own: the libc there would be a second one, which heddle does not see");
  return do_open(path, mode, HD_RA);
}

void *hd_library_hold(void *in, uint64_t pc) {
  Dl_info info;
  struct link_map *map;
  if (!hd_late) return NULL;
  hd_late_look();
  if (hd_name((uint64_t)in) == (uint64_t)in) return NULL;
  hd_loader_pass(pc);
  return REAL(dladdr1)(in, &info, (void **)&map, RTLD_DL_LINKMAP) ? REAL(dlopen)(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

void hd_library_drop(void *held) {
  if (ndropped < DROPPED) dropped[ndropped++] = held; // or it stays
}

HD_INTERPOSE(int, dlclose, (void *handle), (handle)) {
  uint64_t pc = HD_RA;
  hd.cur->pend.pc = pc;
  begin(pc);
  closing(handle);
  hd_event_settle();
  while (ndropped) REAL(dlclose)(dropped[--ndropped]);
  int r = REAL(dlclose)(handle);
  end(pc);
  return r;
}

void *hd_loader_cxx(const char *name) {
  if (!hd_late || taken(HD_LOADER_LOCK)) return NULL;
  void *library = REAL(dlopen)("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return library ? hd_real_dlsym(library, name) : NULL;
}

// ---- lookups
HD_EXPORT int dladdr(const void *address, Dl_info *info) {
  if (hd_active()) hd_loader_pass(HD_RA);
  return REAL(dladdr)(address, info);
}
HD_EXPORT int dladdr1(const void *address, Dl_info *info, void **extra, int flags) {
  if (hd_active()) hd_loader_pass(HD_RA);
  return REAL(dladdr1)(address, info, extra, flags);
}

// Number n of the list, which does not change during the walk.
struct nth { uint32_t n; size_t size; struct dl_phdr_info info; };
static int nth(struct dl_phdr_info *info, size_t size, void *arg) {
  struct nth *f = arg;
  if (f->n--) return 0;
  f->size = size < sizeof f->info ? size : sizeof f->info;
  hd_copy(&f->info, info, f->size);
  return 1;
}

// The program's callback runs with the counterpart held, not the loader's own lock. Before the first
// dlopen no other thread can contend for it, and it is not a scheduling point.
HD_INTERPOSE(int, dl_iterate_phdr, (int (*f)(struct dl_phdr_info *, size_t, void *), void *arg), (f, arg)) {
  uint64_t pc = HD_RA;
  bool locked = hd_late;
  if (locked) lock(HD_LOADER_LIST, pc);
  int r = 0;
  for (uint32_t i = 0; !r; i++) {
    struct nth entry = { .n = i };
    if (!REAL(dl_iterate_phdr)(nth, &entry)) break;
    r = f(&entry.info, entry.size, arg);
  }
  if (locked) unlock(HD_LOADER_LIST, pc);
  return r;
}

// Libraries, and wrappers within them, look up libc's thread and lock functions by handle or with
// RTLD_NEXT. They get the runtime's.
static void *runtimes(void *found, const char *name) {
  static uint64_t ret; // in the program, after which the runtime comes next
  if (!found || !hd_real_is(found, name)) return found;
  if (!ret) {
    ret = getauxval(AT_ENTRY);
    if (!REAL(dl_iterate_phdr)(find_ret, &ret)) hd_unsupported("a program without a return instruction");
  }
  return hd_call_from(ret, (void *)hd_real_dlsym, RTLD_NEXT, (long)name);
}

static HD_PROGACCESS void first_byte(const char *name) { (void)*(volatile const char *)name; }

// The caller matters where the arguments do not say where to look.
static void *own_dlsym(void *handle, const char *name) {
  uint64_t pc = HD_RA, ret = pc;
  if (hd_active()) {
    hd_loader_pass(pc);
    hd.cur->pend.pc = pc;
    first_byte(name);
  }
  bool calls = (handle == RTLD_NEXT || handle == RTLD_DEFAULT) && REAL(dl_iterate_phdr)(find_ret, &ret);
  void *found = calls ? hd_call_from(ret, (void *)hd_real_dlsym, handle, (long)name) : hd_real_dlsym(handle, name);
  return runtimes(found, name);
}

// ---- entries that keep their caller's address (entry.S)
struct entry { const char *name; void *real; };
enum { DLOPEN, DLMOPEN, DLSYM };

// Where a call of an entry continues.
__attribute__((visibility("hidden"))) void *hd_loader_entry(uint32_t which, uint64_t pc) {
  static struct entry entries[] = { { "dlopen", NULL }, { "dlmopen", NULL }, { "dlsym", NULL } };
  if (hd_active()) {
    if (which == DLOPEN) return (void *)own_dlopen;
    if (which == DLMOPEN) return (void *)own_dlmopen;
  }
  if (which == DLSYM && (hd_mode == HD_ACTIVE || hd_mode == HD_EARLY)) return (void *)own_dlsym;
  struct entry *e = &entries[which];
  if (!e->real) e->real = hd_real_find(e->name);
  if (!e->real) hd_fatal("libc has no function %s", e->name);
  return e->real;
}

const struct hd_registration hd_loader = { .begin = begin_execution, .stuck = stuck };
