// visits.c: libraries without access hooks that may order threads in ways that the runtime does not know
// (HD_MODULE_VISITS). In an execution that asks for it (HD_PLAN_VISITS), each visit to one of them is ordered
// after all visits before it. Races that this execution still has are races, whatever these libraries do.
//
// A visit begins when a thread executes code of such a library: by a call of any kind, as the thread's start
// routine, or by returning there. While no thread visits one, their code is not executable, and the fault is the
// beginning. It ends with the thread's next operation or access, even if the thread is still in the library:
// it then faults again. No other thread runs in between, so what happens before the beginning is also what the
// visit can have released, and what earlier visits have released is all that it can have acquired.
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "core/modules.h"
#include "core/rings.h"
#include "memory/order.h"
#include "memory/shadow.h"
#include "memory/visits.h"

bool hd_visits;

// A fault makes a block of code executable: changing a whole library takes time for each of its pages.
enum { MOST = 1024, PAGE = 4096, BLOCK = 8 * PAGE, BLOCKS = 64, MOST_FAULTS = 1 << 16 };
static struct range {
  uint64_t lo, hi;
  int prot;
  uint32_t visitor; // 1 + number of the thread that visited it last; 0: none has
  struct hd_module *module;
} ranges[MOST];
static uint32_t nranges, nbase; // the first nbase belong to modules loaded at main
static uint32_t changes;        // hd_late_changes when ranges was made
static struct block { uint64_t lo, hi; int prot; } blocks[BLOCKS]; // those that are executable
static uint32_t nblocks, faults;

// What threads visit is not known any more: no later access is looked at.
static void give_up(void) {
  hd_visits_end();
  hd_shadow_give_up();
}

static bool protect(uint64_t lo, uint64_t hi, int prot) { return hd_sys(SYS_mprotect, lo, hi - lo, prot) == 0; }

static void close_range(uint64_t lo, uint64_t hi, int prot) {
  if (!protect(lo, hi, (prot & ~PROT_EXEC) | PROT_READ)) give_up();
}

static void add(struct hd_module *m, uint64_t lo, uint64_t hi, int prot) {
  if (nranges == MOST) {
    give_up();
    return;
  }
  lo &= ~(uint64_t)(PAGE - 1);
  hi = (hi + PAGE - 1) & ~(uint64_t)(PAGE - 1);
  ranges[nranges++] = (struct range){ .lo = lo, .hi = hi, .prot = prot, .module = m };
  close_range(lo, hi, prot);
}

// Adds the code of a module, which may have several executable segments. by is how far the module lies from where m says.
static void add_module(struct hd_module *m, uint64_t by) {
  const ElfW(Ehdr) *e = (const void *)(m->lo + by);
  if (e->e_ident[0] != ELFMAG0 || e->e_ident[1] != 'E' || e->e_ident[2] != 'L' || e->e_ident[3] != 'F') {
    add(m, m->text_lo + by, m->text_hi + by, PROT_READ | PROT_EXEC);
    return;
  }
  const ElfW(Phdr) *p = (const void *)(m->lo + by + e->e_phoff);
  for (int i = 0; i < e->e_phnum; i++) {
    if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X)) continue;
    uint64_t lo = m->base + by + p[i].p_vaddr;
    add(m, lo, lo + p[i].p_memsz, (p[i].p_flags & PF_R ? PROT_READ : 0) | (p[i].p_flags & PF_W ? PROT_WRITE : 0) | PROT_EXEC);
  }
}

static void list_late(void) {
  uint64_t by;
  changes = hd_late_changes;
  nranges = nbase;
  for (uint32_t i = 0; i < HD_MAX_LATE; i++) {
    struct hd_module *m = hd_late_loaded(i, &by);
    if (m && m->flags & HD_MODULE_VISITS) add_module(m, by);
  }
}

void hd_visits_begin(void) {
  hd_visits = true;
  nranges = nblocks = faults = 0;
  for (uint32_t i = 0; i < hd_shm->nmodules; i++)
    if (hd_shm->modules[i].flags & HD_MODULE_VISITS) add_module(&hd_shm->modules[i], 0);
  nbase = nranges;
  changes = hd_late_changes; // those of the execution before are gone
}

void hd_visits_end(void) {
  if (!hd_visits) return;
  for (uint32_t i = 0; i < nranges; i++) protect(ranges[i].lo, ranges[i].hi, ranges[i].prot);
  hd_visits = false;
}

void hd_visit_over(void) {
  for (uint32_t i = 0; i < nblocks; i++) close_range(blocks[i].lo, blocks[i].hi, blocks[i].prot);
  nblocks = 0;
  if (HD_UNLIKELY(changes != hd_late_changes)) list_late();
}

bool hd_visit(uint64_t pc, uint64_t address) {
  enum { LONGEST = 15 }; // bytes of an instruction
  if (!hd_visits || address - pc >= LONGEST) return false;
  for (uint32_t i = 0; i < nblocks; i++)
    if (address - blocks[i].lo < blocks[i].hi - blocks[i].lo) return false; // a fault of the library's own
  for (uint32_t i = 0; i < nranges; i++) {
    struct range *r = &ranges[i];
    if (address - r->lo >= r->hi - r->lo) continue;
    struct block b = { .lo = address & ~(uint64_t)(BLOCK - 1), .prot = r->prot };
    b.hi = b.lo + BLOCK;
    if (b.lo < r->lo) b.lo = r->lo;
    if (b.hi > r->hi) b.hi = r->hi;
    if (nblocks == BLOCKS || ++faults > MOST_FAULTS || !protect(b.lo, b.hi, b.prot)) {
      give_up();
      return true;
    }
    if (!nblocks) hd_order_visit(hd.cur);
    if (r->visitor && r->visitor != hd.cur->number + 1) r->module->flags |= HD_MODULE_VISITED;
    r->visitor = hd.cur->number + 1;
    blocks[nblocks++] = b;
    return true;
  }
  return false;
}
