// Package partners tells which goroutines used what a goroutine that is left waits for, and so could have ended its wait, and how they
// ended.
//
// Counts are said only where the recording has all of a goroutine's operations: it ended while the execution was recorded, ran the test, or is
// blocked for good. After a test, goroutines that may still run go on unrecorded for a while.
package partners

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Use is what a goroutine waits for, or one of several things of a select, and who used it.
type Use struct {
	Op       trace.Op
	Object   trace.Object
	Partners []Partner
	alone    bool // it is known that no other goroutine used it
}

// Partner is a goroutine that used an object.
type Partner struct {
	Thread trace.ThreadID
	Ended  bool
	Left   bool // it is one of the goroutines that are left
	exact  bool // what it did is all recorded
	waits  bool // it is left in a wait on a condition
	times  [kinds]int
}

// What a goroutine did to an object.
const (
	send = iota
	receive
	shut
	add
	done
	signal
	broadcast
	lock
	unlock
	kinds
)

var counted = [kinds]string{send: "send", receive: "receive", shut: "close", add: "Add", done: "Done", signal: "Signal", broadcast: "Broadcast"}

// Of returns the uses of what w's thread waits for, of a select one for each channel and direction. It returns nil unless the
// execution ended with goroutines left.
func Of(t *trace.Trace, w *trace.Waiter) []Use {
	if t.Ending.Kind != trace.Leak {
		return nil
	}
	var out []Use
	if w.Op == trace.OpSelect {
		for _, c := range t.Ending.Cases {
			if u := (Use{Op: c.Op, Object: c.Object}); c.Thread == w.Thread && c.Taken == 0 && c.Op != trace.OpSelect {
				if !slices.ContainsFunc(out, func(x Use) bool { return x.Op == u.Op && x.Object == u.Object }) {
					out = append(out, u)
				}
			}
		}
	} else if w.Object != 0 {
		switch ops.Of(w.Op).Of {
		case ops.Channel, ops.Mutex, ops.RWLock, ops.WaitGroup, ops.Condition:
			out = append(out, Use{Op: w.Op, Object: w.Object})
		}
	}
	for i := range out {
		out[i].find(t, w)
	}
	return out
}

// find sets the partners.
func (u *Use) find(t *trace.Trace, w *trace.Waiter) {
	by := map[trace.ThreadID]*Partner{}
	did := func(th trace.ThreadID, kind, n int) {
		if th == w.Thread {
			return
		}
		if by[th] == nil {
			by[th] = &Partner{Thread: th}
		}
		by[th].times[kind] += n
	}
	for i := range t.Events {
		if ev := &t.Events[i]; ev.Object == u.Object && ops.Of(ev.Op).Done(ev) {
			if kind, n := kindOf(ev); n > 0 {
				did(ev.Thread, kind, n)
			}
		}
	}
	whole := true // what selects took is known
	for _, c := range t.Ending.Cases {
		switch {
		case c.Op == trace.OpSelect:
			whole = false
		case c.Object == u.Object && c.Taken > 0:
			did(c.Thread, direction(c.Op), int(min(c.Taken, 1<<30)))
		}
	}
	running := slices.ContainsFunc(t.Ending.Waiters, func(w trace.Waiter) bool { return w.Ready })
	for th, p := range by {
		p.Ended = th == 0 || int(th) < len(t.Threads) && t.Threads[th].Ended
		at := slices.IndexFunc(t.Ending.Waiters, func(x trace.Waiter) bool { return x.Thread == th })
		if p.Left = at >= 0; p.Left {
			switch x := &t.Ending.Waiters[at]; {
			case ops.Of(x.Op).Of == ops.Condition:
				p.waits = true // its lock is released
			case x.Object != u.Object: // the operation in which it is left has not come about
			case ops.Does(x.Op) == ops.Communicate:
				p.times[direction(x.Op)]--
			case ops.Does(x.Op) == ops.Acquire, ops.Does(x.Op) == ops.AcquireShared:
				p.times[lock]--
			}
		}
		p.exact = (whole || ops.Of(u.Op).Of != ops.Channel) && (p.Ended || p.Left && !running)
		if th != 0 && p.Ended && !endsIn(t, th) {
			p.exact = false
		}
		if !p.exact || p.times != [kinds]int{} {
			u.Partners = append(u.Partners, *p)
		}
	}
	slices.SortFunc(u.Partners, func(a, b Partner) int { return int(a.Thread) - int(b.Thread) })
	u.alone = len(u.Partners) == 0 && whole && !running && w.Reach == trace.ReachLost
}

// endsIn reports whether the end of a thread is recorded.
func endsIn(t *trace.Trace, th trace.ThreadID) bool {
	for _, ev := range slices.Backward(t.Events) {
		if ev.Thread == th {
			return ops.Does(ev.Op) == ops.Finish
		}
	}
	return false
}

func direction(op trace.Op) int {
	if op == trace.OpChanSend {
		return send
	}
	return receive
}

// kindOf returns what an event did to its object, and how often; 0 times if that ends no wait and prolongs none.
func kindOf(ev *trace.Event) (kind, n int) {
	switch s := ops.Of(ev.Op); s.Does {
	case ops.Communicate:
		if ev.Op == trace.OpChanClose {
			return shut, 1
		}
		return direction(ev.Op), 1
	case ops.Count:
		if d := int64(ev.Value); s.Of != ops.WaitGroup || d == 0 {
			return 0, 0
		} else if d < 0 {
			return done, int(-d)
		} else {
			return add, int(d)
		}
	case ops.WakeOne:
		return signal, 1
	case ops.WakeAll:
		return broadcast, 1
	case ops.Acquire, ops.AcquireShared:
		return lock, 1
	case ops.Release, ops.ReleaseShared:
		return unlock, 1
	}
	return 0, 0
}

// most is how many partners are named.
const most = 3

// Text says who used it, empty if that is not known: `used by T1 produce, which ended after 2 sends without closing it`. name is what a
// goroutine is called.
func (u *Use) Text(name func(trace.ThreadID) string) string {
	of := ops.Of(u.Op).Of
	if of == ops.Mutex || of == ops.RWLock {
		return u.held(name)
	}
	if len(u.Partners) == 0 {
		if u.alone {
			return "no other goroutine used it"
		}
		return ""
	}
	var list []string
	for i := range u.Partners {
		p := &u.Partners[i]
		s := name(p.Thread)
		if how := p.how(u.Op); how != "" {
			s += ", which " + how
		}
		list = append(list, s)
	}
	if more := len(list) - most; more > 0 {
		list = append(list[:most:most], wording.Count(more, "other goroutine"))
	}
	last := len(list) - 1
	if last == 0 {
		return "used by " + list[0]
	}
	return "used by " + strings.Join(list[:last], "; ") + "; and " + list[last]
}

// held names the goroutines that locked it more often than they unlocked it.
func (u *Use) held(name func(trace.ThreadID) string) string {
	if slices.ContainsFunc(u.Partners, func(p Partner) bool { return p.times[unlock] > p.times[lock] }) {
		return "" // one unlocks what another has locked
	}
	for i := range u.Partners {
		p := &u.Partners[i]
		switch {
		case !p.exact || p.waits || p.times[lock] <= p.times[unlock]:
		case p.Ended:
			return "locked by " + name(p.Thread) + ", which ended without unlocking it"
		default:
			return "locked by " + name(p.Thread) + ", which is also left"
		}
	}
	return ""
}

// how says how a partner ended, empty if that is not known.
func (p *Partner) how(waits trace.Op) string {
	var did []string
	for kind, word := range counted {
		switch n := p.times[kind]; {
		case word == "" || n == 0:
		case kind == add:
			did = append(did, fmt.Sprintf("Add(%d)", n))
		case kind == shut:
			did = append(did, "closing it")
		default:
			did = append(did, wording.Count(n, word))
		}
	}
	after := ""
	if p.exact && len(did) > 0 {
		after = " after " + strings.Join(did, " and ")
	}
	switch {
	case p.Ended:
		if p.exact && p.times[shut] == 0 && p.times[send] > 0 && waits == trace.OpChanRecv {
			after += " without closing it"
		}
		return "ended" + after
	case p.Left:
		if after != "" {
			after = "," + after
		}
		return "is also left" + after
	}
	return ""
}

// Reached says whether something that goes on leads to what w's thread waits for, empty if that is not known or is of no interest.
func Reached(t *trace.Trace, w *trace.Waiter, uses []Use) string {
	it := "it"
	if len(uses) > 1 {
		it = "these"
	}
	others := slices.ContainsFunc(t.Ending.Waiters, func(x trace.Waiter) bool { return x.Thread != w.Thread && x.Reach != trace.ReachKept })
	switch {
	case len(uses) == 0:
	case w.Reach == trace.ReachLost && others: // which may have it
		return "no running goroutine, timer or global variable can reach " + it
	case w.Reach == trace.ReachLost:
		return "nothing else can reach " + it + ": no goroutine, timer or global variable"
	case w.Reach == trace.ReachKept && !w.Ready:
		return "a global variable, a timer or a running goroutine can still reach " + it
	}
	return ""
}
