// random.h: random numbers and the kernel's random devices.
#ifndef HD_IO_RANDOM_H
#define HD_IO_RANDOM_H
#include "io/stream.h"

uint64_t hd_random_word(void);                 // depends only on the thread and on the number of words it has drawn
void hd_random_fill(void *to, uint64_t n);     // the program's memory
struct stat;
bool hd_random_device(const struct stat *st);  // /dev/random or /dev/urandom
bool hd_random_readable(int fd);               // leads to one, and may be read
long hd_random_read(struct hd_msg *m);         // fills the program's buffers
void *hd_random_stream(int fd, const char *mode); // a FILE that owns the descriptor; NULL and errno
#endif
