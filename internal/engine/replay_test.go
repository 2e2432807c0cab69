package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestReplayIsIdentical for recorded executions of all kinds.
func TestReplayIsIdentical(t *testing.T) {
	programs := []simprog.Program{
		simprog.LostUpdate(3), simprog.ABBA(), simprog.LostWakeup(), simprog.OrderViolation(), simprog.UseAfterFree(), simprog.ExitStatus(),
	}
	rapid.Check(t, func(t *rapid.T) {
		program := rapid.SampledFrom(programs).Draw(t, "program")
		opts := RecordOptions{
			Strategy: rapid.SampledFrom(append(strategy.Samplers(), nil)).Draw(t, "strategy"),
			Seed:     rapid.Uint64().Draw(t, "seed"), Sparse: rapid.Bool().Draw(t, "sparse"),
		}
		recorded, err := Record(context.Background(), simprog.New(program), opts)
		if err != nil {
			t.Fatal(err)
		}
		if seed, ok := strategy.SeedOf(recorded.Header.Strategy); !ok || seed != opts.Seed {
			t.Fatalf("seed %d, strategy %q", opts.Seed, recorded.Header.Strategy)
		}
		again, err := Replay(context.Background(), simprog.New(program), recorded)
		if err != nil {
			t.Fatal(err)
		}
		if d := same(recorded, again); d != nil {
			t.Fatal(d)
		}
	})
}

// TestReplayNamesTheFirstDifference in every field of an event, and at the end.
func TestReplayNamesTheFirstDifference(t *testing.T) {
	program := simprog.LostUpdate(2)
	tests := []struct {
		name   string
		change func(*trace.Trace)
		event  int
		field  string
		text   string // part of the message
	}{
		{"thread", func(tr *trace.Trace) { tr.Events[4].Thread = 2 }, 4, "thread", "recorded T2 "},
		{"operation", func(tr *trace.Trace) { tr.Events[3].Op = trace.OpMutexLock }, 3, "op", "recorded T1 lock at lost-update-2+0x"},
		{"site", func(tr *trace.Trace) { tr.Events[1].Site++ }, 1, "site", "T0 pthread_create"},
		{"object", func(tr *trace.Trace) { tr.Events[4].Object++ }, 4, "object", "of lost-update-2+0x41, met T1 write"},
		{"size", func(tr *trace.Trace) { tr.Events[4].Size = 4 }, 4, "size", "with size 0x4, met"},
		{"flags", func(tr *trace.Trace) { tr.Events[4].Flags |= trace.FlagAtomic }, 4, "flags", "with flags"},
		{"result", func(tr *trace.Trace) { tr.Events[0].Result = 11 }, 0, "result", "with result 11, met T0 pthread_create"},
		{"value", func(tr *trace.Trace) { tr.Events[4].Value = 7 }, 4, "value", "with value 0x7, met T1 write"},
		{"aux", func(tr *trace.Trace) { tr.Events[4].Aux = 7 }, 4, "aux", "with aux 0x7"},
		{"enabled", func(tr *trace.Trace) { tr.Events[0].Enabled.Add(70) }, 0, "enabled", "with enabled threads {T0 T70}, met"},
		{"stack", func(tr *trace.Trace) {
			tr.Stacks = append(tr.Stacks, []trace.Site{trace.MakeSite(0, 16)})
			tr.Events[1].Stack = 1
		}, 1, "stack", "called from lost-update-2+0x10, met"},
		{"ending", func(tr *trace.Trace) { tr.Ending.Status = 3 }, -1, "ending", "at the end (ending): recorded clean (status 3)"},
		{"message", func(tr *trace.Trace) { tr.Ending.Kind, tr.Ending.Message = trace.Assertion, "x" }, -1, "ending", `: "x", met clean`},
		{"output", func(tr *trace.Trace) { tr.Ending.Output = []byte("abc") }, -1, "ending", `recorded output "abc" at byte 0, met output "" at byte 0`},
		{"missing event", func(tr *trace.Trace) { tr.Events = tr.Events[:len(tr.Events)-1] }, -2, "event", "recorded the end"},
		{"additional access", func(tr *trace.Trace) {
			e := tr.Events[5]
			tr.Events = append(tr.Events, e)
		}, -1, "event", "met the end"},
		{"additional choice", func(tr *trace.Trace) {
			e := tr.Events[0]
			tr.Events = append(tr.Events, e)
		}, -1, "event", "met the end"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			recorded := record(t, program, RecordOptions{})
			n := len(recorded.Events)
			test.change(recorded)
			_, err := Replay(context.Background(), simprog.New(program), recorded)
			var d *DivergedError
			if !errors.As(err, &d) {
				t.Fatalf("error %v", err)
			}
			event := test.event
			if event < 0 {
				event += n + 1
			}
			if d.Event != event || d.Field != test.field || !strings.Contains(err.Error(), test.text) {
				t.Errorf("event %d, field %s: %v", d.Event, d.Field, err)
			}
		})
	}
}

// TestReplayOfAnotherProgram: the replay is rejected before anything runs.
func TestReplayOfAnotherProgram(t *testing.T) {
	recorded := record(t, simprog.ABBA(), RecordOptions{})
	target := simprog.New(simprog.LostUpdate(2))
	for _, test := range []struct {
		name   string
		change func(*trace.Trace)
		text   string
	}{
		{"build", func(*trace.Trace) {}, "the trace was recorded of build simprog:abba and this is build simprog:lost-update-2; use the program"},
		{"modules", func(tr *trace.Trace) { tr.Header.BuildID = "simprog:lost-update-2" }, "with abba (build simprog:abba) and this is build with lost-update-2 (build"},
		{"points", func(tr *trace.Trace) { tr.Header.PointsVersion = schedule.PointsVersion + 1 }, "version"},
	} {
		tr := *recorded
		test.change(&tr)
		_, err := Replay(context.Background(), target, &tr)
		if err == nil || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.name, err)
		}
		if _, err := Simplify(context.Background(), target, &tr, SimplifyOptions{}, nil); err == nil {
			t.Errorf("%s: simplified", test.name)
		}
	}
	if target.Executions() != 0 {
		t.Errorf("%d executions", target.Executions())
	}
}

// TestSimplifyAlone simplifies from a trace, as the simplify command does.
func TestSimplifyAlone(t *testing.T) {
	program := simprog.LostUpdate(4)
	found := find(t, simprog.New(program), Options{NoSimplify: true})
	if found.Simplified != nil {
		t.Error("simplified though not asked to")
	}
	told := 0
	s, err := Simplify(context.Background(), simprog.New(program), found.Finding.Recorded, SimplifyOptions{}, func(tinertia.Progress) { told++ })
	if err != nil || s.Switches != 6 || s.Preemptions != 1 || s.Cut || told == 0 {
		t.Errorf("%v, %+v", err, s)
	}
	if want := "simplified from " + found.Finding.Strategy; s.Recorded.Header.Strategy != want {
		t.Errorf("strategy %q, want %q", s.Recorded.Header.Strategy, want)
	}
	s, err = Simplify(context.Background(), simprog.New(program), found.Finding.Recorded, SimplifyOptions{Executions: 2}, nil)
	if err != nil || s.Complete || !s.Cut || s.Executions > 2 {
		t.Errorf("with two executions: %v, %+v", err, s)
	}
	_, err = Simplify(context.Background(), simprog.New(program), record(t, program, RecordOptions{}), SimplifyOptions{}, nil)
	if err == nil || err.Error() != "there is no failure in the trace to keep: the execution ended with clean" {
		t.Errorf("of a good execution: %v", err)
	}
}

func TestRecord(t *testing.T) {
	for _, test := range []struct {
		opts   RecordOptions
		kind   trace.Kind
		expect int32
	}{
		{RecordOptions{}, trace.Exit, 0},
		{RecordOptions{ExpectStatus: 8}, trace.Clean, 8},
		{RecordOptions{ExpectStatus: 3}, trace.Exit, 3},
	} {
		tr := record(t, simprog.ExitStatus(), test.opts)
		if tr.Ending.Kind != test.kind || tr.Header.ExpectStatus != test.expect {
			t.Errorf("%+v: %v, expecting %d", test.opts, tr.Ending.Kind, tr.Header.ExpectStatus)
		}
	}
	_, err := Record(context.Background(), simprog.New(simprog.Program{Name: "f", Main: func(t *simprog.Thread) { t.Unsupported("fork") }}), RecordOptions{})
	var u *UnsupportedError
	if !errors.As(err, &u) {
		t.Errorf("unsupported: %v", err)
	}
}
