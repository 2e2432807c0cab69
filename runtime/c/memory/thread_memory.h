// thread_memory.h: the stacks and thread_local storage of threads that have ended. Natively the next thread may use them, or
// they are unmapped. Here they stay until a thread reuses the slot (core/slots.c).
#ifndef HD_MEMORY_THREAD_MEMORY_H
#define HD_MEMORY_THREAD_MEMORY_H
#include "core/registration.h"
#include "core/run.h"

// What threads that have ended used lies in this range, in which other threads' stacks may lie, too. It is empty until a
// thread ends, so a program without ended threads pays one comparison for each access.
extern HD_OWN uint64_t hd_gone_lo, hd_gone_size;

// The thread that used the memory at p and has ended, or NULL.
const struct hd_thread *hd_gone_owner(uint64_t p);
static inline bool hd_thread_gone(uint64_t p) { return HD_UNLIKELY(p - hd_gone_lo < hd_gone_size) && hd_gone_owner(p); }
void hd_thread_memory_ends(struct hd_thread *t);
// Ends the execution with the misuse of memory at p, which hd_thread_gone reports. what is "read of" or similar.
_Noreturn HD_COLD void hd_gone_use(uint64_t p, uint64_t pc, const char *what);
extern const struct hd_registration hd_thread_memory;
#endif
