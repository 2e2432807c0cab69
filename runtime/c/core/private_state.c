// private_state.c: see private_state.h.
#include "core/event.h"
#include "core/fiber.h"
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

void hd_private_state(struct hd_thread *t) {
  uint64_t h;
  if (!state(t, &h)) h = hd.points; // not known, so another one each time
  hd_note(t, HD_OP_STATE, 0, 0, h);
}
