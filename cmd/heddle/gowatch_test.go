package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/testing/goprograms"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestGoWatch: Go's hooks find the same racing pairs while a test runs as the controller's detector
// does in the recorded execution, on the test programs.
func TestGoWatch(t *testing.T) {
	nth := -1
	b := buildGo(t, "", patch.Options{}, func(p goprograms.Program) bool {
		nth++
		return !p.Main && nth%need.Amount(8, 1) == 0 || p.Name == "plain_race" || p.Name == "lost_update" || p.Name == "two_thousand"
	})
	racing := 0
	for _, name := range append(b.names("fail"), append(b.names("pass"), b.names("bench")...)...) {
		t.Run(name, func(t *testing.T) { racing += sameRaces(t, b.start(t, name), need.Amount(6, 30)) })
	}
	t.Logf("%d racing pairs", racing)
	if racing == 0 {
		t.Error("no program raced")
	}
}

// TestGoWatchReleases does the same with random tests, and each release of Go.
func TestGoWatchReleases(t *testing.T) {
	for _, release := range need.BuiltGoReleases() {
		t.Run(release, func(t *testing.T) {
			testGoWatchRandom(t, release, need.Amount(12, 60))
		})
	}
}

// TestSpeedGoWatchAlone: accesses of a test's only goroutine are not watched, so that an execution takes
// about as long as one without watching. With them it takes 5 times as long.
func TestSpeedGoWatchAlone(t *testing.T) {
	need.Speed(t)
	tool, overlay := goOverlay(t, "", patch.Options{})
	g := startTest(t, buildTests(t, tool, overlay, t.TempDir(), aloneTest), "TestAlone")
	best := math.Inf(1)
	for range need.Tries {
		var took [2]time.Duration
		for i := range took {
			began := time.Now()
			o, err := g.Run(t.Context(), schedule.Plan{Policy: schedule.Fair, Watch: i == 1})
			if err != nil || o.Ending.Kind != trace.Clean {
				t.Fatalf("%v: %v %s", err, o.Ending.Kind, o.Ending.Message)
			}
			took[i] = time.Since(began)
		}
		if best = min(best, took[1].Seconds()/took[0].Seconds()); best <= 2 {
			return
		}
	}
	t.Errorf("watched, an execution takes %.1f times as long", best)
}

const aloneTest = `package random

import "testing"

func TestAlone(t *testing.T) {
	a := make([][]int, 200)
	for i := range a {
		a[i] = make([]int, 200)
	}
	for range 100 {
		for i := range a {
			for j := range a[i] {
				a[i][j] += a[j][i] + 1
			}
		}
	}
}
`

// buildTests builds a package of one file, with heddle in the runtime, and returns the test binary.
func buildTests(t *testing.T, tool *gotool.Tool, overlay gotool.Overlay, dir, source string) string {
	t.Helper()
	for name, text := range map[string]string{"go.mod": "module random\n\ngo 1.24\n", "random_test.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "random.test")
	cmd := exec.CommandContext(t.Context(), tool.Path, append([]string{"test", "-c", "-vet=off", "-o", path}, overlay.Flags...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), overlay.Env...), "GOROOT="+tool.Root, "GOTOOLCHAIN=local")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return path
}

// startTest starts one test of a test binary.
func startTest(t *testing.T, path, name string) *goprog.Target {
	t.Helper()
	g, err := goprog.Start(t.Context(), goprog.Config{
		Path: path, Dir: filepath.Dir(path), Test: true, Version: "test", Args: []string{path, "-test.run=^" + name + "$"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func testGoWatchRandom(t *testing.T, release string, tests int) {
	tool, overlay := goOverlay(t, release, patch.Options{})
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(11, 7))
	var source strings.Builder
	source.WriteString(randomHead)
	for i := range tests {
		randomTest(&source, r, i)
	}
	path := buildTests(t, tool, overlay, dir, source.String())
	racing := 0
	for i := range tests {
		name := fmt.Sprintf("TestRandom%d", i)
		g := startTest(t, path, name)
		racing += sameRaces(t, g, 5)
		g.Close()
		if t.Failed() {
			t.Fatalf("%s is\n%s", name, source.String()[strings.Index(source.String(), "func "+name+"("):])
		}
	}
	t.Logf("%d racing pairs in %d tests", racing, tests)
	if racing < tests {
		t.Errorf("%d racing pairs in %d tests and 5 schedules each", racing, tests)
	}
}

// sameRaces runs several schedules of a test three times each: recorded with all accesses and
// watched; watched only; and watched, with its racing instructions as scheduling points. It returns
// how many pairs raced.
func sameRaces(t *testing.T, g *goprog.Target, schedules int) (total int) {
	t.Helper()
	var points []trace.Site
	for seed := range uint64(schedules) {
		plan := schedule.Plan{Policy: schedule.Random, Seed: seed, Watch: true, Points: points}
		if seed == 0 {
			plan.Policy = schedule.Fair
		}
		only := watch(t, g, plan)
		seen := &observe.Observer{}
		plan.Record, plan.Accesses, plan.Watcher = true, true, seen
		both := watch(t, g, plan)
		if only.Signature != both.Signature {
			continue // it depends on more than the schedule
		}
		var want []string
		names := symbol.ForTrace(both.Trace, symbol.Options{})
		pair := func(sites [2]trace.Site, ops [2]trace.Op) string {
			a, b := race.Access{Site: sites[0], Op: ops[0]}, race.Access{Site: sites[1], Op: ops[1]}
			words := []string{}
			for _, x := range []race.Access{a, b} {
				f := names.Call(x.Site)
				words = append(words, fmt.Sprintf("%v at %s:%d %x", x.Op, f[0].Func, f[0].Line, x.Site))
			}
			slices.Sort(words)
			return strings.Join(words, " and ")
		}
		o := seen.Seen()
		for _, r := range o.Races {
			want = append(want, pair([2]trace.Site{r.Pair[0].Site, r.Pair[1].Site}, [2]trace.Op{r.Pair[0].Op, r.Pair[1].Op}))
			for _, a := range r.Pair {
				if a.Op.IsAccess() && !slices.Contains(points, a.Site) && len(points) < 100 {
					points = append(points, a.Site)
				}
			}
		}
		slices.Sort(want)
		for i, w := range []*schedule.Watched{only.Watched, both.Watched} {
			var got []string
			for _, r := range w.Races {
				got = append(got, pair(r.Sites, r.Ops))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("seed %d, %d points, recorded: %t: the hooks found\n\t%s\nthe detector\n\t%s", seed, len(plan.Points), i == 1, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
			}
			if least := o.Shown - accessesAlone(both.Trace); w.Full || i == 0 && w.Accesses < least {
				t.Errorf("seed %d: %d accesses watched, %d recorded with other goroutines, full: %t", seed, w.Accesses, least, w.Full)
			}
		}
		for _, r := range both.Watched.Races {
			if e := both.Trace.Events[r.Event]; e.Site != r.Sites[1] || e.Op != r.Ops[1] || e.Thread != r.Threads[1] {
				t.Errorf("seed %d: event %d of the race is %v by T%d", seed, r.Event, e.Op, e.Thread)
			}
		}
		total += len(want)
	}
	return total
}

// accessesAlone returns how many accesses the test's goroutine made before there was another one or a
// timer. They need not be watched.
func accessesAlone(tr *trace.Trace) (n int) {
	for _, e := range tr.Events {
		switch {
		case e.Op == trace.OpGo, e.Op == trace.OpTimerReset, e.Op == trace.OpGsleep, e.Thread != 0:
			return n
		case e.Op.IsAccess():
			n++
		}
	}
	return n
}

func watch(t *testing.T, g *goprog.Target, p schedule.Plan) schedule.Outcome {
	t.Helper()
	o, err := g.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if o.Watched == nil {
		t.Fatalf("%v seed %d was not watched: %v %s", p.Policy, p.Seed, o.Ending.Kind, o.Ending.Message)
	}
	return o
}

const randomHead = `package random

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

type shared struct {
	words [4]int64
	bytes [16]byte
	halves [4]uint16
	count atomic.Int64
	small [2]atomic.Uint32
	mixed int64
	mu [2]sync.Mutex
	rw sync.RWMutex
	once sync.Once
	box atomic.Pointer[[3]int64]
	loose *[3]int64
	c chan *[3]int64
	un chan int
	m map[int]int
	cond *sync.Cond
	pool sync.Pool
}

var _, _ = time.Now, runtime.GC
`

// randomStatements are what a goroutine of a random test does, %d is a small number.
var randomStatements = []string{
	"s.words[%d%%4]++",
	"s.words[%d%%4] = int64(me)",
	"me += int(s.words[%d%%4])",
	"s.bytes[%d%%16] = byte(me)",
	"me += int(s.bytes[%d%%16])",
	"copy(s.bytes[%d%%8:], s.bytes[9:])",
	"s.halves[%d%%4]++",
	"s.words[0], s.words[1] = s.words[1], int64(%d)",
	"{ x := s.words; me += int(x[%d%%4]) }",
	"s.count.Add(%d)",
	"me += int(s.count.Load()) + %d",
	"s.small[%d%%2].Store(uint32(me))",
	"me += int(s.small[%d%%2].Load())",
	"if s.small[%d%%2].CompareAndSwap(0, 1) { s.words[2]++ }",
	"atomic.AddInt64(&s.mixed, %d)",
	"s.mixed += %d",
	"{ s.mu[%[1]d%%2].Lock(); s.words[%[1]d%%4]++; s.mu[%[1]d%%2].Unlock() }",
	"if s.mu[%[1]d%%2].TryLock() { s.words[%[1]d%%4]++; s.mu[%[1]d%%2].Unlock() }",
	"{ s.rw.RLock(); me += int(s.words[%d%%4]); s.rw.RUnlock() }",
	"{ s.rw.Lock(); s.words[%d%%4]--; s.rw.Unlock() }",
	"s.once.Do(func() { s.words[%d%%4]++ })",
	"select { case s.c <- &[3]int64{int64(me)}: case p := <-s.c: p[%d%%3]++; default: }",
	"select { case p := <-s.c: p[%d%%3]++; s.loose = p; default: }",
	"select { case s.un <- %d: case <-s.un: default: }",
	"if p := s.box.Load(); p != nil { p[%d%%3]++ }",
	"s.box.Store(&[3]int64{int64(me), 0, %d})",
	"if p := s.loose; p != nil { p[%d%%3]++ }",
	"s.loose = &[3]int64{%d}",
	"for i := range %d%%3+1 { s.bytes[i]++ }",
	"go func() { defer s.mu[1].Unlock(); s.mu[1].Lock(); s.words[%d%%4]++ }()",
	"{ var wg sync.WaitGroup; wg.Add(1); go func() { s.words[%d%%4]++; wg.Done() }(); wg.Wait() }",
	"{ d := make(chan int, 1); go func() { d <- int(s.words[%d%%4]) }(); me += <-d }",
	"time.Sleep(%d)",
	"{ s.cond.L.Lock(); s.words[%d%%4]++; s.cond.Broadcast(); s.cond.L.Unlock() }",
	"{ x, _ := s.pool.Get().(*[3]int64); if x == nil { x = new([3]int64) }; x[%d%%3]++; s.pool.Put(x) }",
	"_ = make([]byte, %d*100)",
	"{ runtime.GC(); for range 60 { x := &[3]int64{int64(me)}; x[%d%%3]++; s.loose = x } }", // memory is used again
	"{ runtime.GC(); for range 60 { x := &[3]int64{int64(me)}; x[%d%%3]++; s.box.Store(x) } }",
}

// randomTest writes a test with goroutines of random statements. Every goroutine comes to its end.
func randomTest(w *strings.Builder, r *rand.Rand, nth int) {
	fmt.Fprintf(w, "\nfunc TestRandom%d(t *testing.T) {\n\ts := &shared{c: make(chan *[3]int64, 2), un: make(chan int), cond: sync.NewCond(new(sync.Mutex))}\n\tvar wg sync.WaitGroup\n", nth)
	for g := range 2 + r.IntN(4) {
		fmt.Fprintf(w, "\twg.Add(1)\n\tgo func() {\n\t\tdefer wg.Done()\n\t\tme := %d\n", g)
		for range 3 + r.IntN(12) {
			text := randomStatements[r.IntN(len(randomStatements))]
			fmt.Fprintf(w, "\t\t"+text+"\n", r.IntN(16))
		}
		fmt.Fprintf(w, "\t\t_ = me\n\t}()\n")
		if r.IntN(3) == 0 {
			fmt.Fprintf(w, "\ts.words[%d]++\n", r.IntN(4))
		}
	}
	if r.IntN(2) == 0 {
		w.WriteString("\twg.Wait()\n\ts.words[0]++\n")
	} else {
		w.WriteString("\ts.words[0]++\n\twg.Wait()\n")
	}
	w.WriteString("}\n")
}
