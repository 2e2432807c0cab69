// order.c: reports to the analyses the order that libraries without access hooks establish.
//
// The events are those of Go's race detector (HD_OP_ACQUIRE, HD_OP_RELEASE_MERGE) and are never a
// scheduling point. The reported order includes at least the library's: a race may stay hidden, but
// no false race is reported.
#define _GNU_SOURCE
#include <link.h>
#include "core/outcome.h"
#include "core/progress.h"
#include "core/rings.h"
#include "libraries/libraries.h"
#include "memory/access.h"

void hd_order_release(const void *object) { hd_note(hd.cur, HD_OP_RELEASE_MERGE, (uint64_t)object, 0, 0); }
void hd_order_acquire(const void *object) { hd_note(hd.cur, HD_OP_ACQUIRE, (uint64_t)object, 0, 0); }
void hd_order_always_release(const void *object) { hd_note(hd.cur, HD_OP_RELEASE_MERGE, (uint64_t)object, 0, HD_ORDER_ALWAYS); }
void hd_order_always_acquire(const void *object) { hd_note(hd.cur, HD_OP_ACQUIRE, (uint64_t)object, 0, HD_ORDER_ALWAYS); }

// Both record the event of an atomic operation with relaxed order.
static struct hd_thread *relaxed(uint16_t op, const void *object) {
  struct hd_thread *t = hd.cur;
  hd_pend(t, op, t->library_pc, (uint64_t)object);
  t->pend.size = sizeof(uint32_t);
  t->pend.flags = HD_EV_ATOMIC | __ATOMIC_RELAXED << 4;
  hd_point(t);
  return t;
}

void hd_order_turn(const void *object, uint32_t *turns) {
  struct hd_thread *t = relaxed(HD_OP_ATOMIC_RMW, object);
  t->pend.aux = (*turns)++;
  hd_progress(t);
  hd_commit(t, *turns, 0);
}

void hd_order_pass(const uint32_t *never_written) {
  struct hd_thread *t = relaxed(HD_OP_ATOMIC_LOAD, never_written);
  hd_progress(t);
  hd_commit(t, 0, 0);
}

void hd_library_find(struct hd_library_function *f) {
  *f->real = hd_real_find(f->name);
  if (!*f->real) hd_refuse("the program calls %s, and no library that is loaded has it: link it with the library (gcc -fopenmp -Wl,--no-as-needed)", f->name);
}

// ---- accesses of the libraries themselves
//
// The libraries call memcpy and free, which are interposed. The runtime does not see their
// synchronisation, so these accesses must not take part in race detection.
static const struct { const char *begins; uint32_t kind; } names[] = {
  { "libgomp.so", HD_LIBGOMP }, { "libomp.so", HD_LIBOMP }, { "libomp5.so", HD_LIBOMP }, { "libiomp5.so", HD_LIBOMP },
  { "libtbb.so", HD_LIBTBB }, { "libglib-2.0.so", HD_LIBGLIB },
};

static uint32_t kind_of(const char *path) {
  const char *base = hd_base_name(path);
  for (uint32_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *s = base, *n = names[k].begins;
    while (*n && *s == *n) { s++; n++; }
    if (!*n) return names[k].kind;
  }
  return 0;
}

static int look(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  *(uint32_t *)arg |= kind_of(info->dlpi_name);
  return 0;
}

bool hd_library_loaded(uint32_t kinds) {
  uint32_t found = 0;
  REAL(dl_iterate_phdr)(look, &found);
  return found & kinds;
}

// Registers the library as code that calls functions of the program: hd_tbb_calls runs at each call,
// hd_tbb_returns at each return while that is of use.
static void called_back(struct dl_phdr_info *info) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_X) hd_callbacks = (struct hd_exempt){ info->dlpi_addr + p->p_vaddr, p->p_memsz };
  }
  hd_callback = hd_tbb_calls;
  hd_callback_return = hd_tbb_returns;
}

static int one(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size, (void)arg;
  uint32_t kind = kind_of(info->dlpi_name);
  if (!kind) return 0;
  if (kind == HD_LIBTBB) called_back(info);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_X) hd_access_exempt(info->dlpi_addr + p->p_vaddr, p->p_memsz);
  }
  return 0;
}

static void save(void) {
  static bool done;
  if (!done) REAL(dl_iterate_phdr)(one, NULL);
  done = true;
}

const struct hd_registration hd_libraries = { .save = save };
