package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
)

func TestUnsupported(t *testing.T) {
	late := 0
	for _, test := range []struct {
		name    string
		program simprog.Program
		least   int
	}{
		{"at once", simprog.Program{Name: "forks", Main: func(t *simprog.Thread) { t.Unsupported("fork") }}, 1},
		{"later", simprog.Program{Name: "forks", Main: func(t *simprog.Thread) {
			if late++; late == 20 {
				t.Unsupported("fork")
			}
		}}, 20},
	} {
		r, err := Find(context.Background(), simprog.New(test.program), Options{Runs: 100}, nil)
		var u *UnsupportedError
		if !errors.As(err, &u) || u.What != "fork" || r.Outcome != Failed || r.Executions != test.least {
			t.Errorf("%s: %v, %+v", test.name, err, r)
		} else if !strings.HasPrefix(err.Error(), "heddle cannot run this program: it uses fork, at forks+0x") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestTargetFails: Find returns a target's errors unchanged, with the report so far.
func TestTargetFails(t *testing.T) {
	lost := errors.New("the target was lost")
	for at := range 60 {
		n := 0
		target := &meddler{Target: simprog.New(simprog.LostUpdate(3)), before: func(schedule.Plan) error {
			if n++; n > at {
				return lost
			}
			return nil
		}}
		r, err := Find(context.Background(), target, Options{}, nil)
		if !errors.Is(err, lost) || r == nil || r.Outcome != Failed && r.Outcome != Bug {
			t.Errorf("after %d: %v, %+v", at, err, r)
		}
		if at > 50 && r.Outcome != Bug {
			t.Errorf("after %d executions nothing was found: the test is too weak", at)
		}
	}
}
