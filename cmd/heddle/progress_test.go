package main

import (
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
)

// A race that is kept back is said once, if the search goes on for more than a second after it has been confirmed.
func TestProgressSaysRace(t *testing.T) {
	var out strings.Builder
	p := &progress{w: &out, patience: time.Hour, prefix: "heddle: ", next: time.Now().Add(time.Hour)}
	race := &engine.Finding{Execution: 1234, Message: "data race: write at f x.c:5, read at g x.c:9"}
	at := func(d time.Duration, r *engine.Finding, phase engine.Phase) {
		p.find(engine.Progress{Phase: phase, Elapsed: d, Race: r})
	}
	at(time.Second, nil, engine.Exploring)
	at(2*time.Second, race, engine.Exploring)
	at(2900*time.Millisecond, race, engine.Exploring)
	at(4*time.Second, race, engine.Simplifying)
	if out.Len() > 0 {
		t.Errorf("too early: %q", out.String())
	}
	for range 2 {
		at(3100*time.Millisecond, race, engine.Exploring)
	}
	const want = "heddle: confirmed in execution 1,234: data race: write at f x.c:5, read at g x.c:9; the search goes on for what it leads to\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// How long executions are is said once, after some seconds, if they are long.
func TestProgressSaysLength(t *testing.T) {
	for _, test := range []struct {
		s    engine.Progress
		want string
	}{
		{engine.Progress{Length: 0}, ""},
		{engine.Progress{Length: 300_010, Elapsed: -time.Second}, ""},
		{engine.Progress{Length: 300_010, Executions: 4232, Cut: 4042}, "heddle: an execution that runs to its end passes 300,010 scheduling points; 4,042 of 4,232 executions so far were cut, to make more of them\n"},
		{engine.Progress{Length: 300_010, Executions: 12}, "heddle: an execution that runs to its end passes 300,010 scheduling points; with --cut, executions end earlier, and more of them are made\n"},
	} {
		var out strings.Builder
		p := &progress{w: &out, patience: time.Hour, prefix: "heddle: ", next: time.Now().Add(time.Hour)}
		test.s.Phase, test.s.Elapsed = engine.Exploring, slowAfter+test.s.Elapsed
		for range 2 {
			p.find(test.s)
		}
		if out.String() != test.want {
			t.Errorf("%q, want %q", out.String(), test.want)
		}
	}
}
