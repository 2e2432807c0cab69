// threads.h: places for threads, and making them.
#ifndef HD_CORE_THREADS_H
#define HD_CORE_THREADS_H
#include "core/fiber.h"

// ---- slots.c: places in hd_threads, and the hosts that go with them
void hd_slots_begin(void);                    // an execution begins
// For a new thread that runs on a host, or (host NULL) runs no code. Ends the execution if there are no more.
struct hd_thread *hd_slot_get(struct hd_host **host);
void hd_slot_retire(struct hd_thread *t);     // it has ended, and the program cannot refer to it any more
struct hd_thread *hd_thread_numbered(uint32_t number); // NULL: never started, or its slot has been reused

// ---- threads.c
struct hd_thread *hd_thread_new(struct hd_thread *parent, bool code); // code: it runs some
struct hd_thread *hd_thread_of(uintptr_t pthread); // NULL: no such thread
void hd_thread_report(const struct hd_thread *t); // while events are asked for
void hd_thread_tell(const struct hd_thread *t);   // if they are: those after this can name its stack, those before it must not
#endif
