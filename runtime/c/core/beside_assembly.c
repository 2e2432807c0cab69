// beside_assembly.c: see beside_assembly.h.
#include "core/beside_assembly.h"
#include "core/modules.h"
#include "core/own_memory.h"
#include "core/rings.h"

bool hd_beside_assembly;

// ---- instructions. They stay the same from execution to execution.
enum { INSTRUCTIONS = 1 << 16, KIND_BITS = 2 };
static uint64_t *instructions; // address << KIND_BITS | kind, open addressing
static uint32_t ninstructions;

static uint64_t *instruction(uint64_t pc) {
  uint32_t i = (uint32_t)(hd_mix(pc, 1) >> 32) % INSTRUCTIONS;
  while (instructions[i] && instructions[i] >> KIND_BITS != pc) i = (i + 1) % INSTRUCTIONS;
  return &instructions[i];
}

void hd_instruction_is(uint64_t pc, uint16_t kind) {
  if (!hd_beside_assembly || ninstructions >= INSTRUCTIONS / 2) return;
  uint64_t *at = instruction(pc);
  ninstructions += !*at;
  *at = pc << KIND_BITS | (kind == HD_EV_VOLATILE ? 1 : 2);
}

uint16_t hd_instruction_kind(uint64_t pc) {
  if (!hd_beside_assembly) return 0;
  uint64_t at = *instruction(pc);
  return !at ? 0 : (at & 3) == 1 ? HD_EV_VOLATILE : HD_EV_ASSEMBLY;
}

// ---- memory, by granules of 8 bytes. The set is that of the execution.
enum { MOST = 1 << 14, SLOTS = 2 * MOST };
static struct granule { uint64_t number; uint32_t slot; uint8_t mask; } *granules; // in the order of their first access
static uint32_t *slots; // 1 + index of a granule, open addressing
static uint32_t ngranules;

static uint32_t *slot_of(uint64_t number) {
  uint32_t i = (uint32_t)(hd_mix(number, 2) >> 32) % SLOTS;
  while (slots[i] && granules[slots[i] - 1].number != number) i = (i + 1) % SLOTS;
  return &slots[i];
}

static uint8_t mask_of(uint64_t from, uint64_t to) { return (uint8_t)(0xff >> (8 - (to - from)) << (from & 7)); }

void hd_assembly_accesses(uint64_t address, uint64_t size) {
  if (!hd_beside_assembly) return; // a library that was loaded later has the assembly
  for (uint64_t end = address + size, stop; address < end; address = stop) {
    stop = (address & ~7ull) + 8 < end ? (address & ~7ull) + 8 : end;
    uint32_t *slot = slot_of(address >> 3);
    if (!*slot && ngranules < MOST) {
      granules[ngranules] = (struct granule){ .number = address >> 3, .slot = (uint32_t)(slot - slots) };
      *slot = ++ngranules;
    }
    if (*slot) granules[*slot - 1].mask |= mask_of(address, stop);
  }
}

bool hd_assembly_accessed(uint64_t address, uint64_t size) {
  if (!ngranules) return false;
  for (uint64_t end = address + size, stop; address < end; address = stop) {
    stop = (address & ~7ull) + 8 < end ? (address & ~7ull) + 8 : end;
    uint32_t slot = *slot_of(address >> 3);
    if (slot && granules[slot - 1].mask & mask_of(address, stop)) return true;
  }
  return false;
}

void hd_assembly_forget(uint64_t address, uint64_t size) {
  if (size >> 3 > ngranules) {
    for (uint32_t i = 0; i < ngranules; i++)
      if (granules[i].number - (address >> 3) < size >> 3) granules[i].mask = 0;
    return;
  }
  for (uint64_t number = address >> 3; ngranules && number < (address + size) >> 3; number++) {
    uint32_t slot = *slot_of(number);
    if (slot) granules[slot - 1].mask = 0;
  }
}

static void begin(void) {
  for (uint32_t i = 0; i < ngranules; i++) slots[granules[i].slot] = 0;
  ngranules = 0;
}

static void save(void) {
  static const char *const functions[] = { "heddle_assembly_before", NULL };
  hd_beside_assembly = hd_program_refers(functions);
  if (!hd_beside_assembly || instructions) return;
  instructions = hd_map(INSTRUCTIONS * sizeof *instructions, "instructions beside assembly");
  granules = hd_map(MOST * sizeof *granules, "memory that assembly accesses");
  slots = hd_map(SLOTS * sizeof *slots, "memory that assembly accesses");
}

const struct hd_registration hd_volatiles = { .begin = begin, .save = save };
