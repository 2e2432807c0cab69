package cprog

import (
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const signalFrame = `
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static volatile sig_atomic_t hits, flag;
static volatile int number;
static pthread_t self;
static sigjmp_buf env;
siginfo_t info; // not static: glibc's headers say that raise does not come back into this file
static char alt[65536];
static volatile int *bad;
static void on(int sig) { hits++; number = sig; }
static void post(int sig) { (void)sig; hits++; sem_post(&s); }
static void more(int sig, siginfo_t *i, void *x) { (void)sig; (void)x; hits++; info = *i; }
static void jump(int sig) { (void)sig; siglongjmp(env, 7); }
static void again(int sig) { if (++hits < 3) raise(sig); number = hits; }
static void where(int sig) { char here; (void)sig; hits++; flag = &here >= alt && &here < alt + sizeof alt; }
static void repair(int sig, siginfo_t *i, void *x) {
  (void)sig;
  info = *i;
  ((ucontext_t *)x)->uc_mcontext.gregs[REG_RAX] = (long long)&number;
  hits++;
}
static void act(int sig, void (*f)(int), int flags) {
  struct sigaction a = {.sa_handler = f, .sa_flags = flags};
  assert(sigaction(sig, &a, NULL) == 0);
}
static void block(int sig, int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, sig);
  assert(pthread_sigmask(how, &set, NULL) == 0);
}
static void *killer(void *p) { pthread_kill(self, (int)(long)p); return NULL; }
static void *killer_then_post(void *p) { pthread_kill(self, (int)(long)p); sem_post(&s); return NULL; }
static void *locker(void *p) { pthread_mutex_lock(&m); flag = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }
static void notified(union sigval v) { hits += v.sival_int; sem_post(&s); }
static pthread_t spawn(void *(*f)(void *), int sig) { pthread_t t; pthread_create(&t, NULL, f, (void *)(long)sig); return t; }
EXTRA
int main(void) {
  self = pthread_self();
  sem_init(&s, 0, 0);
  BODY
  printf("ok\n");
  return 0;
}`

// What POSIX and Linux promise of signals and timers, by the body of main.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		name, extra, body string
		kind              trace.Kind
		status            int32
		message           string
	}{
		{name: "raise", body: "act(SIGUSR1, on, 0); assert(raise(SIGUSR1) == 0 && hits == 1 && number == SIGUSR1);"},
		{name: "signal", body: "assert(signal(SIGUSR1, on) == SIG_DFL && signal(SIGUSR1, on) == on); kill(getpid(), SIGUSR1); kill(0, SIGUSR1); assert(hits == 2);"},
		{name: "the kernel never learns", body: "act(SIGUSR1, on, 0); assert(syscall(SYS_getpid) == getpid()); assert(sigaction(SIGKILL, &(struct sigaction){.sa_handler = on}, NULL) == -1 && errno == EINVAL); assert(raise(99) == -1 && errno == EINVAL);"},
		{name: "mask and pending", body: "act(SIGUSR1, on, 0); block(SIGUSR1, SIG_BLOCK); raise(SIGUSR1); raise(SIGUSR1); sigset_t p; sigpending(&p); assert(!hits && sigismember(&p, SIGUSR1)); block(SIGUSR1, SIG_UNBLOCK); assert(hits == 1); sigpending(&p); assert(!sigismember(&p, SIGUSR1));"},
		{name: "blocked while it runs", body: "act(SIGUSR1, again, 0); raise(SIGUSR1); assert(hits == 3 && number == 3);"},
		{name: "nodefer nests", extra: "int deepest, depth; static void nest(int sig) { if (++depth > deepest) deepest = depth; if (++hits < 4) raise(sig); depth--; }", body: "act(SIGUSR1, nest, SA_NODEFER); raise(SIGUSR1); assert(deepest == 4);"},
		{name: "without nodefer it does not nest", extra: "int deepest, depth; static void nest(int sig) { if (++depth > deepest) deepest = depth; if (++hits < 4) raise(sig); depth--; }", body: "act(SIGUSR1, nest, 0); raise(SIGUSR1); assert(deepest == 1 && hits == 4);"},
		{name: "sa_mask", extra: "static void pair(int sig) { if (sig == SIGUSR1) { raise(SIGUSR2); assert(!flag); hits++; } else flag = 1; }", body: "struct sigaction a = {.sa_handler = pair}; sigaddset(&a.sa_mask, SIGUSR2); sigaction(SIGUSR1, &a, NULL); act(SIGUSR2, pair, 0); raise(SIGUSR1); assert(hits == 1 && flag == 1);"},
		{name: "resethand", body: "act(SIGUSR1, on, SA_RESETHAND); raise(SIGUSR1); struct sigaction a; sigaction(SIGUSR1, NULL, &a); assert(hits == 1 && a.sa_handler == SIG_DFL); raise(SIGUSR1);", kind: trace.Signal, status: 10},
		{name: "ignored is forgotten", body: "act(SIGUSR1, on, 0); block(SIGUSR1, SIG_BLOCK); raise(SIGUSR1); signal(SIGUSR1, SIG_IGN); signal(SIGUSR1, on); block(SIGUSR1, SIG_UNBLOCK); assert(hits == 0);"},
		{name: "the default ends the process", body: "block(SIGTERM, SIG_BLOCK); raise(SIGTERM); hits = 1; block(SIGTERM, SIG_UNBLOCK);", kind: trace.Signal, status: 15},
		{name: "stop signals", body: "raise(SIGTSTP);", kind: trace.Unsupported, message: "stops the process"},
		{name: "siginfo of kill", body: "act(SIGUSR1, (void (*)(int))more, SA_SIGINFO); kill(getpid(), SIGUSR1); assert(info.si_signo == SIGUSR1 && info.si_code == SI_USER && info.si_pid == getpid() && info.si_uid == getuid()); raise(SIGUSR1); assert(info.si_code == SI_TKILL);"},
		{name: "sigqueue keeps every real-time signal", body: "int n = SIGRTMIN + 1; act(n, (void (*)(int))more, SA_SIGINFO); block(n, SIG_BLOCK); for (int i = 1; i < 4; i++) sigqueue(getpid(), n, (union sigval){.sival_int = i}); sigset_t w; sigemptyset(&w); sigaddset(&w, n); siginfo_t i; assert(sigwaitinfo(&w, &i) == n && i.si_value.sival_int == 1 && i.si_code == SI_QUEUE); block(n, SIG_UNBLOCK); assert(hits == 2 && info.si_value.sival_int == 3);"},
		{name: "tgkill", body: "act(SIGUSR1, on, 0); syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1); assert(hits == 1); tgkill(getpid(), getpid(), SIGUSR1); assert(hits == 2); assert(tgkill(getpid(), 77777, SIGUSR1) == -1 && errno == ESRCH);"},
		{name: "pause", body: "act(SIGUSR1, on, SA_RESTART); block(SIGUSR2, SIG_BLOCK); pthread_t t = spawn(killer, SIGUSR1); assert(pause() == -1 && errno == EINTR && hits == 1); pthread_join(t, NULL);"},
		{name: "sigsuspend", body: "act(SIGUSR1, on, 0); block(SIGUSR1, SIG_BLOCK); raise(SIGUSR1); sigset_t w, now; sigfillset(&w); sigdelset(&w, SIGUSR1); assert(!hits && sigsuspend(&w) == -1 && errno == EINTR && hits == 1); pthread_sigmask(SIG_BLOCK, NULL, &now); assert(sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));"},
		{name: "a wait is interrupted", body: "act(SIGUSR1, on, 0); pthread_t t = spawn(killer, SIGUSR1); assert(sem_wait(&s) == -1 && errno == EINTR && hits == 1); pthread_join(t, NULL);"},
		{name: "a wait is restarted", body: "act(SIGUSR1, on, SA_RESTART); pthread_t t = spawn(killer_then_post, SIGUSR1); assert(sem_wait(&s) == 0 && hits == 1); pthread_join(t, NULL);"},
		{name: "siginterrupt", body: "signal(SIGUSR1, on); siginterrupt(SIGUSR1, 1); pthread_t t = spawn(killer, SIGUSR1); assert(sem_wait(&s) == -1 && errno == EINTR && hits == 1); pthread_join(t, NULL);"},
		{name: "a sleep is interrupted", body: "act(SIGUSR1, on, SA_RESTART); struct timespec ts = {5, 0}, left = {0, 0}; pthread_t t = spawn(killer, SIGUSR1); assert(nanosleep(&ts, &left) == -1 && errno == EINTR && left.tv_sec >= 4 && hits == 1); pthread_join(t, NULL); ts.tv_nsec = -1; assert(nanosleep(&ts, NULL) == -1 && errno == EINVAL);"},
		{name: "a timer interrupts a sleep", body: "signal(SIGALRM, on); alarm(2); assert(sleep(10) == 8 && hits == 1); assert(sleep(1) == 0);"},
		{name: "a condition wait is not interrupted", body: "act(SIGUSR1, on, 0); pthread_mutex_lock(&m); pthread_t t = spawn(killer, SIGUSR1), u = spawn(locker, 0); while (!flag) assert(pthread_cond_wait(&c, &m) == 0); pthread_mutex_unlock(&m); pthread_join(t, NULL); pthread_join(u, NULL); assert(hits == 1);"},
		{name: "a waiter in a handler can be woken", extra: "static void slow(int sig) { (void)sig; hits++; sem_wait(&s); } static void *both(void *p) { pthread_kill(self, SIGUSR1); while (!hits) sched_yield(); locker(p); sem_post(&s); return p; }", body: "act(SIGUSR1, slow, 0); pthread_mutex_lock(&m); pthread_t t = spawn(both, 0); assert(pthread_cond_wait(&c, &m) == 0 && flag && hits == 1); pthread_mutex_unlock(&m); pthread_join(t, NULL);"},
		{name: "sigwait", body: "block(SIGUSR1, SIG_BLOCK); sigset_t w; sigemptyset(&w); sigaddset(&w, SIGUSR1); pthread_t t = spawn(killer, SIGUSR1); int n; assert(sigwait(&w, &n) == 0 && n == SIGUSR1 && !hits); pthread_join(t, NULL); struct timespec ts = {1, 0}; assert(sigtimedwait(&w, NULL, &ts) == -1 && errno == EAGAIN);"},
		{name: "sigwaitinfo is interrupted", body: "act(SIGUSR2, on, SA_RESTART); block(SIGUSR1, SIG_BLOCK); sigset_t w; sigemptyset(&w); sigaddset(&w, SIGUSR1); pthread_t t = spawn(killer, SIGUSR2); assert(sigwaitinfo(&w, NULL) == -1 && errno == EINTR && hits == 1); pthread_join(t, NULL);"},
		{name: "a handler posts", body: "act(SIGUSR1, post, SA_RESTART); raise(SIGUSR1); assert(sem_wait(&s) == 0 && hits == 1); pthread_t t = spawn(killer, SIGUSR1); assert(sem_wait(&s) == 0 && hits == 2); pthread_join(t, NULL);"},
		{name: "siglongjmp", body: "act(SIGUSR1, jump, 0); for (int i = 0; i < 3; i++) { if (sigsetjmp(env, 1) == 0) { raise(SIGUSR1); assert(0); } hits++; } assert(hits == 3); if (sigsetjmp(env, 0) == 0) raise(SIGUSR1); sigset_t now; pthread_sigmask(SIG_BLOCK, NULL, &now); assert(sigismember(&now, SIGUSR1));"},
		{name: "siglongjmp out of a wait", body: "act(SIGUSR1, jump, 0); pthread_t t = spawn(killer, SIGUSR1); if (sigsetjmp(env, 1) == 0) { sem_wait(&s); assert(0); } pthread_join(t, NULL); sem_post(&s); assert(sem_wait(&s) == 0);"},
		{name: "siglongjmp out of a nested handler", extra: "static sigjmp_buf outer; static void two(int sig) { if (sig == SIGUSR1) { if (sigsetjmp(env, 1) == 0) raise(SIGUSR2); hits++; siglongjmp(outer, 1); } siglongjmp(env, 1); }", body: "act(SIGUSR1, two, SA_ONSTACK); act(SIGUSR2, two, SA_ONSTACK); stack_t st = {.ss_sp = alt, .ss_size = sizeof alt}; sigaltstack(&st, NULL); for (int i = 0; i < 3; i++) if (sigsetjmp(outer, 1) == 0) raise(SIGUSR1); assert(hits == 3); act(SIGUSR1, on, 0); pthread_t t = spawn(killer, SIGUSR1); pthread_join(t, NULL); raise(SIGUSR1); assert(hits == 5);"},
		{name: "alternative stack", body: "stack_t st = {.ss_sp = alt, .ss_size = sizeof alt}, old; assert(sigaltstack(&st, NULL) == 0 && sigaltstack(NULL, &old) == 0 && old.ss_sp == alt); act(SIGUSR1, where, SA_ONSTACK); raise(SIGUSR1); assert(hits == 1 && flag); act(SIGUSR1, where, 0); raise(SIGUSR1); assert(!flag); st.ss_size = 100; assert(sigaltstack(&st, NULL) == -1 && errno == ENOMEM);"},
		{name: "errno is the handler's to spoil", extra: "static void spoil(int sig) { (void)sig; errno = 77; }", body: "act(SIGUSR1, spoil, 0); errno = 5; raise(SIGUSR1); assert(errno == 77);"},
		{name: "an exception-like exit from a handler", extra: "static void leave(int sig) { (void)sig; hits++; pthread_exit(NULL); } static void *waits(void *p) { sem_wait(&s); return p; }", body: "act(SIGUSR1, leave, 0); pthread_t t = spawn(waits, 0); pthread_kill(t, SIGUSR1); pthread_join(t, NULL); assert(hits == 1); pthread_t u = spawn(locker, 0); pthread_join(u, NULL);"},

		{name: "a fault is handled", body: "act(SIGSEGV, jump, 0); for (int i = 0; i < 3; i++) { if (sigsetjmp(env, 1) == 0) { *bad = 1; assert(0); } hits++; } assert(hits == 3); pthread_t t = spawn(locker, 0); pthread_join(t, NULL);"},
		{name: "a fault in libc is handled", body: `act(SIGSEGV, jump, 0); if (sigsetjmp(env, 1) == 0) { strcpy((char *)bad, "abc"); assert(0); }`},
		{name: "a fault in a hook is handled", body: "act(SIGSEGV, jump, 0); if (sigsetjmp(env, 1) == 0) { __atomic_store_n((int *)8, 1, __ATOMIC_SEQ_CST); assert(0); } if (sigsetjmp(env, 1) == 0) { pthread_mutex_lock((pthread_mutex_t *)bad); assert(0); } pthread_mutex_lock(&m); pthread_mutex_unlock(&m);"},
		{name: "a fault's handler returns", body: `act(SIGSEGV, (void (*)(int))repair, SA_SIGINFO); double d = 1.5; long x; __asm__ volatile("xorl %%eax, %%eax\n movsd %2, %%xmm7\n movl $42, (%%rax)\n movsd %%xmm7, %1\n movq %%rax, %0" : "=r"(x), "=m"(d) : "m"(d) : "rax", "xmm7", "memory"); assert(number == 42 && hits == 1 && d == 1.5 && info.si_addr == NULL && info.si_signo == SIGSEGV);`},
		{name: "a fault's siginfo", extra: "static void fpe(int sig, siginfo_t *i, void *x) { (void)x; info = *i; number = sig; siglongjmp(env, 1); }", body: "struct sigaction a = {.sa_sigaction = fpe, .sa_flags = SA_SIGINFO}; sigaction(SIGFPE, &a, NULL); sigaction(SIGSEGV, &a, NULL); if (sigsetjmp(env, 1) == 0) hits = 100 / number; assert(number == SIGFPE && info.si_code == FPE_INTDIV); if (sigsetjmp(env, 1) == 0) *(volatile int *)0x1230 = 1; assert(info.si_addr == (void *)0x1230);"},
		{name: "a stack overflow on the alternative stack", extra: "static int deep(int i) { volatile char f[512]; f[0] = (char)i; return i < 0 ? f[0] : deep(i + 1) + f[0]; } static void *over(void *p) { stack_t st = {.ss_sp = alt, .ss_size = sizeof alt}; sigaltstack(&st, NULL); if (sigsetjmp(env, 1) == 0) hits = deep(1); flag = 9; return p; }", body: "act(SIGSEGV, jump, SA_ONSTACK); pthread_t t = spawn(over, 0); pthread_join(t, NULL); assert(flag == 9);"},
		{name: "a stack overflow without one is fatal", extra: "static int deep(int i) { volatile char f[512]; f[0] = (char)i; return i < 0 ? f[0] : deep(i + 1) + f[0]; } static void *over(void *p) { hits = deep(1); return p; }", body: "act(SIGSEGV, jump, 0); pthread_t t = spawn(over, 0); pthread_join(t, NULL);", kind: trace.Signal, status: 11},
		{name: "a fault in its own handler is fatal", extra: "static void worse(int sig) { (void)sig; *bad = 2; }", body: "act(SIGSEGV, worse, 0); *bad = 1;", kind: trace.Signal, status: 11},
		{name: "a handler switches threads", extra: "static void sw(int sig) { (void)sig; pthread_t t = spawn(locker, 0); pthread_join(t, NULL); siglongjmp(env, 1); } static void *faults(void *p) { pthread_mutex_lock(&m); hits++; pthread_mutex_unlock(&m); return p; }", body: "act(SIGSEGV, sw, 0); pthread_t t = spawn(faults, 0); if (sigsetjmp(env, 1) == 0) *bad = 1; pthread_join(t, NULL); assert(flag == 1 && hits == 1);"},
		{name: "abort's handler", body: "act(SIGABRT, jump, 0); if (sigsetjmp(env, 1) == 0) { abort(); } hits = 1;"},
		{name: "abort after its handler", body: "act(SIGABRT, on, 0); abort();", kind: trace.Assertion, message: "abort"},

		{name: "alarm", body: "signal(SIGALRM, on); assert(alarm(3) == 0); assert(alarm(5) == 3); time_t a = time(NULL); pause(); assert(hits == 1 && time(NULL) - a >= 5 && alarm(0) == 0); alarm(4); assert(alarm(0) == 4);"},
		{name: "alarm kills", body: "alarm(1); pause();", kind: trace.Signal, status: 14},
		{name: "ualarm", body: "signal(SIGALRM, on); ualarm(1000, 1000); while (hits < 3) pause(); ualarm(0, 0);"},
		{name: "setitimer", body: "signal(SIGALRM, on); struct itimerval v = {{0, 500000}, {1, 0}}, o; setitimer(ITIMER_REAL, &v, NULL); getitimer(ITIMER_REAL, &o); assert(o.it_interval.tv_usec == 500000 && (o.it_value.tv_sec == 1 || o.it_value.tv_usec > 900000)); while (hits < 4) pause(); struct itimerval z = {{0, 0}, {0, 0}}; setitimer(ITIMER_REAL, &z, &o); assert(o.it_value.tv_usec > 0); getitimer(ITIMER_REAL, &o); assert(!o.it_value.tv_sec && !o.it_value.tv_usec); assert(setitimer(9, &v, NULL) == -1 && errno == EINVAL);"},
		{name: "itimer prof and virtual", body: "signal(SIGPROF, on); signal(SIGVTALRM, on); struct itimerval v = {{0, 0}, {0, 1000}}; setitimer(ITIMER_PROF, &v, NULL); for (volatile long i = 0; !hits; i++) ; assert(number == SIGPROF); setitimer(ITIMER_VIRTUAL, &v, NULL); while (hits < 2) ; assert(number == SIGVTALRM);"},
		{name: "a spin on an atomic sees time pass", body: "signal(SIGALRM, on); alarm(100); while (!__atomic_load_n(&hits, __ATOMIC_RELAXED)) ;"},
		{name: "timer_create", body: "act(SIGUSR1, (void (*)(int))more, SA_SIGINFO); timer_t t; struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 55}; assert(timer_create(CLOCK_MONOTONIC, &e, &t) == 0); struct itimerspec v = {{0, 0}, {2, 0}}, o; assert(timer_settime(t, 0, &v, NULL) == 0); timer_gettime(t, &o); assert(o.it_value.tv_sec >= 1); pause(); assert(hits == 1 && info.si_code == SI_TIMER && info.si_value.sival_int == 55); timer_gettime(t, &o); assert(!o.it_value.tv_sec && !o.it_value.tv_nsec); struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); v.it_value.tv_sec = now.tv_sec + 10; timer_settime(t, TIMER_ABSTIME, &v, NULL); pause(); struct timespec then; clock_gettime(CLOCK_MONOTONIC, &then); assert(then.tv_sec - now.tv_sec >= 10); assert(timer_delete(t) == 0 && timer_delete(t) == -1 && errno == EINVAL);"},
		{name: "overruns", body: "act(SIGUSR1, on, 0); block(SIGUSR1, SIG_BLOCK); timer_t t; struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1}; timer_create(CLOCK_REALTIME, &e, &t); struct itimerspec v = {{1, 0}, {1, 0}}; timer_settime(t, 0, &v, NULL); usleep(1000); usleep(5500000); usleep(1); block(SIGUSR1, SIG_UNBLOCK); assert(hits == 1); assert(timer_getoverrun(t) == 4);"},
		{name: "sigev_thread", body: "timer_t t; struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified, .sigev_value.sival_int = 5}; assert(timer_create(CLOCK_REALTIME, &e, &t) == 0); struct itimerspec v = {{1, 0}, {1, 0}}; timer_settime(t, 0, &v, NULL); sem_wait(&s); sem_wait(&s); assert(hits == 10); timer_delete(t);"},
		{name: "sigev_none", body: "timer_t t; struct sigevent e = {.sigev_notify = SIGEV_NONE}; timer_create(CLOCK_REALTIME, &e, &t); struct itimerspec v = {{0, 0}, {1, 0}}, o; timer_settime(t, 0, &v, NULL); sleep(2); sched_yield(); timer_gettime(t, &o); assert(!o.it_value.tv_sec && !o.it_value.tv_nsec);"},
		{name: "sigev_thread_id", extra: "static pid_t tid; static void *waits(void *p) { tid = (pid_t)syscall(SYS_gettid); sem_post(&s); sigset_t w; sigemptyset(&w); sigaddset(&w, SIGUSR1); int n; sigwait(&w, &n); hits = n; return p; }", body: "block(SIGUSR1, SIG_BLOCK); pthread_t u = spawn(waits, 0); sem_wait(&s); timer_t t; struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1}; e._sigev_un._tid = tid; assert(timer_create(CLOCK_REALTIME, &e, &t) == 0); struct itimerspec v = {{0, 0}, {1, 0}}; timer_settime(t, 0, &v, NULL); pthread_join(u, NULL); assert(hits == SIGUSR1);"},
		{name: "a deadlock is seen past a timer", body: "signal(SIGALRM, on); alarm(1); pthread_mutex_lock(&m); pthread_mutex_lock(&m);", kind: trace.Deadlock},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := strings.NewReplacer("BODY", c.body, "EXTRA", c.extra).Replace(signalFrame)
			tg := start(t, compile(t, src, "-Wno-unused-function", "-Wno-infinite-recursion"))
			for i := range 2 { // the second execution is like the first
				o := run(t, tg, schedule.Plan{Record: true, Accesses: i == 1, MaxSteps: 200_000})
				e := o.Ending
				if e.Kind != c.kind || e.Status != c.status || !strings.Contains(e.Message, c.message) {
					t.Fatalf("%v status %d %q, want %v %d %q; printed %q", e.Kind, e.Status, e.Message, c.kind, c.status, c.message, e.Output)
				}
				if c.kind == trace.Clean && string(e.Output) != "ok\n" {
					t.Errorf("output %q", e.Output)
				}
				if err := trace.Validate(o.Trace); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// storm has every kind of choice that signals, timers and time-outs bring.
const storm = `
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static atomic_int usr, alrm, woken, interrupted, jumped;
static int ready, counter;
static pthread_t target;
static void on(int sig) { if (sig == SIGUSR1) atomic_fetch_add(&usr, 1); else atomic_fetch_add(&alrm, 1); counter++; }
static __thread sigjmp_buf env;
static void jump(int sig) { (void)sig; siglongjmp(env, 1); }
static void notified(union sigval v) { (void)v; atomic_fetch_add(&alrm, 1); }
static void *sender(void *p) {
  pthread_kill(target, SIGUSR1);
  kill(getpid(), SIGUSR1);
  for (int i = 0; i < 30; i++) atomic_fetch_add(&usr, 1);
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  if (sigsetjmp(env, 1) == 0) { pthread_kill(pthread_self(), SIGUSR2); sem_wait(&s); } else atomic_fetch_add(&jumped, 1);
  sem_post(&s);
  return p;
}
static void *waiter(void *p) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_sec++;
  pthread_mutex_lock(&m);
  while (!ready && pthread_cond_timedwait(&c, &m, &at) != ETIMEDOUT) atomic_fetch_add(&woken, 1);
  pthread_mutex_unlock(&m);
  for (int i = 0; i < 3; i++) counter++;
  struct timespec ts = {1, 0};
  while (nanosleep(&ts, &ts)) atomic_fetch_add(&interrupted, 1);
  return p;
}
int main(void) {
  struct sigaction a = {.sa_handler = on};
  sigaction(SIGUSR1, &a, NULL);
  sigaction(SIGALRM, &a, NULL);
  a.sa_handler = jump;
  sigaction(SIGUSR2, &a, NULL);
  struct itimerval v = {{0, 700000}, {0, 700000}};
  setitimer(ITIMER_REAL, &v, NULL);
  timer_t tm;
  struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified};
  timer_create(CLOCK_REALTIME, &e, &tm);
  struct itimerspec w = {{0, 0}, {1, 0}};
  timer_settime(tm, 0, &w, NULL);
  sem_init(&s, 0, 0);
  target = pthread_self();
  pthread_t t[2];
  pthread_create(&t[0], NULL, sender, NULL);
  pthread_create(&t[1], NULL, waiter, NULL);
  while (sem_wait(&s) != 0 && errno == EINTR) atomic_fetch_add(&interrupted, 1);
  for (int i = 0; i < 3; i++) counter++;
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  memset(&v, 0, sizeof v);
  setitimer(ITIMER_REAL, &v, NULL);
  printf("%d\n", jumped);
  return 0;
}`

// Executions with signals, timers, early time-outs and spurious wake-ups are repeated by
// their scripts, event by event, in this process and in another.
func TestSignalSchedulesAreFollowed(t *testing.T) {
	prog := compile(t, storm)
	tg, other := start(t, prog), start(t, prog)
	base := run(t, tg, schedule.Plan{Record: true, Accesses: true})
	points := racySites(base.Trace)
	if len(points) == 0 {
		t.Fatal("no racing accesses were recorded")
	}
	met := map[trace.Op]int{}
	early := map[trace.Op]bool{}
	behaviours := map[uint64]bool{}
	for _, policy := range []schedule.Policy{schedule.Fair, schedule.Random, schedule.PCT, schedule.POS} {
		for seed := range uint64(60) {
			p := schedule.Plan{Policy: policy, Seed: seed, Depth: 3, Length: base.Points, Record: true, Accesses: seed%7 == 0, Points: points, Timeouts: seed%2 == 0, Delays: schedule.AnyDelays, Spurious: seed%3 == 0}
			first := run(t, tg, p)
			if first.Ending.Kind != trace.Clean || string(first.Ending.Output) != "1\n" {
				t.Fatalf("%v seed %d: %v %q %q", policy, seed, first.Ending.Kind, first.Ending.Message, first.Ending.Output)
			}
			if err := trace.Validate(first.Trace); err != nil {
				t.Fatalf("%v seed %d: %v", policy, seed, err)
			}
			behaviours[first.Signature] = true
			for i := range first.Trace.Events {
				e := &first.Trace.Events[i]
				met[e.Op]++
				if e.Flags&trace.FlagTimeout != 0 && !e.Enabled.Has(e.Thread) {
					early[e.Op] = true
					if !p.Timeouts && e.Op != trace.OpSleep {
						t.Fatalf("%v seed %d: event %d (%v) comes early, and the plan allows none", policy, seed, i, e.Op)
					}
				}
				if e.Op == trace.OpSpuriousWake && !p.Spurious {
					t.Fatalf("%v seed %d: event %d is a spurious wake-up, and the plan allows none", policy, seed, i)
				}
			}
			script := schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(first.Trace), Threads: first.Trace.Threads, Points: points, Record: true, Accesses: p.Accesses, Seed: 999, Delays: p.Delays}
			for i, where := range []*Target{tg, other} {
				again := run(t, where, script)
				if again.Ending.Kind == trace.Diverged {
					t.Fatalf("%v seed %d, process %d: diverged: %+v", policy, seed, i, again.Diverged)
				}
				if !reflect.DeepEqual(first.Trace.Events, again.Trace.Events) || !reflect.DeepEqual(first.Trace.Ending, again.Trace.Ending) {
					t.Fatalf("%v seed %d, process %d: another execution", policy, seed, i)
				}
			}
			// A tolerant script that fits is followed to the letter, too.
			script.Mode = schedule.Tolerant
			if o := run(t, other, script); o.Deviations != 0 || o.Signature != first.Signature {
				t.Errorf("%v seed %d: followed tolerantly with %d deviations", policy, seed, o.Deviations)
			}
		}
	}
	for _, op := range []trace.Op{
		trace.OpSignalDeliver, trace.OpSignalInterrupt, trace.OpSignalReturn, trace.OpTimerExpire, trace.OpTimerSet,
		trace.OpCondTimeout, trace.OpSpuriousWake, trace.OpSignalAction,
	} {
		if met[op] == 0 {
			t.Errorf("no execution has a %v", op)
		}
	}
	for _, op := range []trace.Op{trace.OpTimerExpire, trace.OpCondTimeout, trace.OpThreadCreate} {
		if !early[op] {
			t.Errorf("no early %v", op)
		}
	}
	if len(behaviours) < 100 {
		t.Errorf("240 schedules showed only %d behaviours", len(behaviours))
	}
}

// What a constructor sets before main is in force in every execution.
func TestSignalsBeforeMain(t *testing.T) {
	tg := start(t, compile(t, `
#include <assert.h>
#include <signal.h>
#include <stdio.h>
static volatile sig_atomic_t hits;
static void on(int sig) { (void)sig; hits++; }
__attribute__((constructor)) static void early(void) {
  signal(SIGUSR1, on);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
}
int main(void) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  assert(sigismember(&now, SIGUSR2) && !sigismember(&now, SIGUSR1));
  raise(SIGUSR1);
  raise(SIGUSR2);
  assert(hits == 1 && signal(SIGUSR1, SIG_IGN) == on);
  raise(SIGUSR1);
  printf("ok");
  return 0;
}`))
	for range 3 {
		if o := run(t, tg, schedule.Plan{Record: true}); o.Ending.Kind != trace.Clean || string(o.Ending.Output) != "ok" {
			t.Fatalf("%v %s %q", o.Ending.Kind, o.Ending.Message, o.Ending.Output)
		}
	}
}
