// threads.h: allocation of thread slots, and creation of threads.
#ifndef HD_CORE_THREADS_H
#define HD_CORE_THREADS_H
#include "core/fiber.h"

// ---- slots.c: slots of hd_threads, and their host threads
void hd_slots_begin(void);                    // called when an execution begins
// Allocates a slot for a new thread that runs on a host or, if host is NULL, for a pseudo-thread.
// Ends the execution if no slot or host is left.
struct hd_thread *hd_slot_get(struct hd_host **host);
void hd_slot_retire(struct hd_thread *t);     // t has ended and the program can no longer refer to it
struct hd_thread *hd_thread_numbered(uint32_t number); // NULL: the thread never started, or its slot has been reused

// ---- threads.c
struct hd_thread *hd_thread_new(struct hd_thread *parent, bool code); // code: it runs code, unlike a pseudo-thread
void hd_thread_planned(struct hd_thread *t, struct hd_thread *parent, bool code); // the part of hd_thread_new that depends on the plan
struct hd_thread *hd_thread_of(uintptr_t pthread); // NULL: no such thread
bool hd_only_thread(void); // no other thread of the program is alive
void hd_thread_report(const struct hd_thread *t); // called only while events are recorded
void hd_thread_tell(const struct hd_thread *t);   // no effect unless events are recorded; only later events may name t's stack
#endif
