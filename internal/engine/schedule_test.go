package engine

import (
	"errors"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestReplaySchedule: a finding's schedule, as a string alone, gives the same execution and the
// same ending.
func TestReplaySchedule(t *testing.T) {
	t.Parallel()
	for _, program := range []simprog.Program{
		simprog.LostUpdate(3), simprog.ABBA(), simprog.LostWakeup(), simprog.OrderViolation(), simprog.UseAfterFree(), simprog.ExitStatus(),
	} {
		t.Run(program.Name, func(t *testing.T) {
			t.Parallel()
			r, err := Find(t.Context(), simprog.New(program), Options{Seed: 1, Runs: 5000}, nil)
			if err != nil || r.Finding == nil || r.Simplified == nil {
				t.Fatalf("nothing found: %v", err)
			}
			for _, tr := range []*trace.Trace{r.Finding.Recorded, r.Simplified.Recorded} {
				text := schedule.FormatTrace(tr)
				again, err := ReplaySchedule(t.Context(), simprog.New(program), text, ScheduleOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if again.Ending.Kind != tr.Ending.Kind || again.Ending.Message != tr.Ending.Message || again.Header.ExpectStatus != tr.Header.ExpectStatus {
					t.Errorf("ended with %v %q (expected status %d), recorded %v %q (%d)", again.Ending.Kind, again.Ending.Message, again.Header.ExpectStatus,
						tr.Ending.Kind, tr.Ending.Message, tr.Header.ExpectStatus)
				}
				if a := schedule.FormatTrace(again); a != text {
					t.Errorf("another schedule: %s, was %s", a, text)
				}
				if _, err := Replay(t.Context(), simprog.New(program), again); err != nil {
					t.Errorf("its recording does not replay: %v", err)
				}
			}
		})
	}
}

// TestReplayScheduleOfAnotherProgram: the error names the step that the program does not follow.
func TestReplayScheduleOfAnotherProgram(t *testing.T) {
	t.Parallel()
	tr, err := Record(t.Context(), simprog.New(simprog.ABBA()), RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ReplaySchedule(t.Context(), simprog.New(simprog.LostUpdate(2)), schedule.FormatTrace(tr), ScheduleOptions{})
	var other *ScheduleError
	if !errors.As(err, &other) || other.Steps != len(schedule.ScriptOf(tr)) || other.Step >= other.Steps || other.Expected == other.Met {
		t.Errorf("%+v, %v", other, err)
	}
}

// TestReplayScheduleGoesOn: after the end of the schedule, the fair policy decides.
func TestReplayScheduleGoesOn(t *testing.T) {
	t.Parallel()
	tr, err := Record(t.Context(), simprog.New(simprog.LockedUpdate(2)), RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	script := schedule.ScriptOf(tr)
	again, err := ReplaySchedule(t.Context(), simprog.New(simprog.LockedUpdate(2)), schedule.Format(script[:len(script)/2], tr.Threads), ScheduleOptions{})
	if err != nil || again.Ending.Kind != trace.Clean || len(schedule.ScriptOf(again)) < len(script) {
		t.Errorf("%v, %v", again, err)
	}
}

// TestReplayScheduleRefuses: strings that are not schedules are rejected, and nothing runs.
func TestReplayScheduleRefuses(t *testing.T) {
	t.Parallel()
	if _, err := ReplaySchedule(t.Context(), nil, "hds1.p5.AAAA", ScheduleOptions{}); !errors.Is(err, schedule.ErrString) {
		t.Error(err)
	}
}
