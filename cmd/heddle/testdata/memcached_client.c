// Clients of memcached, in its own process so that heddle controls both ends. Linked into
// the unmodified program with -Wl,--wrap=main; the server's main runs as it is.
//
// Two clients, each with a connection of its own. Both add to one counter and append to one
// item, and each keeps an item of its own. What they find in the end must be what some order
// of their requests leads to: memcached promises that each request is atomic. Then the server
// is told to stop.
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2, ROUNDS = 2, PORT = 11311 };

int __real_main(int argc, char **argv);

static void fail(const char *what, const char *got) {
  fprintf(stderr, "client: %s: %s\n", what, got);
  abort();
}

struct connection {
  int fd;
  char in[8192];
  size_t have;
};

static int connected(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (;;) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) fail("socket", strerror(errno));
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) return fd;
    if (errno != ECONNREFUSED) fail("connect", strerror(errno));
    close(fd);
    usleep(1000); // the server is not there yet
  }
}

// Sends a request and reads until the answer ends with the given line.
static const char *ask(struct connection *c, const char *request, const char *last) {
  for (size_t n = strlen(request), done = 0; done < n;) {
    ssize_t w = write(c->fd, request + done, n - done);
    if (w < 0) fail("write", strerror(errno));
    done += w;
  }
  c->have = 0;
  for (;;) {
    ssize_t r = read(c->fd, c->in + c->have, sizeof c->in - 1 - c->have);
    if (r <= 0) fail(request, r < 0 ? strerror(errno) : "the server has closed the connection");
    c->have += r;
    c->in[c->have] = 0;
    size_t n = strlen(last);
    if (n == 0 ? c->in[c->have - 1] == '\n' : c->have >= n && strcmp(c->in + c->have - n, last) == 0) return c->in;
  }
}

static void want(struct connection *c, const char *request, const char *answer) {
  const char *got = ask(c, request, "");
  if (strcmp(got, answer) != 0) fail(request, got);
}

static void *client(void *arg) {
  int me = *(int *)arg;
  struct connection c = {.fd = connected()};
  char request[128], answer[128];
  snprintf(request, sizeof request, "set own%d 0 0 1\r\n0\r\n", me);
  want(&c, request, "STORED\r\n");
  // One of the clients makes the counter and the list.
  const char *got = ask(&c, "add counter 0 0 1\r\n0\r\n", "");
  if (strcmp(got, "STORED\r\n") != 0 && strcmp(got, "NOT_STORED\r\n") != 0) fail("add counter", got);
  ask(&c, "add list 0 0 1\r\n.\r\n", "");
  for (int i = 0; i < ROUNDS; i++) {
    if (atoi(ask(&c, "incr counter 1\r\n", "")) < i + 1) fail("incr", c.in);
    snprintf(request, sizeof request, "append list 0 0 1\r\n%d\r\n", me);
    want(&c, request, "STORED\r\n");
    snprintf(request, sizeof request, "incr own%d 1\r\n", me);
    snprintf(answer, sizeof answer, "%d\r\n", i + 1);
    want(&c, request, answer);
  }
  snprintf(request, sizeof request, "delete own%d\r\n", me);
  want(&c, request, "DELETED\r\n");
  close(c.fd);
  return NULL;
}

static void *clients(void *arg) {
  pthread_t thread[CLIENTS];
  int number[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) {
    number[i] = i;
    if (pthread_create(&thread[i], NULL, client, &number[i])) fail("pthread_create", "");
  }
  for (int i = 0; i < CLIENTS; i++) pthread_join(thread[i], NULL);
  struct connection c = {.fd = connected()};
  if (atoi(ask(&c, "incr counter 0\r\n", "")) != CLIENTS * ROUNDS) fail("counter", c.in);
  const char *list = ask(&c, "get list\r\n", "END\r\n");
  const char *value = strchr(list, '.');
  int count[CLIENTS] = {0};
  for (; value && *++value >= '0' && *value < '0' + CLIENTS;) count[*value - '0']++;
  for (int i = 0; i < CLIENTS; i++)
    if (count[i] != ROUNDS) fail("list", list);
  // The server's own books. (Not the lists of items by last use, "stats items": a thread of
  // memcached moves items from one to another, and on the way they are in none.)
  const char *stats = ask(&c, "stats\r\n", "END\r\n");
  const char *items = strstr(stats, "STAT curr_items ");
  if (!items || atoi(items + 16) != 2) fail("curr_items is not 2", items ? items : stats);
  const char *sets = strstr(stats, "STAT cmd_set ");
  if (!sets || atoi(sets + 13) != CLIENTS * (3 + ROUNDS)) fail("cmd_set", sets ? sets : stats);
  close(c.fd);
  kill(getpid(), SIGUSR1); // stop, and wait for all threads
  return NULL;
}

int __wrap_main(int argc, char **argv) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, clients, NULL)) fail("pthread_create", "");
  int status = __real_main(argc, argv);
  pthread_join(thread, NULL);
  return status;
}
