package tinertia

import (
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// verdict is the result of a trial.
type verdict struct {
	same   bool // the same bug
	cost   trace.Cost
	trace  *trace.Trace // nil after memory has dropped it
	shared bool         // its process had done other executions
	// strayed means that it did not make the decisions that were to be kept.
	strayed bool
}

// memory caches the trials made so far, so that no execution runs twice. Executions are
// deterministic. So the result of a script is known if the script has run before. It is also known
// if the script begins with all scheduling decisions of an execution that ended, because following
// it leads to that execution.
//
// Schedules are stored as 64-bit hashes. Among a million different ones, the probability of a
// collision is below 10^-7; a collision costs one untried candidate.
type memory struct {
	scripts  map[uint64]*verdict // by requested script
	complete map[uint64]*verdict // by complete schedule of the execution
	held     []*verdict          // verdicts that still have their trace, oldest first
	events   int                 // total events in held
	room     int                 // bound of events
}

// remembered is the default of memory.room: the total number of events in the traces kept, of
// rememberedSize bytes each.
const (
	remembered     = 1 << 19
	rememberedSize = 100
)

func newMemory() *memory {
	return &memory{scripts: map[uint64]*verdict{}, complete: map[uint64]*verdict{}, room: remembered}
}

// find returns the result of a script, or nil if it is not known.
func (m *memory) find(script []schedule.Step, threads []trace.Thread) *verdict {
	h := newScheduleHash(threads)
	for i := range script {
		h.add(&script[i])
		if v := m.complete[h.sum]; v != nil {
			return v
		}
	}
	return m.scripts[h.sum]
}

// add stores the execution that a script led to, after the first kept decisions.
func (m *memory) add(script []schedule.Step, threads []trace.Thread, v *verdict, kept int) {
	m.scripts[hashSchedule(script, threads)] = v
	if !v.strayed {
		m.complete[hashSchedule(stepsAfter(v.trace, kept), v.trace.Threads)] = v
	}
	m.held = append(m.held, v)
	m.events += len(v.trace.Events)
	for m.events > m.room && len(m.held) > 1 {
		old := m.held[0]
		m.held = m.held[1:]
		m.events -= len(old.trace.Events)
		old.trace = nil
	}
}

// scheduleHash hashes scripts step by step. It uses thread names, because indices differ between
// executions that create threads in a different order.
type scheduleHash struct {
	threads []trace.Thread
	sum     uint64
}

func newScheduleHash(threads []trace.Thread) scheduleHash {
	return scheduleHash{threads, 0x9e3779b97f4a7c15}
}

func (h *scheduleHash) add(s *schedule.Step) {
	h.mix(nameOf(h.threads, s.Thread))
	op := uint64(s.Op) << 1
	if s.Timeout {
		op |= 1
	}
	h.mix(op)
	h.mix(uint64(s.Site))
	wake := uint64(0)
	if s.Wake >= 0 {
		wake = nameOf(h.threads, s.Wake)
	}
	h.mix(wake)
}

// mix is the finalizer of MurmurHash3 over the running sum and one word. It has no random seed, so
// that runs are repeatable even in case of a collision.
func (h *scheduleHash) mix(x uint64) {
	x += h.sum*0x9e3779b97f4a7c15 + 1
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	h.sum = x ^ x>>33
}

func hashSchedule(script []schedule.Step, threads []trace.Thread) uint64 {
	h := newScheduleHash(threads)
	for i := range script {
		h.add(&script[i])
	}
	return h.sum
}
