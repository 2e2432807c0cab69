package cprog

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target/ipc"
)

// Isolation is how one execution is kept from seeing what earlier ones have changed. The same plan
// gives the same execution under each isolation.
type Isolation int

const (
	Automatic Isolation = iota
	Snapshot            // one process, whose memory is restored after each execution
	Fork                // a child process per execution, forked at main
	Process             // a newly launched process per execution
)

var isolations = [...]string{"automatic", "snapshot", "fork", "process"}

func (i Isolation) String() string { return isolations[i] }

// ParseIsolation is the inverse of String; the empty string means Automatic.
func ParseIsolation(s string) (Isolation, error) {
	for i, name := range isolations {
		if s == name {
			return Isolation(i), nil
		}
	}
	if s == "" {
		return Automatic, nil
	}
	return 0, fmt.Errorf("unknown isolation %q; want snapshot, fork or process", s)
}

// Isolation returns the isolation in use now.
func (t *Target) Isolation() Isolation { return t.isolation }

func (t *Target) isolate(i Isolation) {
	t.isolation = i
	// Restarting the program takes as long as this many executions.
	t.loop.Drain = map[Isolation]int{Snapshot: 2000, Fork: 10}[i]
}

// setUp says which executions continue from the set-up of an earlier one: what main does before it creates the
// first thread (runtime/c/core/setup.c).
type setUp int

const (
	setUpLong   setUp = iota // those of a program whose set-up takes long
	setUpFast                // the same, and Fork is used for nothing else
	setUpNever               // for tests
	setUpAlways              // for tests, with Fork
)

// stale reports whether the executions after this one are faster in a process under fork isolation, where they share a long
// set-up, and chooses that.
func (t *Target) stale(r *abi.Result) bool {
	if r.Notes&abi.NoteSetup == 0 || t.isolation != Snapshot || (t.cfg.Isolation != Automatic && !t.cfg.beside) {
		return false
	}
	t.isolate(Fork)
	t.fast = true
	return true
}

// again reports whether the execution has to be repeated because the program needs more isolation
// or more threads created in advance. It provides them.
func (t *Target) again(p *ipc.Process, r *abi.Result, what string) bool {
	if r.Outcome != abi.OutUnsupported || r.Status == 0 {
		return false
	}
	if hosts := int(p.Shm().Hosts); hosts > t.cfg.Hosts {
		t.cfg.Hosts = hosts
		return true
	}
	needs := Isolation(r.Status) + Snapshot
	if (needs <= t.isolation && !t.fast) || t.cfg.Isolation != Automatic {
		return false
	}
	t.fast = false
	t.isolate(needs)
	t.sign()
	if t.cfg.Tell != nil {
		where := ""
		if frames := symbol.New(t.modules, symbol.Options{}).Call(program{t}.Site(r.Pc)); len(frames) > 0 && frames[0].File != "" {
			where = fmt.Sprintf(" at %s:%d", frames[0].File, frames[0].Line)
		}
		t.cfg.Tell(fmt.Sprintf("the program uses %s%s: every execution gets a process of its own from now on (--isolation=%s), and takes about %s longer",
			what, where, needs, map[Isolation]string{Fork: "half a millisecond", Process: "10 milliseconds"}[needs]))
	}
	return true
}
