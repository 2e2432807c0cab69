// event.h: recording of events, and the execution's trace signature.
#ifndef HD_CORE_EVENT_H
#define HD_CORE_EVENT_H
#include "core/run.h"

void hd_event_begin(void);
void hd_event(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags); // records t's pending operation
void hd_event_slot(const struct hd_thread *t); // t owns its slot from this event on
void hd_event_flush(void);
uint64_t hd_events_sent(void); // events of this execution so far
void hd_event_settle(void);                   // reads back the value of the last write
// Called before an access without an event while hd.write_open is set: the access may write there again.
void hd_event_passes(const struct hd_thread *t, uint64_t size, uint16_t op);
// What an event of an access says of the memory in an execution with values: aux is the second half of 16
// bytes. Of a range of more than 8 bytes the value is a hash, never 0. Half and hash are the same wherever the
// program and its memory lie: see event.c.
uint64_t hd_content(uint16_t op, uint64_t addr, uint32_t size, uint64_t *aux);
bool hd_event_copies(const struct hd_thread *t, uint64_t size, uint16_t op); // t's next access may be the read of a struct's copy, whose write is open
void hd_event_forget(void);                   // drops the last write without reading it back
void hd_locals_begin(void);
void hd_local(const struct hd_thread *t, uint64_t pc, uint64_t obj, uint64_t event); // pc: of what t does
void hd_local_left(const struct hd_thread *u, uint64_t obj, uint64_t event); // obj lies in a frame that u has left
void hd_signature_reset(void);
void hd_signature(struct hd_thread *t);
// debugger.c
void hd_debug_begin(void);                    // called before an execution begins
void hd_debug_event(const struct hd_thread *t, uint32_t flags);
void hd_debug_failure(void);
#endif
