package handmade

import (
	"fmt"
	"strings"
)

// Style is how a program's operations are written.
type Style struct {
	Name string
	// CXX reports that it is C++17.
	CXX     bool
	prelude string
}

const pthreadOperations = `#define mutex static pthread_mutex_t
#define cond static pthread_cond_t
#define lock(m) pthread_mutex_lock(&(m))
#define trylock(m) (pthread_mutex_trylock(&(m)) == 0)
#define unlock(m) pthread_mutex_unlock(&(m))
#define wait(c, m) pthread_cond_wait(&(c), &(m))
#define signal(c) pthread_cond_signal(&(c))
#define broadcast(c) pthread_cond_broadcast(&(c))
#define yield() sched_yield()
#define nap() usleep(1)
`

const cxxOperations = `static inline void wait_for(std::condition_variable &c, std::mutex &m)
{
	std::unique_lock<std::mutex> held(m, std::adopt_lock);
	c.wait(held);
	held.release();
}
#define mutex static std::mutex
#define cond static std::condition_variable
#define lock(m) (m).lock()
#define trylock(m) (m).try_lock()
#define unlock(m) (m).unlock()
#define wait(c, m) wait_for((c), (m))
#define signal(c) (c).notify_one()
#define broadcast(c) (c).notify_all()
#define yield() std::this_thread::yield()
#define nap() std::this_thread::sleep_for(std::chrono::microseconds(1))
`

const builtinOperations = `#define atom static int
#define load(a) __atomic_load_n(&(a), __ATOMIC_SEQ_CST)
#define store(a, v) __atomic_store_n(&(a), (v), __ATOMIC_SEQ_CST)
#define add(a, v) __atomic_fetch_add(&(a), (v), __ATOMIC_SEQ_CST)
#define xchg(a, v) __atomic_exchange_n(&(a), (v), __ATOMIC_SEQ_CST)
#define cas(a, old, v) __sync_bool_compare_and_swap(&(a), (old), (v))
`

// Styles are all styles. Atomics are sequentially consistent in each.
var Styles = []Style{
	{Name: "stdatomic", prelude: `#include <stdatomic.h>
#define atom static _Atomic int
#define load(a) atomic_load(&(a))
#define store(a, v) atomic_store(&(a), (v))
#define add(a, v) atomic_fetch_add(&(a), (v))
#define xchg(a, v) atomic_exchange(&(a), (v))
static inline int swaps(_Atomic int *a, int old, int v) { return atomic_compare_exchange_strong(a, &old, v); }
#define cas(a, old, v) swaps(&(a), (old), (v))
` + pthreadOperations},
	{Name: "builtin", prelude: builtinOperations + pthreadOperations},
	{Name: "sync", prelude: `#define atom static int
#define load(a) __sync_fetch_and_add(&(a), 0)
#define store(a, v) ((void)__atomic_exchange_n(&(a), (v), __ATOMIC_SEQ_CST))
#define add(a, v) __sync_fetch_and_add(&(a), (v))
#define xchg(a, v) __atomic_exchange_n(&(a), (v), __ATOMIC_SEQ_CST)
#define cas(a, old, v) __sync_bool_compare_and_swap(&(a), (old), (v))
` + pthreadOperations},
	{Name: "c++", CXX: true, prelude: `#define atom static std::atomic<int>
#define load(a) (a).load()
#define store(a, v) (a).store(v)
#define add(a, v) (a).fetch_add(v)
#define xchg(a, v) (a).exchange(v)
static inline int swaps(std::atomic<int> &a, int old, int v) { return a.compare_exchange_strong(old, v); }
#define cas(a, old, v) swaps((a), (old), (v))
` + cxxOperations},
}

const cHeaders = `#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>
`

const cxxHeaders = `#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <cassert>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>
`

// A plain variable has external linkage: gcc 12 keeps a static one in a register while a function of the
// same file synchronises by atomics alone, since no other function accesses the variable.
const common = `#if defined __x86_64__ || defined __i386__
#define pause() __builtin_ia32_pause()
#else
#define pause() ((void)0)
#endif
#define plain int
#define sleep_while(a, v) syscall(SYS_futex, &(a), FUTEX_WAIT_PRIVATE, (v), 0, 0, 0)
#define wake(a, n) syscall(SYS_futex, &(a), FUTEX_WAKE_PRIVATE, (n), 0, 0, 0)
#define check(v) assert(v)
static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}
`

// perProgram are names that every program has besides its own.
const perProgram = `static long long begun;
static pthread_t threads[%[1]d];
static void worker(int me);
static void *run(void *p) { worker((int)(intptr_t)p); return 0; }
static inline void start(void)
{
	begun = now();
	for (intptr_t i = 0; i < %[1]d; i++) pthread_create(&threads[i], 0, run, (void *)i);
}
static inline void finish(void)
{
	for (int i = 0; i < %[1]d; i++) pthread_join(threads[i], 0);
}
static inline int late(void) { return now() - begun > 50; }
`

// localNames are names that programs in one source file must not share.
var localNames = map[string]bool{"begun": true, "threads": true, "worker": true, "run": true, "start": true, "finish": true, "late": true, "body": true}

// Source returns C or C++ source with the programs, which must be of one style. With more than one, the
// first argument of the binary is the number of the program to run.
func Source(programs []*Program) string {
	style := programs[0].Style
	var b strings.Builder
	if style.CXX {
		b.WriteString(cxxHeaders)
	} else {
		b.WriteString(cHeaders)
	}
	b.WriteString(style.prelude)
	b.WriteString(common)
	for n, p := range programs {
		fmt.Fprintf(&b, "\n/* %d: %s */\n", n, p)
		own := fmt.Sprintf(perProgram, p.Workers) + p.Text
		if len(programs) > 1 {
			own = p.rename(own, fmt.Sprintf("p%d_", n))
		}
		b.WriteString(own)
	}
	b.WriteString("\nint main(int argc, char **argv)\n{\n")
	if len(programs) == 1 {
		b.WriteString("\t(void)argc;\n\t(void)argv;\n\tbody();\n")
	} else {
		b.WriteString("\tswitch (argc > 1 ? atoi(argv[1]) : -1) {\n")
		for n := range programs {
			fmt.Fprintf(&b, "\tcase %d: p%d_body(); break;\n", n, n)
		}
		b.WriteString("\tdefault: return 2;\n\t}\n")
	}
	b.WriteString("\treturn 0;\n}\n")
	return b.String()
}

// rename gives the program's own global names a prefix.
func (p *Program) rename(source, prefix string) string {
	own := func(name string) bool {
		if localNames[name] {
			return true
		}
		if _, ok := p.unit.functions[name]; ok {
			return true
		}
		for _, g := range p.unit.globals {
			if g.name == name {
				return true
			}
		}
		return false
	}
	var b strings.Builder
	for i := 0; i < len(source); {
		n := 1
		for isName(source[i]) && i+n < len(source) && isName(source[i+n]) {
			n++
		}
		if word := source[i : i+n]; own(word) {
			b.WriteString(prefix)
		}
		b.WriteString(source[i : i+n])
		i += n
	}
	return b.String()
}
