// socket_address.c: a network inside the process: which socket is bound to which address. Loopback
// and AF_UNIX sockets of a controlled program connect to each other here and never reach the kernel,
// so ports are free at once after an execution, and two controlled processes cannot connect.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "io/descriptors.h"
#include "io/socket.h"

enum { MAX_NAMES = 256, EPHEMERAL = 40000 };
// Names of AF_UNIX sockets in the file system stay when the socket is closed.
static struct { struct hd_addr addr; struct hd_file *owner; bool used; } names[MAX_NAMES];
static uint32_t nnames;

static void begin(void) { nnames = 0; }

static bool same_bytes(const void *a, const void *b, uint64_t n) {
  const volatile char *x = a, *y = b;
  for (uint64_t i = 0; i < n; i++) if (x[i] != y[i]) return false;
  return true;
}

int hd_addr_get(const struct sockaddr *sa, socklen_t len, struct hd_addr *a) {
  struct sockaddr_storage s;
  hd_fill(a, 0, sizeof *a);
  hd_fill(&s, 0, sizeof s);
  if (len < sizeof(sa_family_t)) return -EINVAL;
  if (len > sizeof s) return -EINVAL;
  hd_from_program(&s, sa, len);
  a->family = s.ss_family;
  switch (s.ss_family) {
  case AF_INET: {
    const struct sockaddr_in *in = (void *)&s;
    if (len < sizeof *in) return -EINVAL;
    a->port = (uint16_t)__builtin_bswap16(in->sin_port);
    a->ip[10] = a->ip[11] = 0xff;
    hd_copy(a->ip + 12, &in->sin_addr, 4);
    return 0;
  }
  case AF_INET6: {
    const struct sockaddr_in6 *in = (void *)&s;
    if (len < 24) return -EINVAL;
    a->port = (uint16_t)__builtin_bswap16(in->sin6_port);
    hd_copy(a->ip, &in->sin6_addr, 16);
    return 0;
  }
  case AF_UNIX: {
    const struct sockaddr_un *un = (void *)&s;
    uint32_t n = (uint32_t)(len - offsetof(struct sockaddr_un, sun_path));
    if (len > sizeof *un) return -EINVAL;
    if (n && un->sun_path[0]) { // up to its zero
      uint32_t k = 0;
      while (k < n && un->sun_path[k]) k++;
      n = k;
    }
    a->len = n;
    hd_copy(a->path, un->sun_path, n);
    return 0;
  }
  case AF_UNSPEC: return 0;
  }
  return -EAFNOSUPPORT;
}

void hd_addr_put(const struct hd_addr *a, int domain, struct sockaddr *sa, socklen_t *len) {
  struct sockaddr_storage s;
  socklen_t n, room;
  if (!sa || !len) return;
  hd_fill(&s, 0, sizeof s);
  if (domain == AF_INET) {
    struct sockaddr_in *in = (void *)&s;
    in->sin_family = AF_INET;
    in->sin_port = __builtin_bswap16(a->port);
    hd_copy(&in->sin_addr, a->ip + 12, 4);
    n = sizeof *in;
  } else if (domain == AF_INET6) {
    struct sockaddr_in6 *in = (void *)&s;
    in->sin6_family = AF_INET6;
    in->sin6_port = __builtin_bswap16(a->port);
    hd_copy(&in->sin6_addr, a->ip, 16);
    n = sizeof *in;
  } else {
    struct sockaddr_un *un = (void *)&s;
    un->sun_family = AF_UNIX;
    hd_copy(un->sun_path, a->path, a->len);
    n = (socklen_t)offsetof(struct sockaddr_un, sun_path) + a->len + (a->len && a->path[0] ? 1 : 0);
  }
  hd_from_program(&room, len, sizeof room);
  hd_to_program(sa, &s, n < room ? n : room);
  hd_to_program(len, &n, sizeof n);
}

static bool any_ip(const struct hd_addr *a) {
  for (int i = 0; i < 16; i++)
    if (a->ip[i] && !(i >= 10 && i < 12 && a->family == AF_INET)) return false;
  return true;
}
static bool mapped(const struct hd_addr *a) {
  for (int i = 0; i < 10; i++) if (a->ip[i]) return false;
  return a->ip[10] == 0xff && a->ip[11] == 0xff;
}
static bool loopback(const struct hd_addr *a) {
  if (any_ip(a)) return true;
  if (mapped(a)) return a->ip[12] == 127 || (a->ip[12] | a->ip[13] | a->ip[14] | a->ip[15]) == 0;
  for (int i = 0; i < 15; i++) if (a->ip[i]) return false;
  return a->ip[15] == 1;
}

// Reports whether a socket bound to `at` receives what is sent to `to`.
static bool hears(const struct hd_file *f, const struct hd_addr *to) {
  const struct hd_addr *at = &f->sock->local;
  if (at->family == AF_UNIX || to->family == AF_UNIX)
    return at->family == to->family && at->len == to->len && same_bytes(at->path, to->path, at->len);
  if (at->port != to->port) return false;
  if (any_ip(at)) return at->family == AF_INET6 ? !(mapped(to) && hd_sock_flag(f->sock, IPPROTO_IPV6, IPV6_V6ONLY)) : mapped(to) || any_ip(to);
  return any_ip(to) || same_bytes(at->ip, to->ip, 16);
}

bool hd_addr_known(const struct hd_addr *a) {
  if (a->len && !a->path[0]) return true; // an abstract name fails with ECONNREFUSED, never ENOENT
  for (uint32_t i = 0; i < nnames; i++)
    if (names[i].used && names[i].addr.len == a->len && same_bytes(names[i].addr.path, a->path, a->len)) return true;
  return false;
}

struct hd_file *hd_addr_socket(const struct hd_addr *to, int type) {
  if (to->family == AF_INET || to->family == AF_INET6) {
    if (!loopback(to)) hd_unsupported("network traffic that leaves the machine (an address that is not loopback)");
  } else if (to->len && to->path[0]) {
    struct stat st;
    if (!hd_addr_known(to)) {
      char path[109];
      hd_copy(path, to->path, to->len);
      path[to->len] = 0;
      if (hd_sys4(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0 && S_ISSOCK(st.st_mode)) hd_unsupported("a connection to another process (a socket in the file system)");
      return NULL;
    }
  }
  struct hd_file *f, *found = NULL;
  for (uint32_t at = 0; (f = hd_files_each(&at));)
    if (f->kind == HD_FD_SOCKET && f->sock->local.family && f->sock->type == type &&
        (type == SOCK_DGRAM || f->sock->state == HD_SOCK_LISTENING) && hears(f, to)) {
      found = f;
      if (!any_ip(&f->sock->local)) break; // the most specific one
    }
  return found;
}

static bool taken(const struct hd_file *f, const struct hd_addr *a) {
  struct hd_file *g;
  for (uint32_t at = 0; (g = hd_files_each(&at));) {
    if (g == f || g->kind != HD_FD_SOCKET || !g->sock->local.family || g->sock->type != f->sock->type) continue;
    const struct hd_addr *b = &g->sock->local;
    if (a->family == AF_UNIX || b->family == AF_UNIX) {
      if (a->family == b->family && a->len && a->len == b->len && same_bytes(a->path, b->path, a->len) && g->sock->state != HD_SOCK_CONNECTED) return true;
      continue;
    }
    if (a->port != b->port || (!any_ip(a) && !any_ip(b) && !same_bytes(a->ip, b->ip, 16))) continue;
    if (hd_sock_flag(f->sock, SOL_SOCKET, SO_REUSEPORT) && hd_sock_flag(g->sock, SOL_SOCKET, SO_REUSEPORT)) continue;
    if (hd_sock_flag(f->sock, SOL_SOCKET, SO_REUSEADDR) && hd_sock_flag(g->sock, SOL_SOCKET, SO_REUSEADDR) &&
        g->sock->state != HD_SOCK_LISTENING) continue;
    return true;
  }
  return false;
}

int hd_addr_bind(struct hd_file *f, struct hd_addr *a) {
  if (a->family != f->sock->domain) return a->family == AF_UNSPEC ? -EINVAL : -EAFNOSUPPORT;
  if (f->sock->local.family) return -EINVAL;
  if (a->family != AF_UNIX) {
    if (!loopback(a)) return -EADDRNOTAVAIL;
    if (!a->port) {
      for (a->port = EPHEMERAL; taken(f, a) && a->port; a->port++) ;
      if (!a->port) return -EADDRINUSE;
    } else if (taken(f, a)) {
      return -EADDRINUSE;
    }
  } else if (!a->len) { // any abstract name
    static const char digits[] = "0123456789abcdef";
    a->len = 6;
    for (uint32_t n = 0;; n++) {
      for (int i = 0; i < 5; i++) a->path[5 - i] = digits[n >> 4 * i & 15];
      if (!taken(f, a)) break;
    }
  } else {
    if (taken(f, a)) return -EADDRINUSE;
    if (a->path[0]) {
      struct stat st;
      char path[109];
      hd_copy(path, a->path, a->len);
      path[a->len] = 0;
      uint32_t i = 0;
      if (hd_addr_known(a) || hd_sys4(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0) return -EADDRINUSE;
      while (i < nnames && names[i].used) i++;
      if (i == MAX_NAMES) hd_unsupported("more than 256 sockets with names in the file system");
      if (i == nnames) nnames++;
      names[i].addr = *a;
      names[i].owner = f;
      names[i].used = true;
    }
  }
  f->sock->local = *a;
  return 0;
}

void hd_addr_bind_any(struct hd_file *f) {
  if (f->sock->local.family) return;
  struct hd_addr a = { .family = f->sock->domain };
  if (a.family == AF_UNIX) return;
  if (a.family == AF_INET) {
    a.ip[10] = a.ip[11] = 0xff;
    a.ip[12] = 127;
  }
  a.ip[15] = 1;
  if (hd_addr_bind(f, &a) < 0) hd_unsupported("more than 25,000 local ports at a time");
}

void hd_addr_closed(struct hd_file *f) {
  for (uint32_t i = 0; i < nnames; i++)
    if (names[i].owner == f) names[i].owner = NULL;
}

bool hd_addr_unlink(const char *path) {
  uint64_t n = hd_strlen(path);
  for (uint32_t i = 0; i < nnames; i++)
    if (names[i].used && names[i].addr.len == n && same_bytes(names[i].addr.path, path, n)) {
      names[i].used = false;
      // No connection finds it by this name from now on.
      if (names[i].owner) names[i].owner->sock->local.len = 0;
      return true;
    }
  return false;
}

const struct hd_registration hd_socket_addresses = { .begin = begin };
