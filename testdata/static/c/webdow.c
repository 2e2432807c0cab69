// A parallel downloader: two workers fetch pages from a server on the loopback interface.
// The server is a process of its own (webdow.py), so that it is not part of the trace; the
// program is given its port, and without one it reads the pages from files it makes.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAGES = 24, WORKERS = 2, CHUNK = 1024 };

static int port;
static int next; // page, guarded by todo
static pthread_mutex_t todo = PTHREAD_MUTEX_INITIALIZER;
static long bytes, sizes[PAGES]; // guarded by done
static pthread_mutex_t done = PTHREAD_MUTEX_INITIALIZER;
static volatile long progress[WORKERS];

// Opens page n: a connection to the server that has been asked for it, or a file.
static int page(int n) {
  if (!port) {
    FILE *f = tmpfile();
    for (int i = 0; i < 1000 + 700 * n; i++) fputc('x', f);
    rewind(f);
    int fd = dup(fileno(f));
    fclose(f);
    return fd;
  }
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr = { htonl(INADDR_LOOPBACK) } };
  char ask[64];
  int len = snprintf(ask, sizeof ask, "GET /page%d HTTP/1.0\r\n\r\n", n);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) || write(fd, ask, (size_t)len) != len) {
    perror("page");
    exit(1);
  }
  return fd;
}

static void *worker(void *arg) {
  int w = (int)(long)arg;
  for (;;) {
    pthread_mutex_lock(&todo);
    int n = next < PAGES ? next++ : PAGES;
    pthread_mutex_unlock(&todo);
    if (n == PAGES) return 0;
    int fd = page(n);
    char chunk[CHUNK];
    long size = 0;
    for (ssize_t got; (got = read(fd, chunk, sizeof chunk)) > 0;) {
      size += got;
      progress[w] += got;
    }
    close(fd);
    pthread_mutex_lock(&done);
    bytes += size;
    sizes[n] = size;
    pthread_mutex_unlock(&done);
  }
}

int main(int argc, char **argv) {
  if (argc > 1) port = atoi(argv[1]);
  pthread_t t[WORKERS];
  for (int i = 0; i < WORKERS; i++) pthread_create(&t[i], 0, worker, (void *)(long)i);
  for (int i = 0; i < WORKERS; i++) pthread_join(t[i], 0);
  long sum = 0;
  for (int i = 0; i < PAGES; i++) sum += sizes[i];
  assert(sum == bytes && bytes > 0);
  return 0;
}
