// sharing.h: which instructions access memory that several threads access, one of them to write. Both runtimes include it,
// for recordings of CTrigger's phase one that leave out what cannot be part of an interleaving.
//
// An interleaving consists of accesses of two threads to common bytes, one of them a write. So a recording needs the
// accesses to such memory, and all of them: a thread's p and c are one after the other only if it has made none in
// between. While a thread is the only one that has accessed some memory, its accesses cannot be told from those that
// matter, and by the time another thread comes, what it did there and in which critical sections is past. Nothing of
// it is kept but the set of instructions. The controller executes the same schedule again, or on the backend live
// the same program, and has all accesses of these instructions recorded, whatever memory they are to: then the recording has
// every access to memory that was found to be shared.
//
// What is shared is decided for units of 8 bytes, so more accesses may be recorded than necessary, and never fewer. Each unit has a word: the only thread that
// has accessed it, the set of instructions that have, and whether one has written. The sets are numbered, since the
// units of an array have the same few. What is full or too large counts as shared.
//
// The includer defines SHARING_MAP(bytes), which returns memory filled with zeroes or NULL, and SHARING_CLEAR(p, bytes). If it
// defines SHARING_TELL(pc), that is called once for each instruction that is found.
// All functions may be called by several threads at a time, except sharing_begin.
#ifndef HD_SHARING_H
#define HD_SHARING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SHARING_TELL
#define SHARING_TELL(pc) ((void)0)
#endif

enum {
  SHARING_UNIT = 3,           // of 1 << 3 bytes
  SHARING_CHUNK = 18,         // 1 << 18 units, whose words are allocated together
  SHARING_CHUNKS = 1 << 14,   // places in the table of chunks
  SHARING_SITES = 1 << 17,    // places in the table of instructions, half of which are used
  SHARING_SETS = 1 << 18,     // sets of instructions, and places in the table of them that are never all used
  SHARING_LONGEST = 64,       // instructions of a set
  SHARING_NOTES = 1 << 12,    // results of sharing_with and of sharing_after that are kept
};

// A unit's word: the set in the low bits, then the thread + 1, then whether it was written. SHARED alone: the memory is shared.
#define SHARING_SET ((uint32_t)SHARING_SETS - 1)
#define SHARING_THREAD_SHIFT 18
#define SHARING_THREAD 0xfffu
#define SHARING_SEVERAL SHARING_THREAD // instead of a thread + 1: several, which have only read
#define SHARING_WRITTEN (1u << 30)
#define SHARING_SHARED (1u << 31)

// The states of an instruction.
#define SHARING_KNOWN 1u
#define SHARING_WANTED 2u // its accesses are to be recorded
#define SHARING_FOUND 4u  // it has accessed shared memory

struct sharing_chunk {
  uint32_t words[1 << SHARING_CHUNK];
  uint64_t number;
};

// Up to notes, each field begins at a page if the structure does, so that SHARING_CLEAR may give its pages back.
struct sharing {
  struct sharing_chunk *chunks[SHARING_CHUNKS];
  struct { uint64_t pc; uint32_t state; } sites[SHARING_SITES];
  struct { uint32_t parent, site, length; } sets[SHARING_SETS]; // 0 is the empty one
  uint32_t places[SHARING_SETS];                                // where a set is found by parent and site
  uint64_t notes[SHARING_NOTES];
  uint64_t same[SHARING_NOTES];                                 // accesses that do not change a unit's word, with the word
  uint32_t nchunks, nsites, nsets, most; // most: chunks
};

static inline uint64_t sharing_hash(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ b * 0xbf58476d1ce4e5b9u) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 32;
}

// Begins an execution, in which words of at most so many bytes are kept.
static inline void sharing_begin(struct sharing *s, uint64_t bytes) {
  for (uint32_t i = 0; i < SHARING_CHUNKS; i++)
    if (s->chunks[i]) SHARING_CLEAR(s->chunks[i]->words, sizeof s->chunks[i]->words);
  SHARING_CLEAR(s->sites, sizeof s->sites);
  SHARING_CLEAR(s->sets, sizeof s->sets);
  SHARING_CLEAR(s->places, sizeof s->places);
  SHARING_CLEAR(s->notes, sizeof s->notes);
  SHARING_CLEAR(s->same, sizeof s->same);
  uint64_t most = bytes / sizeof(struct sharing_chunk);
  s->nsites = s->nsets = 0;
  s->most = most < SHARING_CHUNKS / 2 ? (uint32_t)most : SHARING_CHUNKS / 2;
}

// Returns the number of an instruction, 0 if there are too many. A new one's state is 0.
static inline uint32_t sharing_site(struct sharing *s, uint64_t pc) {
  for (uint32_t i = (uint32_t)sharing_hash(pc, 1);; i++) {
    i %= SHARING_SITES;
    if (i == 0) continue;
    uint64_t seen = __atomic_load_n(&s->sites[i].pc, __ATOMIC_RELAXED);
    if (seen == pc) return i;
    if (seen) continue;
    if (__atomic_load_n(&s->nsites, __ATOMIC_RELAXED) >= SHARING_SITES / 2) return 0;
    if (__atomic_compare_exchange_n(&s->sites[i].pc, &seen, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      __atomic_fetch_add(&s->nsites, 1, __ATOMIC_RELAXED);
      return i;
    }
    if (seen == pc) return i;
  }
}

static inline void sharing_find(struct sharing *s, uint32_t site) {
  if (!site || __atomic_load_n(&s->sites[site].state, __ATOMIC_RELAXED) & SHARING_FOUND) return;
  if (!(__atomic_fetch_or(&s->sites[site].state, SHARING_FOUND, __ATOMIC_RELAXED) & SHARING_FOUND)) SHARING_TELL(s->sites[site].pc);
}

static inline void sharing_find_all(struct sharing *s, uint32_t set) {
  for (; set; set = s->sets[set].parent) sharing_find(s, s->sets[set].site);
}

// Returns the set of an instruction and those of another set; all bits are set if there are too many.
static inline uint32_t sharing_with(struct sharing *s, uint32_t set, uint32_t site) {
  if (!site) return set;
  uint64_t key = (uint64_t)set << 17 | site;
  uint64_t *note = &s->notes[sharing_hash(key, 2) % SHARING_NOTES];
  uint64_t noted = __atomic_load_n(note, __ATOMIC_ACQUIRE);
  if (noted >> 18 == key && noted) return (uint32_t)(noted & SHARING_SET);
  uint32_t result = set;
  while (result && s->sets[result].site != site) result = s->sets[result].parent;
  if (result) {
    result = set; // it has the instruction
  } else {
    uint32_t own = 0;
    for (uint32_t i = (uint32_t)sharing_hash(key, 3);; i++) {
      i %= SHARING_SETS;
      uint32_t there = __atomic_load_n(&s->places[i], __ATOMIC_ACQUIRE);
      if (!there) {
        if (!own) {
          uint32_t length = set ? s->sets[set].length + 1 : 1;
          if (length > SHARING_LONGEST || __atomic_load_n(&s->nsets, __ATOMIC_RELAXED) >= SHARING_SETS / 2) return ~0u;
          own = __atomic_add_fetch(&s->nsets, 1, __ATOMIC_RELAXED);
          if (own >= SHARING_SETS) return ~0u;
          s->sets[own].parent = set;
          s->sets[own].site = site;
          s->sets[own].length = length;
        }
        if (__atomic_compare_exchange_n(&s->places[i], &there, own, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
          result = own;
          break;
        }
      }
      if (s->sets[there].parent == set && s->sets[there].site == site) {
        result = there;
        break;
      }
    }
  }
  __atomic_store_n(note, key << 18 | result, __ATOMIC_RELEASE);
  return result;
}

// Returns the words of a chunk, NULL if it has none. Without make, none are allocated.
static inline uint32_t *sharing_words(struct sharing *s, uint64_t number, bool make) {
  for (uint32_t i = (uint32_t)sharing_hash(number, 4);; i++) {
    i %= SHARING_CHUNKS;
    struct sharing_chunk *c = __atomic_load_n(&s->chunks[i], __ATOMIC_ACQUIRE);
    if (!c) {
      if (!make || __atomic_load_n(&s->nchunks, __ATOMIC_RELAXED) >= s->most) return NULL;
      struct sharing_chunk *own = SHARING_MAP(sizeof *own);
      if (!own) return NULL;
      own->number = number;
      __atomic_fetch_add(&s->nchunks, 1, __ATOMIC_RELAXED);
      if (__atomic_compare_exchange_n(&s->chunks[i], &c, own, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return own->words;
    }
    if (c->number == number) return c->words;
  }
}

// Returns a unit's word after an access.
static inline uint32_t sharing_after(struct sharing *s, uint32_t word, uint32_t thread, uint32_t site, bool write) {
  uint32_t set = sharing_with(s, word & SHARING_SET, site), me = thread + 1, before = word >> SHARING_THREAD_SHIFT & SHARING_THREAD;
  uint32_t now = before == 0 || before == me ? me : SHARING_SEVERAL, written = word & SHARING_WRITTEN;
  if (write) written = SHARING_WRITTEN;
  if (set == ~0u || me >= SHARING_SEVERAL || (now == SHARING_SEVERAL && written)) {
    sharing_find_all(s, word & SHARING_SET);
    sharing_find(s, site);
    return SHARING_SHARED;
  }
  return set | now << SHARING_THREAD_SHIFT | written;
}

// A thread accesses memory. site: number of the instruction, 0 for one whose accesses are recorded in any case.
static inline void sharing_access(struct sharing *s, uint32_t thread, uint32_t site, uint64_t address, uint64_t size, bool write) {
  uint64_t unit = address >> SHARING_UNIT, last = (address + (size ? size : 1) - 1) >> SHARING_UNIT;
  uint32_t was = SHARING_SHARED, is = SHARING_SHARED; // of the unit before: most of a range's are alike
  while (unit <= last) {
    uint64_t end = (unit >> SHARING_CHUNK) + 1;
    uint32_t *words = sharing_words(s, unit >> SHARING_CHUNK, true);
    if (!words) {
      sharing_find(s, site);
      unit = end << SHARING_CHUNK;
      continue;
    }
    for (; unit <= last && unit >> SHARING_CHUNK < end; unit++) {
      uint32_t *at = &words[unit & ((1u << SHARING_CHUNK) - 1)], word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
      for (;;) {
        if (word == SHARING_SHARED) {
          sharing_find(s, site);
          break;
        }
        uint32_t before = word >> SHARING_THREAD_SHIFT & SHARING_THREAD;
        uint64_t key = (uint64_t)word << 32 | site << 1 | write, *same = &s->same[sharing_hash(key, 5) % SHARING_NOTES];
        if ((before == thread + 1 || before == SHARING_SEVERAL) && __atomic_load_n(same, __ATOMIC_RELAXED) == key) break;
        if (word != was) {
          is = sharing_after(s, word, thread, site, write);
          was = word;
          if (is == word) __atomic_store_n(same, key, __ATOMIC_RELAXED);
        }
        if (is == word || __atomic_compare_exchange_n(at, &word, is, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) break;
      }
    }
  }
}

// Reports whether an access changes nothing and is not to be recorded, as most are. False says nothing.
static inline __attribute__((always_inline)) bool sharing_idle(const struct sharing *s, uint32_t thread, uint64_t pc, uint64_t address, uint64_t size, bool write) {
  uint32_t site = (uint32_t)sharing_hash(pc, 1) % SHARING_SITES;
  if (__atomic_load_n(&s->sites[site].pc, __ATOMIC_RELAXED) != pc) return false;
  uint32_t state = __atomic_load_n(&s->sites[site].state, __ATOMIC_RELAXED);
  uint64_t unit = address >> SHARING_UNIT;
  if (!(state & SHARING_KNOWN) || state & SHARING_WANTED || (address + size - 1) >> SHARING_UNIT != unit) return false;
  const struct sharing_chunk *c = __atomic_load_n(&s->chunks[(uint32_t)sharing_hash(unit >> SHARING_CHUNK, 4) % SHARING_CHUNKS], __ATOMIC_ACQUIRE);
  if (!c || c->number != unit >> SHARING_CHUNK) return false;
  uint32_t word = __atomic_load_n(&c->words[unit & ((1u << SHARING_CHUNK) - 1)], __ATOMIC_RELAXED), before = word >> SHARING_THREAD_SHIFT & SHARING_THREAD;
  if (word == SHARING_SHARED) return state & SHARING_FOUND;
  uint64_t key = (uint64_t)word << 32 | site << 1 | write;
  return (before == thread + 1 || before == SHARING_SEVERAL) && __atomic_load_n(&s->same[sharing_hash(key, 5) % SHARING_NOTES], __ATOMIC_RELAXED) == key;
}

// Memory begins a new life: nobody has accessed it.
static inline void sharing_forget(struct sharing *s, uint64_t address, uint64_t size) {
  if (!size) return;
  uint64_t unit = address >> SHARING_UNIT, last = (address + size - 1) >> SHARING_UNIT;
  while (unit <= last) {
    uint64_t end = ((unit >> SHARING_CHUNK) + 1) << SHARING_CHUNK;
    uint32_t *words = sharing_words(s, unit >> SHARING_CHUNK, false);
    if (!words) unit = end;
    for (; unit < end && unit <= last; unit++) {
      uint32_t *at = &words[unit & ((1u << SHARING_CHUNK) - 1)];
      if (__atomic_load_n(at, __ATOMIC_RELAXED)) __atomic_store_n(at, 0, __ATOMIC_RELAXED);
    }
  }
}
#endif
