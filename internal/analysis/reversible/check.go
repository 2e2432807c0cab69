package reversible

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// Answer is the answer for a trace.
type Answer string

const (
	Holds     Answer = "holds"     // no dependent pair is reversible, and no schedule ends in a deadlock
	Fails     Answer = "fails"     // a pair is reversible, or a schedule does
	Undecided Answer = "undecided" // see Result.Why and Result.Deadlock
)

// Pair is a dependent pair: indices of events of different threads, in the order of the trace.
type Pair struct {
	First, Second int
}

// Options bound and extend a check. The zero value is the built-in search with its default budget, and
// no confirmation.
type Options struct {
	// Steps is how many steps the search may try in all; 0 for the default.
	Steps int
	// Solve decides a formula in SMT-LIB 2 (Formula) for pairs beyond the search's budget; nil if there
	// is no solver.
	Solve func(ctx context.Context, formula string) (string, error)
	// Confirm executes a reordering and reports whether the pair was reversed; nil to accept what
	// the model says. A reordering with events that are not modelled counts only if Confirm says so.
	Confirm func(ctx context.Context, p Pair, order []int) (bool, error)
	// ConfirmDeadlock executes a reordering after which no thread can go on, and reports whether the execution ended in a
	// deadlock; nil to accept what the model says.
	ConfirmDeadlock func(ctx context.Context, d *Deadlock) (bool, error)
}

// Result is the result of a check.
type Result struct {
	Answer Answer
	// Pair and Order are of Fails, unless there is a Deadlock: a dependent pair, and a feasible reordering, as indices of
	// events, that ends with its second event and does not contain its first.
	Pair  Pair
	Order []int
	Why   string // of Undecided
	// Deadlock is of Fails, or of Undecided if threads may wait for each other: that alone is not decided. No pair is reversible.
	Deadlock *Deadlock
	// Unordered are the pairs that vector clocks left, at most MaxUnordered of them if Undecided.
	Unordered []Pair

	Events     int
	Left       int // dependent pairs that vector clocks left
	Searched   int // pairs that the search decided
	Solved     int // pairs that the solver decided
	Executions int // calls of Confirm and ConfirmDeadlock
}

// MaxUnordered bounds Result.Unordered.
const MaxUnordered = 100

const (
	defaultSteps = 200_000_000
	// mostPerPair is the part of the budget that one pair may use, while there is a solver.
	mostPerPair = 20_000_000
	// mostExecutions bounds the calls of Confirm.
	mostExecutions = 32
	// mostOfSites bounds them for each pair of instructions.
	mostOfSites = 3
	// maxClocks bounds the memory for vector clocks: events × threads.
	maxClocks = 1 << 28
	// largest is the number of events up to which a formula is made.
	largest = 3000
)

// candidate is a pair that vector clocks do not order.
type candidate struct {
	first, second int32
}

// Check decides whether any dependent pair of the trace is reversible.
func Check(ctx context.Context, t *trace.Trace, opts Options) (*Result, error) {
	if n := len(t.Events) * len(t.Threads); n > maxClocks {
		return &Result{Answer: Undecided, Events: len(t.Events), Why: fmt.Sprintf("vector clocks of %d events and %d threads take too much memory", len(t.Events), len(t.Threads))}, nil
	}
	m := compile(t)
	r := &Result{Answer: Holds, Events: len(t.Events)}
	left := m.candidates(r)
	for _, c := range left[:min(len(left), MaxUnordered)] {
		r.Unordered = append(r.Unordered, Pair{int(c.first), int(c.second)})
	}
	steps := opts.Steps
	if steps == 0 {
		steps = defaultSteps
	}
	k := &checker{m: m, opts: opts, r: r, steps: steps, tried: map[[2]trace.Site]int{}}
	// Pairs with events that are not modelled come last: they cannot make the condition fail.
	for _, inexact := range []bool{false, true} {
		k.search = newSearch(m, &k.steps)
		for _, c := range left {
			if (m.inexact[c.first] || m.inexact[c.second]) != inexact {
				continue
			}
			if found, err := k.check(ctx, c); found || err != nil {
				return r, err
			}
		}
	}
	if k.open+k.unconfirmed+k.guessed > 0 {
		r.Answer, r.Why = Undecided, k.why()
	} else {
		r.Unordered = nil
		return r, k.deadlock(ctx)
	}
	return r, nil
}

// checker decides the pairs that vector clocks leave, in the order of their first events.
type checker struct {
	m      *model
	opts   Options
	r      *Result
	search *search
	steps  int // left of the budget
	tried  map[[2]trace.Site]int

	open, unconfirmed, guessed int
	failed                     error // of the solver
}

// check decides a pair, and reports whether it is reversible.
func (k *checker) check(ctx context.Context, c candidate) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m, r := k.m, k.r
	k.search.budget = &k.steps
	k.search.prepare(c.first)
	budget := min(k.steps, mostPerPair)
	k.steps -= budget
	k.search.budget = &budget
	v, order := k.search.reverse(c.first, c.second)
	k.steps += budget
	if v != Unknown {
		r.Searched++
	} else if k.opts.Solve != nil && m.g.Len() <= largest {
		if v, order, k.failed = m.solve(ctx, c, k.opts.Solve); v != Unknown {
			r.Solved++
		}
	}
	switch v {
	case Unknown:
		k.open++
		return false, nil
	case Impossible:
		return false, nil
	}
	if m.inexact[c.first] || m.inexact[c.second] {
		k.guessed++ // that they are dependent is a guess, too
		return false, nil
	}
	p, events := Pair{int(c.first), int(c.second)}, ints(order)
	if k.opts.Confirm == nil {
		if slices.ContainsFunc(order, func(e int32) bool { return m.inexact[e] }) {
			k.unconfirmed++
			return false, nil
		}
	} else {
		sites := [2]trace.Site{m.t.Events[c.first].Site, m.t.Events[c.second].Site}
		if k.tried[sites]++; k.tried[sites] > mostOfSites || r.Executions >= mostExecutions {
			k.unconfirmed++
			return false, nil
		}
		r.Executions++
		ok, err := k.opts.Confirm(ctx, p, events)
		if err != nil {
			return false, err
		}
		if !ok {
			k.unconfirmed++
			return false, nil
		}
	}
	r.Answer, r.Pair, r.Order = Fails, p, events
	return true, nil
}

// deadlock changes the answer from Holds if threads may wait for each other: a thread in a deadlock has fewer events.
func (k *checker) deadlock(ctx context.Context) error {
	d, confirmed, err := k.m.deadlock(func(d *Deadlock) (bool, error) {
		if k.opts.ConfirmDeadlock == nil {
			return !slices.ContainsFunc(d.Order, func(e int) bool { return k.m.inexact[e] }), nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		k.r.Executions++
		return k.opts.ConfirmDeadlock(ctx, d)
	})
	switch {
	case d == nil:
	case confirmed:
		k.r.Answer, k.r.Deadlock = Fails, d
	default:
		k.r.Answer, k.r.Deadlock, k.r.Why = Undecided, d, "threads may wait for each other"
	}
	return err
}

// why says what keeps an answer from being given.
func (k *checker) why() string {
	m, open, unconfirmed := k.m, k.open, k.unconfirmed
	var parts []string
	if open > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d dependent pairs that vector clocks leave are beyond the search's budget", open, k.r.Left))
	}
	if unconfirmed > 0 {
		parts = append(parts, fmt.Sprintf("%d reversals that the model allows were not seen in an execution", unconfirmed))
	}
	if k.guessed > 0 || unconfirmed > 0 && len(m.strange) > 0 {
		names := slices.Sorted(maps.Keys(m.strange))
		parts = append(parts, fmt.Sprintf("the order of %s is not modelled, and %d pairs with them may be reversible", strings.Join(names, ", "), k.guessed))
	}
	if k.failed != nil {
		parts = append(parts, "the solver failed: "+k.failed.Error())
	}
	return strings.Join(parts, "; ")
}

// candidates returns the dependent pairs that vector clocks do not order, and counts them in r.
func (m *model) candidates(r *Result) []candidate {
	var out []candidate
	for e := range int32(m.g.Len()) {
		kinds := m.g.Kinds(e)
		if !slices.ContainsFunc(kinds, isDependence) {
			continue
		}
		need := m.needs(e)
		for i, p := range m.g.Preds(e) {
			if !isDependence(kinds[i]) {
				continue
			}
			if need[m.g.Thread[p]] <= m.nth[p] {
				r.Left++
				out = append(out, candidate{p, e})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return int(a.first - b.first) })
	return out
}

// needs returns how many events of each thread come before an event in every feasible reordering that
// reverses no dependence but those of the event itself.
func (m *model) needs(e int32) []int32 {
	out := make([]int32, len(m.of))
	add := func(p int32) {
		for u, n := range m.clocks.Before(p) {
			out[u] = max(out[u], n)
		}
		u := m.g.Thread[p]
		out[u] = max(out[u], m.nth[p]+1)
	}
	if n := m.nth[e]; n > 0 {
		add(m.of[m.g.Thread[e]][n-1])
	}
	kinds := m.g.Kinds(e)
	for i, p := range m.g.Preds(e) {
		if isNecessary(kinds[i]) {
			add(p)
		}
	}
	return out
}

func ints(list []int32) []int {
	out := make([]int, len(list))
	for i, e := range list {
		out[i] = int(e)
	}
	return out
}
