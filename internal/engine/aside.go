package engine

import (
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Ignored is a finding that Options.Ignore names, and how many executions of the exploration showed
// it.
type Ignored struct {
	Key        string `json:"key"`
	Executions int    `json:"executions"`
}

// Found is one finding of a search with Options.All.
type Found struct {
	Finding    *Finding    `json:"finding"`
	Simplified *Simplified `json:"simplified,omitempty"`
	// Executions is how many executions of the exploration showed it, as far as they could be
	// told without recording them again.
	Executions int `json:"executions"`
}

// aside holds the findings that do not end the search, by key, with the number of executions that
// showed each: those to ignore, and with Options.All those found so far.
type aside struct {
	executions map[string]int
	races      []resolvedRace
	suppressed []string // keys of findings that Options.Suppressed covers
	// endless has what settle decided about executions that were cut off, by where their threads were (loops): the key of
	// the hang or livelock, or "".
	endless map[string]string
}

// resolvedRace is the key of a race of two instructions in library functions, whose callers only a
// recording shows. It is used for later races of the two instructions, whoever calls the functions,
// as finding.Same does.
type resolvedRace struct {
	accesses []trace.Access
	key      string
}

// resolve remembers the key of a race that was recorded.
func (a *aside) resolve(key string, e *trace.Ending) {
	if e.Kind == trace.Race && !slices.ContainsFunc(a.races, func(r resolvedRace) bool { return r.key == key && sameOrder(r.accesses, e.Accesses) }) {
		a.races = append(a.races, resolvedRace{slices.Clone(e.Accesses), key})
	}
}

// simplifyShare is the part of the remaining time that simplifying one of several findings may take.
const simplifyShare = 4

// causeShare is the part of the remaining time that simplifying leaves to the search for the cause.
const causeShare = 3

// reserved returns how much of a search's time simplification and the cause have to themselves: a failure that shows in the last moment needs
// them as much as one found at once.
func reserved(all time.Duration) time.Duration {
	return min(max(all/8, min(all/4, time.Second)), whyTime)
}

// setsAside reports whether some findings do not end the search.
func (o *Options) setsAside() bool { return o.All || len(o.Ignore) > 0 || o.Suppressed != nil }

// suppress sets a recorded finding aside if Options.Suppressed covers it.
func (s *search) suppress(key string, e *trace.Ending, t *trace.Trace) {
	if _, known := s.aside.executions[key]; known || s.opts.Suppressed == nil || t == nil {
		return
	}
	object, stacks := "", [][]trace.Site{e.Stack}
	for i := range e.Accesses {
		a := &e.Accesses[i]
		object = s.object(witness(t, a.Object, len(t.Events)), a.Object, a.Size)
		stacks = append(stacks, append([]trace.Site{a.Site}, callsOf(t, a)...))
	}
	for _, w := range e.Waiters {
		stacks = append(stacks, append([]trace.Site{w.Site}, t.Stacks[w.Stack]...))
	}
	if s.opts.Suppressed(e.Kind, object, stacks) {
		s.aside.executions[key] = 0
		s.aside.suppressed = append(s.aside.suppressed, key)
	}
}

func newAside(o *Options) aside {
	a := aside{executions: map[string]int{}, endless: map[string]string{}}
	for _, k := range o.Ignore {
		a.executions[k] = 0
	}
	return a
}

// locate is a finding.Locate.
func (s *search) locate(site trace.Site) finding.Location {
	if s.opts.Locate != nil {
		return s.opts.Locate(site)
	}
	text := s.where(site)
	return finding.Location{Text: text, Place: text}
}

// key returns the key of a failure; t is its recording or nil. See finding.Key.
func (s *search) key(e *trace.Ending, t *trace.Trace) (key string, certain bool) {
	var stacks [][]trace.Site
	if t != nil {
		stacks = t.Stacks
	}
	return finding.Of(*e, s.target.Modules()).Key(stacks, s.locate)
}

// setAside reports whether a failed execution of the exploration shows a finding that was set aside,
// and counts it. It reports false if that takes a recording that the outcome does not have.
func (s *search) setAside(o *schedule.Outcome) bool {
	if !s.opts.setsAside() {
		return false
	}
	if o.Ending.Kind.Endless() {
		key, ok := s.aside.endless[s.loops(&o.Ending)]
		return ok && key != "" && s.count(key) // else settle decides
	}
	key, certain := s.key(&o.Ending, o.Trace)
	if !certain {
		return false
	}
	return s.count(key)
}

// knows reports whether a failed execution shows a finding that was set aside, like setAside, but
// does not count it.
func (s *search) knows(o *schedule.Outcome) bool {
	if !s.opts.setsAside() || !o.Ending.Kind.Failed() || o.Ending.Kind.Endless() {
		return false
	}
	key, certain := s.key(&o.Ending, o.Trace)
	_, ok := s.aside.executions[key]
	return certain && ok
}

// count counts an execution with this finding, and reports whether the finding was set aside.
func (s *search) count(key string) bool {
	n, ok := s.aside.executions[key]
	if !ok {
		return false
	}
	s.aside.executions[key] = n + 1
	return true
}

// unset returns the races of a recorded execution that were not set aside, and counts the others.
func (s *search) unset(o *schedule.Outcome, races []race.Race) []race.Race {
	if !s.opts.setsAside() {
		return races
	}
	counted := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(races), func(r race.Race) bool {
		key, certain := s.key(&trace.Ending{Kind: trace.Race, Accesses: r.Witness[:]}, o.Trace)
		if !certain {
			i := slices.IndexFunc(s.aside.races, func(x resolvedRace) bool { return samePair(x.accesses, r) })
			if i < 0 {
				return false
			}
			key = s.aside.races[i].key
		}
		n, ok := s.aside.executions[key]
		if ok && !counted[key] {
			counted[key] = true
			s.aside.executions[key] = n + 1
		}
		return ok
	})
}

// collect adds the finding just reported to those of a search for all, and sets it aside.
func (s *search) collect() {
	r := s.report
	if r.Finding == nil {
		return
	}
	r.Findings = append(r.Findings, Found{Finding: r.Finding, Simplified: r.Simplified})
	s.aside.executions[r.Finding.Key] = 1
	r.Finding, r.Simplified = nil, nil
}

// share bounds the time for simplifying: of one of several findings, so that the others have some, and of any, so that its cause can be looked for.
func (s *search) share(opts *SimplifyOptions) {
	if s.opts.Time <= 0 {
		return
	}
	left := s.opts.Time - time.Since(s.began)
	var share time.Duration
	switch {
	case s.opts.All:
		share = max(left/simplifyShare, time.Second)
	case s.opts.Why != nil && left > 0:
		share = left - left/causeShare
	default:
		return
	}
	if opts.Time <= 0 || opts.Time > share {
		opts.Time = share
	}
}

// totals adds the findings set aside to the report.
func (s *search) totals() {
	r := s.report
	for _, k := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.opts.Ignore, s.aside.suppressed)))) {
		r.Ignored = append(r.Ignored, Ignored{k, s.aside.executions[k]})
	}
	for i := range r.Findings {
		r.Findings[i].Executions = s.aside.executions[r.Findings[i].Finding.Key]
	}
	if len(r.Findings) > 0 {
		r.Finding, r.Simplified = r.Findings[0].Finding, r.Findings[0].Simplified
	}
}
