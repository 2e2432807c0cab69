package handmade

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// allows reports whether an execution may end like that.
func (t Truth) allows(k trace.Kind) bool {
	switch k {
	case trace.Clean:
		return t.Ends
	case trace.Assertion:
		return t.Failed
	case trace.Deadlock:
		return t.Deadlock
	case trace.Hang, trace.Unfinished, trace.Livelock:
		return t.Hang || t.Livelock
	}
	return false
}

// On the simulated machine, executions end only in ways that the graph has, under every policy and with
// every beginning of the fair phase, and nearly all bugs show in few executions.
func TestSimulated(t *testing.T) {
	t.Parallel()
	const executions = 100
	bugs, found := 0, 0
	for _, p := range generate(t) {
		truth, err := p.Truth(100_000)
		if err != nil {
			t.Logf("%s: %v", p, err)
			continue
		}
		program, err := p.Simulated()
		if err != nil {
			t.Fatal(err)
		}
		if !truth.Correct() {
			bugs++
		}
		target := simprog.New(program)
		for seed := range uint64(executions) {
			plan := schedule.Plan{
				Policy: schedule.Policy(seed % uint64(schedule.Walk)), Seed: seed, Depth: 1 + int(seed/4%4), Length: 60, Stay: float64(seed%3) / 3,
				FairAfter: []int{0, 1, 200}[seed/5%3], FairSeed: seed, MaxSteps: 40_000,
			}
			o, err := target.Run(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			if !truth.allows(o.Ending.Kind) {
				t.Errorf("%s: seed %d ends with %v, %q, after %d points; the truth is %+v\n%s", p, seed, o.Ending.Kind, o.Ending.Message, o.Points, truth, p.Text)
				break
			}
			if o.Ending.Kind != trace.Clean {
				found++
				break
			}
		}
	}
	if found*100 < bugs*95 {
		t.Errorf("only %d of %d bugs were found", found, bugs)
	}
}

// A search on the simulated machine finds what the graph has, of the same kind, and nothing else.
func TestFind(t *testing.T) {
	t.Parallel()
	programs, err := Generate(12, Options{Seed: 1, Small: true, Families: []string{
		"test-and-set", "futex mutex", "two locks", "bounded buffer", "made once", "hot potato",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		truth, err := p.Truth(100_000)
		if err != nil {
			t.Fatal(err)
		}
		program, err := p.Simulated()
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Find(t.Context(), simprog.New(program), engine.Options{Seed: 1, Runs: 200, NoSimplify: true}, nil)
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		kind := ""
		if r.Finding != nil {
			kind = r.Finding.Kind
		}
		ok := kind == "" && truth.Correct()
		for k, possible := range map[trace.Kind]bool{trace.Assertion: truth.Failed, trace.Deadlock: truth.Deadlock, trace.Hang: truth.Hang, trace.Livelock: truth.Livelock} {
			ok = ok || possible && kind == k.String()
		}
		if !ok {
			t.Errorf("%s: found %q in %d executions; the truth is %+v\n%s", p, kind, r.Executions, truth, p.Text)
		}
	}
}
