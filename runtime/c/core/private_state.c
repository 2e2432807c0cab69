// private_state.c: see private_state.h.
#include <unwind.h>
#include "core/event.h"
#include "core/fiber.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/private_state.h"
#include "core/rings.h"
#include "core/side_stack.h"

enum { MOST = 256 << 10 }; // bytes of stack that are looked at

// A function leaves nothing in the other registers when it calls one of the runtime's. The frames of the runtime's functions that
// are on the program's stack belong to the state: they hold the registers that these use.
static bool state(const struct hd_thread *t, uint64_t *hash) {
  uintptr_t sp = hd_program_sp(), lo = hd_stack_lo(t), hi = hd_stack_hi(t);
  if (!sp || sp - lo >= hi - lo || hi - sp > MOST) return false;
  uint64_t h = hd.effects; // state that changed elsewhere may end what the thread does
  for (unsigned i = 0; i < HD_PROGRAM_REGISTERS; i++) h = hd_mix(h, hd_program_register(i));
  for (const uint64_t *p = (const uint64_t *)(sp & ~7ull); p < (const uint64_t *)hi; p++) h = hd_mix(h, *p);
  *hash = h;
  return true;
}

// ---- the words of the state
enum {
  FRAMES = 16,
  WORDS = 4096, // of the stack, that are sent one by one
};

// The functions of the program on the stack, innermost first: where they go on when the calls that they make return, and
// their stack pointers then.
struct frames {
  uint64_t pc[FRAMES], sp[FRAMES], registers[HD_PROGRAM_REGISTERS];
  uint32_t n;
};

// The registers that a called function leaves as they are, by their numbers in DWARF, and in instructions.
static const uint8_t dwarf[HD_PROGRAM_REGISTERS] = { 3, 6, 12, 13, 14, 15 };
static const uint8_t encoded[HD_PROGRAM_REGISTERS] = { 3, 5, 12, 13, 14, 15 };

static _Unwind_Reason_Code frame(struct _Unwind_Context *c, void *arg) {
  struct frames *f = arg;
  uint64_t pc = _Unwind_GetIP(c);
  if (!pc || f->n == FRAMES) return _URC_END_OF_STACK;
  if (hd_in_runtime(pc)) return f->n ? _URC_END_OF_STACK : _URC_NO_REASON;
  for (unsigned i = 0; !f->n && i < HD_PROGRAM_REGISTERS; i++) f->registers[i] = _Unwind_GetGR(c, dwarf[i]);
  f->pc[f->n] = pc;
  f->sp[f->n++] = _Unwind_GetCFA(c);
  return _URC_NO_REASON;
}

static void note(struct hd_thread *t, uint64_t pc, uint64_t aux, uint64_t value) {
  uint64_t keep = t->pend.pc;
  t->pend.pc = pc;
  hd_note(t, HD_OP_WORD, 0, aux, value);
  t->pend.pc = keep;
}

static void words(struct hd_thread *t) {
  struct frames f = { .n = 0 };
  enum hd_mode mode = hd_mode;
  hd_mode = HD_CARRIER; // the unwinder calls libc
  hd_unwinding = true;
  _Unwind_Backtrace(frame, &f);
  hd_unwinding = false;
  hd_mode = mode;
  uintptr_t lo = hd_stack_lo(t), hi = hd_stack_hi(t);
  if (!f.n || f.sp[0] - lo >= hi - lo || hi - f.sp[0] > MOST) return;
  for (uint32_t i = 0; i < f.n; i++) note(t, f.pc[i], f.sp[i], 0);
  for (unsigned i = 0; i < HD_PROGRAM_REGISTERS; i++) note(t, 0, encoded[i], f.registers[i]);
  uint64_t rest = hd.effects;
  uint32_t n = 0;
  for (const uint64_t *p = (const uint64_t *)(f.sp[0] & ~7ull); p < (const uint64_t *)hi; p++)
    if (n++ < WORDS) note(t, 0, (uint64_t)p, *p);
    else rest = hd_mix(rest, *p);
  note(t, 0, HD_WORD_REST, rest);
}

void hd_private_state(struct hd_thread *t) {
  uint64_t h;
  if (!state(t, &h)) h = hd.points; // not known, so another one each time
  hd_note(t, HD_OP_STATE, 0, 0, h);
  if (hd.plan.words_from && hd.points >= hd.plan.words_from) words(t);
}
