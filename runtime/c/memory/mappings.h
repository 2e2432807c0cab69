// mappings.h: the process's memory mappings.
#ifndef HD_MEMORY_MAPPINGS_H
#define HD_MEMORY_MAPPINGS_H
#include "core/registration.h"

uint32_t hd_maps_each(void (*f)(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest)); // number of mappings
void *hd_map_place(uint64_t bytes);    // returns an address for a mapping without a fixed address
void hd_mapped_twice(void);            // some memory has two addresses
extern const struct hd_registration hd_mappings;

// ---- snapshot.c
struct hd_extent { uintptr_t lo, hi; }; // whole pages; empty if lo >= hi
extern struct hd_extent hd_padding[3];  // memory that does not change during an execution (process/initial_stack.c)
extern const struct hd_registration hd_snapshot;

// ---- address_space.c
void hd_area_prepare(void);
bool hd_area_above(uintptr_t address); // address lies where the program maps nothing during an execution
bool hd_area_empty(void);
#endif
