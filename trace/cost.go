package trace

// TEI is a thread execution interval: a maximal run of events of one thread,
// Events[Start:End] (FSE'10 §3.1).
type TEI struct {
	Thread     ThreadID
	Start, End int
}

// TEIs splits events into thread execution intervals.
func TEIs(events []Event) []TEI {
	var out []TEI
	for i := range events {
		if n := len(out); n > 0 && out[n-1].Thread == events[i].Thread {
			out[n-1].End = i + 1
		} else {
			out = append(out, TEI{events[i].Thread, i, i + 1})
		}
	}
	return out
}

// Preemptive reports whether the context switch between events i-1 and i descheduled a
// thread that could have continued. False if there is no switch there.
func Preemptive(events []Event, i int) bool {
	return i > 0 && events[i].Thread != events[i-1].Thread && events[i].Preempts(events[i-1].Thread)
}

// Cost measures how hard a trace is to follow. Compare orders costs as heddle's
// simplifier does: switches, then preemptions, then threads, then events. FSE'10 uses
// switches alone.
type Cost struct {
	Switches    int `json:"switches"`
	Preemptions int `json:"preemptions"`
	Threads     int `json:"threads"`
	Events      int `json:"events"`
}

// CostOf measures events. Events that were not scheduling points are not counted.
func CostOf(events []Event) Cost {
	var c Cost
	seen := map[ThreadID]bool{}
	last := ThreadID(-1)
	for i := range events {
		e := &events[i]
		if e.Flags&FlagNoDecision != 0 && e.Op != OpSignal {
			continue
		}
		c.Events++
		if !seen[e.Thread] {
			seen[e.Thread] = true
			c.Threads++
		}
		if last >= 0 && last != e.Thread {
			c.Switches++
			if e.Preempts(last) {
				c.Preemptions++
			}
		}
		last = e.Thread
	}
	return c
}

// Compare returns -1, 0 or 1 as c is simpler than, as simple as, or less simple than d.
func (c Cost) Compare(d Cost) int {
	for _, p := range [][2]int{{c.Switches, d.Switches}, {c.Preemptions, d.Preemptions}, {c.Threads, d.Threads}, {c.Events, d.Events}} {
		if p[0] != p[1] {
			if p[0] < p[1] {
				return -1
			}
			return 1
		}
	}
	return 0
}
