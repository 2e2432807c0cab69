package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestJSON checks the report's JSON form, whose names other programs rely on.
func TestJSON(t *testing.T) {
	where := func(s trace.Site) string {
		return strings.Split(simprog.Locate(s), ":")[0]
	}
	r := find(t, simprog.New(simprog.OrderViolation()), Options{Where: where, Runs: 1000})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	keys := func(m any, want ...string) {
		t.Helper()
		for _, k := range want {
			if _, ok := m.(map[string]any)[k]; !ok {
				t.Errorf("no %q in %v", k, m)
			}
		}
		if n := len(m.(map[string]any)); n != len(want) {
			t.Errorf("%d keys, want %v: %v", n, want, m)
		}
	}
	keys(got, "outcome", "ended", "newest", "unseen", "executions", "seconds", "perSecond", "rounds", "behaviours", "instrumented", "points", "races", "expectStatus", "notReproduced", "finding", "simplified")
	keys(got["finding"], "confirmed", "key", "kind", "message", "where", "threads", "strategy", "planned", "execution", "events", "switches", "preemptions")
	keys(got["simplified"], "confirmed", "events", "threads", "switches", "preemptions", "executions", "seconds", "complete", "cut", "details")
	race := got["races"].([]any)[0]
	keys(race, "first", "second", "object", "name", "size")
	keys(race.(map[string]any)["first"], "op", "site", "where")
	finding := got["finding"].(map[string]any)
	if got["outcome"] != "bug" || finding["kind"] != "signal" || finding["where"] != "programs.go" ||
		race.(map[string]any)["first"].(map[string]any)["where"] != "programs.go" || !reflect.DeepEqual(finding["threads"], []any{1.0}) {
		t.Errorf("%s", b)
	}
	r = find(t, simprog.New(simprog.LockedUpdate(2)), Options{Runs: 10})
	b, _ = json.Marshal(r)
	if !strings.Contains(string(b), `"races":[]`) || strings.Contains(string(b), "finding") {
		t.Errorf("%s", b)
	}
}

// TestPlaces without names.
func TestPlaces(t *testing.T) {
	modules := []trace.Module{{Path: "/usr/bin/prog"}, {Path: "/lib/libc.so.6"}}
	for _, test := range []struct {
		site trace.Site
		want string
	}{
		{0, "an unknown place"}, {trace.MakeSite(0, 0x1139), "prog+0x1139"}, {trace.MakeSite(1, 16), "libc.so.6+0x10"}, {trace.MakeSite(7, 16), "module 7+0x10"},
	} {
		if got := where(nil, modules, test.site); got != test.want {
			t.Errorf("%#x: %q, want %q", test.site, got, test.want)
		}
	}
}

// TestFindingIsTheSimplifiedOne: the simplified execution may fail with another value, or with a
// race in the other order; the report describes what its trace shows.
func TestFindingIsTheSimplifiedOne(t *testing.T) {
	const want = 8
	counts := &meddler{
		Target: simprog.New(simprog.Program{Name: "counts", Main: func(t *simprog.Thread) {
			n := t.Var(0)
			var threads []*simprog.Thread
			for range 4 {
				threads = append(threads, t.Go(func(t *simprog.Thread) {
					for range want / 4 {
						t.Store(n, t.Load(n)+1)
					}
				}))
			}
			for _, u := range threads {
				t.Join(u)
			}
			got := t.Load(n)
			t.Assert(got == want, fmt.Sprintf("n = %d", got))
		}}),
		after: func(_ *schedule.Plan, o *schedule.Outcome) { // a test's message is not its identity
			for _, e := range endings(o) {
				if e.Kind == trace.Assertion {
					e.Kind = trace.Test
				}
			}
		},
	}
	differ := 0
	for seed := range uint64(20) {
		r := find(t, counts, Options{Seed: seed, Runs: 1000})
		if r.Finding == nil || r.Simplified == nil {
			t.Fatalf("%+v", r)
		}
		if r.Finding.Recorded.Ending.Message != r.Simplified.Recorded.Ending.Message {
			differ++
		}
		if got := r.Simplified.Recorded.Ending.Message; r.Finding.Message != got {
			t.Errorf("the finding says %q, its simplified trace %q", r.Finding.Message, got)
		}
	}
	if differ == 0 {
		t.Error("no simplification changed the message: this test shows nothing")
	}

	// A write and a read without a lock: the simpler execution may have either first.
	races := simprog.New(simprog.Program{Name: "races", Main: func(t *simprog.Thread) {
		x, y := t.Var(0), t.Var(0)
		one := t.Go(func(t *simprog.Thread) {
			t.Store(y, 1)
			t.Write(x, 1)
		})
		t.Load(y)
		t.Load(y)
		t.Read(x)
		t.Join(one)
	}})
	for seed := range uint64(10) {
		r := find(t, races, Options{Seed: seed, Runs: 1000, Races: RacesFail})
		if r.Finding == nil || r.Finding.Race == nil {
			t.Fatalf("%+v", r)
		}
		shown := r.Finding.Recorded
		if r.Simplified != nil {
			shown = r.Simplified.Recorded
		}
		race, as := r.Finding.Race, shown.Ending.Accesses
		if race.First.Op != as[0].Op.String() || race.Second.Op != as[1].Op.String() || r.Finding.Message != shown.Ending.Message ||
			!strings.HasPrefix(r.Finding.Message, fmt.Sprintf("data race: %v at ", as[0].Op)) {
			t.Errorf("%q, %+v; its trace has %+v", r.Finding.Message, race, as)
		}
	}
}

func endings(o *schedule.Outcome) []*trace.Ending {
	if o.Trace == nil {
		return []*trace.Ending{&o.Ending}
	}
	return []*trace.Ending{&o.Ending, &o.Trace.Ending}
}

// TestExternalIsReported: external nondeterminism is noted once, even if many executions depended
// on it.
func TestExternalIsReported(t *testing.T) {
	for _, every := range []uint64{0, 3} {
		n := uint64(0)
		r := find(t, &meddler{Target: simprog.New(simprog.LockedUpdate(3)), after: func(_ *schedule.Plan, o *schedule.Outcome) {
			n++
			o.External = every > 0 && n%every == 0
		}}, Options{Runs: 40})
		told := 0
		for _, note := range r.Notes {
			if strings.Contains(note, "external nondeterminism") {
				told++
			}
		}
		if want := int(min(every, 1)); told != want {
			t.Errorf("every %d executions: told %d times, want %d: %q", every, told, want, r.Notes)
		}
	}
}

// TestExpectStatus: success is status 0 unless the user says otherwise. A first execution with another
// status is a failure like any other, and a note says what to do if it is none.
func TestExpectStatus(t *testing.T) {
	program := simprog.ExitStatus()
	zero, eight, nine := int32(0), int32(8), int32(9)
	if r := find(t, simprog.New(program), Options{Runs: 1, ExpectStatus: &eight}); r.Outcome != Nothing || r.ExpectStatus != 8 {
		t.Errorf("status 8 is expected: %+v", r)
	}
	for _, test := range []struct {
		expect *int32
		want   string
		at     int
		told   bool
	}{
		{nil, "exit status 8, expected 0", 1, true}, {&zero, "exit status 8, expected 0", 1, false},
		{&nine, "exit status 8, expected 9", 1, false}, {&eight, "exit status 9, expected 8", 0, false},
	} {
		r := find(t, simprog.New(program), Options{ExpectStatus: test.expect})
		if r.Outcome != Bug || r.Finding.Kind != "exit" || r.Finding.Message != test.want || test.at > 0 && r.Finding.Execution != test.at {
			t.Errorf("want %s: %+v", test.want, r.Finding)
		}
		told := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "use --expect-exit=8") })
		if told != test.told {
			t.Errorf("%s: notes %q", test.want, r.Notes)
		}
	}
}

// TestFiles: both traces are written, can be read, and replay.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	bug, simple := filepath.Join(dir, "bug.hdl"), filepath.Join(dir, "bug.simple.hdl")
	r := find(t, simprog.New(simprog.UseAfterFree()), Options{Keep: keepIn(bug, simple)})
	if r.Finding.Trace != bug || r.Simplified.Trace != simple {
		t.Fatalf("%+v %+v", r.Finding, r.Simplified)
	}
	for _, name := range []string{bug, simple} {
		tr, err := trace.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Replay(context.Background(), simprog.New(simprog.UseAfterFree()), tr); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if (tr.Header.Original == bug) != (name == simple) {
			t.Errorf("%s comes from %q", name, tr.Header.Original)
		}
	}
	_, err := Find(context.Background(), simprog.New(simprog.ABBA()), Options{Keep: keepIn(filepath.Join(dir, "none", "x.hdl"), "")}, nil)
	if err == nil {
		t.Error("no error where the trace cannot be written")
	}
}

func TestProgress(t *testing.T) {
	var phases []Phase
	var last Progress
	r, err := Find(context.Background(), simprog.New(simprog.LostUpdate(3)), Options{Seed: 1}, func(p Progress) {
		if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
			phases = append(phases, p.Phase)
		}
		if p.Executions < last.Executions || p.Elapsed < last.Elapsed {
			t.Errorf("progress went back: %+v, then %+v", last, p)
		}
		last = p
	})
	if err != nil || !reflect.DeepEqual(phases, []Phase{Exploring, Confirming, Simplifying}) {
		t.Errorf("%v, phases %v", err, phases)
	}
	if last.Points != r.Points || last.Behaviours != r.Behaviours || last.Round != r.Rounds || last.Cost == nil {
		t.Errorf("last progress %+v, report %+v", last, r)
	}
}
