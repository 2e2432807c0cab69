package strategy

import (
	"cmp"
	"encoding/json"
	"errors"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Feedback is a search by reads-from feedback: RFF (Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox
// Fuzzing for Concurrency Testing", ASPLOS 2024; written from its abstract and descriptions by others).
// An abstract schedule is a set of constraints on which write a read reads from. The search mutates
// abstract schedules, executes them under POS with holds that bring their constraints about,
// and keeps those that showed a new reads-from pair. A schedule's executions are rarer the more
// often the combinations of pairs that it shows have been seen (the paper's power schedule).
//
// It differs from the paper in three ways. An acquisition of a lock reads from the release before it,
// so constraints order critical sections, too. The memory instructions that take part are those that
// race in some execution seen, rather than all. And most constraints that are inserted are for pairs
// that no execution has shown, each once before any is tried twice.
type Feedback struct {
	setting Setting
	source  *rand.PCG
	rand    *rand.Rand
	state   feedbackState
	known   map[trace.Site]bool // Points
	waits   bool                // for the outcomes of a batch before the next
	seen    int                 // pairs
}

// feedbackState is saved.
type feedbackState struct {
	Random []byte             `json:"random,omitempty"`
	Made   uint64             `json:"made"` // plans
	Points []trace.Site       `json:"points,omitempty"`
	Reads  []readSite         `json:"reads,omitempty"` // in the order in which they were seen
	Corpus []abstractSchedule `json:"corpus"`
	Flying map[int]abstract   `json:"flying,omitempty"` // by the plan's key
	Seen   map[uint64]int     `json:"seen,omitempty"`   // executions by the combination of pairs that they showed
	Turn   int                `json:"turn"`             // index into Corpus
	Left   int                `json:"left"`             // executions that its schedule has left
	Batch  int                `json:"batch"`            // plans that the present batch has left
}

// readSite is an instruction that reads, and what it may read from.
type readSite struct {
	Site   trace.Site          `json:"site"`
	Writes []trace.Site        `json:"writes"` // instructions that change an object which it reads
	Pairs  map[trace.Site]bool `json:"pairs"`  // what it has read from; 0 for the initial value
	Shown  map[trace.Site]bool `json:"shown"`  // what it has read from in any execution, also those of other strategies
	Tried  map[trace.Site]int  `json:"tried"`  // how often the search inserted a constraint for a pair not seen
}

// constraint says that read reads from write, which is 0 for the initial value, or with Not that it
// does not.
type constraint struct {
	Read  trace.Site `json:"read"`
	Write trace.Site `json:"write"`
	Not   bool       `json:"not,omitempty"`
}

// abstract is an abstract schedule: a set of constraints.
type abstract []constraint

// abstractSchedule is one that is kept.
type abstractSchedule struct {
	Constraints abstract `json:"constraints,omitempty"`
	Signature   uint64   `json:"signature"` // of the execution that it was kept for
	Chosen      int      `json:"chosen"`
}

const (
	maxEnergy     = 16 // executions of mutants of a schedule in one turn
	mostMutations = 2  // of one mutant
	// mostTries is how often a constraint for a pair that no execution has shown is preferred to
	// others: some are impossible, such as a read that reads from before the thread's own write.
	mostTries = 6
)

// batch returns how many plans are made before the outcome of the first is observed, for a search
// that has made so many. Few at first, so that the search learns; more later, so that the target does not
// wait.
func batch(made uint64) int { return int(max(4, min(64, made/16))) }

// NewFeedback returns a search by reads-from feedback.
func NewFeedback(s Setting) *Feedback {
	f := &Feedback{setting: s, source: rand.NewPCG(s.Seed, 0x726666), known: map[trace.Site]bool{}, waits: true}
	f.rand = rand.New(f.source)
	f.state = feedbackState{Corpus: []abstractSchedule{{}}, Flying: map[int]abstract{}, Seen: map[uint64]int{}}
	f.grow(s.Points)
	return f
}

// String implements Strategy.
func (f *Feedback) String() string { return "feedback" }

func (f *Feedback) eager() { f.waits = false }

func (f *Feedback) pairs() int { return f.seen }

func (f *Feedback) ended() bool { return false }

// Stage implements Strategy.
func (f *Feedback) Stage() Stage { return Stage{Points: len(f.state.Points)} }

// MarshalBinary implements Strategy.
func (f *Feedback) MarshalBinary() (b []byte, err error) {
	if f.state.Random, err = f.source.MarshalBinary(); err != nil {
		return nil, err
	}
	return json.Marshal(&f.state)
}

// UnmarshalBinary implements Strategy.
func (f *Feedback) UnmarshalBinary(data []byte) error {
	s := feedbackState{Flying: map[int]abstract{}, Seen: map[uint64]int{}}
	if err := strict(data, &s); err != nil {
		return err
	}
	if len(s.Corpus) == 0 || s.Turn < 0 || s.Turn >= len(s.Corpus) {
		return errors.New("its schedules are incomplete")
	}
	f.state, f.seen = s, 0
	for i := range s.Reads {
		f.seen += len(s.Reads[i].Shown)
	}
	f.known = map[trace.Site]bool{}
	for _, p := range s.Points {
		f.known[p] = true
	}
	return f.source.UnmarshalBinary(s.Random)
}

// Next implements Strategy.
func (f *Feedback) Next(left int) (Request, bool) {
	s := &f.state
	if left == 0 || f.waits && s.Batch == 0 && len(s.Flying) > 0 {
		return Request{}, false
	}
	if s.Batch == 0 {
		s.Batch = batch(s.Made)
	}
	s.Batch--
	s.Made++
	a := f.mutant()
	key := int(s.Made)
	s.Flying[key] = a
	return Request{Key: key, Observe: s.Made <= observeAll || s.Made%observeEvery == 0, Plan: schedule.Plan{
		Policy: schedule.POS, Seed: f.setting.FirstSeed() + s.Made, Repeat: 1, Record: true,
		Points: s.Points, Holds: f.holds(a), Timeouts: s.Made%2 == 0 && !f.setting.NoEarlyTimeouts,
	}}, true
}

// mutant returns a mutation of the schedule whose turn it is.
func (f *Feedback) mutant() abstract {
	s := &f.state
	if s.Left == 0 {
		s.Turn = (s.Turn + 1) % len(s.Corpus)
		c := &s.Corpus[s.Turn]
		c.Chosen++
		s.Left = f.energy(c)
	}
	s.Left--
	a := slices.Clone(s.Corpus[s.Turn].Constraints)
	for range f.rand.IntN(mostMutations + 1) { // none: another execution of the schedule itself
		a = f.mutate(a)
	}
	return a
}

// energy returns how many mutants of a schedule are executed in its turn: more the more often it was
// chosen, fewer the more often its combination of pairs was seen, as in AFLFast's exponential
// schedule, and only one while that is commoner than the average.
func (f *Feedback) energy(c *abstractSchedule) int {
	total := 0
	for _, n := range f.state.Seen {
		total += n
	}
	seen := f.state.Seen[c.Signature]
	if len(f.state.Seen) > 1 && seen*len(f.state.Seen) > total {
		return 1
	}
	return max(1, min(maxEnergy, 1<<min(c.Chosen, 10)/max(1, seen)))
}

// mutate inserts, replaces, negates or removes a constraint.
func (f *Feedback) mutate(a abstract) abstract {
	if len(f.state.Reads) == 0 {
		return a
	}
	choices := 4
	if len(a) == 0 {
		choices = 1
	}
	switch k := f.rand.IntN(choices); k {
	case 0, 1:
		c := f.draw()
		if k == 1 {
			i := f.rand.IntN(len(a))
			a = slices.Delete(a, i, i+1)
		}
		a = slices.DeleteFunc(a, func(b constraint) bool { return b.Read == c.Read && (b.Not == c.Not || b.Write == c.Write) })
		return append(a, c)
	case 2:
		a[f.rand.IntN(len(a))].Not = f.rand.IntN(2) == 0
		return a
	default:
		i := f.rand.IntN(len(a))
		return slices.Delete(a, i, i+1)
	}
}

// draw returns a new constraint; mostly one whose pair no execution has shown, if one is left, of those
// that were inserted least often.
func (f *Feedback) draw() constraint {
	if f.rand.IntN(4) > 0 {
		var unseen []*readSite
		var writes []trace.Site
		least := mostTries - 1
		for i := range f.state.Reads {
			r := &f.state.Reads[i]
			for k := -1; k < len(r.Writes); k++ {
				w := r.from(k)
				if r.Pairs[w] || r.Tried[w] > least {
					continue
				}
				if r.Tried[w] < least {
					least, unseen, writes = r.Tried[w], unseen[:0], writes[:0]
				}
				unseen, writes = append(unseen, r), append(writes, w)
			}
		}
		if len(unseen) > 0 {
			i := f.rand.IntN(len(unseen))
			unseen[i].Tried[writes[i]]++
			return constraint{Read: unseen[i].Site, Write: writes[i]}
		}
	}
	r := &f.state.Reads[f.rand.IntN(len(f.state.Reads))]
	return constraint{Read: r.Site, Write: r.from(f.rand.IntN(len(r.Writes)+1) - 1), Not: f.rand.IntN(4) == 0}
}

// from returns write i, or the initial value for -1.
func (r *readSite) from(i int) trace.Site {
	if i < 0 {
		return 0
	}
	return r.Writes[i]
}

// holds returns the holds that bring constraints about; docs/scheduler.md lists the forms.
func (f *Feedback) holds(a abstract) (out []schedule.Hold) {
	for _, c := range a {
		var writes []trace.Site
		for i := range f.state.Reads {
			if r := &f.state.Reads[i]; r.Site == c.Read {
				writes = r.Writes
			}
		}
		switch {
		case c.Not && c.Write != 0:
			out = append(out, schedule.Hold{Site: c.Read, Thread: schedule.AnyThread, Last: c.Write})
			continue
		case c.Not:
			for _, w := range writes {
				out = append(out, schedule.Hold{Site: c.Read, Thread: schedule.AnyThread, Until: w, When: schedule.Ever, Same: true})
				break // one write is enough
			}
			continue
		case c.Write != 0:
			out = append(out, schedule.Hold{Site: c.Read, Thread: schedule.AnyThread, Last: c.Write, Not: true})
		}
		for _, w := range writes {
			if w == c.Write || w == c.Read {
				continue
			}
			h := schedule.Hold{Site: w, Thread: schedule.AnyThread, Until: c.Read, Same: true, Last: c.Write}
			// Whether it suffices that some thread has read before: two threads may both have to.
			if c.Write == 0 && f.rand.IntN(2) == 0 {
				h.When = schedule.Ever
			}
			out = append(out, h)
		}
	}
	return out[:min(len(out), schedule.MaxHolds)]
}

// Observe implements Strategy.
func (f *Feedback) Observe(o *Observation) {
	s := &f.state
	a := s.Flying[o.Request.Key]
	if o.Last {
		delete(s.Flying, o.Request.Key)
	}
	if o.Seen != nil {
		f.grow(slices.Concat(race.Sites(o.Seen.Races), o.Seen.Handlers))
	}
	if o.Outcome == nil || o.Outcome.Trace == nil {
		return
	}
	signature, fresh := f.learn(o.Outcome.Trace.Events, o.Request.Key != foreign)
	if o.Request.Key == foreign {
		return
	}
	s.Seen[signature]++
	if fresh && o.Request.Key != First {
		s.Corpus = append(s.Corpus, abstractSchedule{Constraints: a, Signature: signature})
	}
}

// grow adds scheduling points.
func (f *Feedback) grow(sites []trace.Site) {
	for _, p := range sites {
		if !f.known[p] {
			f.known[p] = true
			f.state.Points = append(slices.Clip(f.state.Points), p) // plans in flight keep theirs
		}
	}
}

// role returns whether an event reads its object, and whether it changes it.
func role(e *trace.Event) (reads, changes bool) {
	switch e.Op.Class() {
	case trace.ClassRead, trace.ClassALoad:
		return true, false
	case trace.ClassWrite, trace.ClassAStore, trace.ClassRel:
		return false, true
	case trace.ClassARMW:
		return true, e.Op != trace.OpAtomicCas || e.Result != 0
	case trace.ClassAcq:
		return true, true
	}
	return false, false
}

// learn adds what an execution showed. It returns a hash of its reads-from pairs, and whether one of
// them is new. mine says that the search made the execution: it has no schedule to keep for others, and
// so goes on to look for the pairs that they showed.
func (f *Feedback) learn(events []trace.Event, mine bool) (signature uint64, fresh bool) {
	type object struct {
		last          trace.Site
		pair          [2]trace.Site // added last: loops repeat it
		reads, writes []trace.Site
	}
	objects := map[trace.Object]*object{}
	var order []*object
	pairs := map[[2]trace.Site]bool{}
	for i := range events {
		e := &events[i]
		reads, changes := role(e)
		if e.Site == 0 || e.Object == 0 || e.Flags&trace.FlagNoDecision != 0 || !(reads || changes) {
			continue
		}
		x := objects[e.Object]
		if x == nil {
			x = &object{}
			objects[e.Object] = x
			order = append(order, x)
		}
		if pair := [2]trace.Site{x.last, e.Site}; reads && pair != x.pair {
			pairs[pair] = true
			x.pair = pair
			if !slices.Contains(x.reads, e.Site) {
				x.reads = append(x.reads, e.Site)
			}
		}
		if changes {
			x.last = e.Site
			if !slices.Contains(x.writes, e.Site) {
				x.writes = append(x.writes, e.Site)
			}
		}
	}
	for _, x := range order {
		for _, read := range x.reads {
			r := f.read(read)
			for _, w := range x.writes {
				if !slices.Contains(r.Writes, w) {
					r.Writes = append(r.Writes, w)
				}
			}
		}
	}
	hash := fnv.New64a()
	for _, p := range slices.SortedFunc(maps.Keys(pairs), func(a, b [2]trace.Site) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		for _, s := range p {
			var b [8]byte
			for k := range b {
				b[k] = byte(s >> (8 * k))
			}
			hash.Write(b[:])
		}
		r := f.read(p[1])
		if !r.Shown[p[0]] {
			r.Shown[p[0]] = true
			f.seen++
		}
		if mine && !r.Pairs[p[0]] {
			r.Pairs[p[0]] = true
			fresh = true
		}
	}
	return hash.Sum64(), fresh
}

// read returns what is known of an instruction that reads.
func (f *Feedback) read(s trace.Site) *readSite {
	reads := f.state.Reads
	for i := range reads {
		if reads[i].Site == s {
			return &reads[i]
		}
	}
	f.state.Reads = append(reads, readSite{Site: s, Pairs: map[trace.Site]bool{}, Shown: map[trace.Site]bool{}, Tried: map[trace.Site]int{}})
	return &f.state.Reads[len(reads)]
}
