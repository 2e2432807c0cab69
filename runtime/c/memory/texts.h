// texts.h: what libc's functions for text and files access in the program's memory.
#ifndef HD_MEMORY_TEXTS_H
#define HD_MEMORY_TEXTS_H
#include <stdarg.h>
#include "core/modules.h"
#include "core/run.h"

// Reports whether an access of this instruction would be an event or watched. What is costly to find out needs not be
// reported otherwise.
static inline bool hd_access_seen(uint64_t pc) { return hd_active() && (!hd.unobserved || hd_maybe_point(pc)); }

// Report a text of at most so many bytes, its 0 included, and the bytes of a call, as read; call hd_text_done when the call
// has returned.
void hd_text_read(const char *s, size_t most, uint64_t pc);
void hd_bytes_read(const void *p, size_t n, uint64_t pc);
void hd_text_done(void);
// The texts that printf's arguments point to, if reading them is seen.
void hd_printed(const char *format, va_list list, uint64_t pc);
// Report what a call has written already.
void hd_bytes_written(const void *p, size_t n, uint64_t pc);
void hd_text_written(const char *s, uint64_t pc);
void hd_scanned(const char *format, va_list list, int assigned, uint64_t pc); // by scanf, which returned so many; if they are seen
#endif
