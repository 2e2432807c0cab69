package report

import "github.com/heddle-dev/heddle/trace"

const (
	// maxPeriod is the length of the longest repeated block of events that is detected.
	maxPeriod = 64
	// minTurns is how often a block must repeat to be folded; two repetitions are easier to read in
	// full.
	minTurns = 3
)

// segment is a range of events: one event, or a block of period events that ran times times, whose
// first turn is itself divided into segments.
type segment struct {
	start, end    int
	period, times int
	body          []segment
}

// step has the properties in which two events must agree to be the same step of a loop.
type step struct {
	thread trace.ThreadID
	op     trace.Op
	site   trace.Site
	stack  uint32
	unique bool // it needs a row of its own
}

// loopFinder detects repeated blocks. A block repeats if the same threads perform the same
// operations at the same sites, with the same kind of context switch before each step; only the
// switch into the first turn may differ.
type loopFinder struct {
	steps    []uint32 // by event: the number of its step
	switches []uint8  // by event: the number of the reason for the switch before it, 0 for none
}

// loops finds the loops of the trace.
func (b *builder) loops() *loopFinder {
	n := len(b.tr.Events)
	f := &loopFinder{steps: make([]uint32, n), switches: b.reasons}
	numbers := map[step]uint32{}
	last, number := step{}, uint32(0) // of the event before
	for i := range b.tr.Events {
		e := &b.tr.Events[i]
		s := step{thread: e.Thread, op: e.Op, site: e.Site, stack: e.Stack, unique: b.failed(i) || i == b.life[0] || i == b.life[1]}
		if i == 0 || s != last {
			var ok bool
			if number, ok = numbers[s]; !ok {
				number = uint32(len(numbers)) + 1
				numbers[s] = number
			}
			last = s
		}
		f.steps[i] = number
	}
	return f
}

// find returns the segments of events lo to hi.
func (f *loopFinder) find(lo, hi int) (out []segment) {
	f.each(lo, hi, func(s segment) { out = append(out, s) })
	return out
}

// each divides events lo to hi. At each event it takes the block that covers the most events, the
// shorter one of equals, and then divides one turn of it recursively.
func (f *loopFinder) each(lo, hi int, do func(segment)) {
	// differs[p] is the first event at or after the current one that differs from the event p
	// later. It only moves forward, so each p costs one pass in total.
	differs := make([]int, maxPeriod+1)
	for i := lo; i < hi; {
		best := segment{start: i, end: i + 1}
		for p := 1; p <= maxPeriod && i+minTurns*p <= hi; p++ {
			if f.steps[i] != f.steps[i+p] {
				continue
			}
			j := max(differs[p], i+1)
			for j+p < hi && f.steps[j] == f.steps[j+p] && f.switches[j] == f.switches[j+p] {
				j++
			}
			differs[p] = j
			if turns := (j-i)/p + 1; turns >= minTurns && turns*p > best.end-best.start {
				best = segment{start: i, end: i + turns*p, period: p, times: turns}
			}
		}
		if best.period > 1 {
			best.body = f.find(i, i+best.period)
		} else if best.period == 1 {
			best.body = []segment{{start: i, end: i + 1}}
		}
		do(best)
		i = best.end
	}
}
