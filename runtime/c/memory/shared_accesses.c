// shared_accesses.c: which accesses a recording for CTrigger has.
#include "core/fiber.h"
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "memory/shared_accesses.h"

// The runtime's mappings are shared ones unless executions have processes of their own, and of those MADV_DONTNEED keeps the
// contents.
void hd_sharing_clear(void *p, uint64_t bytes) {
  enum { DONTNEED = 4, REMOVE = 9 };
  if (hd_sys(SYS_madvise, p, bytes, REMOVE) != 0) hd_sys(SYS_madvise, p, bytes, DONTNEED);
}

enum { MOST = 1 << 30 }; // bytes of words, for twice as much memory of the program

HD_OWN bool hd_sharing, hd_left_out;
HD_OWN struct sharing *hd_sharing_table;

static bool wanted(uint64_t pc) {
  const uint64_t *list = hd_plan_shared(hd.names, &hd.plan);
  uint64_t name = hd_name(pc);
  uint32_t lo = 0, hi = hd.plan.nshared;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (list[mid] < name) lo = mid + 1;
    else hi = mid;
  }
  return lo < hd.plan.nshared && list[lo] == name;
}

bool hd_sharing_listed(uint64_t pc) { return wanted(pc); }

bool hd_sharing_access(const struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  uint32_t site = sharing_site(hd_sharing_table, pc);
  if (!site) return true; // too many instructions
  uint32_t state = hd_sharing_table->sites[site].state;
  if (!state) hd_sharing_table->sites[site].state = state = SHARING_KNOWN | (wanted(pc) ? SHARING_WANTED : 0);
  // What happens while no other thread exists is not recorded, and is before and after all else.
  if (hd.unjoined || hd.handlers) {
    bool write = op != HD_OP_READ && op != HD_OP_READ_RANGE && op != HD_OP_ATOMIC_LOAD;
    sharing_access(hd_sharing_table, t->number, op == HD_OP_FREE ? 0 : site, addr, size, write);
  }
  return state & SHARING_WANTED;
}

void hd_sharing_forget(uint64_t addr, uint64_t size) { sharing_forget(hd_sharing_table, addr, size); }

static bool loaded(uint64_t pc) {
  for (uint32_t i = 0; i < hd_ntexts; i++)
    if (pc - hd_texts[i].lo < hd_texts[i].len) return true;
  return false;
}

// Sets or clears the hints of the plan's instructions. Reports whether each has one: the modules of some may not be loaded yet.
static bool hint(bool on) {
  const uint64_t *list = hd_plan_shared(hd.names, &hd.plan);
  bool all = true;
  for (uint32_t i = 0; i < hd.plan.nshared; i++) {
    uint64_t pc = hd_unnamed(list[i]);
    uint8_t *h = &hd_point_hints[pc % HD_POINT_HINTS];
    if (on) *h |= HD_HINT_SHARED;
    else *h &= (uint8_t)~HD_HINT_SHARED;
    all = all && loaded(pc);
  }
  return all;
}

static void begin(void) {
  hd_left_out = false;
  hd_sharing = hd.plan.flags & HD_PLAN_SHARED && hd.accesses;
  hd.listed = hd_sharing && hd.plan.flags & HD_PLAN_KNOWN && !hd.watcher;
  if (hd.listed && !hint(true)) {
    hint(false);
    hd.listed = false;
  }
  if (hd.listed) hd_sharing = false;
  if (!hd_sharing) return;
  if (!hd_sharing_table) hd_sharing_table = hd_map(sizeof *hd_sharing_table, "what threads share");
  sharing_begin(hd_sharing_table, MOST);
}

static void report(struct hd_result *r) {
  (void)r;
  if (hd.listed) {
    hd.listed = hd_left_out = false;
    hint(false);
  }
  if (!hd_sharing) return;
  hd_sharing = hd_left_out = false;
  uint64_t found[256];
  uint32_t n = 0;
  for (uint32_t i = 1; i < SHARING_SITES; i++) {
    if (!(hd_sharing_table->sites[i].state & SHARING_FOUND)) continue;
    found[n++] = hd_name(hd_sharing_table->sites[i].pc);
    if (n == sizeof found / sizeof *found) {
      hd_out(HD_REC_SHARED, found, n * (uint32_t)sizeof *found);
      n = 0;
    }
  }
  hd_out(HD_REC_SHARED, found, n * (uint32_t)sizeof *found);
}

// A new thread reuses the stack and the thread-local variables of one that has ended.
static void host_reused(struct hd_host *h) {
  if (hd_sharing) sharing_forget(hd_sharing_table, h->lo, h->hi - h->lo);
}

const struct hd_registration hd_sharings = { .begin = begin, .report = report, .host_reused = host_reused };
