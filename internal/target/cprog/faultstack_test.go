package cprog

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestFaultStack: the stack of a fault goes through the signal's frame to the functions that
// faulted, in the program, in libc, or in a call of what is not a code.
func TestFaultStack(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"in the program", "*p = 1;", "inner outer thread"},
		{"in libc", `strcpy(p, "something longer than a register or two, for a call of strcpy");`, "inner outer thread"},
		{"no function", "((void (*)(void))p)();", "inner outer thread"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := `
#include <pthread.h>
#include <string.h>
static int depth;
__attribute__((noinline)) static void inner(char *volatile p) { ` + c.body + ` depth++; }
__attribute__((noinline)) static void outer(char *p) { inner(p); depth++; }
static void *thread(void *p) { outer(p); return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, thread, (void *)16);
  return pthread_join(t, NULL);
}`
			tg := start(t, compile(t, src, "-fno-builtin"))
			e := run(t, tg, schedule.Plan{}).Ending
			if e.Kind != trace.Signal || e.Status != 11 {
				t.Fatalf("%v %d", e.Kind, e.Status)
			}
			names := symbol.New(tg.Modules(), symbol.Options{})
			var got []string
			for _, s := range e.Stack {
				if f := names.Call(s); tg.Modules()[s.Module()].Program {
					got = append(got, f[0].Func)
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
		})
	}
}
