// shadow.c: see shadow.h. internal/analysis/race (shadow.go) follows the same rules.
#define _GNU_SOURCE
#include <sys/mman.h>
#include "core/beside_assembly.h"
#include "core/carrier.h"
#include "core/event.h"
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/program_memory.h"
#include "core/rings.h"
#include "core/stacks.h"
#include "memory/heap.h"
#include "memory/operations.h"
#include "memory/shadow.h"
#include "memory/shared_accesses.h"
#include "memory/visits.h"

// Addresses are an optimisation only; see hd_map_at.
#define CELLS_BASE 0x2d0000000000ull
#define BYTE_CELLS_BASE 0x2b0000000000ull
#define SETS_BASE 0x2ec000000000ull
#define CELLS_BYTES (HD_LEAF_CELLS * sizeof(uint32_t))
#define LEAF_BYTES (CELLS_BYTES + LEAF_PAGES * sizeof(uint32_t)) // of a leaf: its cells and the states of their pages
#define BYTE_LEAF_BYTES (sizeof(uint32_t) << HD_LEAF_BITS)
enum {
  PAGE_CELLS = 4096 / sizeof(uint32_t),
  PAGE_BITS = 13,           // a page of cells describes this many bytes of memory
  LEAF_PAGES = HD_LEAF_CELLS / PAGE_CELLS,
  MOST_LEAVES = 1 << 17,
  MOST_BYTE_LEAVES = 1 << 15,
  SPLIT_AT = 1 << 15,       // number of sets from which on granules are split, unless memory is short
  COMPACT_AT = 3,           // size from which on a set is searched for records that cannot race with later accesses
  CROWDED = 64, MOST = 256, // internal/analysis/race: compactAt, maxRecords
  FEWEST_SLOTS = 1 << 10,   // initial size of the table of sets
  RETURNED = 128,           // number of pages of cells from which on they are returned to the kernel to clear them
};

enum { EMPTY = 1 }; // what a cell contains if the set is empty; earlier executions' sets and 0 mean the same
static uint32_t first_set = 2;            // of this execution, or since compact

// ---- cells
static uint32_t nleaves;
static uint64_t leaf_of[MOST_LEAVES / 64]; // address >> HD_LEAF_BITS of each leaf, for compact

static uint32_t *leaf_at(uint64_t addr) {
  if (addr >> HD_ADDRESS_BITS) return NULL;
  uint32_t **leaf = &hd_leaves[addr >> HD_LEAF_BITS];
  if (!*leaf && nleaves < sizeof leaf_of / sizeof *leaf_of) {
    if (!(*leaf = hd_map_at(CELLS_BASE + nleaves * LEAF_BYTES, LEAF_BYTES))) return NULL;
    leaf_of[nleaves++] = addr >> HD_LEAF_BITS;
  }
  return *leaf;
}

// A page of cells is whole if all its cells are zero and the accesses to its memory are one set, whose number is
// its state. So an access to a large range costs one step for each page. No step is remembered for a cell that is
// zero: the access comes to access, and the cells get the page's set.
#define CELLS 0x80000000u // state of a page whose cells have the sets

static uint32_t *page_of(uint32_t *leaf, uint64_t addr) { return &leaf[HD_LEAF_CELLS + (addr >> PAGE_BITS & (LEAF_PAGES - 1))]; }
static uint32_t *cells_of(uint32_t *leaf, const uint32_t *page) { return &leaf[(uint64_t)(page - leaf - HD_LEAF_CELLS) * PAGE_CELLS]; }

typedef uint64_t four __attribute__((vector_size(16), may_alias)); // cells

static four four_of(uint32_t number) {
  uint64_t two = (uint64_t)number << 32 | number;
  return (four){ two, two };
}

// Writes n cells.
static void put(uint32_t *c, uint32_t number, uint64_t n) {
  for (; n && (uintptr_t)c & 15; n--) *c++ = number;
  for (four all = four_of(number); n >= 4; n -= 4, c += 4) *(four *)c = all;
  while (n--) *c++ = number;
}

// Returns how many of the n cells from c on contain what the first does.
static uint64_t alike(const uint32_t *c, uint64_t n) {
  const uint32_t *p = c, *end = c + n;
  uint32_t number = *c;
  for (; p < end && (uintptr_t)p & 15; p++)
    if (*p != number) return (uint64_t)(p - c);
  for (four all = four_of(number); p + 4 <= end; p += 4) {
    four other = *(const four *)p ^ all;
    if (other[0] | other[1]) break;
  }
  while (p < end && *p == number) p++;
  return (uint64_t)(p - c);
}

// Gives the cells of a page its set.
static void fill_page(uint32_t *leaf, uint32_t *page) {
  if (*page & CELLS) return;
  if (*page >= first_set) put(cells_of(leaf, page), *page, PAGE_CELLS);
  *page = CELLS;
}

static uint32_t nbyte_leaves;

// Returns the cells of a granule's bytes, NULL if there is no memory for them.
static uint32_t *byte_cells(uint64_t granule) {
  uint32_t **leaf = &hd_byte_leaves[granule >> HD_LEAF_BITS];
  if (!*leaf) {
    if (nbyte_leaves == MOST_BYTE_LEAVES) return NULL;
    if (!(*leaf = hd_map_at(BYTE_CELLS_BASE + nbyte_leaves++ * BYTE_LEAF_BYTES, BYTE_LEAF_BYTES))) return NULL;
  }
  return *leaf + (granule & ((1u << HD_LEAF_BITS) - 1));
}

// ---- instructions
struct source { uint64_t key, pc, count; uint16_t op; };
static struct source *sources; // numbered from 0
static uint32_t nsources, sources_room;
static uint32_t *source_table; // 1 + number, open addressing by key
static uint32_t source_slots;

// ---- sets
enum kind {
  PLAIN_READ, PLAIN_WRITE, VOLATILE_READ, VOLATILE_WRITE, ATOMIC_READ, ATOMIC_WRITE,
  ASSEMBLY_READ, ASSEMBLY_WRITE, // also of volatile accesses that are atomics (core/beside_assembly.h)
  LIFETIME /* it begins or ends that of an object */, ALLOCATION,
  CALL, // + enum hd_share: a call that is not a scheduling point
};
enum { LOOKS = 1 << (CALL + HD_LOOKS_AT), ADDS = 1 << (CALL + HD_ADDS), CHANGES = 1 << (CALL + HD_CHANGES) };
enum {
  PLAIN_WRITES = 1 << PLAIN_WRITE | 1 << VOLATILE_WRITE,
  PLAIN_READS = 1 << PLAIN_READ | 1 << VOLATILE_READ,
  READS = PLAIN_READS | 1 << ATOMIC_READ | 1 << ASSEMBLY_READ,
  WRITES = PLAIN_WRITES | 1 << LIFETIME | 1 << ALLOCATION,
  ATOMIC_WRITES = 1 << ATOMIC_WRITE | 1 << ASSEMBLY_WRITE,
  VOLATILES = 1 << VOLATILE_READ | 1 << VOLATILE_WRITE,
};
static const uint16_t conflicts[] = { // sets of kinds, as bits
  [PLAIN_READ] = WRITES | ATOMIC_WRITES,
  [PLAIN_WRITE] = READS | WRITES | ATOMIC_WRITES,
  [VOLATILE_READ] = WRITES | 1 << ATOMIC_WRITE,
  [VOLATILE_WRITE] = PLAIN_READS | 1 << ATOMIC_READ | WRITES | 1 << ATOMIC_WRITE,
  [ATOMIC_READ] = WRITES,
  [ATOMIC_WRITE] = PLAIN_READS | WRITES,
  [ASSEMBLY_READ] = WRITES & ~VOLATILES,
  [ASSEMBLY_WRITE] = (PLAIN_READS | WRITES) & ~VOLATILES,
  [LIFETIME] = READS | WRITES | ATOMIC_WRITES,
  [ALLOCATION] = READS | WRITES | ATOMIC_WRITES,
  [CALL + HD_LOOKS_AT] = ADDS | CHANGES,
  [CALL + HD_ADDS] = LOOKS | CHANGES,
  [CALL + HD_CHANGES] = LOOKS | ADDS | CHANGES,
};

// Pairs that do not race, and between which it may still matter which comes first.
static const uint16_t meets[CALL + HD_CHANGES + 1] = {
  [VOLATILE_READ] = 1 << ASSEMBLY_WRITE,
  [VOLATILE_WRITE] = 1 << ASSEMBLY_READ | 1 << ASSEMBLY_WRITE,
  [ASSEMBLY_READ] = 1 << VOLATILE_WRITE,
  [ASSEMBLY_WRITE] = VOLATILES,
};

// An access that later accesses can race with.
struct record {
  uint64_t at;     // epoch
  uint32_t source;
  uint32_t thread; // its number
  uint8_t mask;    // bytes of the granule
  uint8_t kind;
  uint8_t depth;   // number of running handlers; 0 while the program has installed none
  uint8_t pad;
  uint32_t pad2;
};
struct set { uint32_t hash, n; struct record records[]; }; // the earliest access first

static uint32_t next_set = 2;          // number of the next set
static char *half[2];                  // one holds the sets, which move to the other when it is full
static uint64_t half_bytes, used;
static int now;
static uint32_t *offsets;              // of sets, by number - first_set, in units of 8 bytes
static uint32_t offsets_room;
static uint32_t split_at;              // number of sets from which on granules are split
static uint32_t *set_table;            // numbers, open addressing by hash
static uint32_t set_slots, most_slots;  // the table starts small for locality, because it is accessed at random
static bool full;
static uint64_t events, known_at;      // number of accesses so far whose step was not remembered; the same when known was computed
static const struct hd_clock *known;

static uint32_t serials;
static uint64_t *pairs;                // reported pairs of instructions, open addressing
static uint32_t npairs, pair_slots;

static bool reserve(uint64_t budget) {
  static bool reserved;
  if (reserved) return true;
  // A quarter of the budget is for clocks, the rest for the two halves with sets and their tables.
  half_bytes = budget * 3 / 8 & ~4095ull;
  uint64_t offset_bytes = half_bytes / 8, table_bytes = half_bytes / 4;
  char *p = hd_map_at(SETS_BASE, 2 * half_bytes);
  if (!p) return false;
  for (int i = 0; i < 2; i++) half[i] = p + i * half_bytes;
  // Offsets and the hash table take three eighths of each half.
  half_bytes -= offset_bytes + table_bytes;
  offsets_room = (uint32_t)(offset_bytes / sizeof *offsets);
  split_at = offsets_room / 64 < SPLIT_AT ? offsets_room / 64 : SPLIT_AT;
  for (most_slots = FEWEST_SLOTS; (uint64_t)most_slots * 2 * sizeof *set_table <= table_bytes; most_slots *= 2) {}
  uint64_t table = (1ull << (HD_ADDRESS_BITS - HD_LEAF_BITS)) * sizeof *hd_leaves;
  reserved = hd_map_at(HD_STEPS_TAKEN, HD_STEPS * sizeof *hd_steps_taken) && hd_map_at(HD_LEAVES, table) && hd_map_at(HD_BYTE_LEAVES, table);
  return reserved;
}

uint32_t hd_split;

// Continues in half i without sets but the one whose number marks split granules. It is empty, and
// not in the table.
static void use_half(int i) {
  first_set = hd_split = next_set++;
  now = i;
  used = sizeof(struct set);
  offsets = (uint32_t *)(half[i] + half_bytes);
  *(struct set *)half[i] = (struct set){ 0 };
  offsets[0] = 0;
  set_table = offsets + offsets_room;
  set_slots = FEWEST_SLOTS;
}

static uint16_t taken[HD_STEPS]; // indices of the remembered steps
static uint32_t ntaken;
_Static_assert(HD_STEPS <= 1 << 16, "places in 16 bits");

// Adds the counts of the remembered steps to their instructions, and forgets the steps.
static void forget_steps(void) {
  while (ntaken) {
    struct hd_step_taken *s = &hd_steps_taken[taken[--ntaken]];
    if (s->source < nsources) sources[s->source].count += s->times;
    *s = (struct hd_step_taken){ 0 };
  }
}

bool hd_shadow_begin(uint64_t budget) {
  if (!reserve(budget) || !hd_pool_begin(budget / 4)) return false;
  hd_order_begin();
  if (next_set > 1u << 31 || serials > 1u << 31) { // before the numbers overflow
    for (uint32_t i = 0; i < nleaves; i++) hd_sys(SYS_madvise, hd_leaves[leaf_of[i]], LEAF_BYTES, MADV_REMOVE);
    for (int i = 0; i < 2; i++) hd_sys(SYS_madvise, half[i], half_bytes, MADV_REMOVE);
    next_set = 2;
    serials = 0;
  }
  nsources = 0;
  forget_steps();
  use_half(0);
  full = false;
  sources = NULL;
  source_table = NULL;
  pairs = NULL;
  sources_room = source_slots = npairs = pair_slots = 0;
  events = known_at = 0;
  known = NULL;
  return true;
}

bool hd_shadow_full(void) { return full || hd_pool_empty(); }
void hd_shadow_give_up(void) { full = true; }

// ---- instructions

static struct source *source_of(uint64_t pc, uint16_t op) {
  if (nsources == sources_room) {
    uint32_t more = sources_room ? 2 * sources_room : 256;
    struct source *fresh = hd_pool(more * sizeof *fresh);
    uint32_t *table = hd_pool(2 * more * sizeof *table);
    if (!fresh || !table) return NULL;
    hd_copy(fresh, sources, nsources * sizeof *fresh);
    sources = fresh;
    sources_room = more;
    source_table = table;
    source_slots = 2 * more;
    for (uint32_t i = 0; i < nsources; i++) {
      uint32_t k = (uint32_t)(sources[i].key >> 32) & (source_slots - 1);
      while (table[k]) k = (k + 1) & (source_slots - 1);
      table[k] = i + 1;
    }
  }
  uint64_t key = hd_mix(pc, op);
  uint32_t k = (uint32_t)(key >> 32) & (source_slots - 1);
  for (; source_table[k]; k = (k + 1) & (source_slots - 1)) {
    struct source *s = &sources[source_table[k] - 1];
    if (s->pc == pc && s->op == op) return s;
  }
  struct source *s = &sources[nsources++];
  *s = (struct source){ .key = key, .pc = pc, .op = op };
  source_table[k] = nsources;
  return s;
}

// ---- sets

static struct set *set_of(uint32_t number) {
  return number < first_set ? NULL : (struct set *)(half[now] + 8ull * offsets[number - first_set]);
}

static bool equal(const struct record *a, const struct record *b, uint32_t n) {
  const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;
  for (uint32_t i = 0; i < n * (uint32_t)(sizeof *a / 8); i++)
    if (x[i] != y[i]) return false;
  return true;
}

static HD_COLD void grow_table(void) {
  set_slots *= 4;
  if (set_slots > most_slots) set_slots = most_slots;
  hd_fill(set_table, 0, set_slots * sizeof *set_table);
  for (uint32_t number = first_set + 1; number < next_set; number++) {
    uint32_t k = set_of(number)->hash & (set_slots - 1);
    while (set_table[k]) k = (k + 1) & (set_slots - 1);
    set_table[k] = number;
  }
}

// Returns the number of the set with these records; 0 if there is no space for it.
static uint32_t number_of(const struct record *r, uint32_t n) {
  if (!n) return 0;
  uint64_t h = n;
  for (uint32_t i = 0; i < n; i++) h = hd_mix(h + r[i].source + ((uint64_t)r[i].mask << 40) + ((uint64_t)r[i].depth << 48), r[i].at);
  uint32_t hash = (uint32_t)(h >> 32), k = hash & (set_slots - 1);
  // Stale entries have numbers below first_set, or above those that this half has so far.
  for (uint32_t looks = 0; looks < 64; looks++, k = (k + 1) & (set_slots - 1)) {
    uint32_t number = set_table[k];
    if (number < first_set || number >= next_set) break;
    struct set *s = set_of(number);
    if (s->hash == hash && s->n == n && equal(s->records, r, n)) return number;
  }
  uint64_t bytes = sizeof(struct set) + n * sizeof *r;
  if (used + bytes > half_bytes || next_set - first_set >= offsets_room) return 0;
  struct set *s = (struct set *)(half[now] + used);
  s->hash = hash;
  s->n = n;
  hd_copy(s->records, r, n * sizeof *r);
  offsets[next_set - first_set] = (uint32_t)(used / 8);
  used += bytes;
  set_table[k] = next_set++;
  uint32_t number = next_set - 1;
  if (number - first_set >= set_slots / 2 && set_slots < most_slots) grow_table();
  return number;
}

static void look_at_all(void) {
  if (known && events - known_at <= hd_order_cost() / 4) return;
  known = hd_order_known();
  known_at = events;
}

// Reports whether r is a free. Its record stays in the set: while it is there, the memory is freed,
// and no step is remembered (hd_shadow_hit).
static bool frees(const struct record *r) { return sources[r->source].op == HD_OP_FREE; }

// Drops records that no later access can race with and, if many remain, those that
// internal/analysis/race drops. Returns the number of remaining records.
static uint32_t shrink(struct record *r, uint32_t n) {
  if (HD_UNLIKELY(hd.handlers)) { // races with handlers do not depend on clocks
    if (n < MOST) return n;
    for (uint32_t i = 0; i < MOST / 2; i++) r[i] = r[n - MOST / 2 + i];
    return MOST / 2;
  }
  look_at_all();
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++)
    if (!hd_clock_covers(known, r[i].at) || frees(&r[i])) r[kept++] = r[i];
  if (kept < CROWDED) return kept;
  n = kept;
  kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    bool superseded = false;
    for (uint32_t j = i + 1; j < n && !superseded && !frees(&r[i]); j++)
      superseded = r[j].at >> 32 == r[i].at >> 32 && !((conflicts[r[i].kind] | meets[r[i].kind]) & ~(conflicts[r[j].kind] | meets[r[j].kind])) && !(r[i].mask & ~r[j].mask);
    if (!superseded) r[kept++] = r[i];
  }
  if (kept >= MOST) {
    for (uint32_t i = 0; i < MOST / 2; i++) r[i] = r[kept - MOST / 2 + i];
    kept = MOST / 2;
  }
  return kept;
}

// The sets that compact moves.
struct moving { uint32_t first, numbers, *moved; const uint32_t *offsets; const char *sets; };

// Returns what a cell with this number contains after compact.
static uint32_t move(const struct moving *m, uint32_t number) {
  if (number < m->first || number >= m->first + m->numbers) return number;
  uint32_t *moved = &m->moved[number - m->first];
  if (!*moved) {
    static struct record r[MOST + 2];
    const struct set *s = (const struct set *)(m->sets + 8ull * m->offsets[number - m->first]);
    hd_copy(r, s->records, s->n * sizeof *r);
    uint32_t n = shrink(r, s->n), to = number_of(r, n);
    if (n && !to) full = true;
    *moved = n ? to : EMPTY;
  }
  return *moved;
}

// Moves the sets that cells refer to into the other half, without records that cannot race with
// later accesses.
static HD_COLD void compact(void) {
  uint32_t first = first_set, numbers = next_set - first;
  uint32_t *moved = hd_map_at(SETS_BASE + (1ull << 36), (uint64_t)numbers * sizeof *moved);
  if (!moved) {
    full = true;
    return;
  }
  known = NULL;
  forget_steps();
  struct moving m = { .first = first, .numbers = numbers, .moved = moved, .offsets = offsets, .sets = half[now] };
  uint32_t split = hd_split;
  use_half(!now);
  for (uint32_t l = 0; l < nleaves && !full; l++) {
    uint32_t *cells = hd_leaves[leaf_of[l]];
    for (uint32_t page = 0; page < LEAF_PAGES && !full; page++) {
      uint32_t *state = &cells[HD_LEAF_CELLS + page];
      if (!(*state & CELLS)) {
        *state = move(&m, *state);
        continue;
      }
      for (uint32_t *c = cells + page * PAGE_CELLS, *end = c + PAGE_CELLS; c < end; c++) {
        if (*c == split) {
          uint32_t *bytes = byte_cells((leaf_of[l] << HD_LEAF_BITS) + ((uint64_t)(c - cells) << HD_GRANULE_BITS));
          for (int i = 0; i < 8 && !full; i++) bytes[i] = move(&m, bytes[i]);
          *c = hd_split;
        } else {
          *c = move(&m, *c);
        }
        if (full) break;
      }
    }
  }
  hd_sys(SYS_munmap, moved, ((uint64_t)numbers * sizeof *moved + 4095) & ~4095ull, 0);
  if (used > half_bytes / 4 * 3) full = true;
}

// ---- races

static bool reported(uint32_t a, uint32_t b, uint32_t flags) {
  if (a > b) { uint32_t c = a; a = b; b = c; }
  uint64_t key = ((uint64_t)a << 33 | (uint64_t)b << 2 | flags) + 1;
  if (npairs * 3 >= pair_slots * 2) {
    uint32_t more = pair_slots ? 2 * pair_slots : 32;
    uint64_t *fresh = hd_pool(more * sizeof *fresh);
    if (!fresh) return true;
    for (uint32_t i = 0; i < pair_slots; i++)
      if (pairs[i]) {
        uint32_t k = (uint32_t)(hd_mix(pairs[i], 1) >> 32) & (more - 1);
        while (fresh[k]) k = (k + 1) & (more - 1);
        fresh[k] = pairs[i];
      }
    pairs = fresh;
    pair_slots = more;
  }
  uint32_t k = (uint32_t)(hd_mix(key, 1) >> 32) & (pair_slots - 1);
  for (; pairs[k]; k = (k + 1) & (pair_slots - 1))
    if (pairs[k] == key) return true;
  pairs[k] = key;
  npairs++;
  return false;
}

static bool same_source(const struct record *a, const struct record *b) {
  return a->source == b->source && a->kind == b->kind && a->at >> 32 == b->at >> 32 && a->depth == b->depth;
}

static bool same_time(const struct record *a, const struct record *b) { return a->at == b->at && same_source(a, b); }

// The split granule that is being accessed: the cells of its bytes, NULL if it is whole, and the
// bytes that the access has not reached yet.
static const uint32_t *split_bytes;
static uint8_t split_mask;

static uint32_t bytes_in_common(const struct record *old, const struct record *r) {
  if (!split_bytes) return old->mask & r->mask;
  uint32_t common = 0;
  for (uint32_t b = 0; b < 8; b++) {
    struct set *s = split_mask >> b & 1 ? set_of(split_bytes[b]) : NULL;
    for (uint32_t i = 0; s && i < s->n; i++)
      if (same_time(&s->records[i], old)) common |= 1u << b;
  }
  return common;
}

static HD_COLD void report(struct hd_thread *t, const struct record *old, const struct record *r, uint64_t granule, uint32_t flags /* hd_race_flags */) {
  if (r->kind >= CALL) { // not a race: libc or the kernel makes such calls atomic
    hd.result.notes |= HD_NOTE_UNORDERED << (granule >> HD_SHARED_SHIFT & 7);
    return;
  }
  if (reported(old->source, r->source, flags)) return;
  uint32_t common = bytes_in_common(old, r), first = (uint32_t)__builtin_ctz(common);
  const struct record *sides[] = { old, r };
  struct hd_race race = {
    .object = granule + first, .size = (uint32_t)__builtin_ctz(~(common >> first)),
    .order = events, .event = hd_events_sent(), .flags = flags,
  };
  for (int i = 0; i < 2; i++) {
    race.pc[i] = hd_name(sources[sides[i]->source].pc);
    race.op[i] = sources[sides[i]->source].op;
    race.thread[i] = sides[i]->thread;
  }
  if (hd.record) {
    hd_event_flush();
    race.stack = hd_stack_number(t, sources[r->source].op, sources[r->source].pc);
    if (hd_heap_owns(race.object)) hd_heap_tell(race.object);
    else hd_local(t, sources[r->source].pc, race.object, race.event);
  }
  race.object = hd_name(race.object);
  hd_out(HD_REC_RACE, &race, sizeof race);
}

// What happened before the access, NULL: the thread's clock.
static const struct hd_clock *happened;

// Reports whether no record of an allocation is needed after r: what races with it races with r, or r did.
static bool renews(const struct record *r) { return r->kind == PLAIN_WRITE || r->kind == LIFETIME; }

// Reports whether r can race with an allocation. Code without access hooks may order its operations in a way that
// heddle does not see.
static HD_COLD bool meets_allocations(const struct record *r) {
  uint16_t op = sources[r->source].op;
  return (op != HD_OP_FREE && op != HD_OP_READ_RANGE && op != HD_OP_WRITE_RANGE) || hd_calls_hooks(sources[r->source].pc);
}

// Performs the step of an access from a set: reports races, and returns the resulting set.
static uint32_t step(struct hd_thread *t, uint32_t number, const struct record *r, uint64_t granule) {
  struct set *s = set_of(number);
  static struct record next[MOST + 2];
  const struct hd_clock *before = HD_UNLIKELY(happened != NULL) ? happened : &t->order->clock;
  uint32_t n = 0, had = s ? s->n : 0;
  for (uint32_t i = 0; i < had; i++) {
    const struct record *o = &s->records[i];
    if (same_time(o, r) && !(r->mask & ~o->mask)) return number;
  }
  for (uint32_t i = 0; i < had; i++) {
    const struct record *o = &s->records[i];
    if (!(o->mask & r->mask)) continue;
    if (conflicts[r->kind] >> o->kind & 1 && !hd_clock_covers(before, o->at) && (o->kind != ALLOCATION || meets_allocations(r))) report(t, o, r, granule, 0);
    // Even if the later access has acquired what the earlier one released: it could have come first.
    if (HD_UNLIKELY(meets[r->kind] >> o->kind & 1) && o->thread != r->thread) report(t, o, r, granule, HD_RACE_ASSEMBLY);
    if (HD_UNLIKELY(hd.handlers) && o->depth != r->depth && o->thread == r->thread && r->kind <= VOLATILE_WRITE && o->kind <= VOLATILE_WRITE && ((1 << r->kind | 1 << o->kind) & PLAIN_WRITES))
      report(t, o, r, granule, HD_RACE_HANDLER);
  }
  uint8_t mask = r->mask;
  for (uint32_t i = 0; i < had; i++) {
    next[n] = s->records[i];
    if (same_time(&next[n], r)) {
      mask |= next[n].mask; // one record for all bytes, also if a word is read byte by byte
      continue;
    }
    if (same_source(&next[n], r) || (next[n].kind == ALLOCATION && renews(r))) next[n].mask &= (uint8_t)~r->mask;
    n += next[n].mask != 0;
  }
  next[n] = *r;
  next[n++].mask = mask;
  if (n >= COMPACT_AT) n = shrink(next, n);
  if (!n) return EMPTY;
  uint32_t to = number_of(next, n);
  if (!to && !full) {
    compact();
    if (!full) to = number_of(next, n);
    if (!to) full = true;
  }
  return to;
}

static enum kind kind_of(uint16_t op, int32_t result) {
  switch (op) {
  case HD_OP_READ: case HD_OP_READ_RANGE: return PLAIN_READ;
  case HD_OP_ATOMIC_LOAD: return ATOMIC_READ;
  case HD_OP_ATOMIC_STORE: case HD_OP_ATOMIC_RMW: return ATOMIC_WRITE;
  case HD_OP_ATOMIC_CAS: return result ? ATOMIC_WRITE : ATOMIC_READ;
  }
  return PLAIN_WRITE;
}

// The kind of an access by the instruction.
static enum kind beside_assembly(enum kind kind, uint64_t pc) {
  uint16_t by = hd_instruction_kind(pc);
  if (!by || kind > ATOMIC_WRITE) return kind;
  if (kind <= PLAIN_WRITE) return by == HD_EV_VOLATILE ? kind + VOLATILE_READ : kind;
  return kind - ATOMIC_READ + ASSEMBLY_READ;
}

// Updates the thread's clock, epoch and serial number for this access. NULL: the budget is exhausted.
static struct hd_order *present(struct hd_thread *t) {
  if (HD_UNLIKELY(hd_visits)) hd_visit_over();
  if (HD_UNLIKELY(full)) return NULL;
  struct hd_order *o = hd_order_of(t);
  if (!o) return NULL;
  bool anew = hd_order_access(o);
  if (anew || !t->serial) {
    uint32_t depth = 0;
    if (HD_UNLIKELY(hd.nsuspended))
      for (struct hd_suspended *s = t->signals.suspended; s && depth < 255; s = s->outer) depth++;
    o->depth = (uint8_t)depth;
    t->serial = ++serials;
  }
  return o;
}

// The values that are equal for all granules of an access.
struct accessing { struct hd_thread *t; uint64_t pc; uint16_t op; enum kind kind; bool counted, numbered; };

// Returns the set that follows *cell after an access to the granule's bytes in mask. Sets *source to
// the instruction's number.
static HD_COLD uint32_t slow_step(struct accessing *a, const uint32_t *cell, uint64_t granule, uint8_t mask, uint32_t *source) {
  if (!a->numbered) events++;
  a->numbered = true;
  struct hd_order *o = present(a->t);
  struct source *from = source_of(a->pc, a->op);
  if (!o || !from) return 0;
  if (!a->counted) from->count++;
  *source = (uint32_t)(from - sources);
  struct record r = { .at = hd_order_epoch(o), .source = *source, .thread = a->t->number, .mask = mask, .kind = (uint8_t)a->kind, .depth = o->depth };
  return step(a->t, *cell, &r, granule);
}

// Performs one granule's part of an access. key identifies the access; 0: the step is not remembered.
static uint32_t part(struct accessing *a, const uint32_t *cell, uint64_t granule, uint8_t mask, uint64_t key) {
  uint32_t source = 0;
  if (!key) return slow_step(a, cell, granule, mask, &source);
  uint64_t from = (uint64_t)*cell << 32 | a->t->serial;
  struct hd_step_taken *s = hd_step_at(from, key);
  if (HD_LIKELY(s->from == from && s->access == key)) {
    s->times += !a->counted;
    return s->to;
  }
  uint32_t to = slow_step(a, cell, granule, mask, &source);
  if (full || hd_pool_empty()) return to;
  from = (uint64_t)*cell << 32 | a->t->serial; // a new epoch, or compact has moved the set
  s = hd_step_at(from, key);
  if (s->access) sources[s->source].count += s->times;
  else taken[ntaken++] = (uint16_t)(s - hd_steps_taken);
  *s = (struct hd_step_taken){ .from = from, .access = key, .to = to, .source = source };
  return to;
}

// Splits a granule whose set is not empty. Without memory for the bytes' cells or sets, it stays whole.
static HD_COLD void split(uint32_t *cell, uint64_t granule) {
  struct set *s = set_of(*cell);
  uint32_t *bytes = byte_cells(granule), to[8];
  if (!bytes || s->n > MOST) return;
  for (uint32_t b = 0; b < 8; b++) {
    static struct record r[MOST];
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
      if (!(s->records[i].mask >> b & 1)) continue;
      r[n] = s->records[i];
      r[n++].mask = 0xff;
    }
    to[b] = number_of(r, n);
    if (n && !to[b]) return;
  }
  hd_copy(bytes, to, sizeof to);
  *cell = hd_split;
}

// Performs the part of an access to the bytes in mask of a split granule.
static HD_COLD void access_split(struct accessing *a, uint32_t *cell, uint64_t granule, uint8_t mask, bool remembered) {
  uint32_t *bytes = byte_cells(granule);
  split_bytes = bytes;
  for (uint32_t b = 0; b < 8 && !full; b++) {
    if (!(mask >> b & 1)) continue;
    split_mask = (uint8_t)(mask >> b << b);
    uint32_t to = part(a, &bytes[b], granule, 0xff, remembered ? hd_access_key(a->pc, 0, a->op) ^ HD_KEY_BYTE : 0);
    if (full) break;
    bytes[b] = to;
    a->counted = true;
  }
  split_bytes = NULL;
  if (mask != 0xff) return;
  for (uint32_t b = 1; b < 8; b++)
    if (bytes[b] != bytes[0]) return;
  *cell = bytes[0] ? bytes[0] : EMPTY;
}

static uint64_t part_key(const struct accessing *a, uint64_t addr, uint64_t bytes) {
  return hd_access_key(a->pc, addr, a->op) ^ (HD_KEY_PART | (bytes - 1) << 50);
}

// Performs the part of an access to all memory of a page of cells. Returns false, having done nothing, if the memory
// has not been accessed alike.
static bool access_page(struct accessing *a, uint32_t *leaf, uint32_t *page, uint64_t addr, bool remembered) {
  uint32_t *cells = cells_of(leaf, page), from = *page;
  if (from & CELLS) {
    from = *cells;
    if (from == hd_split || alike(cells, PAGE_CELLS) < PAGE_CELLS) return false;
  }
  if (from < first_set) from = EMPTY;
  uint32_t to = part(a, &from, addr, 0xff, remembered ? part_key(a, addr, 8) : 0);
  if (full) return true;
  a->counted = true;
  if (*page & CELLS) put(cells, 0, PAGE_CELLS);
  *page = to;
  return true;
}

static void access(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc, enum kind kind, bool remembered) {
  struct accessing a = { .t = t, .pc = pc, .op = op, .kind = HD_UNLIKELY(hd_beside_assembly) ? beside_assembly(kind, pc) : kind };
  bool whole = op <= HD_OP_WRITE && size <= 8 - (addr & 7); // within one granule: see hd_shadow_hit
  uint32_t last_from = 0, last_to = 0;
  uint8_t last_mask = 0;
  for (uint64_t end = addr + size; addr < end && !full;) {
    uint32_t *leaf = leaf_at(addr);
    if (!leaf) return;
    uint32_t *page = page_of(leaf, addr);
    uint64_t stop = ((addr >> PAGE_BITS) + 1) << PAGE_BITS;
    if (stop > end) stop = end;
    if (stop - addr == 1ull << PAGE_BITS && access_page(&a, leaf, page, addr, remembered)) {
      addr = stop;
      continue;
    }
    fill_page(leaf, page);
    for (uint32_t *cell = &leaf[addr >> HD_GRANULE_BITS & (HD_LEAF_CELLS - 1)]; addr < stop;) {
      uint64_t n = 8 - (addr & 7);
      if (n > stop - addr) n = stop - addr;
      uint8_t mask = (uint8_t)(0xff >> (8 - n) << (addr & 7));
      if (!*cell) *cell = EMPTY;
      if (size == 1 && next_set - first_set >= split_at && *cell > first_set) split(cell, addr & ~7ull);
      if (*cell == hd_split) {
        access_split(&a, cell++, addr & ~7ull, mask, remembered);
        if (full) return;
        addr += n;
        continue;
      }
      // Most granules of a range have had the same accesses.
      uint64_t run = mask == 0xff && stop - addr > 32 ? alike(cell, (stop - addr) >> HD_GRANULE_BITS) : 1;
      if (mask != last_mask || *cell != last_from) {
        uint32_t to = part(&a, cell, addr & ~7ull, mask, !remembered ? 0 : whole ? hd_access_key(pc, addr, op) : part_key(&a, addr, n));
        if (full) return;
        a.counted = true;
        last_mask = mask;
        last_from = *cell;
        last_to = to;
      }
      if (*cell != last_to) put(cell, last_to, run);
      cell += run;
      addr += run == 1 ? n : run << HD_GRANULE_BITS;
    }
  }
}

void hd_shadow_access(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  access(t, addr, size, op, pc, kind_of(op, 0), !hd.accesses || hd_left_out);
}

void hd_shadow_point(struct hd_thread *t, uint64_t addr, uint64_t size, uint16_t op, uint64_t pc) {
  access(t, addr, size, op, pc, kind_of(op, 0), false);
}

void hd_shadow_arrive(struct hd_thread *t) { present(t); }

void hd_shadow_atomic(struct hd_thread *t, int32_t result) {
  struct hd_order *o = hd_order_of(t);
  if (!o) return;
  bool tick = o->tick;
  o->tick = false; // the access belongs to the time that its release publishes
  // Not remembered: a step's key does not tell whether a compare-and-swap writes.
  access(t, t->pend.obj, t->pend.size ? t->pend.size : 1, t->pend.op, t->pend.pc, kind_of(t->pend.op, result), false);
  if ((o->tick = tick)) t->serial = 0;
}

void hd_shadow_lifetime(struct hd_thread *t, uint64_t object, bool bound, const struct hd_clock *before) {
  happened = before;
  access(t, object, 1, t->pend.op, t->pend.pc, bound ? LIFETIME : ATOMIC_READ, false);
  happened = NULL;
}

void hd_shadow_call(struct hd_thread *t, uint64_t object, enum hd_share how, uint64_t pc) {
  access(t, object, 1, HD_OP_NONE, pc, CALL + how, false);
}

// Makes pages of a leaf whole, with this set.
static void make_whole(uint32_t *leaf, uint32_t *page, uint32_t *last, uint32_t number) {
  uint32_t live = 0;
  for (uint32_t *p = page; p < last; p++) live += *p >> 31;
  if (live >= RETURNED) hd_sys(SYS_madvise, cells_of(leaf, page), (uint64_t)(last - page) * 4096, hd_isolation ? MADV_DONTNEED : MADV_REMOVE);
  for (; page < last; page++) {
    if (*page & CELLS && live < RETURNED) put(cells_of(leaf, page), 0, PAGE_CELLS);
    *page = number;
  }
}

// Gives all granules of the memory this set.
static void renew(uint64_t addr, uint64_t size, uint32_t number) {
  uint64_t end = (addr + size + 7) & ~7ull;
  for (addr &= ~7ull; addr < end;) {
    uint64_t stop = ((addr >> HD_LEAF_BITS) + 1) << HD_LEAF_BITS;
    if (stop > end) stop = end;
    uint32_t *leaf = number != EMPTY ? leaf_at(addr) : addr >> HD_ADDRESS_BITS ? NULL : hd_leaves[addr >> HD_LEAF_BITS];
    while (leaf && addr < stop) {
      uint32_t *page = page_of(leaf, addr);
      uint64_t pages = addr & ((1u << PAGE_BITS) - 1) ? 0 : (stop - addr) >> PAGE_BITS;
      if (pages) {
        make_whole(leaf, page, page + pages, number);
        addr += pages << PAGE_BITS;
        continue;
      }
      uint64_t next = ((addr >> PAGE_BITS) + 1) << PAGE_BITS;
      if (next > stop) next = stop;
      if (number != EMPTY || *page >= first_set) {
        fill_page(leaf, page);
        put(&leaf[addr >> HD_GRANULE_BITS & (HD_LEAF_CELLS - 1)], number, (next - addr) >> HD_GRANULE_BITS);
      }
      addr = next;
    }
    addr = stop;
  }
}

void hd_shadow_reset(uint64_t addr, uint64_t size) {
  if (size) renew(addr, size, EMPTY);
}

void hd_shadow_allocated(struct hd_thread *t, uint64_t addr, uint64_t size, uint64_t pc) {
  struct accessing a = { .t = t, .pc = pc, .op = HD_OP_MALLOC, .kind = ALLOCATION };
  uint64_t most = size < HD_ALLOCATED ? size : HD_ALLOCATED, rest = most & 7;
  hd_shadow_reset(addr + most, size - most);
  for (int part_of = 0; part_of < 2; part_of++) {
    uint32_t empty = EMPTY, set;
    uint64_t at = part_of ? addr + most - rest : addr, bytes = part_of ? rest : most - rest;
    if (!bytes) continue;
    set = part(&a, &empty, at, (uint8_t)(bytes < 8 ? (1u << bytes) - 1 : 0xff), part_key(&a, 0, bytes < 8 ? bytes : 8));
    if (full) return;
    a.counted = true;
    renew(at, bytes, set);
  }
}

uint64_t hd_shadow_report(void) {
  forget_steps();
  struct hd_profile block[128];
  uint32_t n = 0;
  uint64_t all = 0;
  for (uint32_t i = 0; i < nsources; i++) {
    if (hd_meanings[sources[i].op].life || sources[i].op == HD_OP_MALLOC || sources[i].op == HD_OP_NONE) continue;
    all += sources[i].count;
    if (sources[i].op < HD_OP_READ || sources[i].op > HD_OP_WRITE_RANGE) continue;
    block[n++] = (struct hd_profile){ .pc = hd_name(sources[i].pc), .count = sources[i].count };
    if (n == sizeof block / sizeof *block) {
      hd_out(HD_REC_PROFILE, block, sizeof block);
      n = 0;
    }
  }
  if (n) hd_out(HD_REC_PROFILE, block, n * sizeof *block);
  return all;
}
