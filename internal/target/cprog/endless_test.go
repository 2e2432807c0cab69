package cprog

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/waiting"
	"github.com/heddle-dev/heddle/internal/symbol/valueflow"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
)

// loopsFrame is a program with loops, of which the argument says the one that a thread runs.
const loopsFrame = `
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#define LIMIT 2000000000
struct node { struct node *next; long value, n, flag; };
static struct node ring[3] = { { ring + 1, 1 }, { ring + 2, 2 }, { ring, 3 } }, *head = ring;
static struct { long total, other, cells[4]; union { long whole; unsigned char part[8]; } u; } memory;
static long *where = &memory.cells[1];
atomic_int stop;
volatile int plain, table[8];
static long left, result;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void progress(long turns) { if (turns > LIMIT) exit(0); }
__attribute__((noinline)) static struct node *next(struct node *p) { return p->next; }
__attribute__((noinline)) static void bump(long *n) { ++*n; }
__attribute__((noinline)) static long copy(const long *n) { return *n; }
__attribute__((noinline)) static long mixed(long a, long b) { return a * 7 + (b >> 2); }
LOOPS
static int which;
static void *work(void *arg) {
  switch (which) { CASES }
  return arg;
}
int main(int argc, char **argv) {
  which = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, 0);
  return result == 7;
}
`

// looks are what a loop looks at, and what changes to go on: nothing in it, except for the turns, is another one in each round.
var looks = []string{
	"if (stop) break;",
	"pthread_mutex_lock(&mu); int seen = plain; pthread_mutex_unlock(&mu); if (seen) break;",
	"if (stop || atomic_load(&stop) > 3) break; usleep(10);",
}

// walks are the same with many accesses to a point, and none where the loop writes.
var walks = []string{
	"if (plain) break;",
	"p = p->next; if (!p) break;",
	"p = next(p); if (!p) break;",
	"if (p->value == 7) break; p = p->next;",
}

// sums are what a loop computes from its turns.
var sums = []string{
	"a += turns;", "b = b * 3 + a;", "c ^= turns >> 2;", "d = d << 1 | (a & 1);", "i += 3;", "i = i * 5 + (int)c;", "c = a > b ? a : b;", "b -= p->value;",
	"a = mixed(a, turns);", "d = -c;", "s = (short)(s + 1);", "h = (unsigned char)(h + i);", "f = a == b;", "for (int k = 0; k < 3; k++) a += k * turns;", "last = p;",
}

// decisions end a loop after LIMIT turns, or may.
var decisions = []string{
	"if (turns > LIMIT) break;",
	"{ long half = turns / 2; if (half > LIMIT / 2) break; }",
	"{ long other = (turns ^ 5) + 3; if (other > LIMIT) break; }",
	"progress(turns);",
	"left = LIMIT - turns; if (left < 0) break;",
	"{ int quit = turns > LIMIT; if (quit) break; }",
	"{ int quit = 0; for (int k = 0; k < 3; k++) quit |= turns + k > LIMIT; if (quit) break; }",
	"if (turns % 1024 == 1023 && turns > LIMIT) break;",
	"if (table[turns & 7]) break;",
	"p = turns > LIMIT ? 0 : p; if (!p) break;",
	"table[0] = 100 / (LIMIT - (int)turns);",
	"if (turns > LIMIT) plain = 1; if (plain) break;",
	"switch (turns / LIMIT) { case 0: break; case 1: return; default: exit(0); }",
	"h = turns >> 20; if (h > 2) break;",
	"table[turns & 7] = 0;",
	"usleep(turns & 1);",
}

// counts are what a loop counts in memory.
var counts = []string{
	"p->n++;", "p->n += p->value;", "memory.total += turns;", "bump(&p->n);", "bump(&memory.total);", "memory.cells[0]++; memory.cells[1] += memory.cells[0];",
	"*where += 2;", "mine++;", "++*escaped;", "memory.cells[3] = p->n & 1;", "memory.u.part[1]++;", "last->n = p->n + 1;", "memory.other = copy(&memory.total);",
}

// memoryDecisions end a loop by what it counts in memory.
var memoryDecisions = []string{
	"p->n++; if (p->n > LIMIT) break;",
	"memory.total++; if (memory.total > LIMIT) break;",
	"memory.total += p->n; p->n++; if (memory.total > LIMIT) break;",
	"p->n++; p->flag = p->n > LIMIT; if (p->flag) break;",
	"p->n++; if (p->n > LIMIT) p->flag = 1; if (p->flag) break;",
	"bump(&memory.total); if (copy(&memory.total) > LIMIT) break;",
	"memory.total++; if (memory.total > LIMIT) head = 0; if (!head) break;",
	"last->n = ++p->n; if (last->n > LIMIT) break;",
	"memory.cells[0]++; memory.cells[1] = memory.cells[0] >> 31; if (memory.cells[1]) break;",
	"memory.cells[0]++; *where = memory.cells[0] / LIMIT; if (memory.cells[1]) break;",
	"*where = turns > LIMIT; if (memory.cells[1]) break;",
	"memory.cells[1] = turns > LIMIT; if (*where) break;",
	"if (!++memory.u.part[0] && !++memory.u.part[1]) memory.u.part[2]++; if (memory.u.whole > 10000000) break;",
	"memory.u.whole++; if (memory.u.part[3] > 100) break;",
	"mine = turns > LIMIT; if (*escaped) break;",
	"++*escaped; if (mine > LIMIT) break;",
	"*escaped = turns > LIMIT; if (mine) break;",
	"p->n++; p = p->n > LIMIT ? 0 : p; if (!p) break;",
	"p->n++; memory.cells[p->n & 3] = 0;",
	"memory.total++; table[0] = 100 / (LIMIT - (int)memory.total);",
	"memory.total++; if (memory.total > LIMIT) ring[1].next = 0; if (!ring[1].next) break;",
	"memory.total++; progress(memory.total);",
	"p->n++; usleep(p->n & 1);",
	"memory.total++; memory.other = memory.total; memory.cells[2] = memory.other; if (memory.cells[2] > LIMIT) break;",
	"__atomic_fetch_add(&memory.total, 1, 0); if (copy(&memory.total) > LIMIT) break;",
	"if (__atomic_fetch_add(&memory.total, 1, 0) > LIMIT) break;",
	"memory.total++; if (__atomic_load_n(&memory.total, 0) > LIMIT) break;",
}

// randomLoop is a function with a loop that nothing ends, or one that a decision ends.
func randomLoop(r *rand.Rand, n int, decision string, sums []string, more string) string {
	var body []string
	for range r.IntN(5) {
		body = append(body, sums[r.IntN(len(sums))])
	}
	at := r.IntN(len(body) + 1)
	look := looks[r.IntN(len(looks))]
	if decision == "" && n%3 == 0 && more == "" {
		look = walks[r.IntN(len(walks))]
	}
	look += more
	body = append(body[:at:at], append([]string{look}, body[at:]...)...)
	if decision != "" {
		at := r.IntN(len(body) + 1)
		body = append(body[:at:at], append([]string{decision}, body[at:]...)...)
	}
	return fmt.Sprintf(`static void loop%d(void) {
  struct node *p = head, *last = p;
  long turns = 0, a = 1, b = 2, c = 3, d = 4;
  int i = 5, f = 0;
  short s = 0;
  unsigned char h = 0;
  long mine = 0, *volatile escaped = &mine;
  for (;;) {
    turns++;
    %s
  }
  result = turns + mine + a + b + c + d + i + f + s + h + last->value;
}
`, n, strings.Join(body, "\n    "))
}

// TestCountsDecide: a loop counts as endless only if nothing that its thread counts can end it, whatever the compiler makes of it.
func TestCountsDecide(t *testing.T) { countsDecide(t, decisions, sums, "", 3) }

// TestMemoryCountsDecide is the same for loops that count in memory, of a thread that runs alone.
func TestMemoryCountsDecide(t *testing.T) {
	countsDecide(t, memoryDecisions, slices.Concat(sums, counts, counts), " p = p->next;", 3)
}

// countsDecide requires that so many of six loops that nothing ends are found.
func countsDecide(t *testing.T, decisions, sums []string, more string, least int) {
	need.Tool(t, "gcc")
	const endless = 6
	rounds := 1 // HEDDLE_WHOLE=1: more
	if need.Whole() {
		rounds = 40
	}
	for round := range rounds {
		r := rand.New(rand.NewPCG(uint64(round), 3))
		var loops, cases []string
		for n := range endless + len(decisions) {
			decision := ""
			if n >= endless {
				decision = decisions[n-endless]
			}
			loops = append(loops, randomLoop(r, n, decision, sums, more))
			cases = append(cases, fmt.Sprintf("case %d: loop%d(); break;", n, n))
		}
		source := strings.NewReplacer("LOOPS", strings.Join(loops, ""), "CASES", strings.Join(cases, " ")).Replace(loopsFrame)
		for build, prog := range allBuilds(t, source) {
			t.Run(fmt.Sprintf("%d/%s", round, build), func(t *testing.T) {
				t.Parallel()
				found := 0
				for n := range loops {
					why := endsIn(t, prog, n)
					if why == "" && n >= endless {
						t.Errorf("a loop that ends counts as endless:\n%s", loops[n])
					}
					if why == "" {
						found++
					} else if n < endless {
						t.Logf("%s: loop %d is not known to be endless: %s", build, n, why)
					}
				}
				if found < least {
					t.Errorf("%d of %d endless loops are found", found, endless)
				}
			})
		}
	}
}

// endsIn says why a loop of the program may end, "" if it cannot.
func endsIn(t *testing.T, prog string, loop int) string {
	t.Helper()
	tg := start(t, prog, strconv.Itoa(loop))
	defer tg.Close()
	watch := &waiting.Words{}
	const fair, states = 4, 40 // three periods of nine points, and more
	o := run(t, tg, schedule.Plan{
		Record: true, Watcher: watch, Values: true, States: true, Functions: true, FairAfter: fair, WordsFrom: 2 * fair, MaxSteps: 2*fair + states,
	})
	if !o.Ending.Kind.Endless() {
		t.Fatalf("loop %d ended: %v %s", loop, o.Ending.Kind, o.Ending.Message)
	}
	return watch.Ends(1, valueflow.NewCode(o.Trace.Modules))
}

// allBuilds compiles a program with each compiler and at each level of optimisation.
func allBuilds(t *testing.T, source string) map[string]string {
	builds := map[string]string{}
	for _, level := range []string{"-O0", "-O1", "-O2"} {
		prog := compile(t, source, level, "-w")
		builds["gcc "+level] = prog
		if _, err := exec.LookPath("clang"); err != nil {
			continue
		}
		dir := t.TempDir()
		object, out := filepath.Join(dir, "prog.o"), filepath.Join(dir, "prog")
		for _, cmd := range [][]string{
			{"clang", "-g", "-w", level, "-pthread", "-fsanitize=thread", "-c", "-o", object, filepath.Join(filepath.Dir(prog), "prog.c")},
			{"gcc", "-pthread", "-fsanitize=thread", "-no-pie", "-o", out, object},
		} {
			if b, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", cmd, err, b)
			}
		}
		builds["clang "+level] = out
	}
	return builds
}
