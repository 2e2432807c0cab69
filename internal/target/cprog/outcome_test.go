package cprog

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Every way for an execution to end, by its program: the body of a thread (or of main,
// with -DMAIN) and what must come of it under the fair schedule.
func TestOutcomes(t *testing.T) {
	const frame = `
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static sem_t s;
static volatile int zero;
static pthread_key_t key;
static int cleaned;
static void clean(void *p) { cleaned += (int)(long)p; }
static int deep(int i) { volatile char f[512]; f[0] = (char)i; return i < 0 ? f[0] : deep(i + 1) + f[0]; }
static void *peer(void *p) { return p; }
static void *thread(void *p) { pthread_t t = pthread_self(); (void)t; BODY; return p; }
static void atend(void) { printf("handler\n"); }
int main(void) {
  pthread_t t;
  atexit(atend);
  pthread_create(&t, NULL, thread, NULL);
  AFTER;
  pthread_join(t, NULL);
  END;
  return 0;
}`
	for _, c := range []struct {
		name             string
		body, after, end string
		kind             trace.Kind
		status           int32
		message          string
		output           string
	}{
		{name: "clean", output: "handler\n"},
		{name: "exit in a thread", body: "exit(7)", status: 7, output: "handler\n"},
		{name: "_exit in a thread", body: "_exit(7)", status: 7},
		{name: "status is a byte", end: "return 256 + 5", status: 5, output: "handler\n"},
		{name: "main exits its thread", after: "pthread_exit(NULL)", output: "handler\n"},
		{name: "cleanup handlers", body: "pthread_cleanup_push(clean, (void *)3); pthread_exit(p); pthread_cleanup_pop(0)", end: "assert(cleaned == 3)", output: "handler\n"},
		{name: "key destructors", body: "pthread_key_create(&key, clean); pthread_setspecific(key, (void *)4)", end: "assert(cleaned == 4)", output: "handler\n"},
		{name: "assert", body: `printf("before\n"); assert(zero == 1)`, kind: trace.Assertion, message: "assertion `zero == 1' failed at prog.c:", output: "before\n"},
		{name: "abort", body: "abort()", kind: trace.Assertion, message: "abort"},
		{name: "raise", body: "raise(SIGTERM)", kind: trace.Signal, status: 15},
		{name: "kill", body: "kill(getpid(), SIGABRT)", kind: trace.Assertion, message: "abort"},
		{name: "ignored signal", body: "signal(SIGUSR1, SIG_IGN); raise(SIGUSR1)", output: "handler\n"},
		{name: "null pointer", body: "*(volatile int *)0 = 1", kind: trace.Signal, status: 11},
		{name: "null pointer in a hook", body: "__atomic_store_n((int *)8, 1, __ATOMIC_SEQ_CST)", kind: trace.Signal, status: 11},
		{name: "null pointer in libc", body: `strcpy((char *)16, "x")`, kind: trace.Signal, status: 11},
		{name: "null mutex", body: "pthread_mutex_lock((pthread_mutex_t *)(long)zero)", kind: trace.Signal, status: 11},
		{name: "division by zero", body: "zero = 100 / zero", kind: trace.Signal, status: 8},
		{name: "stack overflow", body: "zero = deep(1)", kind: trace.Signal, status: 11},
		{name: "self-deadlock", body: "pthread_mutex_lock(&m); pthread_mutex_lock(&m)", kind: trace.Deadlock},
		{name: "nobody signals", body: "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m)", kind: trace.Deadlock},
		{name: "time passes when nobody can run", body: "struct timespec a = {9999999999, 0}; pthread_mutex_lock(&m); assert(pthread_cond_timedwait(&c, &m, &a) == ETIMEDOUT && time(NULL) >= 9999999999)", output: "handler\n"},
		{name: "missing barrier", body: "pthread_barrier_init(&b, NULL, 2); pthread_barrier_wait(&b)", kind: trace.Deadlock},
		{name: "missing post", body: "sem_init(&s, 0, 0); sem_wait(&s)", kind: trace.Deadlock},
		{name: "spins forever", body: "while (!__atomic_load_n(&zero, __ATOMIC_RELAXED)) ;", kind: trace.Hang, message: "no progress"},
		{name: "counts forever", body: "for (int x;;) __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED)", kind: trace.Hang, message: "step budget"},
		{name: "unlock not held", body: "pthread_mutex_unlock(&m)", kind: trace.Misuse, message: "unlock of a mutex that is not held"},
		{name: "destroy locked", body: "pthread_mutex_lock(&m); pthread_mutex_destroy(&m)", kind: trace.Misuse, message: "destroy of a locked mutex"},
		{name: "lock destroyed", body: "pthread_mutex_destroy(&m); pthread_mutex_lock(&m)", kind: trace.Misuse, message: "use of a destroyed mutex"},
		{name: "init again", body: "pthread_mutex_destroy(&m); pthread_mutex_init(&m, NULL); pthread_mutex_lock(&m); pthread_mutex_unlock(&m)", output: "handler\n"},
		{name: "wait without the mutex", body: "pthread_cond_wait(&c, &n)", kind: trace.Misuse, message: "does not hold"},
		{name: "join twice", end: "pthread_join(t, NULL)", kind: trace.Misuse, message: "joined already"},
		{name: "join detached", body: "pthread_detach(t)", kind: trace.Misuse, message: "join of a detached thread"},
		{name: "cancel of a joined thread", end: "pthread_cancel(t)", kind: trace.Misuse, message: "pthread_cancel of an identifier"},
		{name: "cancel of a detached thread that has ended", body: "pthread_detach(t)", after: "usleep(1000); pthread_cancel(t)", kind: trace.Misuse, message: "pthread_cancel of an identifier"},
		{name: "name of a joined thread", end: `pthread_setname_np(t, "late")`, kind: trace.Misuse, message: "names no thread"},
		{name: "destroy of a barrier in use", body: "pthread_barrier_init(&b, NULL, 2); pthread_barrier_wait(&b)", after: "usleep(1000); pthread_barrier_destroy(&b)", kind: trace.Misuse, message: "threads wait at"},
		{name: "a robust mutex of a thread that has ended", body: "pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&m, &a); pthread_mutex_lock(&m)", end: "assert(pthread_mutex_lock(&m) == EOWNERDEAD)", output: "handler\n"},
		{name: "a robust mutex overwritten", body: "pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&m, &a); pthread_mutex_lock(&m); pthread_mutex_init(&m, &a)", output: "handler\n"},
		{name: "cancelled with the lock", body: "pthread_mutex_lock(&m); sleep(1000)", after: "usleep(1000); pthread_cancel(t)", end: "pthread_mutex_lock(&m)", kind: trace.Deadlock},
		{name: "quick_exit", body: "quick_exit(6)", status: 6},
		{name: "a library loaded later", body: `assert(dlopen("libm.so.6", 1))`, output: "handler\n"},
		{name: "a library in a namespace of its own", body: `dlmopen(LM_ID_NEWLM, "libm.so.6", 1)`, kind: trace.Unsupported, message: "dlmopen into a namespace of its own"},
		{name: "a library that sees itself first", body: `dlopen("libm.so.6", RTLD_NOW | RTLD_DEEPBIND)`, kind: trace.Unsupported, message: "RTLD_DEEPBIND"},
		{name: "no such library, asked for lazily", body: `assert(!dlopen("./none.so", RTLD_LAZY) && strstr(dlerror(), "none.so"))`, output: "handler\n"},
		{name: "no such library", body: `assert(!dlopen("./none.so", RTLD_NOW) && strstr(dlerror(), "none.so") && !dlsym(dlopen(NULL, RTLD_NOW), "none"))`, output: "handler\n"},
		{name: "use after free", body: "int *q = malloc(8); free(q); zero = *q", kind: trace.Misuse, message: "read of freed memory"},
		{name: "free twice", body: "char *volatile q = malloc(8); free(q); free(q)", kind: trace.Misuse, message: "freed already"},
		{name: "free of nothing", body: "free(&zero)", kind: trace.Misuse, message: "not a heap block"},
		{name: "own handler", body: "signal(SIGSEGV, (void (*)(int))(long)clean); *(volatile int *)0 = 1", kind: trace.Hang, message: "again and again"},
		{name: "a deadline passes while others sleep", body: "struct timespec a; clock_gettime(CLOCK_REALTIME, &a); a.tv_sec++; pthread_mutex_lock(&m); pthread_cond_timedwait(&c, &m, &a); pthread_mutex_unlock(&m); zero = 1", after: "while (!zero) usleep(1000)", output: "handler\n"},
		{name: "join into a bad pointer", end: "pthread_join(t, (void **)8)", after: "pthread_join(t, NULL); pthread_create(&t, NULL, peer, NULL); pthread_create(&t, NULL, peer, NULL); pthread_join(t, (void **)8)", kind: trace.Signal, status: 11},
		{name: "a mutex in freed memory", body: "pthread_mutex_t *volatile q = malloc(sizeof *q); pthread_mutex_init(q, NULL); free(q); pthread_mutex_lock(q)", kind: trace.Misuse, message: "freed memory"},
		{name: "an overrun header", body: "char *volatile q = malloc(16); ((volatile long *)q)[-2] = 99; free(q)", kind: trace.Misuse, message: "header was overwritten"},
		{name: "an uninitialised spin lock", body: "pthread_spinlock_t l = 77; pthread_spin_lock(&l)", kind: trace.Misuse, message: "not initialised"},
		{name: "unmodelled", body: "getcontext(NULL)", kind: trace.Unsupported, message: "getcontext"},
		{name: "pthread_self is the same", body: "pthread_t u; pthread_create(&u, NULL, peer, NULL); assert(pthread_equal(pthread_self(), t) && !pthread_equal(u, t)); pthread_join(u, NULL)", output: "handler\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := frame
			src = strings.NewReplacer("BODY", c.body, "AFTER", c.after, "END", c.end).Replace(src)
			tg := start(t, compile(t, src, "-Wno-infinite-recursion"))
			p := schedule.Plan{Record: true, MaxSteps: 100_000}
			o := run(t, tg, p)
			e := o.Ending
			if e.Kind != c.kind || e.Status != c.status && e.Kind != trace.Hang || !strings.Contains(e.Message, c.message) {
				t.Fatalf("%v status %d %q, want %v %d %q", e.Kind, e.Status, e.Message, c.kind, c.status, c.message)
			}
			if string(e.Output) != c.output {
				t.Errorf("output %q, want %q", e.Output, c.output)
			}
			if e.Kind.Failed() && (len(e.Stack) == 0 && e.Kind != trace.Hang && e.Kind != trace.Deadlock || e.Site == 0) {
				t.Errorf("no place: site %v, stack %v", e.Site, e.Stack)
			}
			if err := trace.Validate(o.Trace); err != nil {
				t.Error(err)
			}
			// The program continues to serve, and the next execution is the same.
			if again := run(t, tg, p); again.Ending.Kind != e.Kind || again.Ending.Message != e.Message || again.Signature != o.Signature {
				t.Errorf("the second execution ended with %v %q", again.Ending.Kind, again.Ending.Message)
			}
		})
	}
}

// A program can end before its first scheduling point. Its trace is valid all the same, and has main.
func TestOutcomesBeforeSchedulingPoints(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kind trace.Kind
	}{
		"computes":         {"for (;;) ;", trace.Unfinished},
		"returns":          {"return 3;", trace.Clean},
		"aborts":           {"abort();", trace.Assertion},
		"divides by zero":  {"volatile int zero = 0; return 100 / zero;", trace.Signal},
		"calls trap":       {"__builtin_trap();", trace.Signal},
		"is not supported": {"getcontext(NULL);", trace.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lib, err := theRuntime()
			if err != nil {
				t.Fatal(err)
			}
			prog := compile(t, "#include <stdlib.h>\n#include <ucontext.h>\nint main(void) { "+c.body+" }")
			tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Runtime: lib, Watchdog: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			o := run(t, tg, schedule.Plan{Record: true})
			if o.Ending.Kind != c.kind {
				t.Fatalf("%v %q, want %v", o.Ending.Kind, o.Ending.Message, c.kind)
			}
			if err := trace.Validate(o.Trace); err != nil {
				t.Error(err)
			}
			if len(o.Trace.Threads) == 0 || c.kind == trace.Unfinished && o.Ending.Site == 0 {
				t.Errorf("%d threads, site %v", len(o.Trace.Threads), o.Ending.Site)
			}
		})
	}
}

// C++: threads, condition variables, futures, function-local statics, thread-local
// objects, static destructors, exceptions across pthread_exit.
func TestCxx(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "prog")
	cmd := exec.Command(need.Tool(t, "g++"), "-std=c++20", "-g", "-O1", "-pthread", "-fsanitize=thread", "-x", "c++", "-o", prog, "-")
	cmd.Stdin = strings.NewReader(`
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static std::atomic<int> made, dead, local;
struct once { once() { made++; } int v = 7; };
struct mine { int v = 0; ~mine() { local += v; } };
static int value() { static once o; return o.v; }
static thread_local mine tl;
struct last { ~last() { std::printf("destroyed %d\n", dead.load()); } } at_exit;
struct guard { ~guard() { dead++; } };
int main() {
  std::mutex m; std::condition_variable cv; bool ready = false; std::map<std::string, int> words;
  std::vector<std::thread> ts;
  for (int i = 0; i < 3; i++) ts.emplace_back([&, i] {
    guard g;
    tl.v = i + 1;
    std::unique_lock<std::mutex> l(m);
    cv.wait(l, [&] { return ready; });
    words["x" + std::to_string(i)] += value();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  { std::lock_guard<std::mutex> l(m); ready = true; }
  cv.notify_all();
  for (auto &t : ts) t.join();
  auto f = std::async(std::launch::async, [] { return 5; });
  assert(f.get() == 5);
  std::promise<int> p; auto q = p.get_future();
  std::thread([&] { try { throw std::runtime_error("x"); } catch (...) { p.set_exception(std::current_exception()); } }).join();
  try { q.get(); assert(false); } catch (const std::runtime_error &) {}
  std::unique_lock<std::mutex> l(m);
  assert(cv.wait_for(l, std::chrono::seconds(1)) == std::cv_status::timeout);
  std::atomic<int> a{0};
  std::thread w([&] { a.wait(0); });
  a = 1; a.notify_all(); w.join();
  assert(made == 1 && dead == 3 && local == 6 && words.size() == 3);
  return 0;
}`)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, out)
	}
	tg := start(t, prog)
	base := run(t, tg, schedule.Plan{})
	for _, policy := range []schedule.Policy{schedule.Fair, schedule.Random, schedule.PCT, schedule.POS} {
		for seed := range uint64(100) {
			o := run(t, tg, schedule.Plan{Policy: policy, Seed: seed, Depth: 3, Length: base.Points, Record: seed%10 == 0})
			if o.Ending.Kind != trace.Clean {
				t.Fatalf("%v seed %d: %v %s", policy, seed, o.Ending.Kind, o.Ending.Message)
			}
			if seed%10 == 0 && string(o.Ending.Output) != "destroyed 3\n" {
				t.Fatalf("%v seed %d: output %q", policy, seed, o.Ending.Output)
			}
		}
	}
}
