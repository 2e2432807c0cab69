// stdio.h: FILE streams.
#ifndef HD_IO_STDIO_H
#define HD_IO_STDIO_H
#include "core/registration.h"
#include "memory/shared_state.h"

extern uint8_t hd_stdio_moved;          // descriptors 0, 1, 2 (bits) that may lead elsewhere now
void hd_stdio_settle(uint64_t pc);      // makes stdin, stdout and stderr follow them
void hd_stdio_flush(uint64_t pc);
bool hd_stdio_modelled(const void *f);  // its writes call the runtime
void hd_stream_used(const void *f, enum hd_share how, uint64_t pc); // by a thread beside others; a stream of libc's
bool hd_stdio_close(void *f, uint64_t pc, int *result); // fclose; false: it is libc's
// A stream over the kernel's descriptor fd, whose other end a child process has. wait lets the
// child print n bytes, or end.
void *hd_stdio_child(int fd, const char *mode, int child, void (*wait)(int child, int fd, uint64_t n), uint64_t pc);
int hd_stdio_child_of(const void *f);   // popen's child, or 0
void *hd_stdio_lock(const void *f, uint64_t pc); // its mutex if its writes call the runtime, or NULL

// ---- stream_locks.c: of streams of libc's
void *hd_stream_lock(const void *f);    // a mutex; NULL: the program locks no streams, or not this one
void hd_stream_closes(const void *f, uint64_t pc);
void hd_stream_locks_pass(uint64_t pc); // acquires and releases each, as fflush(NULL) does; the exit does not
extern const struct hd_registration hd_stdio, hd_streams_locked;
#endif
