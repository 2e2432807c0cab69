package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestJSON: the report as others read it. Names in it are kept.
func TestJSON(t *testing.T) {
	where := func(s trace.Site, exact bool) string {
		if exact {
			return "exactly here"
		}
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
	keys(got["finding"], "confirmed", "kind", "message", "where", "threads", "strategy", "execution", "events", "switches", "preemptions")
	keys(got["simplified"], "confirmed", "events", "threads", "switches", "preemptions", "executions", "seconds", "complete", "details")
	race := got["races"].([]any)[0]
	keys(race, "first", "second", "object", "name", "size")
	keys(race.(map[string]any)["first"], "op", "site", "where")
	finding := got["finding"].(map[string]any)
	// The place of a signal is the instruction; of an operation, where it returns to.
	if got["outcome"] != "bug" || finding["kind"] != "signal" || finding["where"] != "exactly here" ||
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
		if got := where(nil, modules, test.site, false); got != test.want {
			t.Errorf("%#x: %q, want %q", test.site, got, test.want)
		}
	}
}

// TestFindingIsTheSimplifiedOne: the simplified execution may fail with another value, and with a
// race in the other order; the report says what its trace shows.
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

	// A write and a read without a lock: whichever comes first is simpler.
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
		r := find(t, races, Options{Seed: seed, Runs: 1000, RacesFail: true})
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
