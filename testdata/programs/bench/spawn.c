// heddle: Starts a program again and again with posix_spawn and waits for it: what one execution costs without heddle.
// kind: clean
// args: COUNT PROGRAM
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  struct timespec a, b;
  char *args[] = {argv[2], NULL};
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (int i = atoi(argv[1]); i > 0; i--) {
    pid_t pid;
    int status;
    if (posix_spawn(&pid, argv[2], NULL, NULL, args, environ)) return 1;
    if (waitpid(pid, &status, 0) != pid || status) return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("%.9f\n", (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
  return 0;
}
