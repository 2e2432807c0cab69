package observe_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/internal/testing/expect"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/runtimecache"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// theRuntime is built once for all tests.
var theRuntime = sync.OnceValues(func() (toolchain.Runtime, error) {
	return runtimecache.Build(context.Background())
})

// families are the compilers whose programs are compared.
var families = []toolchain.Family{toolchain.GCC, toolchain.Clang}

// build compiles source in its own directory, and its plug-in next to it if there is one.
func build(t *testing.T, family toolchain.Family, source, plugin string, flags ...string) string {
	t.Helper()
	names := map[toolchain.Family][2]string{toolchain.GCC: {"gcc", "g++"}, toolchain.Clang: {"clang", "clang++"}}[family]
	name := names[0]
	if filepath.Ext(source) == ".cc" {
		name = names[1]
	}
	need.Tool(t, name)
	prog := filepath.Join(t.TempDir(), "prog")
	lines := [][]string{append([]string{"-o", prog}, flags...)}
	if plugin != "" {
		lines = append(lines, []string{"-o", filepath.Join(filepath.Dir(prog), plugin), "-shared", "-fPIC", "-DPLUGIN"})
	}
	for _, line := range lines {
		argv, err := toolchain.Wrap(toolchain.Compiler{Command: []string{name}, Family: family}, slices.Concat([]string{"-g", "-O1", "-pthread"}, line, []string{source}), theRuntime)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, b)
		}
	}
	return prog
}

func start(t *testing.T, prog string, args ...string) *cprog.Target {
	t.Helper()
	return startWithin(t, 0, prog, args...)
}

// startWithin starts prog with this much memory for recording and watching, 0 for no bound.
func startWithin(t *testing.T, memory int64, prog string, args ...string) *cprog.Target {
	t.Helper()
	rt, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := cprog.Start(t.Context(), cprog.Config{Path: prog, Args: append([]string{prog}, args...), Dir: filepath.Dir(prog), Runtime: rt.Library, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// compare runs each plan once while both the target and an Observer watch, and compares what they
// found. It returns the number of races seen.
func compare(t *testing.T, tg *cprog.Target, plans []schedule.Plan) (races int) {
	t.Helper()
	found := map[trace.Site]bool{}
	for i, p := range plans {
		if i%2 == 1 { // the instructions that have raced are scheduling points
			for s := range found {
				p.Points = append(p.Points, s)
			}
			slices.Sort(p.Points)
		}
		var seen observe.Observer
		p.Repeat, p.Record, p.Accesses, p.Watcher, p.Watch, p.MaxSteps = 1, true, true, &seen, true, 20_000
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		o, err := tg.Run(ctx, p)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if o.Watched == nil {
			if o.Ending.Kind != trace.Hang {
				t.Errorf("plan %d: the target did not watch; the execution ended with %v", i, o.Ending.Kind)
			}
			continue
		}
		want, got := seen.Seen(), observe.InPlace(&o, p.Points)
		races += len(want.Races)
		for _, s := range race.Sites(want.Races) {
			found[s] = true
		}
		if a, b := described(tg, got.Races, want.Races), described(tg, want.Races, got.Races); a != "" || b != "" || want.Incomplete != got.Incomplete {
			t.Errorf("plan %d (%s, seed %d, %d points, timeouts %t), ended with %v:\nonly the target found\n%sonly the reference found\n%s%s%s",
				i, p.DescribePolicy(), p.Seed, len(p.Points), p.Timeouts, o.Ending.Kind, a, b, got.Incomplete, want.Incomplete)
			continue
		}
		slices.SortFunc(want.Races, race.Race.Before)
		slices.SortFunc(got.Races, race.Race.Before)
		for k := range want.Races {
			a, b := &want.Races[k], &got.Races[k]
			if a.Pair != b.Pair {
				t.Errorf("plan %d: race %d is of %v, and the reference has %v", i, k, b.Pair, a.Pair)
				break
			}
			if e := o.Trace.Events; b.Event >= len(e) || e[b.Event].Site != b.Witness[1].Site || e[b.Event].Thread != b.Witness[1].Thread {
				t.Errorf("plan %d: event %d is not the later access of %+v", i, b.Event, b)
			}
			if a.Size > 8 && b.Size == 8 && a.Object <= b.Object && uint64(b.Object-a.Object) < uint64(a.Size) {
				b.Object, b.Size = a.Object, a.Size // the target tells of one granule of a range
				for k := range b.Witness {
					b.Witness[k].Object, b.Witness[k].Size = a.Object, a.Size
				}
			}
			if witness(a) != witness(b) {
				t.Errorf("plan %d: %+v, and the reference has %+v", i, b, a)
			}
		}
		if handlers := slices.Compact(slices.Sorted(slices.Values(append(race.Handlers(o.Trace), want.Handlers...)))); !slices.Equal(handlers, got.Handlers) {
			t.Errorf("plan %d: instructions of handlers and what they interrupt %v, and the reference has %v", i, sites(tg, got.Handlers), sites(tg, handlers))
		}
	}
	return races
}

// witness describes the accesses of a race without call stacks, whose numbers differ.
func witness(r *race.Race) string {
	w := r.Witness
	w[0].Stack, w[1].Stack = 0, 0
	return fmt.Sprint(w, r.Object, r.Size)
}

// described returns the races of one list that the other lacks.
func described(tg *cprog.Target, races, others []race.Race) string {
	var b strings.Builder
	for _, r := range races {
		if !slices.ContainsFunc(others, func(o race.Race) bool { return o.Pair == r.Pair }) {
			fmt.Fprintf(&b, "  %v %s by T%d, %v %s by T%d, of %#x, %d bytes, event %d\n", r.Witness[0].Op, sites(tg, []trace.Site{r.Witness[0].Site}), r.Witness[0].Thread,
				r.Witness[1].Op, sites(tg, []trace.Site{r.Witness[1].Site}), r.Witness[1].Thread, uint64(r.Object), r.Size, r.Event)
		}
	}
	return b.String()
}

// sites names instructions as module and offset.
func sites(tg *cprog.Target, list []trace.Site) []string {
	var out []string
	modules := tg.Modules()
	for _, s := range list {
		name := "?"
		if m := s.Module(); m >= 0 && m < len(modules) {
			name = filepath.Base(modules[m].Path)
		}
		out = append(out, fmt.Sprintf("%s+%#x", name, s.Offset()))
	}
	return out
}

// plans returns plans of all policies.
func plans(n int) (all []schedule.Plan) {
	for i := range n {
		p := schedule.Plan{Seed: uint64(i/2 + 1), Timeouts: i%4 == 3, Delays: schedule.ShortDelays}
		switch i / 2 % 4 {
		case 1:
			p.Policy = schedule.Random
		case 2:
			p.Policy, p.Depth, p.Length = schedule.PCT, 3, 60
		case 3:
			p.Policy = schedule.POS
		}
		all = append(all, p)
	}
	return all
}

// TestProgramsInPlace: on all test programs, the target finds the races that the detector finds in
// the events that it sends. HEDDLE_WHOLE=1: with every compiler, and more plans.
func TestProgramsInPlace(t *testing.T) {
	var files []string
	for _, pattern := range []string{"fail/*.c", "fail/*.cc", "pass/*.c", "pass/*.cc"} {
		more, err := filepath.Glob(filepath.Join("../../testdata/programs", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	if len(files) < 150 {
		t.Fatalf("only %d programs", len(files))
	}
	whole := need.Whole()
	for i, file := range files {
		for k, family := range families {
			if !whole && k != i%len(families) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v", strings.TrimPrefix(file, "../../testdata/programs/"), family), func(t *testing.T) {
				t.Parallel()
				e, err := expect.Read(file)
				if err != nil {
					t.Fatal(err)
				}
				n := 6
				if whole {
					n = 16
				}
				if e.Few {
					n = 4
				}
				compare(t, start(t, build(t, family, file, e.PlugIn, e.Flags...), e.Args...), plans(n))
			})
		}
	}
}

// TestRandomProgramsInPlace is the same on programs made at random. HEDDLE_PROGRAMS is how many, and
// HEDDLE_SEED the seed of the first; without them there are a few.
func TestRandomProgramsInPlace(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	races := make([]int, number("HEDDLE_PROGRAMS", 40))
	first := number("HEDDLE_SEED", 1)
	t.Run("programs", func(t *testing.T) {
		for i := range races {
			seed := uint64(first + i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				source := filepath.Join(t.TempDir(), "random.c")
				if err := os.WriteFile(source, []byte(randomC(seed)), 0o644); err != nil {
					t.Fatal(err)
				}
				memory := int64(0)
				if crowded(seed) {
					memory = 16 << 20 // the less memory there is for sets, the earlier granules are split
				}
				tg := startWithin(t, memory, build(t, families[i/2%2], source, ""))
				races[i] = compare(t, tg, plans(16))
				if crowded(seed) && !splits(t, tg) {
					t.Error("the target remembered no accesses by byte")
				}
				if t.Failed() {
					t.Log(randomC(seed))
				}
			})
		}
	})
	sum := 0
	for _, n := range races {
		sum += n
	}
	if sum < 20*len(races) {
		t.Errorf("%d races in %d programs: they do not test much", sum, len(races))
	}
}

// crowded reports whether the program made from seed calls crowd: half of them do, with either
// compiler.
func crowded(seed uint64) bool { return seed%2 == 0 }

// splits reports whether the target has remembered accesses by byte: only then are there cells of
// bytes, at a fixed address (BYTE_CELLS_BASE in runtime/c/memory/shadow.c).
func splits(t *testing.T, tg *cprog.Target) bool {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", tg.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(maps), "\n2b0000000000-")
}

// compacted makes the runtime remember accesses by byte, and then so many sets of accesses of halves
// of words that they do not fit the memory of the test below unless it drops those that no granule
// has any more. The accesses to bytes before that race with the other thread's.
const compacted = randomFrame + `
static volatile unsigned char bytes[64];
static volatile short halves[4];
static void *one(void *arg) {
  crowd(arg);
  for (int i = 0; i < 64; i++) {
    if (i % 3) bytes[i] = 1;
    else (void)bytes[i];
    if (i % 5 == 0) bytes[i] = 2;
  }
  unsigned x = 1;
  for (int i = 0; i < 6000; i++) {
    __atomic_store_n(&flags[0], 1, __ATOMIC_RELEASE); // a new epoch
    x = x * 1103515245 + 12345;
    volatile short *h = &halves[x >> 20 & 3];
    switch (x >> 28 & 7) {
    case 0: *h = 1; break;
    case 1: *h = 2; break;
    case 2: *h = 3; break;
    case 3: *h = 4; break;
    case 4: *h = 5; break;
    case 5: *h = 6; break;
    case 6: *h = 7; break;
    default: *h = 8;
    }
  }
  return arg;
}
static void *two(void *arg) {
  for (int i = 0; i < 64; i++) {
    if (i % 7 == 0) bytes[i] = 3;
    else if (i % 11 == 0) (void)bytes[i];
  }
  *(volatile long *)(bytes + 8) = 1;
  halves[0] = 9;
  return arg;
}
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, one, NULL);
  pthread_create(&t[1], NULL, two, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
`

// TestCompactedInPlace: races with accesses that are remembered by byte are found after the runtime
// has dropped sets of accesses.
func TestCompactedInPlace(t *testing.T) {
	source := filepath.Join(t.TempDir(), "compacted.c")
	if err := os.WriteFile(source, []byte(compacted), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		tg := startWithin(t, 16<<20, build(t, family, source, ""))
		if races := compare(t, tg, plans(8)); races < 8*5 {
			t.Errorf("%v: %d races", family, races)
		}
		if !splits(t, tg) {
			t.Errorf("%v: the target remembered no accesses by byte", family)
		}
	}
}

// randomFrame is common to all random programs. Accesses are volatile, so that compilers keep them.
const randomFrame = `#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
struct __attribute__((packed)) odd { char pad; volatile int32_t i; volatile int64_t l; volatile int16_t s; };
static _Alignas(64) char mem[96];
static _Alignas(8192) volatile char large[5 * 8192];
static pthread_mutex_t m[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t bar;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static int tickets;
static volatile int fds[2];
static char *volatile slot[2];
static char *published;
static int flags[3];
#define AT(type, off) (*(volatile type *)(mem + (off)))
#define ODD(base, field) (((struct odd *)(base))->field)
static void init(void) { AT(int32_t, 80) = 1; }
static void handler(int sig) { AT(int32_t, 84) = sig; (void)AT(int32_t, 88); }
// Accesses bytes in so many different orders that the runtime remembers later accesses by byte.
static volatile unsigned char many[8192];
static void *crowd(void *arg) {
  unsigned x = 1;
  for (int i = 0; i < (int)sizeof many; i++) {
    x = x * 1103515245 + 12345;
    switch (x >> 28 & 3) {
    case 0: many[i] = 1; break;
    case 1: many[i] = 2; break;
    case 2: (void)many[i]; break;
    default: many[i] = 3; (void)many[i ^ 1];
    }
  }
  return arg;
}
static void *leaf(void *arg) { AT(int32_t, 64) += 1; (void)arg; return NULL; }
`

// randomC returns a C program whose threads perform random operations on shared memory. It may
// race, deadlock or use freed memory: the test only compares findings.
func randomC(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString(randomFrame)
	threads := 2 + r.IntN(3)
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	types := []string{"int8_t", "int16_t", "int32_t", "int64_t", "__int128"}
	sizes := []int{1, 2, 4, 8, 16}
	if crowded(seed) {
		types, sizes = append(types, "int8_t", "int8_t", "int8_t", "int8_t"), append(sizes, 1, 1, 1, 1)
	}
	local := 0
	var op func(depth int) string
	ops := func(depth, most int) string {
		var s strings.Builder
		for range 1 + r.IntN(most) {
			s.WriteString("  " + op(depth) + "\n")
		}
		return s.String()
	}
	op = func(depth int) string {
		k := r.IntN(len(types))
		off := r.IntN(64/sizes[k]) * sizes[k]
		kinds := 22
		if depth > 2 {
			kinds = 12 // what has nothing inside
		}
		local++
		switch r.IntN(kinds) {
		case 0, 1, 2:
			return fmt.Sprintf("(void)AT(%s, %d);", types[k], off)
		case 3, 4:
			return fmt.Sprintf("AT(%s, %d) = %d;", types[k], off, r.IntN(100))
		case 5:
			return fmt.Sprintf("AT(%s, %d) += 1;", types[k], off)
		case 6:
			return fmt.Sprintf("ODD(mem + %d, %s)%s;", r.IntN(48), pick("i", "l", "s"), pick(" = 3", " += 1", ""))
		case 7:
			n, x, y := 1+r.IntN(40), r.IntN(40), r.IntN(40)
			if r.IntN(2) == 0 { // of several pages of cells
				n, x, y = 4096*(1+r.IntN(5))+r.IntN(2)*r.IntN(99), r.IntN(4)*4096+r.IntN(2)*r.IntN(99), r.IntN(40000)
				return pick(fmt.Sprintf("memset((char *)large + %d, 1, %d);", x, n), fmt.Sprintf("memmove((char *)large + %d, (char *)large + %d, %d);", x, y/2, n),
					fmt.Sprintf("large[%d] = 1;", y), fmt.Sprintf("(void)large[%d];", y), fmt.Sprintf("*(volatile int64_t *)(large + %d) += 1;", y&^7))
			}
			return fmt.Sprintf("{ char copy[40]; %s; __asm__ volatile(\"\" : : \"r\"(copy) : \"memory\"); }", pick(
				fmt.Sprintf("memcpy(copy, mem + %d, %d)", x, n), fmt.Sprintf("memset(copy, 0, sizeof copy); memcpy(mem + %d, copy, %d)", y, n),
				fmt.Sprintf("memmove(mem + %d, mem + %d, %d)", x, y, n), fmt.Sprintf("memset(mem + %d, 1, %d)", x, n)))
		case 8:
			f := r.IntN(3)
			switch order := pick("RELAXED", "ACQUIRE", "SEQ_CST"); r.IntN(4) {
			case 0:
				return fmt.Sprintf("__atomic_store_n(&flags[%d], 1, __ATOMIC_%s);", f, pick("RELAXED", "RELEASE", "SEQ_CST"))
			case 1:
				return fmt.Sprintf("__atomic_fetch_add(&flags[%d], 1, __ATOMIC_%s);", f, pick("RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL"))
			case 2:
				return fmt.Sprintf("{ int e = %d; __atomic_compare_exchange_n(&flags[%d], &e, 2, 0, __ATOMIC_%s, __ATOMIC_RELAXED); }", r.IntN(2), f, order)
			default:
				return fmt.Sprintf("if (__atomic_load_n(&flags[%d], __ATOMIC_%s)) {\n%s}", f, order, ops(depth+1, 2))
			}
		case 9:
			return fmt.Sprintf("__atomic_thread_fence(__ATOMIC_%s);", pick("ACQUIRE", "RELEASE", "SEQ_CST"))
		case 10:
			switch r.IntN(4) {
			case 0: // as in a reference count
				return fmt.Sprintf("if (__atomic_sub_fetch((volatile int32_t *)(mem + %d), 1, __ATOMIC_ACQ_REL) == %d) {\n%s}", 4*r.IntN(4), -1-r.IntN(2), ops(depth+1, 3))
			case 1:
				return fmt.Sprintf("if (__atomic_sub_fetch(&flags[2], 1, __ATOMIC_ACQ_REL) < 0) { char *p = slot[0]; if (p) __atomic_fetch_add((volatile int32_t *)p, 1, __ATOMIC_%s); }", pick("RELAXED", "ACQ_REL"))
			}
			return fmt.Sprintf("__atomic_%s;", pick("store_n((volatile int32_t *)(mem + 8), 1, __ATOMIC_RELAXED)", "store_n((volatile int32_t *)(mem + 4), 1, __ATOMIC_RELEASE)",
				"fetch_add((volatile int64_t *)(mem + 16), 1, __ATOMIC_RELEASE)", "load_n((volatile int32_t *)(mem + 4), __ATOMIC_ACQUIRE)", "load_n((volatile int32_t *)(mem + 20), __ATOMIC_ACQUIRE)"))
		case 11:
			return pick("sem_post(&sem);", "sem_trywait(&sem);", "pthread_once(&once, init);", "pthread_barrier_wait(&bar);",
				"sem_destroy(&sem); sem_init(&sem, 0, 1);", "pthread_cond_init(&c, NULL);", "memset(&c, 0, sizeof c);",
				"{ uint64_t one = 1; if (write(fds[0], &one, sizeof one) < 0) close(fds[1]); }", "{ uint64_t n; if (read(fds[1], &n, sizeof n) < 0) close(fds[0]); }",
				"{ int fd = eventfd(0, EFD_NONBLOCK); close(fds[0]); fds[0] = fd; }", "close(fds[1]); fds[1] = eventfd(1, EFD_NONBLOCK);")
		case 12:
			if r.IntN(4) == 0 {
				return fmt.Sprintf("slot[%d] = %s;", r.IntN(2), pick("calloc(9, 3)", "realloc(malloc(4), 40000)", "aligned_alloc(64, 20480)", "strdup(\"a text of 19 bytes\")"))
			}
			return fmt.Sprintf("{ char *p = malloc(%d); %s; slot[%d] = p; }", 8+r.IntN(60), pick("p[3] = 1", "memset(p, 0, 8)", "(void)p"), r.IntN(2))
		case 13:
			return fmt.Sprintf("{ char *p = slot[%d]; if (p) { *(volatile char *)(p + %d) += 1; } }", r.IntN(2), r.IntN(8))
		case 14:
			return fmt.Sprintf("{ pthread_mutex_lock(&m[0]); char *p = slot[%d]; slot[%[1]d] = NULL; pthread_mutex_unlock(&m[0]); free(p); }", r.IntN(2))
		case 15:
			n := r.IntN(2)
			return fmt.Sprintf("pthread_mutex_lock(&m[%d]);\n%s  pthread_mutex_unlock(&m[%d]);", n, ops(depth+1, 3), n)
		case 16:
			return fmt.Sprintf("pthread_rwlock_%slock(&rw);\n%s  pthread_rwlock_unlock(&rw);", pick("rd", "rd", "wr"), ops(depth+3, 3))
		case 17:
			return fmt.Sprintf("pthread_spin_lock(&spin);\n%s  pthread_spin_unlock(&spin);", ops(depth+3, 2))
		case 18:
			return pick("pthread_mutex_lock(&m[1]); tickets++; pthread_cond_signal(&c); pthread_mutex_unlock(&m[1]);",
				"pthread_mutex_lock(&m[1]); tickets += 2; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m[1]);",
				"pthread_mutex_lock(&m[1]); while (!tickets) pthread_cond_wait(&c, &m[1]); tickets--; pthread_mutex_unlock(&m[1]);")
		case 19:
			return fmt.Sprintf("{ char own%d[24]; *(volatile char *)(own%[1]d + 4) = 1; __atomic_store_n(&published, own%[1]d, __ATOMIC_%s);\n%s  *(volatile char *)(own%[1]d + 4) = 2; __atomic_store_n(&published, NULL, __ATOMIC_RELEASE); }",
				local, pick("RELEASE", "RELAXED"), ops(depth+1, 2))
		case 20:
			return fmt.Sprintf("{ char *p = __atomic_load_n(&published, __ATOMIC_%s); if (p) *(volatile %s *)(p + %d) += 1; }", pick("ACQUIRE", "RELAXED"), pick("char", "int16_t", "int32_t"), r.IntN(5))
		default:
			return fmt.Sprintf("{ pthread_t t%d; pthread_create(&t%[1]d, NULL, leaf, NULL);\n%s  pthread_join(t%[1]d, NULL); }", local, ops(depth+1, 2))
		}
	}
	for i := range threads {
		fmt.Fprintf(&b, "static void *thread%d(void *arg) {\n  (void)arg;\n%s", i, ops(0, 7))
		if r.IntN(2) == 0 {
			b.WriteString(ops(0, 4))
		}
		b.WriteString("  return NULL;\n}\n")
	}
	b.WriteString("int main(void) {\n")
	fmt.Fprintf(&b, "  pthread_t t[%d];\n  pthread_spin_init(&spin, 0);\n  pthread_barrier_init(&bar, NULL, 2);\n  sem_init(&sem, 0, 1);\n  fds[0] = eventfd(0, EFD_NONBLOCK);\n  fds[1] = eventfd(1, EFD_NONBLOCK);\n", threads)
	signals := r.IntN(3) == 0
	if signals {
		b.WriteString("  signal(SIGUSR1, handler);\n")
	}
	if crowded(seed) {
		b.WriteString("  pthread_t many;\n  pthread_create(&many, NULL, crowd, NULL);\n  pthread_join(many, NULL);\n")
	}
	for i := range threads {
		fmt.Fprintf(&b, "  pthread_create(&t[%d], NULL, thread%[1]d, NULL);\n", i)
		if r.IntN(2) == 0 {
			b.WriteString(ops(1, 2))
		}
	}
	if signals {
		fmt.Fprintf(&b, "  pthread_kill(t[%d], SIGUSR1);\n  AT(int32_t, 84) = 1;\n", r.IntN(threads))
	}
	for i := range threads {
		fmt.Fprintf(&b, "  pthread_join(t[%d], NULL);\n", i)
	}
	b.WriteString("  return 0;\n}\n")
	return b.String()
}
