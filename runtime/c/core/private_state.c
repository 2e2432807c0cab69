// private_state.c: see private_state.h.
#include <unwind.h>
#include "core/event.h"
#include "core/fiber.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/private_state.h"
#include "core/rings.h"
#include "core/sched.h"
#include "core/side_stack.h"

enum { MOST = 256 << 10 }; // bytes of stack that are looked at
static const uint64_t SECOND = 1000000000;

// ---- times
static void push(struct hd_moment *list, uint32_t n, struct hd_moment m) {
  for (uint32_t i = n - 1; i; i--) list[i] = list[i - 1];
  list[0] = m;
}

void hd_private_reading_kept(uint64_t at, uint64_t origin) {
  struct hd_moment *list = hd.cur->clock.read;
  if (origin >= SECOND && !(list->at == at && list->origin == origin)) push(list, HD_READINGS, (struct hd_moment){ .at = at, .origin = origin });
}

// The reading that a deadline was computed from is taken to be one of which it is a round time away: the ones after it are not.
void hd_private_deadline_kept(uint64_t at, uint64_t origin) {
  const struct hd_moment *read = hd.cur->clock.read;
  struct hd_moment m = { .at = at, .origin = origin, .after = at - origin - hd.vtime };
  static const uint64_t units[] = { 1000000, 1000, 1 };
  for (uint32_t u = 0; u < 3 && !m.reading; u++)
    for (uint32_t i = 0; i < HD_READINGS && !m.reading; i++)
      if (read[i].origin == origin && (int64_t)(at - read[i].at) % (int64_t)units[u] == 0) {
        m.after = at - read[i].at;
        m.reading = i + 1;
      }
  push(hd.cur->clock.until, HD_DEADLINES, m);
}

void hd_private_after_kept(uint64_t vtime, uint64_t ns) {
  push(hd.cur->clock.until, HD_DEADLINES, (struct hd_moment){ .at = vtime, .after = ns });
}

// What stands for each form that the thread's times may have on its stack.
enum { SLOTS = 256, SECONDS = 1, FRACTION, UNITS, TIMES };
static const uint64_t ROUND = 1000000, FAR = 1ull << 42; // ns; FAR is above an hour
static struct form { uint64_t word, stands; } forms[SLOTS]; // by hash of the word; stands 0: none

static struct form *form(uint64_t word) {
  uint32_t i = (uint32_t)(word * 0x9e3779b97f4a7c15ull >> 56);
  while (forms[i].stands && forms[i].word != word) i = (i + 1) % SLOTS;
  return &forms[i];
}

static void add(uint64_t word, uint64_t stands) {
  struct form *f = form(word);
  if (word && !f->stands) *f = (struct form){ word, stands };
}

static uint64_t stands(const struct hd_moment *m, uint64_t i, uint64_t more) {
  return hd_mix(hd_mix(hd_mix(TIMES + i, m->after), m->reading), more) | 1ull << 63;
}

// Executes what follows for each time m of a thread, with its number i.
#define EACH_TIME(t, m, i) \
  for (uint64_t i = 0; i < HD_DEADLINES + HD_READINGS; i++) \
    for (const struct hd_moment *m = i < HD_DEADLINES ? &(t)->clock.until[i] : &(t)->clock.read[i - HD_DEADLINES]; m && m->at; m = NULL)

// Parts of a time, and coarse times, stand for themselves: two readings may agree in them in one turn and differ in the next.
static void forms_of(const struct hd_thread *t) {
  hd_fill(forms, 0, sizeof forms);
  EACH_TIME(t, m, i) {
    add(m->at, stands(m, i, 0));
    add(m->at - m->origin, stands(m, i, 0));
  }
  EACH_TIME(t, m, i) {
    if (!m->origin) {
      add(m->at - m->after, stands(m, i, 1));
      continue;
    }
    add(m->at / SECOND, SECONDS);
    add(m->at / SECOND * SECOND, SECONDS);
    add(m->at / SECOND + 1, SECONDS);
    add(m->at % SECOND, FRACTION);
    add(m->at % SECOND / 1000, FRACTION);
    add(m->at / 1000, UNITS);
    add(m->at / 1000000, UNITS);
  }
}

// Returns what stands for a time that is one of the thread's, or a round time from one of its readings: a deadline that it has
// computed, and not used yet. 0: it is none.
static uint64_t time_of(const struct hd_thread *t, uint64_t at) {
  EACH_TIME(t, m, i)
    if (m->origin && m->at == at) return stands(m, i, 0);
  for (uint64_t i = 0; i < HD_READINGS && t->clock.read[i].at; i++) {
    int64_t after = (int64_t)(at - t->clock.read[i].at);
    if ((uint64_t)after + FAR < 2 * FAR && after % (int64_t)ROUND == 0) return stands(&t->clock.read[i], i + HD_DEADLINES, (uint64_t)after);
  }
  return 0;
}

// The same for a time in two words.
static uint64_t time_of_both(const struct hd_thread *t, uint64_t seconds, uint64_t fraction) {
  if (seconds >= 100 * SECOND || fraction >= SECOND) return 0;
  uint64_t is = time_of(t, seconds * SECOND + fraction);
  return is || fraction >= 1000000 ? is : time_of(t, seconds * SECOND + fraction * 1000);
}

// Returns what stands for a word of the thread's, or the word.
static uint64_t word_of(const struct hd_thread *t, uint64_t word) {
  const struct form *f = form(word);
  if (f->stands) return f->stands;
  if (word < 1000 || !t->clock.read[0].at) return word;
  if (word < SECOND) {
    for (uint64_t i = 0; i < 2; i++)
      if (t->clock.read[i].at % ROUND && t->clock.read[i].at % ROUND == word % ROUND) return FRACTION;
    return word;
  }
  uint64_t is = time_of(t, word);
  return is ? is : word;
}

// ---- states
//
// A function leaves nothing in the other registers when it calls one of the runtime's. The frames of the runtime's functions that
// are on the program's stack belong to the state: they hold the registers that these use.
static bool state(const struct hd_thread *t, uint64_t *hash) {
  uintptr_t sp = hd_program_sp(), lo = hd_stack_lo(t), hi = hd_stack_hi(t);
  if (!sp || sp - lo >= hi - lo || hi - sp > MOST) return false;
  uint64_t h = hd.effects; // state that changed elsewhere may end what the thread does
  forms_of(t);
  for (unsigned i = 0; i < HD_PROGRAM_REGISTERS; i++) h = hd_mix(h, word_of(t, hd_program_register(i)));
  for (const uint64_t *p = (const uint64_t *)(sp & ~7ull), *end = (const uint64_t *)(hi & ~7ull); p < end; p++) {
    uint64_t both = p + 1 < end && *p >= 1000 ? time_of_both(t, p[0], p[1]) : 0;
    h = hd_mix(h, both ? both : word_of(t, *p));
    if (both) p++;
  }
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
