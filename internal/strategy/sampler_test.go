package strategy

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestPlans checks for every strategy that its plans depend only on the arguments and that a
// runtime can carry them out.
func TestPlans(t *testing.T) {
	for _, s := range Samplers() {
		t.Run(s.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				seed := rapid.Uint64().Draw(t, "seed")
				seen := Seen{Points: rapid.IntRange(0, 1<<30).Draw(t, "points"), Threads: rapid.IntRange(0, 100).Draw(t, "threads")}
				p := s.Plan(Source(seed), seen)
				if again := s.Plan(Source(seed), seen); !reflect.DeepEqual(p, again) {
					t.Fatalf("two plans from the same draws: %+v and %+v", p, again)
				}
				if p.Stay < 0 || p.Stay >= 1 {
					t.Fatalf("Stay = %v", p.Stay)
				}
				if p.Policy == schedule.PCT && (p.Depth < 2 || p.Depth > 5 || p.Length < 1) {
					t.Fatalf("PCT with depth %d, length %d", p.Depth, p.Length)
				}
				if want := (schedule.Plan{Policy: p.Policy, Stay: p.Stay, Depth: p.Depth, Length: p.Length}); !reflect.DeepEqual(p, want) {
					t.Fatalf("%+v sets what is the caller's", p)
				}
			})
		})
	}
}

// TestPCTDepths: all depths occur, the shallow ones more often.
func TestPCTDepths(t *testing.T) {
	r := Source(1)
	count := map[int]int{}
	for range 1000 {
		p := PCT{}.Plan(r, Seen{Points: 70})
		count[p.Depth]++
		if p.Length != 70 {
			t.Fatalf("Length = %d, want what was seen", p.Length)
		}
	}
	if len(count) != 4 || !(count[2] > count[3] && count[3] > count[4] && count[5] > 0) {
		t.Errorf("depths %v", count)
	}
}

// TestStayCoversMagnitudes: means from a few points to half of the execution occur, with about
// equal frequency for each order of magnitude.
func TestStayCoversMagnitudes(t *testing.T) {
	r := Source(1)
	count := map[string]int{}
	for range 1000 {
		mean := 1 / (1 - Stay{}.Plan(r, Seen{Points: 4000}).Stay)
		switch {
		case mean < 1.999 || mean > 2001:
			t.Fatalf("mean interval %v", mean)
		case mean < 20:
			count["2-20"]++
		case mean < 200:
			count["20-200"]++
		default:
			count["200-2000"]++
		}
	}
	for magnitude, n := range count {
		if n < 250 || n > 420 {
			t.Errorf("%s: %d of 1000", magnitude, n)
		}
	}
	for range 100 {
		if p := (Stay{}).Plan(r, Seen{Points: 1}); p.Stay != 0.5 {
			t.Fatalf("Stay = %v for an execution of one point", p.Stay)
		}
	}
}

func TestNames(t *testing.T) {
	for _, s := range Samplers() {
		got, err := Parse(s.String())
		if err != nil || got != s {
			t.Errorf("Parse(%q) = %v, %v", s, got, err)
		}
	}
	_, err := Parse("chess")
	if err == nil || err.Error() != `unknown strategy "chess"; want one of random, pct, stay, pos, delay` {
		t.Errorf("Parse of an unknown name: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	for _, test := range []struct {
		plan schedule.Plan
		want string
	}{
		{schedule.Plan{Seed: 3}, "fair seed=3"},
		{schedule.Plan{Policy: schedule.Random, Seed: 17}, "random seed=17"},
		{schedule.Plan{Policy: schedule.Random, Stay: 0.9, Seed: 17}, "random stay=0.9000 seed=17"},
		{schedule.Plan{Policy: schedule.PCT, Depth: 3, Length: 120, Seed: 1}, "pct depth=3 length=120 seed=1"},
		{schedule.Plan{Policy: schedule.POS, Seed: 9}, "pos seed=9"},
		{schedule.Plan{Seed: 3 | schedule.Comparable}, "fair fixed-hashes seed=3"},
		{schedule.Plan{Policy: schedule.Random, Seed: 17, Delays: schedule.AnyDelays}, "random early-timeouts seed=17"},
		{schedule.Plan{Policy: schedule.Random, Seed: 17, Delays: schedule.BriefDelays}, "random early-timeouts=1ms seed=17"},
		{schedule.Plan{Policy: schedule.POS, Seed: 9, Holds: make([]schedule.Hold, 2)}, "pos holds=2 seed=9"},
	} {
		if got := Describe(test.plan); got != test.want {
			t.Errorf("Describe(%+v) = %q, want %q", test.plan, got, test.want)
		}
		if seed, ok := SeedOf("simplified from " + test.want); !ok || seed != test.plan.Seed {
			t.Errorf("SeedOf(%q) = %d, %v", test.want, seed, ok)
		}
		early := &trace.Trace{Events: []trace.Event{{Flags: trace.FlagTimeout}}}
		early.Header.Strategy = "simplified from " + test.want
		if d := DelaysOf(early); d != test.plan.Delays {
			t.Errorf("DelaysOf(%q) = %d, want %d", test.want, d, test.plan.Delays)
		}
	}
}

func TestUnseeded(t *testing.T) {
	for s, want := range map[string]string{"fair fixed-hashes seed=3": "fair", "pct depth=3 length=120 seed=1": "pct depth=3 length=120"} {
		if got := Unseeded(s); got != want {
			t.Errorf("Unseeded(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestSeedOfNothing(t *testing.T) {
	for _, s := range []string{"", "by hand", "seed=", "reseed=3", "seed=99999999999999999999999"} {
		if seed, ok := SeedOf(s); ok {
			t.Errorf("SeedOf(%q) = %d", s, seed)
		}
	}
}

func TestParseSearch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		names []string
		want  string
	}{
		{nil, "portfolio feedback race-directed ctrigger random pct stay pos dpor"}, {[]string{"pos", "random"}, "portfolio pos random"},
		{[]string{"dpor"}, "dpor"}, {[]string{"chess"}, "chess"}, {[]string{"feedback"}, "feedback"}, {[]string{"race-directed"}, "race-directed"}, {[]string{"ctrigger"}, "ctrigger"},
		{[]string{"surw"}, "surw"}, {[]string{"urw"}, "urw"}, {[]string{"delay", "pct"}, "portfolio delay pct"},
	} {
		search, err := ParseSearch(test.names, Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		if got := search(Setting{}).String(); got != test.want {
			t.Errorf("%v: %q, want %q", test.names, got, test.want)
		}
	}
	two, none := 2, -1
	for _, test := range []struct {
		names  []string
		bounds Bounds
		want   string
	}{
		{nil, Bounds{Preemptions: &two}, "chess preemptions=2"},
		{[]string{"dpor"}, Bounds{Preemptions: &two}, "dpor preemptions=2"},
		{nil, Bounds{Delays: &two}, "delay delays=2"},
		{[]string{"delay"}, Bounds{Delays: &two}, "delay delays=2"},
	} {
		search, err := ParseSearch(test.names, test.bounds)
		if err != nil {
			t.Fatal(err)
		}
		if got := search(Setting{}).String(); got != test.want {
			t.Errorf("%v: %q, want %q", test.names, got, test.want)
		}
	}
	for want, bounds := range map[string]Bounds{
		"invalid --delays -1: want 0 or more":               {Delays: &none},
		"--delays bounds the strategy delay, and not chess": {Preemptions: &two, Delays: &two},
	} {
		if _, err := ParseSearch(nil, bounds); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := ParseSearch([]string{"pos", "chess"}, Bounds{}); err == nil {
		t.Error("no error for an unknown name")
	}
	if _, err := ParseSearch([]string{"pos", "feedback"}, Bounds{}); err == nil {
		t.Error("no error for a search that does not take turns")
	}
}
