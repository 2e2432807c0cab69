// beside_assembly.h: volatile accesses to memory that inline assembly accesses, too.
//
// C has no other way to write a plain load or store beside a lock that is written in assembly: a spin lock is taken by an
// exchange and released by a volatile store, which the processor performs as an atomic. So a volatile access to bytes that an
// instruction of inline assembly has accessed in the execution is an atomic: a load with acquire, a store with release. Before
// that it is a plain access, and does not race with what the assembly does later. Everywhere else volatile orders nothing.
#ifndef HD_CORE_BESIDE_ASSEMBLY_H
#define HD_CORE_BESIDE_ASSEMBLY_H
#include "core/registration.h"

extern bool hd_beside_assembly; // the program has inline assembly with hooks; nothing of this file happens otherwise

// What kind of instruction a call of a hook is for: HD_EV_VOLATILE, HD_EV_ASSEMBLY, or 0.
void hd_instruction_is(uint64_t pc, uint16_t kind);
uint16_t hd_instruction_kind(uint64_t pc);

void hd_assembly_accesses(uint64_t address, uint64_t size);
bool hd_assembly_accessed(uint64_t address, uint64_t size);
void hd_assembly_forget(uint64_t address, uint64_t size); // other objects follow there

extern const struct hd_registration hd_volatiles;
#endif
