package engine

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestSimplifiedMustReplay: a simplified execution that does not replay is not reported.
func TestSimplifiedMustReplay(t *testing.T) {
	replays := 0
	target := &meddler{Target: simprog.New(simprog.ABBA()), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if p.Mode == schedule.Strict {
			if replays++; replays == 2 {
				o.Trace.Events[1].Value++
			}
		}
	}}
	file := filepath.Join(t.TempDir(), "simple.hdl")
	r := find(t, target, Options{Keep: keepIn("", file)})
	if r.Outcome != Bug || r.Simplified != nil || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "not simplified: the simplified execution does not replay: the replay differs") {
		t.Errorf("%+v", r)
	}
	if _, err := trace.ReadFile(file); err == nil {
		t.Error("it was written all the same")
	}
}

// TestSimplifierCannotReproduce: the finding is reported, without a simplified one.
func TestSimplifierCannotReproduce(t *testing.T) {
	target := &meddler{Target: simprog.New(simprog.ABBA()), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if p.Mode == schedule.Tolerant {
			o.Ending = trace.Ending{}
			o.Trace.Ending = o.Ending
		}
	}}
	r := find(t, target, Options{})
	if r.Outcome != Bug || r.Simplified != nil || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "not simplified: ") {
		t.Errorf("%+v", r)
	}
}
