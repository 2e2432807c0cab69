// injection.c: one fault in an execution. The hook of an access runs before the access. A bit that is read is
// flipped in memory at the hook and restored after the access; a bit that is written is flipped after the access.
//
// The hook's caller is executed by single steps (SIGTRAP) to find that moment. A store of one instruction has
// happened when the byte changes. Otherwise the access has happened when the code calls or returns, because
// compilers do not move an access past a call of a function that they do not know; and nothing but the code itself
// can have seen the memory in between. What is called may be the copy of a structure: gcc calls the hook of the
// write, then that of the read, and then copies, by instructions or by memcpy.
//
// For a call that the runtime replaces, such as memcpy, it knows: the function calls hd_inject_called.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include "arch/context.h"
#include "core/cancellation.h"
#include "core/event.h"
#include "core/fiber.h"
#include "core/injection.h"
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"

uint32_t hd_injectable;
bool hd_inject_open, hd_inject_calling, hd_inject_late;
static uint64_t occasions; // of the plan's thread at the plan's instruction
static struct {
  uint64_t addr;
  uint8_t mask, was;    // was: the byte before the access
  bool read;
  uint64_t start, size; // the access
} flip;
static struct { uint64_t addr; uint32_t size; uint64_t word[2]; } before; // what a write replaces, the first 16 bytes

// Whether single steps are made, and where the thread is.
static enum { NOT, IN_HOOK, IN_CODE, IN_CALL } stepping;
static uint32_t steps; // since it is there
enum { STEPS = 4096, CALL_STEPS = 1 << 17 /* the loader looks up a name */ };

void hd_inject_begin(void) {
  hd_injectable = hd.plan.fault;
  hd_inject_open = hd_inject_calling = hd_inject_late = false;
  occasions = 0;
  stepping = NOT;
}

static void injected(void) {
  hd_injectable = HD_FAULT_NONE;
  hd.result.fault = hd_events_sent() + 1;
}

bool hd_inject_due(uint64_t pc) {
  if (!hd_active() || hd.cur->name != hd.plan.fault_thread || hd_name(pc) != hd.plan.fault_site) return false;
  if (occasions++ != hd.plan.fault_index) return false;
  injected();
  return true;
}

// Memory that the program may not write cannot be changed: the kernel refuses it.
static bool invert(void) {
  uint8_t byte = (uint8_t)hd_word_at(flip.addr, 1) ^ flip.mask;
  struct { void *base; uint64_t len; } local = { &byte, 1 }, remote = { (void *)flip.addr, 1 };
  return hd_sys6(SYS_process_vm_writev, hd_sys(SYS_getpid, 0, 0, 0), (long)&local, 1, (long)&remote, 1, 0) == 1;
}

static void choose(uint64_t addr, uint64_t size, bool read) {
  uint64_t bit = hd.plan.fault_amount % (size * 8);
  flip.addr = addr + bit / 8;
  flip.mask = (uint8_t)(1u << bit % 8);
  flip.read = read;
  flip.start = addr;
  flip.size = size;
}

void hd_inject_reads(uint64_t addr, uint64_t size, uint64_t pc) {
  if (hd_inject_late || !hd_injects(HD_FAULT_READ, pc)) return;
  choose(addr, size, true);
  hd_inject_open = invert();
  if (!hd_inject_open) hd.result.fault = 0;
}

static void read_words(uint64_t word[2]) {
  word[0] = hd_word_at(before.addr, before.size);
  word[1] = before.size > 8 ? hd_word_at(before.addr + 8, before.size - 8) : 0;
}

void hd_inject_writes(uint64_t addr, uint64_t size, uint64_t pc) {
  if (!hd_injects(HD_FAULT_WRITE, pc)) return;
  choose(addr, size, false);
  hd_inject_open = true;
  flip.was = (uint8_t)hd_word_at(flip.addr, 1);
  before.addr = addr;
  before.size = size < sizeof before.word ? (uint32_t)size : sizeof before.word;
  read_words(before.word);
}

// Reports whether bytes of the write have changed: so it has begun.
static bool written(void) {
  uint64_t now[2];
  read_words(now);
  return now[0] != before.word[0] || now[1] != before.word[1];
}

// Other threads run while the one with the fault is in a call, or before the read of a structure's copy.
static bool own(void) { return hd.cur && hd.cur->name == hd.plan.fault_thread; }

void hd_inject_close(void) {
  if (hd_inject_calling || !own()) return;
  if (hd_events_sent() < hd.result.fault) return; // the event of the access itself comes first
  hd_inject_open = false;
  invert();
}

void hd_inject_drop(void) {
  hd_inject_calling = false;
  if (hd_inject_open && flip.read) invert();
  hd_inject_open = false;
}

void hd_inject_next(uint64_t addr, uint64_t size) {
  bool copies = hd_event_copies(hd.cur, hd.cur->pend.size, hd.cur->pend.op) && !flip.read && flip.addr - addr >= size;
  if (!copies || written()) hd_inject_close();
}

// A debugger that is attached would get the traps.
void hd_inject_arm(void) {
  if (hd_threads_real || hd_inject_calling || !own() || hd_events_sent() < hd.result.fault) return;
  stepping = IN_HOOK;
  steps = 0;
  hd_step_begin();
}

// Reports whether the function at pc may be called for the copy that is open; it then calls hd_inject_next or
// hd_inject_copy.
static bool copies(uint64_t pc) {
  extern char __start_hd_copies[] __attribute__((visibility("hidden")));
  extern char __stop_hd_copies[] __attribute__((visibility("hidden")));
  return pc >= (uint64_t)__start_hd_copies && pc < (uint64_t)__stop_hd_copies;
}

// The thread is about to execute the instruction at pc. Returns false if it has made the access, or if the function
// it has called will tell.
static bool step(uint64_t pc) {
  if (hd_in_runtime(pc)) {
    if (stepping == IN_HOOK) return ++steps < STEPS;
    if (!copies(pc)) hd_inject_close();
    return false;
  }
  if (stepping == IN_HOOK) {
    stepping = IN_CODE;
    steps = 0;
  }
  enum hd_flow flow = hd_context_flow(pc);
  if (stepping == IN_CODE) {
    bool range = flip.size & (flip.size - 1) || flip.size > 16; // by several instructions, which may overlap
    bool changed = !flip.read && !range && (uint8_t)hd_word_at(flip.addr, 1) != flip.was;
    if (!changed && flow == HD_FLOW_ON && ++steps < STEPS + flip.size) return true;
    if (!changed && (flow == HD_FLOW_CALL || flow == HD_FLOW_LINK)) {
      stepping = IN_CALL;
      steps = 0;
      return true;
    }
  } else if ((flow == HD_FLOW_LINK || hd_in_loader(pc)) && ++steps < CALL_STEPS) {
    return true;
  }
  hd_inject_close();
  return false;
}

bool hd_inject_step(void *context) {
  if (stepping == NOT) return false;
  if (hd_inject_open && step(hd_context_pc(context))) return true;
  stepping = NOT;
  hd_context_step(context, false);
  return true;
}

void hd_inject_call_begins(void) {
  if (!own()) return;
  if (hd_inject_open) hd_inject_close(); // of an access before this call
  hd_inject_calling = true;
}

void hd_inject_call_ends(void) {
  if (!own()) return;
  hd_inject_calling = false;
  if (hd_inject_open) hd_inject_close();
}

void hd_inject_copy(const void *dst, const void *src, uint64_t n) {
  if (!own()) return;
  if (hd_inject_open && flip.size == n && flip.start == (uint64_t)(flip.read ? src : dst)) hd_inject_calling = true;
  else hd_inject_call_begins();
}

void hd_inject_kills(uint64_t pc) {
  if (!hd_injects(HD_FAULT_KILLED, pc)) return;
  hd_unwind(hd.cur, NULL);
}

uint64_t hd_inject_more(uint64_t pc) { return hd_injects(HD_FAULT_OVERRUN, pc) ? hd.plan.fault_amount : 0; }

uint64_t hd_inject_length(uint64_t n, uint64_t pc) {
  if (!n) return 0; // no event
  n += hd_inject_more(pc);
  if (hd_injects(HD_FAULT_ARGUMENT, pc)) return n ^ 1ull << hd.plan.fault_amount % 64;
  return n;
}

uint64_t hd_inject_allocated(uint64_t size, uint64_t pc) {
  if (hd_injects(HD_FAULT_SHORT, pc)) return size > hd.plan.fault_amount ? size - hd.plan.fault_amount : 0;
  if (hd_injects(HD_FAULT_ARGUMENT, pc)) return size ^ 1ull << hd.plan.fault_amount % 64;
  return size;
}
