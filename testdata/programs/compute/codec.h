// A codec for blocks of text: move to front, then runs of zeros by their length. Decoding gives the
// block back, which is how the compressors check their output.
#ifndef CODEC_H
#define CODEC_H

#include "compute.h"

// Upper bound on the packed size of n bytes.
#define PACKED(n) (2 * (n) + 2)

// Accesses that filling, packing and unpacking one byte make.
enum { ACCESSES_PER_BYTE = 35 };

static inline void fill(unsigned char *block, size_t size, unsigned seed) {
  for (size_t i = 0; i < size; i++) block[i] = (unsigned char)("etaoin shrdlu\n"[next_random(&seed) % 14]);
}

static inline void letters(unsigned char front[256]) {
  for (int i = 0; i < 128; i++) front[i] = (unsigned char)(127 - i); // letters first
  for (int i = 128; i < 256; i++) front[i] = (unsigned char)i;
}

// to_front moves the entry at index `at` to the front and returns it.
static inline unsigned char to_front(unsigned char front[256], int at) {
  unsigned char c = front[at];
  for (; at > 0; at--) front[at] = front[at - 1];
  return front[0] = c;
}

// pack returns the number of bytes that it has written to out.
static inline size_t pack(const unsigned char *raw, size_t size, unsigned char *out) {
  unsigned char front[256];
  letters(front);
  size_t n = 0;
  unsigned run = 0;
  for (size_t i = 0; i < size; i++) {
    int at = 0;
    while (front[at] != raw[i]) at++;
    to_front(front, at);
    if (at == 0 && run < 255) {
      run++;
      continue;
    }
    if (run) out[n++] = 0, out[n++] = (unsigned char)run;
    run = at == 0;
    if (at) out[n++] = (unsigned char)at;
  }
  if (run) out[n++] = 0, out[n++] = (unsigned char)run;
  return n;
}

// matches reports whether the n bytes at packed decode to the size bytes at raw.
static inline int matches(const unsigned char *packed, size_t n, const unsigned char *raw, size_t size) {
  unsigned char front[256];
  letters(front);
  size_t done = 0;
  for (size_t i = 0; i < n; i++) {
    int at = packed[i];
    size_t run = at == 0 ? packed[++i] : 1;
    unsigned char c = to_front(front, at);
    for (; run > 0; run--) {
      if (done == size || raw[done++] != c) return 0;
    }
  }
  return done == size;
}

#endif
