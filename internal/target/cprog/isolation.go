package cprog

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target/ipc"
)

// Isolation is what lies between one execution and the next, so that the next finds nothing
// that the one before has left. The same plan gives the same execution under each.
type Isolation int

const (
	Automatic Isolation = iota
	Snapshot            // one process, whose memory is put back
	Fork                // a child process for each, of a process that stands at main
	Process             // a process for each, launched for it
)

var isolations = [...]string{"automatic", "snapshot", "fork", "process"}

func (i Isolation) String() string { return isolations[i] }

// ParseIsolation is the inverse of String; the empty string is Automatic.
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

// Isolation is the one in use now.
func (t *Target) Isolation() Isolation { return t.isolation }

func (t *Target) isolate(i Isolation) {
	t.isolation = i
	// To start the program again takes as long as so many executions.
	t.loop.Drain = map[Isolation]int{Snapshot: 2000, Fork: 10}[i]
}

// again sees whether an execution ended because the program did what needs more isolation,
// or more threads made beforehand, and provides that.
func (t *Target) again(p *ipc.Process, r *abi.Result, what string) bool {
	if r.Outcome != abi.OutUnsupported || r.Status == 0 {
		return false
	}
	if donors := int(p.Shm().Donors); donors > t.cfg.Donors {
		t.cfg.Donors = donors
		return true
	}
	needs := Isolation(r.Status) + Snapshot
	if needs <= t.isolation || t.cfg.Isolation != Automatic {
		return false
	}
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
