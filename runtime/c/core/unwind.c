// unwind.c: call frame information, as the x86-64 ABI and DWARF 5 (6.4) specify it. Of its rules for registers only
// those occur in compiled code that say where on the stack a register is, or that it is unchanged.
#include <link.h>
#include "core/modules.h"
#include "core/unwind.h"

enum { KEPT, SAVED, LOST }; // a register's rule: as in the callee, on the stack, not known
struct row {
  struct { uint8_t rule; int32_t at; } registers[HD_DWARF_REGISTERS]; // at: of SAVED, from the frame's address
  uint64_t base;  // the register from which the frame's address is
  int64_t offset; // so many bytes away
  bool lost;      // an expression computes the frame's address
};

// ---- reading the tables
struct bytes { const uint8_t *at, *end; bool failed; };

static const uint8_t *take(struct bytes *b, uint64_t size) {
  const uint8_t *at = b->at;
  bool fits = size <= (uint64_t)(b->end - at);
  if (!fits) b->failed = true;
  b->at = fits ? at + size : b->end;
  return fits ? at : NULL;
}

static uint64_t number(struct bytes *b, uint32_t size) {
  uint64_t v = 0;
  const uint8_t *at = take(b, size);
  if (at) hd_copy(&v, at, size);
  return v;
}

static int64_t leb(struct bytes *b, bool has_sign) {
  uint64_t v = 0, byte;
  uint32_t shift = 0;
  do {
    byte = number(b, 1);
    if (shift < 64) v |= (byte & 127) << shift;
    shift += 7;
  } while (byte & 128);
  if (has_sign && byte & 64 && shift < 64) v |= ~0ull << shift;
  return (int64_t)v;
}
static uint64_t unsigned_leb(struct bytes *b) { return (uint64_t)leb(b, false); }
static int64_t signed_leb(struct bytes *b) { return leb(b, true); }
static void skip(struct bytes *b) { take(b, unsigned_leb(b)); } // a block that begins with its size

// Encodings of addresses: the format in the low four bits, what it is relative to in the next three.
enum { ABSOLUTE = 0, UDATA4 = 3, SDATA4 = 11, RELATIVE = 0x10, FROM_HEADER = 0x30 };

static uint64_t value(struct bytes *b, uint8_t encoding) {
  switch (encoding & 15) {
  case ABSOLUTE: case 4: case 12: return number(b, 8);
  case UDATA4: return number(b, 4);
  case SDATA4: return (uint64_t)(int32_t)number(b, 4);
  }
  b->failed = true;
  return 0;
}

// ---- finding the entry of a function
struct function { uint64_t lo, hi, code_unit; int64_t data_unit; bool extended; uint8_t encoding; struct bytes initial, program; };

static bool common_part(const uint8_t *at, const uint8_t *end, struct function *f) {
  struct bytes b = { at, end, false };
  uint64_t length = number(&b, 4);
  if (b.failed || length > (uint64_t)(b.end - b.at)) return false; // 64-bit tables, too
  b.end = b.at + length;
  if (number(&b, 4) != 0) return false;
  uint8_t version = (uint8_t)number(&b, 1);
  const char *letters = (const char *)b.at;
  while (number(&b, 1)) {}
  if (b.failed || (version != 1 && version != 3) || (letters[0] && letters[0] != 'z')) return false;
  f->code_unit = unsigned_leb(&b);
  f->data_unit = signed_leb(&b);
  if ((version == 1 ? number(&b, 1) : unsigned_leb(&b)) != HD_DWARF_RETURN) return false;
  f->encoding = ABSOLUTE;
  f->extended = letters[0];
  if (f->extended) {
    struct bytes more = b;
    skip(&b);
    unsigned_leb(&more);
    for (const char *c = letters + 1; *c; c++) {
      if (*c == 'R') f->encoding = (uint8_t)number(&more, 1);
      else if (*c == 'L') number(&more, 1);
      else if (*c == 'P') value(&more, (uint8_t)number(&more, 1));
      else return false; // S: the frame of a signal handler
    }
    b.failed |= more.failed;
  }
  f->initial = b;
  return !b.failed;
}

static bool entry_of(uint64_t pc, struct function *f) {
  uintptr_t lo = hd_module_start(pc);
  const ElfW(Ehdr) *e = (const void *)lo;
  if (!lo || e->e_ident[0] != ELFMAG0 || e->e_ident[1] != 'E' || e->e_ident[2] != 'L' || e->e_ident[3] != 'F') return false;
  const ElfW(Phdr) *p = (const void *)(lo + e->e_phoff), *first = NULL, *index = NULL, *part = NULL;
  for (int i = 0; i < e->e_phnum; i++) {
    if (p[i].p_type == PT_LOAD && !first) first = &p[i];
    if (p[i].p_type == PT_GNU_EH_FRAME) index = &p[i];
  }
  if (!first || !index) return false;
  for (int i = 0; i < e->e_phnum; i++)
    if (p[i].p_type == PT_LOAD && index->p_vaddr - p[i].p_vaddr < p[i].p_filesz) part = &p[i];
  if (!part) return false;
  uintptr_t base = lo - first->p_vaddr;
  const uint8_t *begin = (const uint8_t *)(base + part->p_vaddr), *end = begin + part->p_filesz, *header = (const uint8_t *)(base + index->p_vaddr);
  struct bytes b = { header, end, false };
  bool sorted = number(&b, 1) == 1 && (number(&b, 1) & 15) == SDATA4 && number(&b, 1) == UDATA4 && number(&b, 1) == (FROM_HEADER | SDATA4);
  if (!sorted) return false;
  number(&b, 4);
  uint64_t n = number(&b, 4), i = 0;
  if (b.failed || n > (uint64_t)(b.end - b.at) / 8) return false;
  struct row_of_index { int32_t begin, entry; } row;
  const uint8_t *rows = b.at;
  for (uint64_t beyond = n; i < beyond;) { // the number of functions that begin at pc or before
    uint64_t middle = (i + beyond) / 2;
    hd_copy(&row, rows + middle * sizeof row, sizeof row);
    if ((uint64_t)header + (uint64_t)(int64_t)row.begin <= pc) i = middle + 1;
    else beyond = middle;
  }
  if (!i) return false;
  hd_copy(&row, rows + (i - 1) * sizeof row, sizeof row);
  b.at = header + row.entry;
  if (b.at < begin || b.at >= end) return false;
  uint64_t length = number(&b, 4);
  if (b.failed || length > (uint64_t)(b.end - b.at)) return false;
  b.end = b.at + length;
  const uint8_t *here = b.at, *common = here - number(&b, 4);
  if (common < begin || common >= end || !common_part(common, end, f)) return false;
  if (f->encoding & 0xf0 && (f->encoding & 0xf0) != RELATIVE) return false;
  uint64_t from = f->encoding & RELATIVE ? (uint64_t)b.at : 0;
  f->lo = from + value(&b, f->encoding);
  f->hi = f->lo + value(&b, f->encoding);
  if (f->extended) skip(&b);
  f->program = b;
  return !b.failed && pc >= f->lo && pc < f->hi;
}

// ---- the rules at an instruction
enum { REMEMBERED = 4 };
struct rules { struct row row, initial, remembered[REMEMBERED]; uint32_t nremembered; uint64_t pc; };

static bool set(struct rules *r, uint64_t reg, uint8_t rule, int64_t at) {
  if (reg >= HD_DWARF_REGISTERS) return true; // vector registers, which hold no address
  r->row.registers[reg].rule = rule;
  r->row.registers[reg].at = (int32_t)at;
  return at == (int32_t)at;
}

static bool restore(struct rules *r, uint64_t reg) {
  if (reg < HD_DWARF_REGISTERS) r->row.registers[reg] = r->initial.registers[reg];
  return true;
}

// Performs an instruction other than an advance.
static bool perform(struct rules *r, const struct function *f, uint8_t op, struct bytes *b) {
  uint64_t reg;
  if (op >> 6 == 2) return set(r, op & 63, SAVED, (int64_t)unsigned_leb(b) * f->data_unit);
  if (op >> 6 == 3) return restore(r, op & 63);
  switch (op) {
  case 0x00: return true;                                               // nop
  case 0x05: reg = unsigned_leb(b); return set(r, reg, SAVED, (int64_t)unsigned_leb(b) * f->data_unit); // offset_extended
  case 0x06: return restore(r, unsigned_leb(b));                        // restore_extended
  case 0x07: return set(r, unsigned_leb(b), LOST, 0);                   // undefined
  case 0x08: return set(r, unsigned_leb(b), KEPT, 0);                   // same_value
  case 0x09: reg = unsigned_leb(b); unsigned_leb(b); return set(r, reg, LOST, 0); // register
  case 0x0a:                                                            // remember_state
    if (r->nremembered == REMEMBERED) return false;
    r->remembered[r->nremembered++] = r->row;
    return true;
  case 0x0b:                                                            // restore_state
    if (!r->nremembered) return false;
    r->row = r->remembered[--r->nremembered];
    return true;
  case 0x0c:                                                            // def_cfa
    r->row.base = unsigned_leb(b);
    r->row.offset = (int64_t)unsigned_leb(b);
    r->row.lost = false;
    return true;
  case 0x0d: r->row.base = unsigned_leb(b); return true;                // def_cfa_register
  case 0x0e: r->row.offset = (int64_t)unsigned_leb(b); return true;     // def_cfa_offset
  case 0x0f: r->row.lost = true; skip(b); return true;                  // def_cfa_expression
  case 0x10: case 0x16: reg = unsigned_leb(b); skip(b); return set(r, reg, LOST, 0); // expression, val_expression
  case 0x11: reg = unsigned_leb(b); return set(r, reg, SAVED, signed_leb(b) * f->data_unit); // offset_extended_sf
  case 0x12:                                                            // def_cfa_sf
    r->row.base = unsigned_leb(b);
    r->row.offset = signed_leb(b) * f->data_unit;
    r->row.lost = false;
    return true;
  case 0x13: r->row.offset = signed_leb(b) * f->data_unit; return true; // def_cfa_offset_sf
  case 0x14: case 0x15: reg = unsigned_leb(b); unsigned_leb(b); return set(r, reg, LOST, 0); // val_offset, val_offset_sf
  case 0x2e: unsigned_leb(b); return true;                              // GNU_args_size
  }
  return false;
}

// Performs instructions up to those for code beyond pc.
static bool follow(struct rules *r, const struct function *f, struct bytes b, uint64_t pc) {
  while (b.at < b.end) {
    uint8_t op = (uint8_t)number(&b, 1);
    uint64_t by = 0;
    if (op >> 6 == 1) by = op & 63;
    else if (op >= 2 && op <= 4) by = number(&b, 1u << (op - 2));
    else {
      if (!perform(r, f, op, &b) || b.failed) return false;
      continue;
    }
    r->pc += by * f->code_unit;
    if (r->pc > pc) return true;
  }
  return !b.failed;
}

// Stores the rules at pc.
static bool rules_at(uint64_t pc, struct row *row) {
  struct function f;
  struct rules r;
  if (!entry_of(pc, &f)) return false;
  hd_fill(&r.row, 0, sizeof r.row);
  r.row.lost = true;
  r.nremembered = 0;
  r.pc = f.lo;
  r.initial = r.row;
  if (!follow(&r, &f, f.initial, pc)) return false;
  r.initial = r.row;
  if (!follow(&r, &f, f.program, pc)) return false;
  *row = r.row;
  return !r.row.lost && r.row.base < HD_DWARF_REGISTERS;
}

// The rules at the places that were asked for last, and the places that have none. Those of modules that come and go are not kept.
enum { ROWS = 2048 };
static struct { uint64_t pc; bool untold; struct row row; } kept[ROWS];

static bool row_at(uint64_t pc, struct row *row) {
  uint32_t i = (uint32_t)(hd_mix(pc, 0) >> 40) % ROWS;
  if (kept[i].pc != pc) {
    if (!hd_module_start(pc) || hd_late_start(pc)) return rules_at(pc, row);
    kept[i].pc = pc;
    kept[i].untold = !rules_at(pc, &kept[i].row);
  }
  if (!kept[i].untold) *row = kept[i].row;
  return !kept[i].untold;
}

enum hd_unwound hd_unwind_step(struct hd_activation *a, uintptr_t limit) {
  struct row row;
  uint64_t sp = a->registers[HD_DWARF_STACK];
  if (!row_at(a->pc - 1, &row)) return HD_UNTOLD; // a call may be the function's last instruction
  if (!(a->known >> row.base & 1)) return HD_UNTOLD;
  uint64_t frame = a->registers[row.base] + (uint64_t)row.offset;
  if (frame <= sp || frame % 8) return HD_UNTOLD;
  if (frame > limit) return HD_REACHES;
  struct hd_activation caller = { .known = 0 };
  for (uint32_t i = 0; i < HD_DWARF_REGISTERS; i++) {
    uint64_t at = frame + (uint64_t)(int64_t)row.registers[i].at;
    switch (row.registers[i].rule) {
    case KEPT:
      caller.registers[i] = a->registers[i];
      caller.known |= a->known & 1u << i;
      break;
    case SAVED:
      if (at < sp || at > frame - 8 || at % 8) return HD_UNTOLD;
      caller.registers[i] = *(const uint64_t *)at;
      caller.known |= 1u << i;
    }
  }
  if (row.registers[HD_DWARF_RETURN].rule != SAVED) return HD_UNTOLD; // the outermost
  caller.pc = caller.registers[HD_DWARF_RETURN];
  caller.registers[HD_DWARF_STACK] = frame;
  caller.known |= 1u << HD_DWARF_STACK;
  *a = caller;
  return HD_UNWOUND;
}
