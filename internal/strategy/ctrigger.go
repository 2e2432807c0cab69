package strategy

import (
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// CTrigger forces unserializable interleavings (Park, Lu and Zhou, ASPLOS 2009). Phase one records
// executions with all accesses until one of them exercises no interleaving that is new (§4). Phase two
// forces those that are feasible and were not exercised, the least likely first (§5): it holds a
// thread before c until another has done r, and a thread before r until another stands before c.
//
// Deviations from §4: interleavings that a recording exercised come last, where the paper drops them.
// Threads run one at a time and switch anywhere, so that recordings exercise more than those of stress do,
// and an interleaving that did no harm once may do harm at other instances of its instructions.
//
// Deviations from §5: threads run one at a time, so a hold needs no time-out: it ends when no other
// thread can do more than wait. The wait before the outermost critical section is one of several
// ways, tried in turn. An interleaving counts as forced only if an execution that records all accesses shows it.
type CTrigger struct {
	setting  Setting
	state    ctriggerState
	recorded *trace.Trace // the last one of phase one
	// arm: it is an arm of a portfolio, see eager.
	arm bool
	// failed are the executions with all accesses that failed. They are not saved, and an arm has none.
	failed []failedExecution
	passed int // executions
}

// failedExecution is one that failed, and the interleavings that occurred in it.
type failedExecution struct {
	ending trace.Ending
	had    map[atomicity.Triple]bool
	// profiled: it is of phase one.
	profiled bool
}

// ctriggerState is saved.
type ctriggerState struct {
	Made    uint64             `json:"made"`   // plans, and so seeds
	Seen    int                `json:"seen"`   // executions observed
	Flying  int                `json:"flying"` // plans
	Profile *atomicity.Profile `json:"profile"`
	Quiet   int                `json:"quiet"` // recordings since the last that showed something new
	Missing []string           `json:"missing,omitempty"`
	// Sharing are the instructions whose accesses are recorded: those that a recording found to access shared memory. It is nil before
	// the first, and if the target leaves no accesses out. Again counts the repetitions of the last recording.
	Sharing []trace.Site `json:"sharing,omitempty"`
	Again   int          `json:"again,omitempty"`
	Racing  []trace.Site `json:"racing,omitempty"`
	Forcing bool         `json:"forcing,omitempty"` // phase two
	Targets []Target     `json:"targets,omitempty"`
	Turn    int          `json:"turn"` // index into the ways of forcing
	At      int          `json:"at"`   // index into Targets
	// Arrivals is the largest number of accesses by which one thread came to an instruction in a recording.
	Arrivals map[trace.Site]int `json:"arrivals,omitempty"`
	// Verify are the forcings that an execution with all accesses has to confirm.
	Verify []forcing `json:"verify,omitempty"`
	// Trying are the forcings in flight, by the plan's key.
	Trying map[int]forcing `json:"trying,omitempty"`
}

// Target is an interleaving and what forcing it has shown.
type Target struct {
	atomicity.Interleaving
	// Tried executions were made for it. In Held of them a thread waited before c, in Met of these
	// until another had done r.
	Tried int `json:"tried"`
	Held  int `json:"held"`
	Met   int `json:"met"`
	// Forced executions had the interleaving, as a repetition that recorded all accesses showed;
	// Failures of them failed. Others failed without it.
	Forced   int `json:"forced"`
	Failures int `json:"failures"`
	Others   int `json:"others"`
	// Along executions were made for another target, had the interleaving, and failed.
	Along int `json:"along,omitempty"`
	// Execution is the number in the search of the first execution that failed: with the interleaving
	// if there is one, else without. Kind and Message are that failure's. The same execution may count in
	// Along of others.
	Execution int    `json:"execution,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Message   string `json:"message,omitempty"`
	// Failing is the first execution that failed with the interleaving, with all accesses; FailingSeed is its plan's. They
	// are not saved.
	Failing     *trace.Trace `json:"-"`
	FailingSeed uint64       `json:"-"`
	// Needless executions without the interleaving failed in the same way, and none passed; whoever searches sets it.
	Needless int `json:"-"`
	// Unneeded executions of the search failed in the same way without it, where none of the same schedule without it
	// could be made; whoever searches sets it.
	Unneeded int `json:"-"`
	// With and Without are schedules that differ from Failing's outside the interleaving: those that have it, up to the first that passes, and
	// those in which it is undone. Few: the first are too few to tell. Explained: the explanation of Failing names two of its accesses. Elsewhere: it
	// names other objects. Whoever searches sets them.
	With, Without             Ended `json:"-"`
	Few, Explained, Elsewhere bool  `json:"-"`
	// Unchecked: there was no time to find out.
	Unchecked bool `json:"-"`
	// Waits is set if the thread before c had to go on because no other could, and another did r
	// later: the operation in which that one waited meanwhile. Spins: it polled memory there, so that
	// a synchronisation that heddle does not know may keep r out.
	Waits trace.Access `json:"waits"`
	Spins bool         `json:"spins,omitempty"`
}

// Ended counts executions by how they ended.
type Ended struct {
	Failed int `json:"failed"`
	Passed int `json:"passed"`
}

// forcing is an execution of a target.
type forcing struct {
	Target int    `json:"target"`
	Way    int    `json:"way"`
	Seed   uint64 `json:"seed"`
	// Nth counts the forcings of the target by chosen arrivals, from 0.
	Nth int `json:"nth,omitempty"`
	// Verify: it repeats the execution of that number, to record all accesses.
	Verify int `json:"verify,omitempty"`
}

const (
	leastProfile, mostProfile = 6, 16
	armProfile                = 3 // recordings of an arm of a portfolio
	quietProfile              = 2
	countedRecording          = 2 // whose accesses are counted for ctriggerState.Arrivals
	// A recording that lacks accesses to shared memory is repeated so often at most. It is the same execution, so that once
	// suffices if nothing external differs.
	mostAgain = 3
	// mostRecorded bounds the accesses of a recording.
	mostRecorded = 4_000_000
	// profiling is the key of phase one's executions; those of phase two have greater ones.
	profiling = 0
	// enough executions that had an interleaving and did not fail make it benign, in each of its rounds.
	enough = 6
)

// NewCTrigger returns a search that forces unserializable interleavings.
func NewCTrigger(s Setting) *CTrigger {
	return &CTrigger{setting: s, state: ctriggerState{Profile: atomicity.NewProfile(), Trying: map[int]forcing{}}}
}

// NewForcing returns a CTrigger that begins with phase two, for interleavings that are known. sharing are the instructions that
// access shared memory, nil if they are not known.
func NewForcing(s Setting, sharing []trace.Site, list ...atomicity.Interleaving) *CTrigger {
	c := NewCTrigger(s)
	c.state.Forcing, c.state.Sharing = true, sharing
	for _, i := range list {
		c.state.Targets = append(c.state.Targets, Target{Interleaving: i})
	}
	return c
}

// String implements Strategy.
func (c *CTrigger) String() string { return "ctrigger" }

// eager implements guide. As an arm of a portfolio, phase one is shorter and learns from recordings of
// other arms, too; its recordings are bounded like those from which races are predicted; and an execution
// in which a thread met the other counts as one that had the interleaving: no execution confirms it,
// since only failures matter.
func (c *CTrigger) eager() { c.arm = true }

// pairs implements guide.
func (c *CTrigger) pairs() int { return 0 }

// ended implements guide.
func (c *CTrigger) ended() bool {
	s := &c.state
	return s.Forcing && (s.Turn == len(c.ways())*c.rounds() || len(s.Targets) == 0)
}

// Stage implements Strategy. Its round is 1 in phase one, 2 in phase two.
func (c *CTrigger) Stage() Stage {
	s := Stage{Round: 1, Points: len(c.setting.Points)}
	if c.state.Forcing {
		s.Round = 2
	}
	return s
}

// Profile returns what phase one has collected.
func (c *CTrigger) Profile() *atomicity.Profile { return c.state.Profile }

// Targets returns the interleavings of phase two, ranked.
func (c *CTrigger) Targets() []Target { return c.state.Targets }

// Recorded returns the last recording of phase one, to name objects; nil before the first.
func (c *CTrigger) Recorded() *trace.Trace { return c.recorded }

// FailedWith returns the number of recordings of phase one that failed and had an interleaving.
func (c *CTrigger) FailedWith(t atomicity.Triple) (n int) {
	for i := range c.failed {
		if f := &c.failed[i]; f.profiled && f.had[t] {
			n++
		}
	}
	return n
}

// FailedWithout returns the number of executions with all accesses that failed, as same decides, although an interleaving did not
// occur in them. Several interleavings of a lost update may each lose one: while other executions pass, a
// failure counts only if no other interleaving with one of the update's instructions occurred.
func (c *CTrigger) FailedWithout(x *atomicity.Interleaving, same func(*trace.Ending) bool) (n int) {
	for i := range c.failed {
		f := &c.failed[i]
		if f.had[x.Triple] || !same(&f.ending) {
			continue
		}
		other := false
		for y, had := range f.had {
			other = other || had && (y.R == x.R || y.C == x.C || y.P == x.P || y.R == x.C || y.C == x.R)
		}
		if x.Pattern != atomicity.ReadWriteWrite || !other || c.passed == 0 {
			n++
		}
	}
	return n
}

// Sharing returns the instructions that were found to access memory of several threads, nil if they are not known.
func (c *CTrigger) Sharing() []trace.Site { return c.state.Sharing }

// Missing says what keeps the profile from being whole.
func (c *CTrigger) Missing() []string {
	if s := &c.state; !s.Forcing && !c.arm && s.Profile.Threads() > 1 {
		return append(slices.Clip(s.Missing), atomicity.EndedEarly)
	}
	return c.state.Missing
}

// Coverage implements Exhaustive. The search ends, and has not executed everything.
func (c *CTrigger) Coverage() (Coverage, bool) {
	missing := append([]string{"only unserializable interleavings were forced"}, c.Missing()...)
	return Coverage{Preemptions: -1, Executions: c.state.Seen, Missing: missing}, true
}

// MarshalBinary implements Strategy.
func (c *CTrigger) MarshalBinary() ([]byte, error) { return json.Marshal(&c.state) }

// UnmarshalBinary implements Strategy.
func (c *CTrigger) UnmarshalBinary(data []byte) error {
	s := ctriggerState{Profile: atomicity.NewProfile(), Trying: map[int]forcing{}}
	if err := strict(data, &s); err != nil {
		return err
	}
	c.state = s
	return nil
}

// Next implements Strategy.
func (c *CTrigger) Next(left int) (Request, bool) {
	s := &c.state
	switch {
	case left == 0:
		return Request{}, false
	case !s.Forcing:
		if s.Flying > 0 {
			return Request{}, false
		}
		return c.profile(), true
	case len(s.Verify) > 0:
		f := s.Verify[0]
		s.Verify = s.Verify[1:]
		return c.force(f), true
	}
	if f, ok := c.next(); ok {
		return c.force(f), true
	}
	return Request{}, false
}

// profile returns the next plan of phase one.
func (c *CTrigger) profile() Request {
	s := &c.state
	if s.Again == 0 {
		s.Made++
	}
	s.Flying++
	return Request{Key: profiling, Observe: true, Plan: c.Recording(s.Made)}
}

// Recording returns the plan of the recording of phase one with a number, from 1. Threads mostly go on,
// as on a machine with a processor for each of few switches.
func (c *CTrigger) Recording(n uint64) schedule.Plan {
	most := mostRecorded
	if c.arm {
		most = predictedFrom
	}
	return schedule.Plan{
		Policy: schedule.Random, Stay: [...]float64{0.95, 0.8, 0.5}[n%3], Seed: c.setting.FirstSeed() + n, Repeat: 1, Points: c.setting.Points,
		Record: true, Accesses: true, MaxAccesses: most, OnlyShared: !c.arm, Sharing: c.state.Sharing,
		Values: n == countedRecording && !c.arm, // otherwise a recording lacks accesses that say nothing new
	}
}

// next chooses the next target and way: every target by one way, then all that are undecided by the
// next. Each time it starts over, fewer are left.
func (c *CTrigger) next() (forcing, bool) {
	s := &c.state
	rounds, ways := c.rounds(), c.ways()
	for s.Turn < len(ways)*rounds {
		for s.At < len(s.Targets) {
			t := &s.Targets[s.At]
			s.At++
			if t.Failures > 0 || t.Forced >= enough*rounds {
				continue
			}
			s.Made++
			nth := 0 // turns by chosen arrivals before this one
			for turn := range s.Turn {
				if ways[turn%len(ways)].chosen {
					nth++
				}
			}
			return forcing{Target: s.At - 1, Way: s.Turn % len(ways), Nth: nth, Seed: c.setting.FirstSeed() + s.Made}, true
		}
		if s.Flying > 0 {
			return forcing{}, false // what is in flight decides who is left
		}
		s.At = 0
		s.Turn++
	}
	return forcing{}, false
}

// rounds is how often all ways are tried: where interleavings are few, the executions that they need
// are cheap, and other schedules bring other instances of their instructions together. As an arm, once.
func (c *CTrigger) rounds() int {
	const most, few = 4, 32
	if c.arm {
		return 1
	}
	return max(1, min(most, few/max(1, len(c.state.Targets))))
}

// way is how to force an interleaving.
type way struct {
	outer  bool // wait before the outermost critical sections
	remote bool // hold r, too
	first  bool // only a thread's first arrival at c
	// chosen: one arrival of a thread at c and one at r, see arrivals. What an interleaving does may depend
	// on which instances of its instructions form it, and without this the first ones mostly do.
	chosen bool
	policy schedule.Policy
	stay   float64
}

// allWays are tried in this order.
var allWays = []way{
	{remote: true, policy: schedule.Random},
	{remote: true, outer: true, policy: schedule.Random},
	{remote: true, chosen: true, policy: schedule.Random, stay: 0.9},
	{policy: schedule.POS},
	{outer: true, policy: schedule.Random, stay: 0.9},
	{remote: true, chosen: true, policy: schedule.Random, stay: 0.9},
	{remote: true, first: true, policy: schedule.Random, stay: 0.5},
	{remote: true, policy: schedule.POS},
	{remote: true, chosen: true, policy: schedule.Random, stay: 0.9},
	{remote: true, outer: true, policy: schedule.Random, stay: 0.9},
	{policy: schedule.Random, stay: 0.9},
	{remote: true, chosen: true, policy: schedule.Random, stay: 0.9},
}

// armWays leave out those of chosen arrivals: the other arms of a portfolio vary instances.
var armWays = slices.DeleteFunc(slices.Clone(allWays), func(w way) bool { return w.chosen })

func (c *CTrigger) ways() []way {
	if c.arm {
		return armWays
	}
	return allWays
}

// arrivals returns the arrivals at c and r, from 1, before which the nth forcing by chosen arrivals holds threads; 0
// for each. What is done last is often decisive, because nothing repairs it, and random arrivals of long loops rarely hit it: so
// half of the forcings hold a thread before its last arrival at r, or at c, and the others before those that the seed draws.
func (s *ctriggerState) arrivals(t *Target, nth int, seed uint64) (c, r int) {
	cs, rs := max(1, s.Arrivals[t.C.Site]), max(1, s.Arrivals[t.R.Site])
	draw := rand.New(rand.NewPCG(seed, uint64(nth)))
	switch nth % 4 {
	case 0:
		return 0, rs
	case 1:
		return cs, 0
	case 2:
		return 0, 1 + draw.IntN(rs)
	}
	return 1 + draw.IntN(cs), 0
}

// force returns the plan of a forcing.
func (c *CTrigger) force(f forcing) Request {
	s := &c.state
	t := &s.Targets[f.Target]
	w := c.ways()[f.Way]
	plan := schedule.Plan{
		Policy: w.policy, Stay: w.stay, Seed: f.Seed, Repeat: 1, Points: c.points(&t.Triple), Holds: w.holds(&t.Interleaving),
		Record: true, Accesses: f.Verify > 0, MaxAccesses: mostRecorded, Timeouts: f.Way%2 == 1 && !c.setting.NoEarlyTimeouts,
	}
	if w.chosen {
		atC, atR := s.arrivals(t, f.Nth, f.Seed)
		if plan.Holds[0].Arrival = atC; len(plan.Holds) > 1 {
			plan.Holds[1].Arrival = atR
		}
	}
	if f.Verify == 0 {
		plan.MaxAccesses = 0
	} else if s.Sharing != nil {
		plan.OnlyShared, plan.Sharing, plan.Known = true, s.Sharing, true
	}
	key := profiling + 1
	for s.Trying[key] != (forcing{}) {
		key++
	}
	s.Trying[key] = f
	s.Flying++
	return Request{Key: key, Plan: plan, Observe: f.Verify == 0 && f.Way == 0}
}

// points returns the scheduling points for a triple.
func (c *CTrigger) points(t *atomicity.Triple) []trace.Site {
	points := slices.Concat(c.setting.Points, c.state.Racing)
	for _, a := range []atomicity.Statement{t.P, t.C, t.R} {
		if a.Op.IsAccess() {
			points = append(points, a.Site)
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

// holds returns the holds that force an interleaving. The first is that before c.
func (w way) holds(i *atomicity.Interleaving) []schedule.Hold {
	c := schedule.Hold{Site: i.C.Site, Thread: schedule.AnyThread, Until: i.R.Site, When: schedule.Done, Same: true}
	r := schedule.Hold{Site: i.R.Site, Thread: schedule.AnyThread, Until: i.C.Site, When: schedule.Reached, Same: true}
	if w.outer && i.Outer[0] != 0 {
		c.Site, c.Same = i.Outer[0], false
		r.Until, r.Same = c.Site, false
	}
	if w.outer && i.Outer[1] != 0 {
		r.Site, r.Same = i.Outer[1], false
	}
	if w.first {
		c.Arrival = 1
	}
	if !w.remote || r.Site == c.Site {
		return []schedule.Hold{c}
	}
	return []schedule.Hold{c, r}
}

// Observe implements Strategy.
func (c *CTrigger) Observe(o *Observation) {
	s := &c.state
	if o.Outcome != nil {
		s.Seen++
		if o.Outcome.Ending.Kind == trace.Clean {
			c.passed++
		}
	}
	if o.Seen != nil {
		c.race(o)
	}
	switch {
	case o.Request.Key == foreign && !s.Forcing && o.Request.Plan.Accesses && o.Outcome != nil && o.Outcome.Trace != nil:
		c.profiled(o)
		return
	case o.Request.Key == First, o.Request.Key == foreign:
		return
	}
	s.Flying--
	if o.Request.Key == profiling {
		// Another arm's recording may have ended phase one while this execution was under way.
		if !s.Forcing {
			c.profiled(o)
		}
		return
	}
	f := s.Trying[o.Request.Key]
	delete(s.Trying, o.Request.Key)
	if o.Outcome == nil {
		return
	}
	t := &s.Targets[f.Target]
	if f.Verify > 0 {
		c.verified(o.Outcome, &f)
		return
	}
	t.Tried++
	met := false
	if h := o.Outcome.Holds; len(h) > 0 {
		if h[0].Held > 0 {
			t.Held++
		}
		met = h[0].Done > 0
	}
	if met {
		t.Met++
	}
	switch failed := o.Outcome.Ending.Kind.Failed(); {
	case o.Outcome.Ending.Kind == trace.Unfinished: // whether it fails is not known
	case c.arm && met:
		t.Forced++
		if failed {
			t.Failures++
		}
	case !c.arm && (met || failed):
		s.Verify = append(s.Verify, forcing{f.Target, f.Way, f.Seed, f.Nth, s.Seen})
	}
	if t.Held > 0 && t.Met == 0 && o.Outcome.Trace != nil {
		t.wait(o.Outcome.Trace, o.Request.Plan.Holds[0].Site)
	}
}

// verified takes the repetition, with all accesses, of an execution of the search.
func (c *CTrigger) verified(o *schedule.Outcome, f *forcing) {
	if o.Trace == nil || o.Ending.Kind == trace.Unfinished {
		return
	}
	s := &c.state
	t, failed := &s.Targets[f.Target], o.Ending.Kind.Failed()
	want := []atomicity.Interleaving{t.Interleaving}
	if failed {
		for i := range s.Targets {
			want = append(want, s.Targets[i].Interleaving)
		}
	}
	occurred := atomicity.Exercised(o.Trace, want...)
	if failed {
		c.fails(o, want, occurred)
	}
	count := &t.Others
	if occurred[0] {
		t.Forced++
		count = &t.Failures
	}
	if !failed {
		return
	}
	if *count++; t.Failures == 1 && count == &t.Failures || t.Execution == 0 {
		t.fails(o, f.Verify)
		if occurred[0] {
			t.Failing, t.FailingSeed = o.Trace, f.Seed
		}
	}
	for i := range s.Targets {
		if other := &s.Targets[i]; i != f.Target && occurred[i+1] {
			if other.Along++; other.Along == 1 && other.Failures == 0 {
				other.fails(o, f.Verify)
			}
		}
	}
}

// fails keeps what an execution that failed says of interleavings.
func (c *CTrigger) fails(o *schedule.Outcome, list []atomicity.Interleaving, occurred []bool) {
	if c.arm {
		return
	}
	f := failedExecution{ending: o.Ending, had: map[atomicity.Triple]bool{}, profiled: !c.state.Forcing}
	for i := range list {
		f.had[list[i].Triple] = f.had[list[i].Triple] || occurred[i]
	}
	c.failed = append(c.failed, f)
}

// fails keeps the failure of an execution of that number.
func (t *Target) fails(o *schedule.Outcome, execution int) {
	t.Execution, t.Kind, t.Message = execution, o.Ending.Kind.String(), o.Ending.Message
}

// wait finds what kept r from being done while a thread was held before an instruction.
func (t *Target) wait(tr *trace.Trace, held trace.Site) {
	at := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Site == held })
	if at < 0 {
		return
	}
	own := tr.Events[at].Thread
	next := map[trace.ThreadID]int{} // each thread's first event after at
	for i := at + 1; i < len(tr.Events); i++ {
		e := &tr.Events[i]
		if e.Thread == own {
			continue
		}
		if _, ok := next[e.Thread]; !ok {
			next[e.Thread] = i
		}
		if e.Site == t.R.Site {
			w := &tr.Events[next[e.Thread]]
			t.Waits = trace.Access{Thread: w.Thread, Op: w.Op, Site: w.Site, Object: w.Object, Stack: w.Stack}
			t.Spins = w.Flags&trace.FlagForced != 0
			return
		}
	}
}

// race makes what raced a scheduling point.
func (c *CTrigger) race(o *Observation) {
	s := &c.state
	for _, site := range slices.Concat(race.Sites(o.Seen.Races), o.Seen.Handlers) {
		if i, ok := slices.BinarySearch(s.Racing, site); !ok {
			s.Racing = slices.Insert(slices.Clone(s.Racing), i, site)
		}
	}
}

// shares takes note of the instructions that an execution found to access shared memory. It reports whether the plan did
// not have them all, so that accesses to that memory are missing in the recording.
func (s *ctriggerState) shares(o *Observation) bool {
	if o.Outcome == nil || o.Outcome.Sharing == nil {
		return false
	}
	lacks := false
	all := append([]trace.Site{}, s.Sharing...)
	for _, site := range o.Outcome.Sharing {
		lacks = lacks || !slices.Contains(o.Request.Plan.Sharing, site)
		all = append(all, site)
	}
	slices.Sort(all)
	s.Sharing = slices.Compact(all)
	return lacks
}

// profiled takes a recording of phase one, and ends the phase when there are enough.
func (c *CTrigger) profiled(o *Observation) {
	s := &c.state
	fresh := 0
	if lacks := s.shares(o); lacks && s.Again < mostAgain {
		s.Again++
		return
	} else if lacks {
		s.miss("which instructions access memory of several threads differs between executions of one schedule")
	}
	s.Again = 0
	switch {
	case o.Outcome == nil || o.Outcome.Trace == nil:
		s.miss("an execution could not be recorded")
	case c.arm && len(o.Outcome.Trace.Threads) > predictedThreads:
		s.miss("an execution has more threads than are profiled")
		s.Forcing = true
		return
	default:
		if o.Outcome.Trace.Header.MaxAccesses > 0 {
			s.miss("an execution has more accesses than were recorded")
		}
		c.recorded = o.Outcome.Trace
		s.arrive(o.Outcome.Trace)
		fresh = s.Profile.Add(o.Outcome.Trace, times(o.Outcome))
		if o.Outcome.Ending.Kind.Failed() {
			list := s.Profile.All()
			c.fails(o.Outcome, list, atomicity.Exercised(o.Outcome.Trace, list...))
		}
	}
	if s.Quiet++; fresh > 0 {
		s.Quiet = 0
	}
	if n := s.Profile.Runs(); n >= leastProfile && s.Quiet >= quietProfile || s.Made >= mostProfile || c.arm && max(n, int(s.Made)) >= armProfile {
		s.Forcing = true
		list := s.Profile.Targets()
		if !c.arm {
			list = append(list, s.Profile.Exercised()...)
		}
		for _, i := range list {
			s.Targets = append(s.Targets, Target{Interleaving: i})
		}
	}
}

// arrive counts the arrivals of a recording.
func (s *ctriggerState) arrive(t *trace.Trace) {
	type arrival struct {
		thread trace.ThreadID
		site   trace.Site
	}
	counts := map[arrival]int{}
	if s.Arrivals == nil {
		s.Arrivals = map[trace.Site]int{}
	}
	for i := range t.Events {
		if e := &t.Events[i]; e.Op.IsAccess() {
			a := arrival{e.Thread, e.Site}
			counts[a]++
			s.Arrivals[e.Site] = max(s.Arrivals[e.Site], counts[a])
		}
	}
}

// times returns the time of each event of a recording, in events and accesses of its thread, those that were left out
// included: what a thread computes between p and c makes their gap wider. It is nil if none was left out.
func times(o *schedule.Outcome) []uint64 {
	if len(o.LeftOut) == 0 {
		return nil
	}
	times := make([]uint64, len(o.Trace.Events))
	now := make([]uint64, len(o.Trace.Threads))
	left := o.LeftOut
	for i := range o.Trace.Events {
		t := &now[o.Trace.Events[i].Thread]
		if len(left) > 0 && left[0].Event == i {
			*t += left[0].Accesses
			left = left[1:]
		}
		*t++
		times[i] = *t
	}
	return times
}

func (s *ctriggerState) miss(why string) {
	if !slices.Contains(s.Missing, why) {
		s.Missing = append(s.Missing, why)
	}
}
