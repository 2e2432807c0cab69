package cprog

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// residue hashes what calls and hooks have left below its stack pointer, after many kinds of them, and
// prints a line for each.
const residue = `
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
enum { SPOTS = 160 };
static struct { const char *after; unsigned long hash; } seen[4][SPOTS];
static int nseen[4];
static _Thread_local int me;

__attribute__((noinline, no_sanitize("thread"))) static void look(const char *after) {
  volatile unsigned long below[1500];
  unsigned long h = 0;
  for (int i = 0; i < 1500; i++) h = h * 31 + below[i];
  int n = nseen[me]++;
  seen[me][n].after = after;
  seen[me][n].hash = h;
}

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, r;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t b;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static sem_t s;
static atomic_int ready;
static _Atomic long word;
static long plain[64];
static char bytes[64];
static volatile int on;
static int fds[2];
static void init(void) { look("once's function"); }
static void gone(void *p) { look("destructor"); free(p); }
static void handler(int sig) { (void)sig; on++; look("handler"); }
static jmp_buf back;
static void jumps(int sig) { (void)sig; siglongjmp(back, 1); }
static __attribute__((noinline)) long deep(int n) {
  volatile long x = plain[n & 63];
  long y = n ? deep(n - 1) : 0;
  if (n == 3) look("calls");
  return x + y;
}
#define DO(what) do { what; look(#what); } while (0)

static void *work(void *arg) {
  me = (int)(long)arg;
  DO(;);
  DO(plain[me]++);
  DO(bytes[me] = 1);
  DO(for (int i = 0; i < 300; i++) plain[i & 63] += i);
  DO(deep(20));
  DO(atomic_fetch_add(&word, 1));
  long old = 100;
  DO(atomic_compare_exchange_strong(&word, &old, 7));
  DO(atomic_load(&word));
  DO(atomic_thread_fence(memory_order_seq_cst));
  char *p;
  DO(p = malloc(100 + (size_t)me));
  DO(memset(p, me, 100));
  DO(memcpy(bytes, p, 10 + (size_t)me));
  DO(p = realloc(p, 5000));
  DO(free(p));
  DO(pthread_mutex_lock(&m));
  DO(pthread_mutex_unlock(&m));
  DO(pthread_once(&once, init));
  DO(pthread_rwlock_rdlock(&rw));
  DO(pthread_rwlock_unlock(&rw));
  DO(sem_wait(&s));
  DO(sem_post(&s));
  DO(pthread_setspecific(key, malloc(8)));
  DO(pthread_barrier_wait(&b));
  pthread_mutex_lock(&m);
  ready++;
  DO(pthread_cond_broadcast(&c));
  while (ready < 2) DO(pthread_cond_wait(&c, &m));
  pthread_mutex_unlock(&m);
  char text[100];
  DO(snprintf(text, sizeof text, "%d %s %f", me, "x", 1.5));
  DO(usleep(10));
  struct timespec now, until = { 0, 1000 };
  DO(clock_gettime(CLOCK_MONOTONIC, &now));
  DO(pthread_mutex_timedlock(&r, &until));
  DO(sched_yield());
  DO(raise(SIGUSR1));
  if (me == 1 && !sigsetjmp(back, 1)) raise(SIGUSR2);
  DO(plain[me + 4] = 1);
  DO(write(fds[1], "abc", 3));
  DO(read(fds[0], text, 3));
  DO(strlen(text));
  for (int i = 0; i < 20000; i++) plain[8 + me] += i;
  DO(deep(9));
  return NULL;
}

int main(void) {
  pthread_t t[3];
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&r, &a);
  pthread_barrier_init(&b, NULL, 2);
  pthread_key_create(&key, gone);
  sem_init(&s, 0, 1);
  signal(SIGUSR1, handler);
  signal(SIGUSR2, jumps);
  if (pipe(fds)) return 1;
  me = 3;
  DO(;);
  for (long i = 0; i < 2; i++) DO(pthread_create(&t[i], NULL, work, (void *)i));
  DO(pthread_kill(t[1], SIGUSR1));
  DO(plain[0]--);
  for (int i = 0; i < 2; i++) DO(pthread_join(t[i], NULL));
  DO(deep(9));
  printf("looked\n");
  me = 2; // on a stack that was used before
  pthread_create(&t[2], NULL, work, (void *)2);
  pthread_mutex_lock(&m);
  ready = 2;
  pthread_mutex_unlock(&m);
  pthread_barrier_wait(&b);
  pthread_join(t[2], NULL);
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < nseen[k]; i++) printf("T%d %d %s: %lx\n", k, i, seen[k][i].after, seen[k][i].hash);
  return 0;
}`

// buildsOf compiles a program with each compiler.
func buildsOf(t *testing.T, source string) map[string]string {
	builds := map[string]string{}
	for _, level := range []string{"-O0", "-O2"} {
		builds["gcc "+level] = compile(t, source, level)
	}
	if _, err := exec.LookPath("clang"); err != nil {
		return builds
	}
	for _, level := range []string{"-O1"} {
		prog := compile(t, source, level) // and its source beside it
		dir := filepath.Dir(prog)
		clang := exec.Command("clang", "-g", level, "-pthread", "-fsanitize=thread", "-c", "-o", "prog.o", "prog.c")
		link := exec.Command("gcc", "-pthread", "-fsanitize=thread", "-no-pie", "-o", "prog", "prog.o")
		for _, cmd := range []*exec.Cmd{clang, link} {
			cmd.Dir = dir
			if b, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", cmd, err, b)
			}
		}
		builds["clang "+level] = prog
	}
	return builds
}

// What a program reads from its stack without having written it is the same in every execution of a plan,
// whatever heddle records, and in the replay.
func TestUninitialisedStackIsTheSame(t *testing.T) {
	need.Tool(t, "gcc")
	for build, prog := range buildsOf(t, residue) {
		t.Run(build, func(t *testing.T) {
			t.Parallel()
			tg := start(t, prog)
			base := run(t, tg, schedule.Plan{Record: true, Accesses: true})
			points := racySites(base.Trace)
			others := map[string]*Target{"snapshot": start(t, prog), "fork": startAt(t, prog, Fork, false), "process": startAt(t, prog, Process, false), "kernel threads": startAt(t, prog, Process, true)}
			for seed := range uint64(4) {
				p := schedule.Plan{Policy: []schedule.Policy{schedule.Fair, schedule.Random, schedule.PCT, schedule.POS}[seed%4], Seed: seed, Depth: 3, Length: base.Points, Output: true, Timeouts: seed%2 == 0}
				if seed > 1 {
					p.Points = points
				}
				plain := run(t, tg, p)
				if plain.Ending.Kind != trace.Clean || !strings.Contains(string(plain.Ending.Output), "T3 2 ") {
					t.Fatalf("seed %d: %v %q\n%s", seed, plain.Ending.Kind, plain.Ending.Message, plain.Ending.Output)
				}
				same := func(what string, o schedule.Outcome) {
					t.Helper()
					if string(o.Ending.Output) != string(plain.Ending.Output) {
						t.Errorf("seed %d, %s: %v %q\n%s", seed, what, o.Ending.Kind, o.Ending.Message, firstDifference(string(plain.Ending.Output), string(o.Ending.Output)))
					}
				}
				vary := func(what string, change func(*schedule.Plan)) schedule.Outcome {
					q := p
					change(&q)
					o := run(t, tg, q)
					same(what, o)
					return o
				}
				vary("again", func(*schedule.Plan) {})
				recorded := vary("recorded", func(q *schedule.Plan) { q.Record = true })
				vary("accesses", func(q *schedule.Plan) { q.Record, q.Accesses = true, true })
				vary("values", func(q *schedule.Plan) {
					q.Record, q.Accesses, q.Values, q.MaxAccesses = true, true, true, schedule.AllAccesses
				})
				vary("functions", func(q *schedule.Plan) {
					q.Record, q.Accesses, q.Values, q.Functions, q.MaxAccesses = true, true, true, true, schedule.AllAccesses
				})
				vary("watched", func(q *schedule.Plan) { q.Watch = true })
				vary("watched and recorded", func(q *schedule.Plan) { q.Watch, q.Record, q.Accesses = true, true, true })
				script := func(q *schedule.Plan) {
					q.Mode, q.Script, q.Threads, q.Seed = schedule.Strict, schedule.ScriptOf(recorded.Trace), recorded.Trace.Threads, 999
				}
				vary("replayed", script)
				vary("replayed and recorded", func(q *schedule.Plan) { script(q); q.Record, q.Accesses, q.Values = true, true, true })
				vary("followed", func(q *schedule.Plan) { script(q); q.Mode = schedule.Tolerant })
				for name, other := range others {
					if seed > 0 {
						break // they start processes
					}
					q := p
					script(&q)
					same(name, run(t, other, q))
					q.Record, q.Accesses, q.Watch = true, true, true
					same(name+", recorded", run(t, other, q))
				}
			}
		})
	}
}

// firstDifference returns the lines in which two outputs differ first.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("%s\n%s", x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, %d lines", len(x), len(y))
}
