// event.c: recording. Events are collected and sent in blocks. Each call stack is sent once;
// events refer to it by number.
#include "core/event.h"
#include "core/beside_assembly.h"
#include "core/injection.h"
#include "core/fiber.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/program_memory.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/stacks.h"

enum { BLOCK = 512 };
static struct hd_event block[BLOCK];
static uint32_t n;
static struct hd_event *unsettled; // a write in block whose new value is not known yet
static uint64_t unsettled_at;      // its address
static bool copying;               // since the unsettled write, its thread has made an access that may be the read of a copy
static uint64_t nevents; // of this execution
static struct hd_left_out left_out[BLOCK]; // of the events in block
static uint32_t nleft;

void hd_event_begin(void) {
  n = 0;
  hd_event_forget();
  nevents = 0;
  nleft = 0;
  hd_locals_begin();
  hd_stacks_begin();
}

static HD_PROGACCESS uint64_t peek(uint64_t addr, uint32_t size) {
  switch (size) {
  case 1: return *(volatile uint8_t *)addr;
  case 2: return *(volatile uint16_t *)addr;
  case 4: return *(volatile uint32_t *)addr;
  }
  uint64_t v = 0;
  hd_copy(&v, (void *)addr, size < 8 ? size : 8);
  return v;
}

// Addresses above 1 TiB, where the kernel puts programs, libraries, stacks and mappings, and those in
// the program's heap count as equal if they are in an aligned word. A number may look like one.
static inline uint64_t placeless(uint64_t v) { return (v >> 47 == 0 && v >> 40 != 0) || hd_heap_owns(v) ? 1 : v; }

uint64_t hd_content(uint16_t op, uint64_t addr, uint32_t size, uint64_t *aux) {
  if (addr < 1u << 16 || addr >> 47) return 0; // the access itself is to fault, and at its own instruction
  if (op == HD_OP_READ || op == HD_OP_WRITE || size <= 8) {
    if (size == 16) *aux = placeless(peek(addr + 8, 8));
    return peek(addr, size);
  }
  uint64_t hash = size;
  for (uint64_t at = addr, end = addr + size; at < end;) {
    bool word = at % 8 == 0 && end - at >= 8;
    uint64_t v = peek(at, word ? 8 : 1);
    hash = hd_mix(hash, word ? placeless(v) : v);
    at += word ? 8 : 1;
  }
  return hash | 1;
}

// The hook of a write runs before the write itself. The write has happened by the next event or access of its
// thread, and before the program can release the memory.
HD_ON_SIDE_STACK(void, hd_event_settle, (void)) {
  if (HD_UNLIKELY(hd_inject_open)) hd_inject_close();
  if (!unsettled) return;
  // Unloading a library unmaps its memory without an event.
  if (HD_UNLIKELY(hd_loading)) unsettled->value = hd_word_at(unsettled_at, unsettled->size);
  else unsettled->value = hd_content(unsettled->op, unsettled_at, unsettled->size, &unsettled->aux);
  hd_event_forget();
}

// The write faulted: it never happens, and its address must not be read.
void hd_event_forget(void) {
  unsettled = NULL;
  copying = false;
  if (hd.write_open) {
    hd.write_open = false;
    hd_accesses_changed();
  }
}

void hd_event_flush(void) {
  hd_event_settle();
  if (nleft) hd_out(HD_REC_LEFT_OUT, left_out, nleft * (uint32_t)sizeof *left_out);
  nleft = 0;
  if (n) hd_out(HD_REC_EVENTS, block, n * (uint32_t)sizeof *block);
  n = 0;
}

uint64_t hd_events_sent(void) { return nevents; }

void hd_event_slot(const struct hd_thread *t) {
  if (n == BLOCK) hd_event_flush();
  block[n++] = (struct hd_event){ .thread = t->number, .value = t->index };
}

// Of a struct's copy gcc calls the hook of the write, then that of the read, and then copies.
bool hd_event_copies(const struct hd_thread *t, uint64_t size, uint16_t op) {
  return unsettled && unsettled->op != HD_OP_ATOMIC_STORE && !copying && unsettled->thread == t->number && unsettled->size == size &&
         op == (unsettled->op == HD_OP_WRITE ? HD_OP_READ : HD_OP_READ_RANGE);
}

void hd_event_passes(const struct hd_thread *t, uint64_t size, uint16_t op) {
  if (hd_event_copies(t, size, op)) copying = true;
  else hd_event_settle();
}

void hd_event(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags) {
  hd_event_passes(t, t->pend.size, t->pend.op);
  if (HD_UNLIKELY(hd_loading)) hd_late_look(); // so that a constructor's calls have names
  uint32_t ext = hd.nwords > 1 ? (hd.nwords - 1 + 7) / 8 : 0; // further words of enabled, in units of events
  uint16_t kind = hd_instruction_kind(t->pend.pc);
  bool write = (t->pend.op == HD_OP_WRITE || t->pend.op == HD_OP_WRITE_RANGE || (t->pend.op == HD_OP_ATOMIC_STORE && kind == HD_EV_VOLATILE)) && t->pend.size && (hd.values || t->pend.size <= 8);
  if (n + (write ? 2 : 1) * (1 + ext) > BLOCK) hd_event_flush(); // a write stays for the event after it, which may be the copy's read
  uint32_t stack = hd_stack_number(t, t->pend.op, t->pend.pc);
  if (hd.plan.flags & HD_PLAN_STACKS && t->pend.obj && !hd_heap_owns(t->pend.obj)) hd_local(t, t->pend.pc, t->pend.obj, nevents);
  if (HD_UNLIKELY(t->left_out)) {
    left_out[nleft++] = (struct hd_left_out){ .event = nevents, .accesses = t->left_out };
    t->left_out = 0;
  }
  nevents++;
  struct hd_event *e = &block[n++];
  e->thread = t->number;
  e->op = t->pend.op;
  e->size = t->pend.size;
  e->pc = hd_name(t->pend.pc);
  e->object = hd_name(t->pend.obj);
  e->value = value;
  e->aux = e->op == HD_OP_COND_WAIT || e->op == HD_OP_COND_WAKE || e->op == HD_OP_COND_TIMEOUT ? hd_name(t->pend.aux) : t->pend.aux;
  e->enabled = hd.decision.w[0];
  e->flags = (uint16_t)(flags | t->pend.flags | kind);
  e->result = result;
  e->stack = stack;
  e->mask = ext;
  if (write) {
    unsettled = e;
    unsettled_at = t->pend.obj;
    hd.write_open = true;
    hd_accesses_changed();
  }
  if (ext) {
    uint64_t *words = (uint64_t *)&block[n];
    for (uint32_t i = 0; i < ext * 8; i++) words[i] = i + 1 < hd.nwords ? hd.decision.w[i + 1] : 0;
    n += ext;
  }
  if (HD_UNLIKELY(hd_threads_real)) hd_debug_event(t, e->flags);
}
