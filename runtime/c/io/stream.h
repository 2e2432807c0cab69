// stream.h: the bytes and packets between two ends, and what a read or a write transfers.
#ifndef HD_IO_STREAM_H
#define HD_IO_STREAM_H
#include "io/descriptors.h"

struct hd_msg {
  const struct iovec *iov;
  uint64_t niov, size, done; // done: bytes copied so far
  const struct hd_addr *to;  // of a datagram; NULL: the peer
  struct hd_addr from;       // the sender's address
  int flags;                 // MSG_*
  bool plain;                // read or write, not recv or send
  long offset;               // in the file, -1: the description's position
  int rwf;                   // RWF_*
  uint64_t full;             // length of the packet that was taken
};
void hd_stream_put(struct hd_stream *s, struct hd_msg *m, uint64_t n);
void hd_stream_get(struct hd_stream *s, struct hd_msg *m, uint64_t n, bool peek);
void hd_stream_drop(struct hd_stream *s, uint64_t n);
void hd_stream_put_own(struct hd_stream *s, const void *p, uint64_t n);
void hd_stream_look(const struct hd_stream *s, void *p, uint64_t n);
struct hd_packet { struct hd_addr from; uint64_t n; }; // before the bytes of a packet
enum { HD_PACKET_HEAD = sizeof(struct hd_packet) };
long hd_transfer(int fd, bool write, struct hd_msg *m, uint64_t pc); // reads or writes; bytes, or -errno
void hd_gather(struct hd_msg *m, void *to, uint64_t n);         // the next n bytes of the program's buffers
void hd_scatter(struct hd_msg *m, const void *from, uint64_t n);
void hd_record_io(const struct hd_msg *m, uint64_t n, bool write, uint64_t pc); // the buffers, as accesses to memory
#endif
