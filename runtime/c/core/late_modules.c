// late_modules.c: modules loaded while the program runs, and the names of their addresses. A
// module's load address depends on the other modules loaded, so the controller knows each module
// by a fixed address range of its own (HD_LATE_BASE): events, stacks and outcomes are sent with
// such addresses, and scheduling points and scripts arrive with them. An unloaded module keeps its
// name until another module is loaded at its addresses, because a thread may still be inside it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/rings.h"

bool hd_late, hd_renamed;
pthread_mutex_t hd_loader_locks[2], hd_stream_locks[HD_STREAM_LOCKS];
uint64_t hd_stream_lock_names[HD_STREAM_LOCKS];
uint32_t hd_loading, hd_late_changes;
static struct place {
  uint64_t lo, hi, base;
  uint32_t slot;
  bool gone, seen;
} places[HD_MAX_LATE * 2]; // the last one is the newest
static uint32_t nplaces;
static uint64_t adds, subs; // the loader's counts of loads and unloads at the last check

void hd_late_reset(void) {
  nplaces = 0;
  adds = subs = 0;
  hd_late_changes++;
  hd_late = hd_renamed = false;
  hd_loading = 0;
  hd_texts_reset();
}

static uint64_t base_of(uint32_t slot) { return HD_LATE_BASE + slot * (uint64_t)HD_LATE_SPAN; }

static struct place *place_of(uint64_t address) {
  for (uint32_t i = nplaces; i--;)
    if (address >= places[i].lo && address < places[i].hi) return &places[i];
  return NULL;
}

uint64_t hd_late_name(uint64_t address) {
  uint64_t lock = address - (uint64_t)hd_loader_locks;
  if (lock < sizeof hd_loader_locks) return HD_NAME_OF_LOCK(lock / sizeof *hd_loader_locks);
  lock = address - (uint64_t)hd_stream_locks;
  if (lock < sizeof hd_stream_locks) return hd_stream_lock_names[lock / sizeof *hd_stream_locks];
  const struct place *p = place_of(address);
  return p ? address - p->base + base_of(p->slot) : address;
}

uint64_t hd_unnamed(uint64_t name) {
  if (name - HD_LATE_BASE >= HD_MAX_LATE * (uint64_t)HD_LATE_SPAN) return name;
  uint32_t slot = (uint32_t)((name - HD_LATE_BASE) / HD_LATE_SPAN);
  for (uint32_t i = nplaces; i--;)
    if (places[i].slot == slot && !places[i].gone) return name - base_of(slot) + places[i].base;
  return 0;
}

bool hd_known(uint64_t address) {
  for (uint32_t i = 0; i < hd_shm->nmodules; i++)
    if (address >= hd_shm->modules[i].lo && address < hd_shm->modules[i].hi) return true;
  return place_of(address) != NULL;
}

const char *hd_late_path(uint64_t address) {
  const struct place *p = place_of(address);
  return p ? hd_shm->late[p->slot].path : NULL;
}

uintptr_t hd_late_start(uint64_t address) {
  const struct place *p = place_of(address);
  return p && !p->gone ? p->lo : 0;
}

struct hd_module *hd_late_loaded(uint32_t n, uint64_t *by) {
  for (uint32_t i = 0; i < nplaces; i++) {
    if (places[i].gone || n--) continue;
    *by = places[i].base - base_of(places[i].slot);
    return &hd_shm->late[places[i].slot];
  }
  return NULL;
}

const char *hd_late_gone(uint64_t address) {
  const struct place *p = hd_late ? place_of(address) : NULL;
  return p && p->gone ? hd_shm->late[p->slot].path : NULL;
}

// ---- finding new modules
static bool same(const char *a, const char *b) { return hd_streq(a, b); }

// The loader's path may be relative; it is valid in the program's current directory.
static void absolute(char *to, const char *path) {
  uint64_t at = 0, n = hd_strlen(path);
  if (path[0] != '/') {
    long k = hd_sys(SYS_getcwd, to, HD_MODULE_PATH, 0);
    if (k > 1) at = (uint64_t)k - 1;
    while (path[0] == '.' && path[1] == '/') { path += 2; n -= 2; }
    if (at < HD_MODULE_PATH - 1) to[at++] = '/';
  }
  if (n > HD_MODULE_PATH - 1 - at) n = HD_MODULE_PATH - 1 - at;
  hd_copy(to + at, path, n);
  to[at + n] = 0;
}

static bool at_main(const struct hd_module *m, const char *path) {
  for (uint32_t i = 0; i < hd_shm->nmodules; i++) {
    const struct hd_module *b = &hd_shm->modules[i];
    if (b->base == m->base && b->lo == m->lo && b->hi == m->hi && (i == 0 || same(b->path, path))) return true;
  }
  return false;
}

static bool loaded(uint32_t slot) {
  for (uint32_t i = 0; i < nplaces; i++)
    if (places[i].slot == slot && !places[i].gone) return true;
  return false;
}

// Finds a module's slot by its identity, because the order of loading depends on the schedule.
static uint32_t slot_of(const struct hd_module *m) {
  uint32_t n = hd_shm->nlate;
  for (uint32_t i = 0; i < n; i++) {
    struct hd_module *k = &hd_shm->late[i];
    bool equal = same(k->path, m->path) && k->build_id_len == m->build_id_len && (!k->hi || k->hi - k->lo == m->hi - m->lo);
    for (uint32_t b = 0; equal && b < k->build_id_len; b++) equal = k->build_id[b] == m->build_id[b];
    if (equal && !loaded(i)) return i;
  }
  if (n == HD_MAX_LATE || m->hi - m->base > (4ull << 30)) hd_unsupported("more than 256 libraries that are loaded while it runs, or one of more than 4 GB");
  return n;
}

static void met(struct hd_module *m) {
  uint32_t slot = slot_of(m);
  struct hd_module *k = &hd_shm->late[slot];
  for (uint32_t i = 0; i < nplaces;) { // removes unloaded modules that overlap it
    if (places[i].gone && (places[i].slot == slot || (places[i].lo < m->hi && m->lo < places[i].hi))) {
      for (uint32_t j = i + 1; j < nplaces; j++) places[j - 1] = places[j];
      nplaces--;
    } else i++;
  }
  places[nplaces++] = (struct place){ .lo = m->lo, .hi = m->hi, .base = m->base, .slot = slot, .seen = true };
  hd_text_add(slot, m);
  uint64_t by = base_of(slot) - m->base;
  m->base += by;
  m->lo += by;
  m->hi += by;
  m->text_lo += by;
  m->text_hi += by;
  // The controller has not judged a module that it does not know yet.
  if (slot == hd_shm->nlate) k->flags = hd_path_of_system(m->path) ? 0 : HD_MODULE_VISITS;
  hd_copy(k, m, offsetof(struct hd_module, flags));
  hd_copy(k->path, m->path, sizeof k->path);
  if (slot == hd_shm->nlate) __atomic_store_n(&hd_shm->nlate, slot + 1, __ATOMIC_RELEASE);
}

static int one(struct dl_phdr_info *info, size_t size, void *arg) {
  static struct hd_module m;
  (void)size; (void)arg;
  adds = info->dlpi_adds;
  subs = info->dlpi_subs;
  for (uint32_t i = 0; i < nplaces; i++)
    if (!places[i].gone && places[i].base == info->dlpi_addr) {
      places[i].seen = true;
      return 0;
    }
  if (!hd_module_read(info, &m) || at_main(&m, info->dlpi_name)) return 0;
  bool executable = true; // stacks are executable unless PT_GNU_STACK says otherwise
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_GNU_STACK) executable = info->dlpi_phdr[i].p_flags & PF_X;
  if (executable) hd_require_isolation(HD_ISOLATION_FORK, "dlopen of a library that makes stacks executable");
  absolute(m.path, info->dlpi_name);
  met(&m);
  return 0;
}

static int counts(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  *(bool *)arg = info->dlpi_adds != adds || info->dlpi_subs != subs;
  return 1;
}

// The loader's own list is consistent whenever another thread can run (loader/loader.c).
void hd_late_look(void) {
  bool changed = false;
  REAL(dl_iterate_phdr)(counts, &changed);
  if (!changed) return;
  hd_late = hd_renamed = true;
  hd_late_changes++;
  for (uint32_t i = 0; i < nplaces; i++) places[i].seen = places[i].gone;
  REAL(dl_iterate_phdr)(one, NULL);
  for (uint32_t i = 0; i < nplaces; i++)
    if (!places[i].seen) {
      places[i].gone = true;
      hd_text_remove(places[i].slot);
    }
}
