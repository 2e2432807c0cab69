package contract

import (
	"fmt"
	"strings"
)

// header of the C program that all cases are in.
const cHeader = `#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
static volatile unsigned char computed[1024];
#define LOAD(x) __atomic_load_n(&x, __ATOMIC_SEQ_CST)
static inline __attribute__((always_inline)) struct timespec after(long ns) {
  struct timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  ns += ts.tv_nsec;
  ts.tv_sec += ns / 1000000000;
  ts.tv_nsec = ns % 1000000000;
  return ts;
}
`

// C is a C program with a function for the main thread of each case, chosen by the name of
// the case as its argument.
func C(cases []*Case) string {
	var b, choose strings.Builder
	b.WriteString(cHeader)
	for _, c := range cases {
		id := identifier(c.Name)
		for _, v := range c.Program.Vars {
			fmt.Fprintf(&b, "static int %s_%s;\n", id, v)
		}
		for _, m := range c.Program.Mutexes {
			fmt.Fprintf(&b, "static pthread_mutex_t %s_%s = PTHREAD_MUTEX_INITIALIZER;\n", id, m)
		}
		for v := range c.Program.Conds {
			fmt.Fprintf(&b, "static pthread_cond_t %s_%s = PTHREAD_COND_INITIALIZER;\n", id, v)
		}
		handlers := map[string]bool{}
		for _, f := range c.Program.Functions {
			for _, o := range f.Ops {
				if o.Word == "handle" {
					handlers[o.Args[0]] = true
				}
			}
			fmt.Fprintf(&b, "static pthread_t %s_thread_%s;\n", id, f.Name)
		}
		for _, f := range c.Program.Functions {
			if handlers[f.Name] {
				fmt.Fprintf(&b, "static void %s_%s(int);\n", id, f.Name)
			} else {
				fmt.Fprintf(&b, "static void *%s_%s(void *);\n", id, f.Name)
			}
		}
		for _, f := range c.Program.Functions {
			result := "return NULL;"
			if handlers[f.Name] {
				fmt.Fprintf(&b, "static void %s_%s(int sig) {\n", id, f.Name)
				result = ""
			} else {
				fmt.Fprintf(&b, "static void *%s_%s(void *arg) {\n", id, f.Name)
			}
			for _, o := range f.Ops {
				fmt.Fprintf(&b, "#line %d %q\n%s\n", o.Line, c.Name, cOp(id, o))
			}
			b.WriteString(result + "\n}\n")
		}
		fmt.Fprintf(&choose, "  if (!strcmp(argv[1], %q)) %s_main(NULL);\n", c.Name, id)
	}
	fmt.Fprintf(&b, "int main(int argc, char **argv) {\n%s  return 0;\n}\n", choose.String())
	return b.String()
}

func identifier(name string) string { return strings.ReplaceAll(name, "-", "_") }

func cOp(id string, o Op) string {
	v := func(i int) string { return id + "_" + o.Args[i] }
	switch o.Word {
	case "go":
		return fmt.Sprintf("pthread_create(&%s_thread_%s, NULL, %s, NULL);", id, o.Args[0], v(0))
	case "join":
		return fmt.Sprintf("pthread_join(%s_thread_%s, NULL);", id, o.Args[0])
	case "lock", "unlock", "trylock":
		return fmt.Sprintf("pthread_mutex_%s(&%s);", o.Word, v(0))
	case "wait":
		return fmt.Sprintf("pthread_cond_wait(&%s, &%s);", v(0), v(1))
	case "timedwait":
		return fmt.Sprintf("{ struct timespec ts = after(%d); pthread_cond_timedwait(&%s, &%s, &ts); }", o.number(2), v(0), v(1))
	case "signal", "broadcast":
		return fmt.Sprintf("pthread_cond_%s(&%s);", o.Word, v(0))
	case "read":
		return fmt.Sprintf("(void)*(volatile int *)&%s;", v(0))
	case "write":
		return fmt.Sprintf("*(volatile int *)&%s = %d;", v(0), o.number(1))
	case "load":
		return fmt.Sprintf("(void)LOAD(%s);", v(0))
	case "store":
		return fmt.Sprintf("__atomic_store_n(&%s, %d, __ATOMIC_SEQ_CST);", v(0), o.number(1))
	case "add":
		return fmt.Sprintf("__atomic_fetch_add(&%s, %d, __ATOMIC_SEQ_CST);", v(0), o.number(1))
	case "spin":
		return fmt.Sprintf("while (LOAD(%s) != %d) ;", v(0), o.number(1))
	case "poll":
		return fmt.Sprintf("while (LOAD(%s) != %d) sched_yield();", v(0), o.number(1))
	case "await":
		return fmt.Sprintf("while (*(volatile int *)&%s != %d) ;", v(0), o.number(1))
	case "compute":
		return fmt.Sprintf("for (long i = 0; i < %dL; i++) computed[i & 1023] = (unsigned char)i;", o.number(0)*accesses)
	case "yield":
		return "sched_yield();"
	case "sleep":
		return fmt.Sprintf("{ static const struct timespec ts = { 0, %d }; nanosleep(&ts, NULL); }", o.number(0))
	case "timer":
		return fmt.Sprintf("{ static struct sigevent none = { .sigev_notify = SIGEV_NONE }; static struct itimerspec ts = { .it_value = { 0, %d } }; timer_t t; timer_create(CLOCK_MONOTONIC, &none, &t); timer_settime(t, 0, &ts, NULL); }", o.number(0))
	case "handle":
		return fmt.Sprintf("signal(SIGUSR1, %s);", v(0))
	case "kill":
		return fmt.Sprintf("pthread_kill(%s_thread_%s, SIGUSR1);", id, o.Args[0])
	case "loop":
		return fmt.Sprintf("_Pragma(\"GCC unroll 1\") for (int i = 0; i < %d; i++) {", o.number(0)) // one instruction for each operation
	case "end":
		return "}"
	}
	panic(o.Word)
}
