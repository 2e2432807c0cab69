// heddle: Waits with a mask of their own: which signals come in them, in what order, what they return, and which mask is in force afterwards.
// kind: clean
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
#include "say.h"

static int fd, ep;
static sigset_t blocked, open_for_all;
static char order[64];
static int came;
static sigjmp_buf env;

static void note(char c) {
  order[came++] = c;
  order[came] = 0;
}
static void on(int sig) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  note(sig == SIGUSR1 ? '1' : sig == SIGUSR2 ? '2' : '?');
  note(sigismember(&now, SIGUSR1) ? 'b' : '-');
  note(sigismember(&now, SIGUSR2) ? 'b' : '-');
}
static void plain(int sig) { note(sig == SIGUSR1 ? '1' : sig == SIGUSR2 ? '2' : '?'); } // no scheduling point in it
static void jump(int sig) { (void)sig; siglongjmp(env, 1); }
static void nests(int sig) {
  note(sig == SIGUSR1 ? '1' : '2');
  struct pollfd x = { fd, POLLIN, 0 };
  sigset_t none;
  sigemptyset(&none);
  if (sig == SIGUSR1) {
    raise(SIGUSR2); // blocked meanwhile
    note(ppoll(&x, 1, NULL, &none) == -1 && errno == EINTR ? 'i' : '?');
  }
}

static long use_ppoll(int ms) {
  struct pollfd x = { fd, POLLIN, 0 };
  struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };
  return ppoll(&x, 1, ms < 0 ? NULL : &ts, &open_for_all);
}
static long use_pselect(int ms) {
  fd_set r;
  struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };
  FD_ZERO(&r);
  FD_SET(fd, &r);
  return pselect(fd + 1, &r, NULL, NULL, ms < 0 ? NULL : &ts, &open_for_all);
}
static long use_epoll(int ms) { struct epoll_event e; return epoll_pwait(ep, &e, 1, ms, &open_for_all); }
static long use_epoll2(int ms) {
  struct epoll_event e;
  struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };
  return epoll_pwait2(ep, &e, 1, ms < 0 ? NULL : &ts, &open_for_all);
}
static long use_nothing(int ms) {
  struct timespec ts = { 1000, 0 };
  if (ms >= 0) ts = (struct timespec){ 0, ms * 1000000 };
  return ppoll(NULL, 0, &ts, &open_for_all);
}
static const struct { const char *name; long (*call)(int ms); } calls[] = {
  { "ppoll", use_ppoll }, { "pselect", use_pselect }, { "epoll_pwait", use_epoll }, { "epoll_pwait2", use_epoll2 }, { "ppoll of nothing", use_nothing },
};

static void said(const char *name, const char *what, long r, int err) {
  sigset_t now, pending;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  sigpending(&pending);
  printf("%s, %s: %ld %s, handlers %s, blocked %d%d, pending %d%d\n", name, what, r, r < 0 ? name_of(err) : "", order,
         sigismember(&now, SIGUSR1), sigismember(&now, SIGUSR2), sigismember(&pending, SIGUSR1), sigismember(&pending, SIGUSR2));
  came = 0;
  order[0] = 0;
}
#define TRY(what, ms) do { long tried = calls[i].call(ms); said(name, what, tried, errno); } while (0)
static void fill(int full) { // the eventfd
  uint64_t v = 1;
  if (full) MUST(write(fd, &v, 8) != 8);
  else MUST(read(fd, &v, 8) != 8);
}
static void forget(void) { // what is pending
  signal(SIGUSR1, SIG_IGN);
  signal(SIGUSR2, SIG_IGN);
}
static void handle(void (*f)(int)) {
  struct sigaction a = { .sa_handler = f, .sa_flags = SA_RESTART };
  sigaction(SIGUSR1, &a, NULL);
  sigaction(SIGUSR2, &a, NULL);
}

static atomic_int waiting;
static void *sender(void *to) {
  while (!atomic_load(&waiting)) nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
  nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
  pthread_kill(*(pthread_t *)to, SIGUSR1);
  return NULL;
}

int main(void) {
  volatile long r = 0;
  sigemptyset(&open_for_all);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigaddset(&blocked, SIGUSR2);
  MUST((fd = eventfd(0, EFD_NONBLOCK)) < 0);
  MUST((ep = epoll_create1(0)) < 0);
  MUST(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN }));
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
    const char *name = calls[i].name;
    handle(on);
    raise(SIGUSR1);
    TRY("pending before", -1);
    raise(SIGUSR1);
    raise(SIGUSR2);
    TRY("two pending", -1);
    handle(plain);
    raise(SIGUSR1);
    raise(SIGUSR2);
    TRY("two pending, plain handlers", -1);
    if (calls[i].call != use_nothing) {
      raise(SIGUSR1);
      fill(1);
      TRY("pending, but ready", -1);
      fill(0);
      TRY("pending, no time", 0); // epoll does not look
      fill(1);
      TRY("ready", -1);
      fill(0);
    }
    TRY("time passes", 3);
    forget();
    handle(on);
    atomic_store(&waiting, 0);
    pthread_t self = pthread_self(), t;
    pthread_create(&t, NULL, sender, &self);
    atomic_store(&waiting, 1);
    TRY("sent meanwhile", -1);
    pthread_join(t, NULL);
    handle(jump);
    raise(SIGUSR1);
    if (!sigsetjmp(env, 1)) calls[i].call(-1);
    said(name, "jumped out of", 0, 0);
    handle(nests);
    sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = nests, .sa_mask = blocked }, NULL);
    raise(SIGUSR1);
    TRY("one in its handler", -1);
    // The other way round: what only the call blocks comes when it is over.
    forget();
    handle(on);
    pthread_sigmask(SIG_SETMASK, &open_for_all, NULL);
    sigset_t keep = open_for_all;
    open_for_all = blocked;
    atomic_store(&waiting, 0);
    pthread_create(&t, NULL, sender, &self);
    atomic_store(&waiting, 1);
    while (!came) r = calls[i].call(20);
    said(name, "blocked meanwhile", r, errno);
    pthread_join(t, NULL);
    open_for_all = keep;
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
  }
  handle(plain);
  raise(SIGUSR1);
  raise(SIGUSR2);
  r = sigsuspend(&open_for_all);
  said("sigsuspend", "two pending", r, errno);
  struct timespec bad = { 0, -1 };
  SAY(ppoll(NULL, 0, &bad, &open_for_all) == -1 && errno == EINVAL);
  return 0;
}
