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
#include "memory/visits.h"

bool hd_visits;

enum { MOST = 1024, PAGE = 4096 };
static struct range { uint64_t lo, size; int prot; } ranges[MOST];
static uint32_t nranges, nbase; // the first nbase belong to modules loaded at main
static uint32_t changes;        // hd_late_changes when ranges was made
static bool closed;             // the code is not executable
static bool blind;              // some of it is executable all the time: any code may be part of a visit

static void add(uint64_t lo, uint64_t hi, int prot) {
  if (nranges == MOST) {
    blind = true;
    return;
  }
  lo &= ~(uint64_t)(PAGE - 1);
  hi = (hi + PAGE - 1) & ~(uint64_t)(PAGE - 1);
  ranges[nranges++] = (struct range){ lo, hi - lo, prot };
}

// Adds the code of a module, which may have several executable segments. by is how far the module lies from where m says.
static void add_module(const struct hd_module *m, uint64_t by) {
  const ElfW(Ehdr) *e = (const void *)(m->lo + by);
  if (e->e_ident[0] != ELFMAG0 || e->e_ident[1] != 'E' || e->e_ident[2] != 'L' || e->e_ident[3] != 'F') {
    add(m->text_lo + by, m->text_hi + by, PROT_READ | PROT_EXEC);
    return;
  }
  const ElfW(Phdr) *p = (const void *)(m->lo + by + e->e_phoff);
  for (int i = 0; i < e->e_phnum; i++) {
    if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X)) continue;
    uint64_t lo = m->base + by + p[i].p_vaddr;
    add(lo, lo + p[i].p_memsz, (p[i].p_flags & PF_R ? PROT_READ : 0) | (p[i].p_flags & PF_W ? PROT_WRITE : 0) | PROT_EXEC);
  }
}

static void protect(bool close) {
  for (uint32_t i = 0; i < nranges; i++) {
    const struct range *r = &ranges[i];
    if (hd_sys(SYS_mprotect, r->lo, r->size, close ? (r->prot & ~PROT_EXEC) | PROT_READ : r->prot) && close) blind = true;
  }
  closed = close;
}

static void list_late(void) {
  uint64_t by;
  changes = hd_late_changes;
  nranges = nbase;
  for (uint32_t i = 0; i < HD_MAX_LATE; i++) {
    const struct hd_module *m = hd_late_loaded(i, &by);
    if (m && m->flags & HD_MODULE_VISITS) add_module(m, by);
  }
}

void hd_visits_begin(bool asked) {
  hd_visits = asked;
  nranges = nbase = 0;
  blind = false;
  if (!asked) return;
  for (uint32_t i = 0; i < hd_shm->nmodules; i++)
    if (hd_shm->modules[i].flags & HD_MODULE_VISITS) add_module(&hd_shm->modules[i], 0);
  nbase = nranges;
  changes = hd_late_changes; // those of the execution before are gone
  protect(true);
}

void hd_visits_end(void) {
  if (hd_visits && closed) protect(false);
  hd_visits = false;
}

void hd_visit_over(void) {
  if (changes != hd_late_changes) {
    list_late();
    closed = false;
  }
  if (!closed) protect(true);
  if (blind) hd_order_visit(hd.cur);
}

bool hd_visit(uint64_t pc) {
  if (!hd_visits || !closed) return false;
  for (uint32_t i = 0; i < nranges; i++) {
    if (pc - ranges[i].lo >= ranges[i].size) continue;
    protect(false);
    if (hd_mode == HD_ACTIVE) hd_order_visit(hd.cur);
    return true;
  }
  return false;
}
