// heddle: The signal calls of System V and BSD, and the other names that libc has for POSIX's: what each returns.
// kind: clean
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// glibc's headers hide some of these from programs that ask for others.
extern int __sigpause(int, int), __xpg_sigpause(int), siggetmask(void);
extern int __poll(struct pollfd *, nfds_t, int), __sigaction(int, const struct sigaction *, struct sigaction *), __sched_yield(void);
extern ssize_t __recv_chk(int, void *, size_t, size_t, int), __pread_chk(int, void *, size_t, off_t, size_t), __read(int, void *, size_t);
extern int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
#define BIT(sig) (1 << ((sig) - 1))
#define HOLD ((void (*)(int))2)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static volatile sig_atomic_t hits;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int turn;
static void on(int sig) { (void)sig; hits++; }
static const char *handler(void (*h)(int)) { return h == SIG_DFL ? "default" : h == SIG_IGN ? "ignore" : h == HOLD ? "hold" : h == SIG_ERR ? "error" : h == on ? "on" : "?"; }
static void say(const char *what, int r) {
  printf("%s: %d", what, r);
  if (r < 0) printf(" errno %d", errno);
  printf(", %d hits\n", hits);
}
static pthread_t self;
static void *sends(void *p) {
  sigset_t now;
  do { // until main lets it through
    sigpending(&now);
    pthread_kill(self, (int)(long)p);
    __sched_yield();
    pthread_mutex_lock(&m);
    int over = turn;
    pthread_mutex_unlock(&m);
    if (over) return p;
  } while (1);
}
static void during(const char *what, int (*f)(int), int arg, int sig) {
  pthread_t t;
  turn = 0;
  int before = hits;
  pthread_create(&t, NULL, sends, (void *)(long)sig);
  errno = 0;
  int r = f(arg);
  pthread_mutex_lock(&m);
  turn = 1;
  pthread_mutex_unlock(&m);
  pthread_join(t, NULL);
  printf("%s: %d errno %d, %s\n", what, r, errno, hits > before ? "handled" : "not handled");
}
static int posix_pause(int sig) { return __sigpause(sig, 1); }
static int bsd_pause(int bits) { return __sigpause(bits, 0); }

int main(void) {
  self = pthread_self();
  printf("sigset: %s\n", handler(sigset(SIGUSR1, on)));
  printf("again: %s\n", handler(sigset(SIGUSR1, on)));
  say("raise", raise(SIGUSR1));
  printf("hold: %s\n", handler(sigset(SIGUSR1, HOLD)));
  say("held", raise(SIGUSR1));
  printf("held twice: %s\n", handler(sigset(SIGUSR1, HOLD)));
  printf("let go: %s\n", handler(sigset(SIGUSR1, on)));
  say("after", 0);
  printf("bad: %s %d\n", handler(sigset(99, on)), errno);
  say("sighold", sighold(SIGUSR1));
  say("raise", raise(SIGUSR1));
  say("sigrelse", sigrelse(SIGUSR1));
  say("sighold bad", sighold(0));
  say("sigrelse bad", sigrelse(65));
  say("sigignore", sigignore(SIGUSR1));
  say("ignored", raise(SIGUSR1));
  say("sigignore kill", sigignore(SIGKILL));
  printf("signal after sigignore: %s\n", handler(signal(SIGUSR1, on)));
  printf("ssignal: %s\n", handler(ssignal(SIGUSR2, on)));
  say("gsignal", gsignal(SIGUSR2));

  say("sigblock", sigblock(BIT(SIGUSR1)));
  say("siggetmask", siggetmask() == BIT(SIGUSR1));
  say("raise", raise(SIGUSR1));
  say("sigsetmask", sigsetmask(BIT(SIGUSR2)) == BIT(SIGUSR1));
  say("raise", raise(SIGUSR2));
  say("sigsetmask", sigsetmask(0) == BIT(SIGUSR2));
  say("killpg bad", killpg(0, 99));
  say("killpg none", killpg(0, 0));

  sigblock(BIT(SIGUSR1) | BIT(SIGUSR2));
  during("System V pause", posix_pause, SIGUSR1, SIGUSR1);
  during("X/Open pause", __xpg_sigpause, SIGUSR1, SIGUSR1);
  during("BSD pause", bsd_pause, BIT(SIGUSR2), SIGUSR1);
  hits = 0; // how many came depends on the schedule
  say("siggetmask", siggetmask() == (BIT(SIGUSR1) | BIT(SIGUSR2)));
  say("pause bad", __xpg_sigpause(77));

  struct sigaction act;
  say("__sigaction", __sigaction(SIGUSR1, NULL, &act));
  printf("%s\n", handler(act.sa_handler));
  int sv[2];
  char buf[8] = "";
  socketpair(AF_UNIX, SOCK_STREAM, 0, sv);
  struct pollfd f = {sv[0], POLLIN, 0};
  struct timespec now = {0, 0};
  say("nothing", __poll(&f, 1, 0));
  say("send", (int)send(sv[1], "abcd", 4, 0));
  say("__poll", __poll(&f, 1, -1));
  say("__ppoll_chk", __ppoll_chk(&f, 1, &now, NULL, sizeof f));
  say("__recv_chk", (int)__recv_chk(sv[0], buf, 3, sizeof buf, 0));
  say("__read", (int)__read(sv[0], buf + 3, 1));
  printf("%s\n", buf);
  say("__pread_chk", (int)__pread_chk(sv[0], buf, 1, 0, sizeof buf));
  say("locked", pthread_mutex_lock(&m));
  say("busy", pthread_mutex_trylock(&m));
  say("unlocked", pthread_mutex_unlock(&m));
  return 0;
}
