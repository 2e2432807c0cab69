package cprog

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// startSharing is start under fork isolation, with executions that do or do not share their set-up.
func startSharing(t testing.TB, prog string, isolation Isolation, how setUp, args ...string) *Target {
	t.Helper()
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: append([]string{prog}, args...), Dir: filepath.Dir(prog), Runtime: lib, Isolation: isolation, setUp: how})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// shared returns how many executions of the present process continued from an earlier one's set-up.
func (t *Target) shared() int { return int(t.loop.Process().Shm().SetupsShared) }

// setUpPlans are plans of every kind that a set-up can be shared by, n of them.
func setUpPlans(n int, base schedule.Outcome) (plans []schedule.Plan) {
	points := racySites(base.Trace)
	policies := []schedule.Policy{schedule.Fair, schedule.Random, schedule.PCT, schedule.POS, schedule.Walk, schedule.Delay}
	for i := range n {
		p := schedule.Plan{Policy: policies[i%6], Seed: uint64(i), Depth: 3, Length: base.Points, Record: i%2 == 0, Timeouts: i%5 == 0, Spurious: i%7 == 0, Stay: float64(i%3) / 4, Watch: i%4 == 1, Points: points}
		plans = append(plans, p)
	}
	return plans
}

// sameSharing runs n plans of a program whose executions share the set-up, and of one whose executions do not. It returns
// how many shared it.
func sameSharing(t testing.TB, prog string, n int, args ...string) int {
	t.Helper()
	never := startSharing(t, prog, Fork, setUpNever, args...)
	base := run(t, never, schedule.Plan{Record: true, Accesses: true})
	if base.Ending.Kind == trace.Unsupported {
		return 0
	}
	plans := setUpPlans(n, base)
	want := stream(t, never, plans)
	if never.shared() != 0 {
		t.Fatalf("%d executions shared a set-up", never.shared())
	}
	always := startSharing(t, prog, Fork, setUpAlways, args...)
	run(t, always, schedule.Plan{Record: true, Accesses: true})
	got := stream(t, always, plans)
	for i, w := range want {
		sameShared(t, fmt.Sprintf("plan %d, %v", i, plans[i].Policy), w, got[i])
	}
	var replays []schedule.Plan
	for i, o := range got {
		if o.Trace != nil && i%4 == 0 {
			replays = append(replays, schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads, Points: plans[i].Points, Record: true, Seed: 999})
		}
	}
	want, got = stream(t, never, replays), stream(t, always, replays)
	for i, w := range want {
		sameShared(t, fmt.Sprintf("replay %d", i), w, got[i])
	}
	return always.shared()
}

func sameShared(t testing.TB, what string, a, b schedule.Outcome) {
	t.Helper()
	if a.Trace != nil && b.Trace != nil {
		sameOutcome(t, what, a, b)
		return
	}
	a.Relaxed, b.Relaxed = nil, nil
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%s: outcome\n%+v, was\n%+v", what, b, a)
	}
}

// A plan gives the same execution whether or not its set-up is an earlier one's.
func TestSameWithSharedSetUp(t *testing.T) {
	sharing := 0
	for i, p := range testPrograms(t) {
		name := filepath.Base(p.file)
		if name == "message_varies.c" || strings.HasPrefix(name, "asm_") || i%8 != 3 && testing.Short() {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			if sameSharing(t, p.compile(t), 24, p.args...) > 0 {
				sharing++
			}
		})
	}
	t.Logf("%d programs shared set-ups", sharing)
}
