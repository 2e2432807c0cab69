// injection.c: one fault in an execution. The hook of an access runs before the access. So a bit that is read is
// flipped in memory at the hook and restored at the thread's next event, before which no other thread runs; and a
// bit that is written is flipped at the next event. A call such as memcpy has several events before it accesses memory.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include "core/cancellation.h"
#include "core/event.h"
#include "core/injection.h"
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"

uint32_t hd_injectable;
bool hd_inject_open, hd_inject_calling, hd_inject_late;
static uint64_t occasions; // of the plan's thread at the plan's instruction
static struct { uint64_t addr; uint8_t mask; } flip; // mask 0: none
static struct { uint64_t addr; uint32_t size; uint64_t word[2]; } before; // what a write replaces, the first 16 bytes

void hd_inject_begin(void) {
  hd_injectable = hd.plan.fault;
  hd_inject_open = hd_inject_calling = hd_inject_late = false;
  occasions = 0;
  flip.mask = 0;
  before.size = 0;
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

static void choose(uint64_t addr, uint64_t size) {
  uint64_t bit = hd.plan.fault_amount % (size * 8);
  flip.addr = addr + bit / 8;
  flip.mask = (uint8_t)(1u << bit % 8);
}

void hd_inject_reads(uint64_t addr, uint64_t size, uint64_t pc) {
  if (hd_inject_late || !hd_injects(HD_FAULT_READ, pc)) return;
  choose(addr, size);
  hd_inject_open = invert();
  if (!hd_inject_open) hd.result.fault = 0;
}

static void read_words(uint64_t word[2]) {
  word[0] = hd_word_at(before.addr, before.size);
  word[1] = before.size > 8 ? hd_word_at(before.addr + 8, before.size - 8) : 0;
}

void hd_inject_writes(uint64_t addr, uint64_t size, uint64_t pc) {
  if (!hd_injects(HD_FAULT_WRITE, pc)) return;
  choose(addr, size);
  hd_inject_open = true;
  before.addr = addr;
  before.size = size < sizeof before.word ? (uint32_t)size : sizeof before.word;
  read_words(before.word);
}

bool hd_inject_written(void) {
  uint64_t now[2];
  read_words(now);
  return flip.mask && before.size && (now[0] != before.word[0] || now[1] != before.word[1]);
}

void hd_inject_close(void) {
  if (hd_inject_calling) return;
  if (hd_events_sent() < hd.result.fault) return; // the event of the access itself comes first
  hd_inject_open = false;
  invert();
}

void hd_inject_kills(uint64_t pc) {
  if (!hd_injects(HD_FAULT_KILLED, pc)) return;
  hd.cur->cancel |= HD_CANCEL_LEAVING;
  hd.cur->ret = NULL;
  REAL(pthread_exit)(NULL);
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
