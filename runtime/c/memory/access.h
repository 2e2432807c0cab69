// access.h: accesses to memory as events.
#ifndef HD_MEMORY_ACCESS_H
#define HD_MEMORY_ACCESS_H
#include "core/run.h"

bool hd_profiles(void); // counts an event other than a scheduling point; true: the plan wants it
// Code of a library with its own synchronisation (libraries/order.c). Its copies and frees do not
// count as accesses, and other threads may spin while it initialises a mutex.
enum { HD_EXEMPT = 8 };
extern struct hd_exempt { uint64_t lo, size; } hd_exempt[HD_EXEMPT];
extern uint32_t hd_nexempt;
void hd_access_exempt(uint64_t lo, uint64_t size);
static inline bool hd_access_exempts(uint64_t pc) {
  for (uint32_t i = 0; i < hd_nexempt; i++)
    if (pc - hd_exempt[i].lo < hd_exempt[i].size) return true;
  return false;
}
// Code that calls functions of the program: hd_callback runs at the start of each such call, and
// hd_callback_return at its end while hd_callback_returns is set.
extern struct hd_exempt hd_callbacks;
extern void (*hd_callback)(void), (*hd_callback_return)(void);
extern bool hd_callback_returns;
// A volatile access that is an atomic (core/beside_assembly.h): performs its scheduling point and event. False: it is none.
bool hd_volatile_atomic(uint64_t address, uint32_t size, bool store, uint64_t pc);
void hd_access_range(const void *p, uint64_t size, bool write, uint64_t pc);
void hd_access_word(const void *p, uint32_t size, bool write, uint64_t pc); // of 1, 2, 4 or 8 bytes
#endif
