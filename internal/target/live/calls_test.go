package live_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/trace"
)

// bump adds to the counter, and is called on three stacks: 10 times by careful, 3 times by careless, and
// 5 times by a function that leave has left by longjmp before.
const contexts = `
#include <pthread.h>
#include <setjmp.h>
int counter;
static jmp_buf back;
__attribute__((noinline)) static void bump(void) { counter++; __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) static void careful(void) { for (int i = 0; i < 10; i++) bump(); __asm__ volatile(""); }
__attribute__((noinline)) static void careless(void) { for (volatile int i = 0; i < 3; i++) bump(); __asm__ volatile(""); }
__attribute__((noinline)) static void leave(int n) { if (n == 0) longjmp(back, 1); leave(n - 1); __asm__ volatile(""); }
__attribute__((noinline)) static void jumped(void) { for (int i = 0; i < 5; i++) { if (!setjmp(back)) leave(i); bump(); } __asm__ volatile(""); }
static void *work(void *p) { careful(); careless(); jumped(); return p; }
int main(void) {
  pthread_t t;
  counter = 0;
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  return counter != 18;
}
`

func TestStacks(t *testing.T) {
	source := filepath.Join(t.TempDir(), "contexts.c")
	if err := os.WriteFile(source, []byte(contexts), 0o666); err != nil {
		t.Fatal(err)
	}
	lib := library(t)
	for _, optimise := range []string{"-O0", "-O1", "-O2"} {
		t.Run(optimise, func(t *testing.T) {
			p := compile(t, lib, source, optimise)
			r, err := p.Run(t.Context(), live.Request{Mode: live.Profile, Most: 1 << 20, Stacks: true, Limit: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if err := trace.Validate(r.Trace); err != nil {
				t.Fatal(err)
			}
			var read, write trace.Site
			var names []uint64 // of the stacks of bump's writes, as they come
			times := map[uint64]uint64{}
			for i, e := range r.Trace.Events {
				if e.Thread != 1 || e.Op != trace.OpWrite || e.Object.Region() != trace.RegionGlobal || len(r.Trace.Stacks[e.Stack]) < 2 {
					continue
				}
				before := r.Trace.Events[i-1]
				if before.Op != trace.OpRead || before.Object != e.Object {
					continue
				}
				read, write = before.Site, e.Site
				name := live.NameOfStack(r.Trace.Stacks[e.Stack])
				if times[name] == 0 {
					names = append(names, name)
				}
				times[name]++
			}
			if len(names) != 3 || times[names[0]] != 10 || times[names[1]] != 3 || times[names[2]] != 5 {
				t.Fatalf("the recording has bump on the stacks %v, %v times; want 10, 3 and 5 times", names, times)
			}
			for stack, want := range map[uint64]uint64{0: 18, names[0]: 10, names[1]: 3, names[2]: 5, 12345: 0} {
				r, err := p.Run(t.Context(), live.Request{
					Mode: live.Force, Targets: []live.Target{{P: read, C: write, R: write, ThreadC: -1, ThreadR: -1, StackC: stack}}, Limit: 20 * time.Second,
				})
				if err != nil {
					t.Fatal(err)
				}
				if r.Failed(0) || r.Counts[0].CameC != want {
					t.Errorf("with the stack %#x of c, %+v: want %d arrivals at c", stack, r.Counts[0], want)
				}
			}
		})
	}
}
