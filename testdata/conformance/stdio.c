// heddle: Streams of stdio over pipes and sockets: made by fdopen, and in the place of the standard ones; the order of waiters, what is buffered, and what errors there are.
// kind: clean
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "say.h"

static int p[2], saved[3];
static FILE *from, *to;

// ---- through a pipe that is smaller than what goes through it
enum { LINES = 3000, EACH = 40 };
static void *prints(void *arg) {
  for (int i = 0; i < LINES; i++) fprintf(to, "line %d of %s\n", i, (const char *)arg);
  SAY(fclose(to));
  return NULL;
}
static void through(void) {
  pthread_t t;
  char line[64], *got = NULL;
  size_t room = 0;
  int n = 0, good = 0;
  MUST(pipe(p));
  MUST(!(from = fdopen(p[0], "r")));
  MUST(!(to = fdopen(p[1], "w")));
  SAY(fileno(from) == p[0] && fileno(to) == p[1]);
  pthread_create(&t, NULL, prints, "many");
  for (; n < 10 && fgets(line, sizeof line, from); n++) {
    char want[64];
    snprintf(want, sizeof want, "line %d of many\n", n);
    good += !strcmp(line, want);
  }
  for (int number; n < 20 && fscanf(from, "line %d of many ", &number) == 1; n++) good += number == n;
  for (; getline(&got, &room, from) > 0; n++) {
    int number;
    good += sscanf(got, "line %d of many", &number) == 1 && number == n;
  }
  pthread_join(t, NULL);
  free(got);
  printf("%d lines, %d of them good\n", n, good);
  SAY(feof(from) != 0);
  SAY(ferror(from));
  SAY(fclose(from));
  SAY(close(p[0]) == -1 && errno == EBADF);
}

// ---- one stream, two threads: lines stay whole
static void *shares(void *arg) {
  for (int i = 0; i < EACH; i++) fprintf(to, "%s %d %s\n", (const char *)arg, i, (const char *)arg);
  return NULL;
}
static void *reads_all(void *arg) {
  char line[64];
  int *whole = arg;
  while (fgets(line, sizeof line, from)) {
    char a[16], b[16];
    int i;
    *whole += sscanf(line, "%15s %d %15s\n", a, &i, b) == 3 && !strcmp(a, b);
  }
  return NULL;
}
static void shared(int buffered) {
  pthread_t t[3];
  int whole = 0;
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
  MUST(!(from = fdopen(p[0], "r+")));
  MUST(!(to = fdopen(p[1], "r+")));
  if (!buffered) setvbuf(to, NULL, _IONBF, 0);
  pthread_create(&t[0], NULL, reads_all, &whole);
  pthread_create(&t[1], NULL, shares, "one");
  pthread_create(&t[2], NULL, shares, "another");
  pthread_join(t[1], NULL);
  pthread_join(t[2], NULL);
  SAY(fclose(to));
  pthread_join(t[0], NULL);
  printf("%s: %d whole lines\n", buffered ? "buffered" : "unbuffered", whole);
  SAY(fclose(from));
}

// ---- both ways over one stream
static void *answers(void *arg) {
  char line[64];
  FILE *f = fdopen(*(int *)arg, "r+");
  while (fgets(line, sizeof line, f)) {
    fprintf(f, "you said %s", line);
    fflush(f);
  }
  fclose(f);
  return NULL;
}
static void asked(void) {
  pthread_t t;
  char line[64];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
  pthread_create(&t, NULL, answers, &p[1]);
  FILE *f = fdopen(p[0], "r+");
  for (int i = 0; i < 3; i++) {
    fprintf(f, "%d\n", i);
    fflush(f);
    MUST(!fgets(line, sizeof line, f));
    printf("%s", line);
  }
  shutdown(p[0], SHUT_WR);
  SAY(fgetc(f));
  fclose(f);
  pthread_join(t, NULL);
}

// ---- in the place of the standard streams
static void *collects(void *arg) {
  char *all = arg;
  size_t n = 0;
  ssize_t k;
  while ((k = read(p[0], all + n, 4000 - n)) > 0) n += (size_t)k;
  all[n] = 0;
  return NULL;
}
static void instead(void) {
  static char all[4096];
  pthread_t t;
  fflush(stdout);
  MUST(pipe(p));
  for (int i = 1; i < 3; i++) saved[i] = dup(i);
  pthread_create(&t, NULL, collects, all);
  fputs("before, ", stdout); // not written yet: it goes where the descriptor leads then
  dup2(p[1], 1);
  dup2(p[1], 2);
  close(p[1]);
  printf("%d, ", 1);
  puts("two");
  putchar('3');
  fputc('\n', stdout);
  fwrite("four\n", 1, 5, stdout);
  fflush(stdout);
  fprintf(stderr, "error %d\n", 5); // at once
  errno = ENOENT;
  perror("file");
  printf("the rest"); // goes with the descriptor again
  dup2(saved[1], 1);
  dup2(saved[2], 2);
  pthread_join(t, NULL);
  printf(" is here\n[%s]\n", all);
}
static void *feeds(void *arg) {
  (void)arg;
  dprintf(p[1], "12 words\n and a line\nx");
  close(p[1]);
  return NULL;
}
static void in_the_place_of_input(void) {
  pthread_t t;
  int n = 0;
  char word[16], line[32];
  MUST(pipe(p));
  dup2(p[0], 0);
  close(p[0]);
  pthread_create(&t, NULL, feeds, NULL);
  SAY(scanf("%d %15s ", &n, word));
  MUST(!fgets(line, sizeof line, stdin));
  printf("%d [%s] [%s]\n", n, word, line);
  SAY(getchar() == 'x');
  SAY(getchar() == EOF && feof(stdin));
  pthread_join(t, NULL);
}

// ---- errors
static void errors(void) {
  MUST(pipe(p));
  SAY(fdopen(p[0], "w") == NULL && errno == EINVAL);
  SAY(fdopen(p[0], "q") == NULL && errno == EINVAL);
  SAY(fdopen(77, "r") == NULL && errno == EBADF);
  FILE *w = fdopen(p[1], "w"), *r = fdopen(p[0], "r");
  SAY(fseek(r, 1, SEEK_SET) == -1 && errno == ESPIPE);
  SAY(fcntl(p[0], F_SETFL, O_NONBLOCK));
  SAY(fgetc(r) == EOF && errno == EAGAIN);
  SAY(ferror(r) != 0);
  clearerr(r);
  fputc('a', w);
  SAY(fflush(NULL));
  SAY(fgetc(r) == 'a');
  SAY(ungetc('b', r) == 'b' && fgetc(r) == 'b');
  SAY(fclose(r));
  SAY(fprintf(w, "lost"));
  SAY(fflush(w) == EOF && errno == EPIPE);
  SAY(ferror(w) != 0);
  SAY(fclose(w));
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  through();
  shared(1);
  shared(0);
  asked();
  instead();
  in_the_place_of_input();
  errors();
  MUST(pipe(p)); // flushed when the program ends
  fprintf(fdopen(p[1], "w"), "at the end");
  return 0;
}
