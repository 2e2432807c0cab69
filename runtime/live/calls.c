// calls.c: the stack of calls of each thread, as a number: two stacks with the same calls have the same
// one. CTrigger calls this the context of an instruction (ASPLOS'09, §5). While profiling, the calls are
// recorded instead, and Go computes the number (recording.go: nameOfStack).
#include <sys/mman.h>
#include "live.h"

enum { DEEPEST = 1024 };

// A frame is known by its stack pointer, because a longjmp and an exception leave functions without a
// call of the hook.
struct hl_calls {
  uint32_t depth, beyond; // frames; calls beyond DEEPEST
  struct { uint64_t sp, name; } frames[DEEPEST];
};

void hl_calls_begin(struct hl_thread *t) {
  void *p = hl_mmap(NULL, sizeof(struct hl_calls), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p != MAP_FAILED) t->calls = p;
}

// fold adds a call to a name (FNV-1a over the eight bytes of the place, as one step).
static uint64_t fold(uint64_t name, uint64_t place) { return ((name ^ place) * 0x100000001b3u) | 1; }

uint64_t hl_calls_now(struct hl_thread *t) {
  if (!t->calls) return 1;
  return t->calls->depth ? t->calls->frames[t->calls->depth - 1].name : 1;
}

HL_EXPORT void __tsan_func_entry(void *call) {
  if (!hl || HL_LIKELY(!hl->stacks)) return;
  struct hl_thread *t = hl_thread();
  if (!t || t->inside) return;
  uint64_t sp = (uint64_t)__builtin_dwarf_cfa();
  if (hl->mode == HL_PROFILE) {
    hl_record(HL_ENTER, (uint64_t)call, sp, 0, 0);
    return;
  }
  struct hl_calls *c = t->calls;
  if (!c) return;
  while (c->depth && c->frames[c->depth - 1].sp <= sp) c->depth--, c->beyond = 0;
  if (c->depth == DEEPEST) {
    c->beyond++;
    return;
  }
  uint64_t name = fold(hl_calls_now(t), hl_place((uint64_t)call));
  c->frames[c->depth].sp = sp, c->frames[c->depth].name = name;
  c->depth++;
}

HL_EXPORT void __tsan_func_exit(void) {
  if (!hl) return;
  if (HL_UNLIKELY(hl->values)) hl_settle(); // its variables are about to end
  if (HL_LIKELY(!hl->stacks)) return;
  struct hl_thread *t = hl_thread();
  if (!t || t->inside) return;
  if (hl->mode == HL_PROFILE) {
    hl_record(HL_LEAVE, HL_RA, 0, 0, 0);
    return;
  }
  struct hl_calls *c = t->calls;
  if (!c) return;
  if (c->beyond) c->beyond--;
  else if (c->depth) c->depth--;
}
