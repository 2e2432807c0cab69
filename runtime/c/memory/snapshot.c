// snapshot.c: saves the program's memory at main, and restores it after each execution.
//
// The snapshot contains the present pages of every private writable mapping. MADV_DONTNEED returns the
// absent ones to the kernel, and they read as before. A small gap of them joins the snapshot once an
// execution has touched it, because copying a few pages costs less than their page faults and system
// calls; a single page does at once. Stacks are cleared below the start
// of the execution, because a program that reads an uninitialised variable must read the same
// value in every execution.
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "core/carrier.h"
#include "core/fiber.h"
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "memory/heap.h"
#include "memory/mappings.h"

enum { PAGE = 4096, GAP = 8, SINGLE = 1, WINDOW = 32, MAX_RUNS = 1 << 16 };

struct run { uintptr_t lo; uint64_t bytes; char *copy; };
struct gap { uintptr_t lo, hi; char *copy; }; // copy: where the contents of a small one go; else NULL
// A stack: zero below start once restored; no use of pages below low is known.
struct stack { uintptr_t lo, start, low; uint32_t first_run, nruns; };

static struct run *runs, *joined; // of the snapshot; gaps that have joined it
static struct gap *gaps;
static uint32_t nruns, njoined, ngaps, global_runs;
static struct stack main_stack, *host_stacks;
static char *copies;
static uint64_t copied, copy_size;
static int pagemap = -1;
static uint32_t pages;
struct hd_extent hd_padding[3];

// Pages that are present, as the kernel said when a search of an area began: many at a time, because stacks are large.
static struct { uint64_t entry[512]; uintptr_t from, to; } look;

static void look_again(void) { look.to = 0; }

static bool present(uintptr_t page) {
  if (page < look.from || page >= look.to) {
    long n = pagemap < 0 ? -1 : hd_sys4(SYS_pread64, pagemap, look.entry, sizeof look.entry, page / PAGE * 8);
    if (n < 8) {
      unsigned char v = 0;
      return hd_sys(SYS_mincore, page, PAGE, &v) == 0 && v & 1;
    }
    look.from = page;
    look.to = page + (uintptr_t)n / 8 * PAGE;
  }
  return look.entry[(page - look.from) / PAGE] >> 62 != 0;
}

static void keep(uintptr_t lo, uintptr_t hi) {
  if (lo >= hi) return;
  if (nruns == MAX_RUNS) hd_refuse("the program's memory is in too many pieces (%u): use --isolation=fork", nruns);
  struct run *r = &runs[nruns++];
  r->lo = lo;
  r->bytes = hi - lo;
  copied += r->bytes;
  pages += (uint32_t)(r->bytes / PAGE);
}

static void keep_present(uintptr_t lo, uintptr_t hi) {
  uintptr_t from = 0;
  look_again();
  for (uintptr_t p = lo; p < hi;) {
    if (present(p)) {
      if (!from) from = p;
      p += PAGE;
      continue;
    }
    uintptr_t g = p;
    while (p < hi && !present(p)) p += PAGE;
    if (p - g <= SINGLE * PAGE) {
      if (!from) from = g;
      continue;
    }
    if (from) keep(from, g);
    from = 0;
    if (ngaps < MAX_RUNS) gaps[ngaps++] = (struct gap){ g, p, NULL };
  }
  if (from) keep(from, hi);
}

static struct { uintptr_t lo, hi; } skips[HD_MAX_THREADS + 16];
static uint32_t nskips;

static void skip(uintptr_t lo, uintptr_t hi) {
  skips[nskips].lo = lo;
  skips[nskips++].hi = hi;
}

static void keep_except(uintptr_t lo, uintptr_t hi) {
  for (uint32_t i = 0; i < nskips && lo < hi; i++) {
    if (skips[i].hi <= lo || skips[i].lo >= hi) continue;
    if (skips[i].lo > lo) keep_except(lo, skips[i].lo);
    lo = skips[i].hi;
  }
  if (lo < hi) keep_present(lo, hi);
}

static int own_module(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size; (void)data;
  uintptr_t self = (uintptr_t)&nskips;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t lo = info->dlpi_addr + p->p_vaddr, hi = lo + p->p_memsz;
    if (p->p_type == PT_LOAD && p->p_flags & PF_W && self >= lo && self < hi)
      skip(lo & ~(uintptr_t)(PAGE - 1), (hi + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
  }
  return 0;
}

static void one_mapping(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  (void)rest;
  if (perms[0] != 'r' || perms[1] != 'w' || perms[3] != 'p') return;
  if (main_stack.start >= lo && main_stack.start < hi) {
    main_stack.lo = lo;
    lo = main_stack.start & ~(uintptr_t)(PAGE - 1);
  }
  if (!hd_isolation) keep_except(lo, hi);
}

static void zero_below(struct stack *s, uintptr_t from) {
  uintptr_t top = s->start & ~(uintptr_t)(PAGE - 1);
  look_again();
  for (uintptr_t p = from; p < top; p += PAGE)
    if (present(p)) hd_fill((void *)p, 0, PAGE);
  hd_fill((void *)top, 0, s->start - top);
  // The page that nearly every execution uses is touched now, so that it does not take its
  // page fault inside an execution.
  s->low = top - PAGE;
  hd_fill((void *)s->low, 0, top - s->low);
}

static bool is_small(const struct gap *g) { return g->hi - g->lo <= GAP * PAGE; }

// If each execution has a process of its own, the snapshot contains only the stacks: several threads
// of one execution may use a host's stack in turn.
static void take(void) {
  if (!runs) {
    runs = hd_map(sizeof *runs * MAX_RUNS, "the snapshot's index");
    joined = hd_map(sizeof *joined * MAX_RUNS, "the snapshot's index");
    gaps = hd_map(sizeof *gaps * MAX_RUNS, "the snapshot's gaps");
    host_stacks = hd_map(sizeof *host_stacks * HD_MAX_THREADS, "stacks");
  }
  nruns = njoined = ngaps = nskips = 0;
  pages = 0;
  copied = 0;
  pagemap = (int)hd_sys(SYS_open, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
  main_stack.start = hd_main_sp;

  REAL(dl_iterate_phdr)(own_module, NULL);
  skip(hd_heap_base, hd_heap_base + (64ull << 30));
  skip(hd_side_lo, hd_side_lo + hd_side_size);
  for (uint32_t i = 0; i < sizeof hd_padding / sizeof *hd_padding; i++)
    if (hd_padding[i].lo < hd_padding[i].hi) skip(hd_padding[i].lo, hd_padding[i].hi);
  for (uint32_t i = 0; i < hd_nhosts; i++) skip(hd_hosts[i].lo, hd_hosts[i].hi);
  hd_heap_save();
  hd_maps_each(one_mapping);
  if (!hd_isolation) keep_present(hd_heap_base, (hd_heap_base + hd_heap_used + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
  global_runs = nruns;
  zero_below(&main_stack, main_stack.lo);
  for (uint32_t i = 0; i < hd_nhosts; i++) {
    struct stack *s = &host_stacks[i];
    struct hd_host *d = &hd_hosts[i];
    s->lo = d->lo;
    s->start = d->sp;
    zero_below(s, d->lo);
    s->first_run = nruns;
    keep_present(d->sp & ~(uintptr_t)(PAGE - 1), d->hi);
    s->nruns = nruns - s->first_run;
  }
  if (pagemap >= 0) hd_sys(SYS_close, pagemap, 0, 0);
  pagemap = -1;

  uint64_t small = 0; // room for small gaps, which takes no memory until they join
  for (uint32_t i = 0; i < ngaps; i++)
    if (is_small(&gaps[i])) small += gaps[i].hi - gaps[i].lo;
  if (copied + small > copy_size) {
    copy_size = copied + (copied >> 2) + small;
    copies = hd_map(copy_size, "the snapshot");
  }
  char *c = copies;
  for (uint32_t i = 0; i < nruns; i++) {
    runs[i].copy = c;
    hd_copy(c, (void *)runs[i].lo, runs[i].bytes);
    c += runs[i].bytes;
  }
  for (uint32_t i = 0; i < ngaps; i++)
    if (is_small(&gaps[i])) {
      gaps[i].copy = c;
      c += gaps[i].hi - gaps[i].lo;
    }
  hd_shm->nproc_pages = pages;
}

static void put_back(const struct run *r, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) hd_copy((void *)r[i].lo, r[i].copy, r[i].bytes);
}

static void put_back_from(uintptr_t at, uint32_t first, uint32_t n) {
  for (uint32_t i = first; i < first + n; i++) {
    uintptr_t lo = runs[i].lo > at ? runs[i].lo : at, hi = runs[i].lo + runs[i].bytes;
    if (lo < hi) hd_copy((void *)lo, runs[i].copy + (lo - runs[i].lo), hi - lo);
  }
}

static void clean_stack(struct stack *s, uintptr_t touched, bool faulted) {
  uintptr_t top = s->start & ~(uintptr_t)(PAGE - 1);
  touched &= ~(uintptr_t)(PAGE - 1);
  if (touched && touched < s->low && touched > s->lo) s->low = touched;
  // Search below low for deeper use, window by window, until a window is empty.
  unsigned char v[WINDOW];
  for (bool deeper = faulted; deeper;) {
    deeper = false;
    uintptr_t from = s->low - WINDOW * PAGE;
    if (from < s->lo) from = s->lo;
    if (from >= s->low || hd_sys(SYS_mincore, from, s->low - from, v) != 0) break;
    for (uint32_t i = 0; i < (s->low - from) / PAGE; i++)
      if (v[i] & 1) {
        s->low = from + i * PAGE;
        deeper = true;
        break;
      }
  }
  if (top - s->low > 256 * PAGE) {
    hd_sys(SYS_madvise, s->low, top - s->low, MADV_DONTNEED);
    s->low = top - PAGE;
  } else {
    hd_fill((void *)s->low, 0, top - s->low);
  }
}

// Initialises the thread-local storage of a host for a new thread.
static void tls_init(uintptr_t fs) {
  static void *(*init)(void *, bool);
  if (!init) *(void **)&init = hd_real_find("_dl_allocate_tls_init");
  if (!init) hd_unsupported("threads one after the other with libraries that are loaded meanwhile: libc has no _dl_allocate_tls_init");
  struct { void *value, *allocated; } *dtv = *((void **)fs + 1); // the entry before it holds their number
  uint64_t n = *(uint64_t *)(dtv - 1);
  for (uint64_t i = 1; i <= n; i++)
    if (hd_heap_owns((uintptr_t)dtv[i].allocated)) hd_heap_free(dtv[i].allocated, 0);
  hd_fill(dtv, 0, (n + 1) * sizeof *dtv);
  init((void *)fs, true);
}

static void restore_host(struct hd_host *d) {
  struct stack *s = &host_stacks[d - hd_hosts];
  void **dtv = (void **)d->fs + 1, *now = *dtv; // libc's table of thread-local storage
  // A host that is a kernel thread's own may not have reached its futex call again after the thread
  // before: its frames are in use.
  if (hd_threads_real) put_back_from(d->fs - hd_tls_at_main, s->first_run, s->nruns);
  else put_back(runs + s->first_run, s->nruns);
  if (HD_UNLIKELY(hd_late)) {
    // The table has grown since main, and so may the storage below the thread control block. libc
    // initialises both as for a new thread on a used stack. Then the contents at main are
    // restored, because libc has initialised parts of them again.
    *dtv = now;
    tls_init(d->fs);
    now = *dtv;
    put_back_from(d->fs - hd_tls_at_main, s->first_run, s->nruns);
    *dtv = now;
  }
  clean_stack(s, 0, true);
}

// Returns the number of page faults of the carrier so far. An execution without page faults
// touched no absent page, so there is no need to search for such pages.
static long faults(void) {
  struct rusage r;
  return hd_sys(SYS_getrusage, 1 /* RUSAGE_THREAD */, &r, 0) == 0 ? r.ru_minflt + r.ru_majflt : -1;
}

static bool touched(const struct gap *g) {
  unsigned char v[GAP];
  if (hd_sys(SYS_mincore, g->lo, g->hi - g->lo, v) != 0) return false;
  for (uint32_t i = 0; i < (g->hi - g->lo) / PAGE; i++)
    if (v[i] & 1) return true;
  return false;
}

// Returns the gaps to the kernel. Those that join the snapshot have their contents of main again by then.
static void clear_gaps(void) {
  for (uint32_t i = 0; i < ngaps;) {
    struct gap *g = &gaps[i];
    bool joins = g->copy && touched(g);
    hd_sys(SYS_madvise, g->lo, g->hi - g->lo, MADV_DONTNEED);
    if (!joins) {
      i++;
      continue;
    }
    hd_copy(g->copy, (void *)g->lo, g->hi - g->lo);
    joined[njoined++] = (struct run){ g->lo, g->hi - g->lo, g->copy };
    *g = gaps[--ngaps];
  }
}

static void restore(void) {
  static long before = -1;
  bool faulted = before < 0 || faults() != before;
  put_back(runs, global_runs);
  put_back(joined, njoined);
  if (faulted) clear_gaps();
  clean_stack(&main_stack, hd_threads[0].stack.touched_low, faulted);
  for (uint32_t i = 0; i < hd_nhosts; i++) {
    struct hd_host *d = &hd_hosts[i];
    if (!d->used && !hd_late) continue; // the loader fills thread-local storage of all threads
    struct stack *s = &host_stacks[i];
    put_back(runs + s->first_run, s->nruns);
    clean_stack(s, d->owner ? d->owner->stack.touched_low : 0, faulted);
    d->used = false;
    d->owner = NULL;
  }
  hd_heap_restore(faulted);
  // Restoring causes faults of its own after it has returned pages; they must not count.
  if (faulted) before = faults();
}

const struct hd_registration hd_snapshot = { .save = take, .restore = restore, .host_reused = restore_host };
