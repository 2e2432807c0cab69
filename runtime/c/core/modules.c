// modules.c: the modules loaded when main starts, and the memory instructions that are scheduling
// points: one bit for each byte of text.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include "core/fiber.h"
#include "core/libc.h"
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/rings.h"

enum { BASE_TEXTS = HD_TEXTS - HD_MAX_LATE, TEXT_MAX = 256 << 20 };
struct hd_text hd_texts[HD_TEXTS];
uint32_t hd_ntexts, hd_npoints;
uint64_t hd_tls_at_main;
static uint32_t base_texts; // number of texts of modules loaded at main
static uint64_t rt_base, rt_lo, rt_hi, ld_lo, ld_hi;

bool hd_in_runtime(uint64_t pc) { return pc >= rt_lo && pc < rt_hi; }
bool hd_in_loader(uint64_t pc) { return pc >= ld_lo && pc < ld_hi; }
uint64_t hd_runtime_offset(uint64_t pc) { return pc - rt_base; }

// In doubt the answer is true. It reads the module's headers in memory: the loader may be busy.
bool hd_is_constant(uint64_t address) {
  for (uint32_t i = 0; i < hd_shm->nmodules; i++) {
    const struct hd_module *m = &hd_shm->modules[i];
    if (address < m->lo || address >= m->hi) continue;
    const ElfW(Ehdr) *e = (const void *)m->lo;
    if (e->e_ident[0] != ELFMAG0 || e->e_ident[1] != 'E' || e->e_ident[2] != 'L' || e->e_ident[3] != 'F') return true;
    const ElfW(Phdr) *p = (const void *)(m->lo + e->e_phoff);
    for (int j = 0; j < e->e_phnum; j++)
      if (p[j].p_type == PT_LOAD && p[j].p_flags & PF_W && address - m->base - p[j].p_vaddr < p[j].p_memsz) return false;
    return true;
  }
  return hd_late && hd_known(address);
}

// Calls from the constructors of modules before hd_modules_list.
enum { MOST_EARLY = 64 };
static uint64_t early[MOST_EARLY];
static uint32_t nearly;

static struct hd_text *text_of(uint64_t pc) {
  for (uint32_t i = 0; i < hd_ntexts; i++)
    if (pc - hd_texts[i].lo < hd_texts[i].len) return &hd_texts[i];
  return NULL;
}

void hd_hooks_called(uint64_t pc) {
  struct hd_text *t = text_of(pc);
  if (t) t->hooks = t->compiled = true;
  else if (nearly < MOST_EARLY) early[nearly++] = pc;
}

bool hd_calls_hooks(uint64_t pc) {
  const struct hd_text *t = text_of(pc);
  return t && t->hooks;
}

bool hd_has_hooks(uint64_t pc) {
  const struct hd_text *t = text_of(pc);
  return t && t->compiled;
}

uintptr_t hd_module_start(uint64_t pc) {
  for (uint32_t i = 0; i < hd_shm->nmodules; i++) {
    const struct hd_module *m = &hd_shm->modules[i];
    if (pc - m->text_lo < m->text_hi - m->text_lo) return m->lo;
  }
  return hd_late ? hd_late_start(pc) : 0;
}

// Reads the loader's record of a module. Returns false if the module has no code.
bool hd_module_read(struct dl_phdr_info *info, struct hd_module *m) {
  hd_fill(m, 0, sizeof *m);
  m->base = info->dlpi_addr;
  m->lo = ~0ull;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uint64_t lo = info->dlpi_addr + p->p_vaddr, hi = lo + p->p_memsz;
    if (p->p_type == PT_LOAD) {
      if (lo < m->lo) m->lo = lo;
      if (hi > m->hi) m->hi = hi;
      if (p->p_flags & PF_X && !m->text_hi) { m->text_lo = lo; m->text_hi = hi; }
    }
    if (p->p_type == PT_NOTE && !m->build_id_len)
      for (const ElfW(Nhdr) *n = (void *)lo; (uint64_t)n + sizeof *n <= hi;) {
        const char *name = (const char *)(n + 1);
        const uint8_t *desc = (const uint8_t *)name + ((n->n_namesz + 3) & ~3u);
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && n->n_descsz <= HD_BUILD_ID) {
          hd_copy(m->build_id, desc, n->n_descsz);
          m->build_id_len = n->n_descsz;
        }
        n = (const void *)(desc + ((n->n_descsz + 3) & ~3u));
      }
  }
  return m->text_hi > m->text_lo; // false for the vDSO's data
}

static bool begins(const char *s, const char *with) {
  while (*with && *s == *with) { s++; with++; }
  return !*with;
}
static bool is_libc(const char *path) { return begins(hd_base_name(path), "libc.so"); }

// Reports whether path is libc or a library that comes with it, whose calls the runtime knows.
bool hd_path_of_system(const char *path) {
  static const char *const names[] = { "linux-vdso", "ld-linux", "libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "libtsan.so" };
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
    if (begins(hd_base_name(path), names[i])) return true;
  return false;
}

static int one(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  uint32_t *count = arg;
  if (*count == HD_MAX_MODULES) return 1;
  struct hd_module *m = &hd_shm->modules[*count];
  uint64_t tls = hd_main_fs - (uint64_t)info->dlpi_tls_data; // the carrier's
  if (info->dlpi_tls_data && tls > hd_tls_at_main) hd_tls_at_main = tls;
  if (!hd_module_read(info, m)) return 0;
  const char *path = info->dlpi_name;
  if (*count == 0) {
    m->flags |= HD_MODULE_PROGRAM;
    long n = hd_sys(SYS_readlink, "/proc/self/exe", m->path, HD_MODULE_PATH - 1);
    m->path[n > 0 ? n : 0] = 0;
  } else {
    uint64_t n = hd_strlen(path);
    if (n >= HD_MODULE_PATH) n = HD_MODULE_PATH - 1;
    hd_copy(m->path, path, n);
  }
  bool self = (uint64_t)&one >= m->text_lo && (uint64_t)&one < m->text_hi;
  if (self) {
    m->flags |= HD_MODULE_RUNTIME;
    rt_base = m->base;
    rt_lo = m->text_lo;
    rt_hi = m->text_hi;
  } else if (m->base == getauxval(AT_BASE)) {
    ld_lo = m->text_lo; // no thread may be stopped in the loader (loader/loader.c)
    ld_hi = m->text_hi;
  } else if (hd_ntexts < BASE_TEXTS && m->text_hi - m->text_lo < TEXT_MAX) {
    struct hd_text *t = &hd_texts[hd_ntexts++];
    t->lo = m->text_lo;
    t->len = m->text_hi - m->text_lo;
    t->bits = hd_map(t->len / 8 + 1, "scheduling points");
    t->hooks = hd_path_of_system(path) && !is_libc(path); // libc's own locks are not known
    for (uint32_t i = 0; i < nearly; i++) t->compiled |= early[i] - t->lo < t->len;
    t->hooks |= t->compiled;
  }
  ++*count;
  return 0;
}

void hd_modules_list(void) {
  hd_ntexts = 0;
  uint32_t count = 0;
  REAL(dl_iterate_phdr)(one, &count);
  hd_shm->nmodules = count;
  base_texts = hd_ntexts;
}

// ---- references
struct references { const char *const *functions; bool found; };

static int refers(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  struct references *r = arg;
  const ElfW(Dyn) *d = NULL;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  uint64_t at[4] = { 0 }; // symbols, their names, both kinds of hash table
  for (; d && d->d_tag != DT_NULL; d++) {
    int i = d->d_tag == DT_SYMTAB ? 0 : d->d_tag == DT_STRTAB ? 1 : d->d_tag == DT_GNU_HASH ? 2 : d->d_tag == DT_HASH ? 3 : -1;
    if (i >= 0) at[i] = d->d_un.d_ptr < info->dlpi_addr ? d->d_un.d_ptr + info->dlpi_addr : d->d_un.d_ptr; // the loader has not relocated the vDSO's
  }
  if (!at[0] || !at[1] || (!at[2] && !at[3])) return 0;
  // GNU's table leaves out what is not defined, which comes first. The older one has all symbols.
  uint32_t n = at[2] ? ((const uint32_t *)at[2])[1] : ((const uint32_t *)at[3])[1];
  for (uint32_t i = 1; i < n; i++) {
    const ElfW(Sym) *s = (const ElfW(Sym) *)at[0] + i;
    if (s->st_shndx != SHN_UNDEF) continue;
    for (const char *const *f = r->functions; *f; f++) r->found |= hd_streq(*f, (const char *)at[1] + s->st_name);
  }
  return r->found;
}

bool hd_program_refers(const char *const *functions) {
  struct references r = { functions, false };
  REAL(dl_iterate_phdr)(refers, &r);
  return r.found;
}

// ---- searching the modules' code
//
bool hd_in_system(uint64_t pc) {
  for (uint32_t i = 0; i < hd_shm->nmodules; i++) {
    const struct hd_module *m = &hd_shm->modules[i];
    if (pc - m->text_lo < m->text_hi - m->text_lo) return hd_path_of_system(m->path);
  }
  return false;
}

const char *hd_module_name(uint64_t pc) {
  for (uint32_t i = 0; i < hd_shm->nmodules; i++) {
    const struct hd_module *m = &hd_shm->modules[i];
    if (pc - m->text_lo < m->text_hi - m->text_lo) return hd_base_name(m->path);
  }
  const char *late = hd_late_path(pc);
  return late ? hd_base_name(late) : "code outside of all modules";
}

struct search { bool (*match)(const uint8_t *); const char *path; };

static int contains(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  struct search *s = arg;
  struct hd_module m;
  if (hd_path_of_system(info->dlpi_name) || !hd_module_read(info, &m)) return 0;
  if ((uint64_t)&contains - m.text_lo < m.text_hi - m.text_lo) return 0; // the runtime
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || (p->p_flags & (PF_X | PF_R)) != (PF_X | PF_R)) continue;
    const uint8_t *code = (const uint8_t *)info->dlpi_addr + p->p_vaddr, *end = code + p->p_filesz;
    for (; code + 2 < end; code++)
      if (s->match(code)) {
        s->path = info->dlpi_name;
        return 1;
      }
  }
  return 0;
}

bool hd_program_contains(bool (*match)(const uint8_t *), const char **path) {
  struct search s = { match, NULL };
  bool found = REAL(dl_iterate_phdr)(contains, &s);
  if (path) *path = s.path;
  return found;
}

// The previous set's instructions, so that clearing costs no more than setting.
static uint64_t *current;
static uint32_t room;
uint8_t hd_point_hints[HD_POINT_HINTS];

static void set(const struct hd_text *t, uint64_t off, bool on) {
  if (off >= t->len) return;
  if (on) {
    t->bits[off >> 3] |= (uint8_t)(1 << (off & 7));
    hd_point_hints[(t->lo + off) % HD_POINT_HINTS] |= HD_HINT_POINT;
  } else {
    t->bits[off >> 3] &= (uint8_t)~(1 << (off & 7));
  }
}

// Sets or clears the bit of an instruction; pc is the controller's name of its address.
static void put(uint64_t pc, bool on) {
  pc = hd_unnamed(pc);
  for (uint32_t i = 0; i < hd_ntexts; i++) set(&hd_texts[i], pc - hd_texts[i].lo, on);
}

// ---- modules loaded and unloaded while the program runs
//
// Their bits are kept for the next load. A new set of points may arrive while they are unloaded.
static struct hd_text late[HD_MAX_LATE];

void hd_text_add(uint32_t slot, const struct hd_module *m) {
  uint64_t len = m->text_hi - m->text_lo;
  struct hd_text *t = &late[slot];
  if (len >= TEXT_MAX || hd_ntexts == HD_TEXTS) return;
  if (!t->bits || t->len != len) t->bits = hd_map(len / 8 + 1, "scheduling points");
  else hd_fill(t->bits, 0, len / 8 + 1);
  t->lo = m->text_lo;
  t->len = len;
  hd_texts[hd_ntexts++] = *t;
  for (uint32_t i = 0; i < hd_npoints; i++) set(t, hd_unnamed(current[i]) - t->lo, true);
}

void hd_text_remove(uint32_t slot) {
  for (uint32_t i = base_texts; i < hd_ntexts; i++)
    if (hd_texts[i].bits == late[slot].bits) {
      hd_texts[i] = hd_texts[--hd_ntexts];
      return;
    }
}

void hd_texts_reset(void) { hd_ntexts = base_texts; }

void hd_points_set(const uint64_t *pc, uint32_t n) {
  for (uint32_t i = 0; i < hd_npoints; i++) put(current[i], false);
  if (hd_npoints) hd_fill(hd_point_hints, 0, sizeof hd_point_hints);
  if (n > room) {
    room = n * 2;
    current = hd_map(room * sizeof *current, "the set of points"); // the smaller old one is not unmapped
  }
  for (uint32_t i = 0; i < n; i++) put(current[i] = pc[i], true);
  hd_npoints = n;
}
