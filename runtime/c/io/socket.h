// socket.h: sockets.
#ifndef HD_IO_SOCKET_H
#define HD_IO_SOCKET_H
#include "io/stream.h"

static inline bool hd_is_tcp(const struct hd_file *f) { return f->sock->type == SOCK_STREAM && f->sock->domain != AF_UNIX; }
short hd_sock_mask(struct hd_file *f);
struct hd_file *hd_socket_of(int fd, long *err); // NULL: *err is -EBADF or -ENOTSOCK
void hd_sock_closed(struct hd_file *f);
uint64_t hd_sock_object(struct hd_file *f, bool write, const struct hd_addr *to);
struct hd_file *hd_addr_socket(const struct hd_addr *to, int type); // the socket bound to that address: listening, or for datagrams
int hd_addr_bind(struct hd_file *f, struct hd_addr *a);             // 0 or -errno
void hd_addr_bind_any(struct hd_file *f);
void hd_addr_closed(struct hd_file *f);
bool hd_addr_unlink(const char *path);                              // reports whether it was a socket's name
int hd_addr_get(const struct sockaddr *sa, socklen_t len, struct hd_addr *a); // 0 or -errno
void hd_addr_put(const struct hd_addr *a, int domain, struct sockaddr *sa, socklen_t *len);
bool hd_addr_known(const struct hd_addr *a);                        // the name of an AF_UNIX socket that may be closed
bool hd_sock_flag(const struct hd_sock *s, int level, int name);      // socket_options.c
enum { HD_SOCK_BUFFER = 212992 };                                   // bytes under way in one direction
bool hd_sock_ready(struct hd_file *f, bool write, uint64_t size);
long hd_sock_transfer(struct hd_file *f, bool write, struct hd_msg *m);
bool hd_sock_aborts(const struct hd_sock *s);                         // SO_LINGER: closing it resets the connection
extern const struct hd_registration hd_socket_addresses;

// ---- tcp.c: of sockets that are hd_is_tcp
bool hd_tcp_ready(const struct hd_file *f, bool write);
long hd_tcp_transfer(struct hd_file *f, bool write, struct hd_msg *m);
short hd_tcp_mask(const struct hd_file *f);
long hd_tcp_shutdown(struct hd_file *f, int how); // SHUT_*; 0 or -errno
void hd_tcp_abort_queue(struct hd_file *f);       // a listener's connections that were not accepted
void hd_tcp_inherit(struct hd_file *f, const struct hd_file *listener); // f is a new connection
void hd_tcp_disconnect(struct hd_file *f);        // resets its connection and returns it to the state after socket()
void hd_tcp_closed(struct hd_file *f);            // informs the other end
#endif
