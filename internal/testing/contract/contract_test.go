package contract

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/testing/runtimecache"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

func cases(t testing.TB) []*Case {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	var all []*Case
	for _, f := range files {
		c, err := Load(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// programs are what all cases are built into, once for all tests.
var programs struct {
	sync.Mutex
	dir, c, golang, runtime string
}

func scratch(t testing.TB) string {
	t.Helper()
	if programs.dir == "" {
		dir, err := os.MkdirTemp("", "heddle-contract")
		if err != nil {
			t.Fatal(err)
		}
		programs.dir = dir
	}
	return programs.dir
}

func TestMain(m *testing.M) {
	status := m.Run()
	if programs.dir != "" {
		os.RemoveAll(programs.dir)
	}
	os.Exit(status)
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// startC starts the C program as a case.
func startC(t testing.TB, c *Case, all []*Case) target.Target {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	dir := scratch(t)
	if programs.c == "" {
		rt, err := runtimecache.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		source := write(t, filepath.Join(dir, "c", "corpus.c"), C(append(all, starves(t))))
		out := filepath.Join(dir, "c", "corpus")
		if text, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-fsanitize=thread", "-o", out, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		programs.c, programs.runtime = out, rt.Library
	}
	tg, err := cprog.Start(t.Context(), cprog.Config{Path: programs.c, Args: []string{programs.c, c.Name}, Dir: dir, Runtime: programs.runtime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// startGo starts the Go program as a case.
func startGo(t testing.TB, c *Case, all []*Case) target.Target {
	t.Helper()
	if testing.Short() {
		t.Skip("short: building with the overlay takes long the first time")
	}
	programs.Lock()
	defer programs.Unlock()
	dir := scratch(t)
	src := filepath.Join(dir, "go", "src")
	if programs.golang == "" {
		goroot, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Skip(err)
		}
		write(t, filepath.Join(src, "go.mod"), "module example.com/corpus\n\ngo 1.24\n")
		write(t, filepath.Join(src, "main.go"), Go(append(all, starves(t))))
		overlay, err := patch.Make(context.Background(), strings.TrimSpace(string(goroot)), filepath.Join(dir, "go"), patch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "go", "corpus")
		cmd := exec.Command("go", append([]string{"build", "-o", out}, append(overlay.Flags, ".")...)...)
		cmd.Dir, cmd.Env = src, append(append(os.Environ(), "GOFLAGS=", "GOWORK=off"), overlay.Env...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		programs.golang = out
	}
	tg, err := goprog.Start(t.Context(), goprog.Config{Path: programs.golang, Args: []string{programs.golang, c.Name}, Dir: src, Watchdog: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// lines finds the line of the program at which a site is.
func lines(c *Case, lang string, modules []trace.Module) func(trace.Site) int {
	if lang == "sim" {
		return func(s trace.Site) int { return int(s.Offset() >> 4) }
	}
	table := symbol.New(modules, symbol.Options{})
	return func(s trace.Site) int {
		for _, f := range table.Call(s) {
			if filepath.Base(f.File) == c.Name {
				return f.Line
			}
		}
		return 0
	}
}

func execute(t testing.TB, tg target.Target, p schedule.Plan) schedule.Outcome {
	t.Helper()
	o, err := tg.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// follow runs a case in one language and returns what it did.
func follow(t testing.TB, c *Case, lang string, tg target.Target) (*recording, schedule.Outcome) {
	t.Helper()
	line := lines(c, lang, tg.Modules())
	plan := c.Plan
	plan.Record = true
	var seen []*recording
	if c.Points || c.Script != nil || c.Holds != nil || c.Weights != nil || c.Interesting != nil {
		known := map[trace.Site]bool{}
		for seed := range uint64(12) {
			p := schedule.Plan{Policy: schedule.Policy(min(seed, 1)), Seed: seed, Points: plan.Points, Timeouts: seed%2 == 1, Spurious: seed%2 == 1, Delays: schedule.AnyDelays, Record: true, Accesses: c.Points || c.Holds != nil, MaxSteps: 50000, FairAfter: schedule.Never}
			o := execute(t, tg, p)
			for _, e := range o.Trace.Events {
				if c.Points && e.Op.IsAccess() && c.accesses(line(e.Site)) && !known[e.Site] {
					known[e.Site] = true
					plan.Points = append(plan.Points, e.Site)
				}
			}
			r, err := c.read(o.Trace, line)
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, r)
		}
		var err error
		var index map[string]int
		if plan.Script, plan.Threads, index, err = c.script(seen); err == nil {
			if plan.Holds, err = c.holds(seen, index); err == nil {
				err = c.weigh(&plan, seen, index)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	o := execute(t, tg, plan)
	r, err := c.read(o.Trace, line)
	if err != nil {
		t.Fatal(err)
	}
	return r, o
}

// check compares what a case did with what is expected.
func check(t *testing.T, want Expected, r *recording, o schedule.Outcome) {
	t.Helper()
	if got, want := Format(r.turns), Format(want.Turns); got != want && want != "" {
		t.Errorf("did\n%swant\n%s", got, want)
	}
	if end := fmt.Sprint(o.Ending.Kind, " ", o.Ending.Status); want.End != "" && end != want.End {
		t.Errorf("ended with %s %q, want %s", end, o.Ending.Message, want.End)
	}
	if want.Holds != nil && !slices.Equal(o.Holds, want.Holds) {
		t.Errorf("holds %+v, want %+v", o.Holds, want.Holds)
	}
	for k, n := range stats(o) {
		if w, ok := want.Stats[k]; ok && n != w {
			t.Errorf("%d %s, want %d", n, k, w)
		}
	}
	if t.Failed() {
		t.Logf("ended with %v %d %q, %v", o.Ending.Kind, o.Ending.Status, o.Ending.Message, stats(o))
	}
}

// TestCorpus runs each case in each language that has a counterpart, and prints why others
// have none.
func TestCorpus(t *testing.T) {
	all := cases(t)
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			for _, lang := range languages {
				t.Run(lang, func(t *testing.T) {
					if why, ok := c.None[lang]; ok {
						t.Skip(why)
					}
					var tg target.Target
					switch lang {
					case "c":
						tg = startC(t, c, all)
					case "go":
						tg = startGo(t, c, all)
					case "sim":
						tg = simprog.New(Sim(c, false))
					}
					r, o := follow(t, c, lang, tg)
					check(t, c.Expected[lang], r, o)
				})
			}
			// Where operations do not block, the machine's threads can be those of Go.
			if want, ok := c.Expected["go"]; ok && !c.Program.blocks() {
				t.Run("sim as go", func(t *testing.T) {
					r, o := follow(t, c, "sim", simprog.New(Sim(c, true)))
					check(t, want, r, o)
				})
			}
		})
	}
}

// TestSeeds: the same seed gives the same decisions in the C runtime and in the simulated
// machine, and where operations do not block also in Go: random draws are made in the same
// order, for every policy and every program of the corpus.
func TestSeeds(t *testing.T) {
	all := cases(t)
	met := map[string]bool{}
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			if c.Expected["c"].known && c.Expected["sim"].known {
				agree(t, c, "c", startC(t, c, all), simprog.New(Sim(c, false)), seeds, met)
			}
			if c.Expected["go"].known && !c.Program.blocks() {
				agree(t, c, "go", startGo(t, c, all), simprog.New(Sim(c, true)), seeds/4, met)
			}
		})
	}
	for _, w := range []string{"spurious", "timeout", "timeout!", "sleep", "sleep!", "expire", "wake", "read", "yield"} {
		if !met[w] && !testing.Short() {
			t.Errorf("no execution did %q: the programs or the seeds are too few", w)
		}
	}
}

// weigh sets a plan's weights, and for every second seed interesting instructions, by the order in which an
// execution created the threads and met the instructions.
func weigh(p *schedule.Plan, t *trace.Trace, seed uint64, line func(trace.Site) int) {
	p.Threads = t.Threads
	for i := range t.Threads {
		p.Weights = append(p.Weights, (7*i+int(seed)*5)%23)
	}
	n := 0
	chosen := map[int]bool{} // a compiler may make several instructions of one line
	for _, e := range t.Events {
		switch e.Op.Class() {
		case trace.ClassRead, trace.ClassWrite, trace.ClassALoad, trace.ClassAStore, trace.ClassARMW, trace.ClassAcq:
		default: // other events need not have a site or an object in every language
			continue
		}
		if e.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		if n++; seed%2 == 1 && n%3 == 0 && line(e.Site) != 0 {
			chosen[line(e.Site)] = true
		}
	}
	for _, e := range t.Events {
		if e.Op != trace.OpThreadStart && chosen[line(e.Site)] && !slices.Contains(p.Interesting, e.Site) {
			p.Interesting = append(p.Interesting, e.Site)
		}
	}
}

func agree(t *testing.T, c *Case, lang string, real, sim target.Target, seeds uint64, met map[string]bool) {
	t.Helper()
	line, simLine := lines(c, lang, real.Modules()), lines(c, "sim", nil)
	var points, simPoints []trace.Site
	add := func(all *[]trace.Site, o schedule.Outcome, line func(trace.Site) int) {
		for _, e := range o.Trace.Events {
			if e.Op.IsAccess() && c.accesses(line(e.Site)) && !slices.Contains(*all, e.Site) {
				*all = append(*all, e.Site)
			}
		}
	}
	// Millions of accesses would take too long to record, and show nothing.
	computes := c.Program.uses("compute")
	if computes {
		seeds = 2
	}
	different := 0
	// WALK's weights and interesting instructions are of what the first execution did.
	var first, simFirst schedule.Outcome
	for policy := range schedule.Delay + 1 {
		for seed := range seeds {
			p := schedule.Plan{
				Policy: policy, Seed: seed, Depth: 1 + int(seed%5), Length: 30, Stay: float64(seed%3) / 3, MaxSteps: 600, FairAfter: schedule.Never,
				Timeouts: seed%2 == 1, Spurious: seed%4 == 3, Delays: schedule.Delays(seed % 3), Record: true, Accesses: !computes,
			}
			if lang == "go" {
				p.Timeouts, p.Spurious = false, false // Go has none of these waits, and draws nothing
			}
			if seed%3 == 2 {
				p.FairAfter, p.FairSeed = int(seed), seed/3
			}
			q := p
			p.Points, q.Points = points, simPoints
			if policy == schedule.Walk {
				weigh(&p, first.Trace, seed, line)
				weigh(&q, simFirst.Trace, seed, simLine)
			}
			got, want := execute(t, real, p), execute(t, sim, q)
			if first.Trace == nil {
				first, simFirst = got, want
			}
			add(&points, got, line)
			add(&simPoints, want, simLine)
			a, err := c.read(got.Trace, line)
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.read(want.Trace, simLine)
			if err != nil {
				t.Fatal(err)
			}
			for _, turn := range a.turns {
				for _, w := range turn.Words {
					met[w] = true
				}
			}
			x, y := Format(a.turns)+fmt.Sprint(got.Ending.Kind, stats(got)), Format(b.turns)+fmt.Sprint(want.Ending.Kind, stats(want))
			if x != y {
				if different++; different < 3 {
					t.Errorf("%s, policy %v, seed %d, %+v:\n%s\nin the simulated machine\n%s", lang, policy, seed, p, x, y)
				}
			}
		}
	}
	if different > 0 {
		t.Errorf("%d of %d executions differ", different, uint64(schedule.Delay+1)*seeds)
	}
}

// reusesSlots reports whether a thread is created after another has ended. Go's runtime then gives it that one's slot, where the
// simulated machine has a new one, so their order is another.
func reusesSlots(t *trace.Trace) bool {
	ended := false
	for i := range t.Events {
		switch e := &t.Events[i]; ops.Does(e.Op) {
		case ops.Finish:
			ended = true
		case ops.Create:
			if ended {
				return true
			}
		}
	}
	return false
}

// drawHolds returns holds of instructions that both machines know, the same for each.
func drawHolds(r *rand.Rand, both []instruction, sites [2]map[instruction]trace.Site) (out [2][]schedule.Hold) {
	for range 1 + r.IntN(6) {
		pick := func() instruction { return both[r.IntN(len(both))] }
		site, until, last := pick(), pick(), pick()
		about := func(in instruction) bool { return slices.Contains(objects, in.word) }
		h := schedule.Hold{Thread: schedule.AnyThread, Arrival: max(0, r.IntN(5)-2), When: schedule.Moment(r.IntN(3)), Same: r.IntN(2) == 0, Steps: max(0, r.IntN(20)-12)}
		if r.IntN(4) == 0 {
			until = instruction{}
		}
		h.Time = r.IntN(3) == 0
		if r.IntN(3) > 0 {
			last = instruction{}
		} else {
			h.Not = r.IntN(2) == 0
		}
		if !about(site) || !about(until) || !about(last) { // machines differ in the objects of others
			h.Same, last, h.Not = false, instruction{}, false
		}
		for i := range out {
			w := h
			w.Site, w.Until, w.Last = sites[i][site], sites[i][until], sites[i][last]
			out[i] = append(out[i], w)
		}
	}
	return out
}

// TestHoldsAgree: the same holds have the same effect in each machine, on programs of the corpus and
// under every policy; and a recorded execution is repeated by its script without them.
func TestHoldsAgree(t *testing.T) {
	all := cases(t)
	total := schedule.HoldCount{}
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	for _, c := range all {
		if c.Program.uses("compute", "await", "handle", "poll", "each") { // too long, or loops that gcc gives two loads
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if c.Expected["c"].known && c.Expected["sim"].known {
				agreeOnHolds(t, c, "c", startC(t, c, all), simprog.New(Sim(c, false)), seeds, &total)
			}
			if c.Expected["go"].known && !c.Program.blocks() {
				agreeOnHolds(t, c, "go", startGo(t, c, all), simprog.New(Sim(c, true)), seeds/4, &total)
			}
		})
	}
	if total.Done < 1000 || total.Nobody < 1000 || total.Steps < 200 {
		t.Errorf("the holds ended %+v: too few to show anything", total)
	}
}

func agreeOnHolds(t *testing.T, c *Case, lang string, real, sim target.Target, seeds uint64, total *schedule.HoldCount) {
	t.Helper()
	targets := [2]target.Target{real, sim}
	sites := [2]map[instruction]trace.Site{{}, {}}
	line := [2]func(trace.Site) int{lines(c, lang, real.Modules()), lines(c, "sim", nil)}
	read := func(i int, o schedule.Outcome) *recording {
		r, err := c.read(o.Trace, line[i])
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for seed := range uint64(8) {
		for i, tg := range targets {
			o := execute(t, tg, schedule.Plan{Policy: schedule.Random, Seed: seed, MaxSteps: 600, FairAfter: schedule.Never, Record: true, Accesses: true})
			for in, s := range read(i, o).sites {
				if slices.Contains(named, in.word) {
					sites[i][in] = s
				}
			}
		}
	}
	var both []instruction
	for in := range sites[1] {
		if sites[0][in] != 0 {
			both = append(both, in)
		}
	}
	if len(both) == 0 {
		return
	}
	slices.SortFunc(both, func(a, b instruction) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.word, b.word)) })
	different := 0
	for policy := range schedule.POS + 1 {
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, uint64(policy)))
			holds := drawHolds(r, both, sites)
			var text [2]string
			var out [2]schedule.Outcome
			p := schedule.Plan{
				Policy: policy, Seed: seed, Depth: 1 + int(seed%5), Length: 30, Stay: float64(seed%3) / 3, MaxSteps: 600, FairAfter: schedule.Never,
				Timeouts: lang != "go" && seed%2 == 1, Spurious: lang != "go" && seed%4 == 3, Delays: schedule.Delays(seed % 3), Record: true,
			}
			for i, tg := range targets {
				p.Holds = holds[i]
				out[i] = execute(t, tg, p)
				text[i] = fmt.Sprint(Format(read(i, out[i]).turns), out[i].Ending.Kind, stats(out[i]), out[i].Holds)
			}
			for _, h := range out[0].Holds {
				total.Done += h.Done
				total.Nobody += h.Nobody
				total.Steps += h.Steps
			}
			if text[0] != text[1] && !(lang == "go" && reusesSlots(out[1].Trace)) {
				if different++; different < 3 {
					t.Errorf("%s, %+v:\n%s\nin the simulated machine\n%s", lang, p, text[0], text[1])
				}
			}
			if seed%8 != 0 || out[0].Ending.Kind.Endless() {
				continue
			}
			again := execute(t, real, schedule.Plan{
				Mode: schedule.Strict, Script: schedule.ScriptOf(out[0].Trace), Threads: out[0].Trace.Threads, Points: out[0].Trace.Header.Points, Record: true, Delays: p.Delays,
			})
			a, b := out[0].Trace, again.Trace
			if again.Ending.Kind != out[0].Ending.Kind || !reflect.DeepEqual(a.Events, b.Events) {
				t.Errorf("%s, %+v: %v with %d events, and without holds %v with %d", lang, p, out[0].Ending.Kind, len(a.Events), again.Ending.Kind, len(b.Events))
			}
		}
	}
	if different > 0 {
		t.Errorf("%d of %d executions differ", different, uint64(schedule.POS+1)*seeds)
	}
}

// named are the operations that have the same instruction in each machine; objects are those of them
// that have the same object.
var (
	named   = append([]string{"join", "wait", "signal", "broadcast", "yield", "sleep"}, objects...)
	objects = []string{"lock", "unlock", "trylock", "read", "write", "load", "store", "add"}
)

// pingPong is two threads that wake each other, so that neither runs for long, and one that
// they keep waiting.
const pingPong = `
mutex m
cond c m
main:
	go a
	go b
	go late
	join late
a:
	loop 9000
	lock m
	signal c
	wait c m
	unlock m
	end
b:
	loop 9000
	lock m
	signal c
	wait c m
	unlock m
	end
late:
	yield
`

func starves(t testing.TB) *Case {
	c := &Case{Name: "starves"}
	if err := c.Program.parse(pingPong); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNobodyStarves: no enabled thread waits for much more than abi.FairEvery points in the
// first half of the budget, at any priority, for it runs in the fair windows.
func TestNobodyStarves(t *testing.T) {
	c, all := starves(t), cases(t)
	threads := map[string][]trace.ThreadID{} // of each event, by language
	for _, lang := range languages {
		t.Run(lang, func(t *testing.T) {
			var tg target.Target
			switch lang {
			case "c":
				tg = startC(t, c, all)
			case "go":
				tg = startGo(t, c, all)
			case "sim":
				tg = simprog.New(Sim(c, false))
			}
			most := 0
			for seed := range uint64(6) {
				o := execute(t, tg, schedule.Plan{Policy: schedule.PCT, Seed: seed, Depth: 1, Length: 1, MaxSteps: 1 << 20, Record: true})
				ran := map[trace.ThreadID]int{}
				n := 0
				for i := range o.Trace.Events {
					e := &o.Trace.Events[i]
					if e.Flags&trace.FlagNoDecision != 0 {
						continue
					}
					n++
					threads[lang] = append(threads[lang], e.Thread)
					for th := trace.ThreadID(0); int(th) < len(o.Trace.Threads); th++ {
						if th == e.Thread || !e.Enabled.Has(th) {
							ran[th] = n
						}
						most = max(most, n-ran[th])
					}
				}
			}
			// Points count arrivals: a few decisions come without one.
			if most > abi.FairEvery+abi.FairWindow {
				t.Errorf("a thread that was enabled waited for %d decisions", most)
			}
			if most < abi.FairEvery/2 {
				t.Errorf("no thread waited for more than %d decisions: the program shows nothing", most)
			}
		})
	}
	if a, b := threads["c"], threads["sim"]; a != nil && b != nil && !slices.Equal(a, b) {
		t.Error("C and the simulated machine differ")
	}
}
