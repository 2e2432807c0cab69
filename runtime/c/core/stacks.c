// stacks.c: numbers call stacks, and sends each once.
//
// Frames are instrumented functions' (struct hd_thread.calls) and, innermost, those of library code that one of them
// has called and that performs the operation: without these, a thread that std::thread::join waits for would be
// joined at no line of the program. A recorded execution needs the stack
// of each event, and most events have the stack of the one before them or nearly so. So stacks form
// a tree: a node is a call site below its caller's node. path keeps the nodes of the thread that
// asked last; returning from a function cuts path, and only what was called since is looked up.
#include "core/stacks.h"
#include "core/fiber.h"
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/side_stack.h"
#include "core/unwind.h"

enum {
  SENT = 1 << 16,  // stacks an execution can have; only what is used of the tables takes memory
  NODES = 1 << 18,
  PROBES = 16,
  DEPTH = 48,      // innermost frames that are sent
  INNER = 32,      // calls of code without hooks, of one operation
  NOT_ASKED = ~0u,
};
// epoch tells in which execution an entry was written, so that nothing need be cleared between two.
static struct { uint64_t hash; uint32_t number, epoch; } *sent; // by the frames sent
static struct { uint64_t pc; uint32_t parent, epoch, number; } *nodes; // number: NOT_ASKED until an event has this stack
static uint32_t epoch, nsent;
static struct {
  uint32_t thread;            // its number
  uint32_t known;             // leading frames of the thread whose nodes are in at
  uint32_t at[HD_SHADOW_MAX]; // index in nodes plus 1; 0: the runtime's frames only
} path;

void hd_stacks_begin(void) {
  nsent = 0;
  path.known = 0;
  epoch++;
  if (sent) return;
  sent = hd_map(sizeof *sent * SENT, "call stacks");
  nodes = hd_map(sizeof *nodes * NODES, "call stacks");
}

static uint32_t frames_of(const struct hd_thread *t) { return t->calls.depth < HD_SHADOW_MAX ? t->calls.depth : HD_SHADOW_MAX; }

HD_ON_SIDE_STACK(void, hd_stack_left, (const struct hd_thread *t)) {
  if (path.known > t->calls.depth) path.known = t->calls.depth;
}

// Calls between an operation and the innermost function with hooks, innermost first. The last is in that function.
struct inner { uint32_t n; uint64_t pc[INNER]; };

// Finds the calls of t's operation at pc. Code without hooks does not tell when it is called; the unwind tables say so.
// Whatever they do not say, or say otherwise than the shadow call stack, leaves no call: none is better than a wrong one.
static void inner_calls(const struct hd_thread *t, uint16_t op, uint64_t pc, struct inner *calls) {
  static const uint8_t numbers[HD_PROGRAM_REGISTERS] = HD_DWARF_PROGRAM;
  calls->n = 0;
  bool access = op == HD_OP_READ || op == HD_OP_WRITE || op == HD_OP_READ_RANGE || op == HD_OP_WRITE_RANGE;
  uintptr_t side = t == hd.cur ? hd_side_called() : 0;
  if (!side) side = t->stack.side_top;
  if (!side || t->calls.depth > HD_SHADOW_MAX || (access && hd_has_hooks(pc))) return;
  uintptr_t sp = hd_side_sp(side), limit = t->calls.frames[t->calls.depth - 1].sp + 16; // the stack pointer in the function
  if (sp < hd_stack_lo(t) || sp >= limit || limit > hd_stack_hi(t)) return;
  struct hd_activation a = { .pc = *(const uint64_t *)sp, .known = 1u << HD_DWARF_STACK };
  a.registers[HD_DWARF_STACK] = sp + 8;
  for (unsigned i = 0; i < HD_PROGRAM_REGISTERS; i++) {
    a.registers[numbers[i]] = hd_side_register(side, i);
    a.known |= 1u << numbers[i];
  }
  bool operation = false; // the operation's own frame has been found
  uint32_t n = 0;
  for (uint32_t left = 2 * INNER; left--;) {
    bool own = hd_in_runtime(a.pc);
    if (!own && operation) {
      if (n == INNER) return;
      calls->pc[n++] = a.pc;
    } else if (!own) {
      if (a.pc != pc) return;
      operation = true;
    }
    switch (hd_unwind_step(&a, limit)) {
    case HD_UNWOUND: continue;
    case HD_REACHES:
      if (!own && hd_module_start(a.pc) == hd_module_start(t->calls.functions[t->calls.depth - 1])) calls->n = n;
      return;
    case HD_UNTOLD: return;
    }
  }
}

// Returns the number of t's stack, which it sends if it is new; 0 if there are too many.
static uint32_t number_of(const struct hd_thread *t, const struct inner *inner) {
  struct { uint32_t number, n; uint64_t pc[DEPTH]; } rec;
  uint32_t k = 0;
  for (; k < inner->n; k++) rec.pc[k] = inner->pc[k];
  for (uint32_t i = frames_of(t); i-- && k < DEPTH;)
    if (!hd_in_runtime(t->calls.frames[i].pc)) // the runtime calls main, start routines and handlers
      rec.pc[k++] = t->calls.frames[i].pc;
  if (!k) return 0;
  uint64_t h = k;
  for (uint32_t i = 0; i < k; i++) h = hd_mix(h, rec.pc[i]);
  for (uint32_t s = 0, i = (uint32_t)(h >> 40) % SENT; s < PROBES; s++, i = (i + 1) % SENT) {
    if (sent[i].epoch == epoch && sent[i].hash == h) return sent[i].number;
    if (sent[i].epoch == epoch) continue;
    sent[i].epoch = epoch;
    sent[i].hash = h;
    sent[i].number = ++nsent;
    rec.number = nsent;
    rec.n = k;
    for (uint32_t j = 0; j < k; j++) rec.pc[j] = hd_name(rec.pc[j]);
    hd_out(HD_REC_STACK, &rec, 8 + k * 8);
    return nsent;
  }
  return 0;
}

// Returns the node of a call at pc below parent, or 0 if there is no room for it.
static uint32_t child(uint32_t parent, uint64_t pc) {
  uint32_t i = (uint32_t)(hd_mix(pc, parent) >> 40) % NODES;
  for (uint32_t s = 0; s < PROBES; s++, i = (i + 1) % NODES) {
    if (nodes[i].epoch != epoch) {
      nodes[i].epoch = epoch;
      nodes[i].pc = pc;
      nodes[i].parent = parent;
      nodes[i].number = NOT_ASKED;
      return i + 1;
    }
    if (nodes[i].pc == pc && nodes[i].parent == parent) return i + 1;
  }
  return 0;
}

uint32_t hd_stack_number(const struct hd_thread *t, uint16_t op, uint64_t pc) {
  if (!(hd.plan.flags & HD_PLAN_STACKS) || !t->calls.depth) return 0;
  struct inner inner;
  inner_calls(t, op, pc, &inner);
  if (!hd.record) return number_of(t, &inner); // nothing tells of returns
  uint32_t depth = frames_of(t);
  if (path.thread != t->number) {
    path.thread = t->number;
    path.known = 0;
  }
  for (; path.known < depth; path.known++) {
    uint32_t parent = path.known ? path.at[path.known - 1] : 0;
    uint64_t at = t->calls.frames[path.known].pc;
    if (!hd_in_runtime(at) && !(parent = child(parent, at))) return number_of(t, &inner);
    path.at[path.known] = parent;
  }
  uint32_t node = path.at[depth - 1];
  for (uint32_t i = inner.n; i--;)
    if (!(node = child(node, inner.pc[i]))) return number_of(t, &inner);
  if (!node) return 0;
  if (nodes[node - 1].number == NOT_ASKED) nodes[node - 1].number = number_of(t, &inner);
  return nodes[node - 1].number;
}
