package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Explain is Explain with the names of the program.
func (r *Running) Explain(t, passing *trace.Trace, e *Explanation) { Explain(t, passing, r, e) }

// Misuses reports whether an ordering shows how a program misused an operation, or how a thread took what another one had been woken
// for.
func (r *Running) Misuses(t, passing *trace.Trace, o *Order) bool {
	return pattern.Misuses(&pattern.Execution{Trace: t, Passing: passing, Order: o.events(), Functions: r.functions, Calls: r.calls, Own: r.own})
}

// Explain completes an explanation of t: it names the objects of e.Orders and the pattern, lists the steps and the
// events, and writes the text. passing is the execution that does not fail, nil for none.
func Explain(t, passing *trace.Trace, names *Running, e *Explanation) {
	x := &explaining{Execution: pattern.Execution{Trace: t, Passing: passing, Others: e.Others, Functions: names.functions, Calls: names.calls, Own: names.own}, names: names, said: map[int]bool{}, tables: map[*trace.Trace]table{}, detail: text, later: -1}
	if e.Interrupted != nil {
		x.Interrupted = &e.Interrupted.Interruption
	}
	e.Steps, e.Events, e.Told = []Step{}, []ExplainedEvent{}, []int{}
	if e.Orders == nil {
		e.Orders = []Order{} // of JSON
	}
	for i := range e.Orders {
		o := &e.Orders[i]
		if o.Second < 0 || o.Waiting || x.oneObject(o) {
			o.Object = x.object(t, o.First)
		}
		e.Events = append(e.Events, x.explained(t, o.First), x.explainedSecond(o))
	}
	if len(e.Orders) == 0 {
		x.explainEnding(e)
	} else {
		x.explainOrder(e)
	}
	if !e.Complete {
		x.add("Not every ordering was tried.")
	}
	e.Text = strings.Join(x.lines, " ")
}

// explainEnding completes an explanation without an ordering.
func (x *explaining) explainEnding(e *Explanation) {
	if e.Interrupted == nil {
		x.add("%s", x.unexplained(e))
	}
	m := pattern.Of(&x.Execution)
	if m == nil {
		return
	}
	e.Pattern, e.Short = m.Pattern.Name, x.short(m, nil, nil)
	e.Told = x.told()
	clear(x.said)
	x.last = ""
	x.say(m)
	if i := e.Interrupted; i != nil {
		x.add("%s", interruptedBy(i))
	}
	e.Steps = append(x.stepsToEnd(m.More), x.waits()...)
}

// explainOrder completes an explanation with orderings. The text is about the first.
func (x *explaining) explainOrder(e *Explanation) {
	o := &e.Orders[0]
	x.Order = o.events()
	if x.inside = x.interruption(e); x.inside != nil {
		x.Rest = x.inside.rest(o)
	}
	m := pattern.Of(&x.Execution)
	e.Pattern = m.Pattern.Name
	section, later := m.Section, -1
	if m.Triple == nil && section == nil {
		section, later = x.Guarded(x.Order)
	}
	if x.later = -1; len(section) == 1 && m.Begun == 0 {
		x.later = later
	}
	if o.Together && len(e.Orders) > 1 {
		x.also = &e.Orders[1]
	}
	late := ops.Does(x.Trace.Events[o.First].Op) == ops.Create
	if late {
		e.Pattern = ""
	} else {
		e.Short = x.short(m, o, section)
		e.Told = x.told()
	}
	clear(x.said)
	x.last = ""

	fails, turned := "The execution fails because", "With these two"
	if o.Doubtful() {
		fails = "It is not confirmed that the execution fails because"
	}
	if !o.Controlled {
		turned += ", and what had to move with them,"
	}
	turned += " the other way round it does not fail"
	switch {
	case x.inside != nil:
		x.add("%s %s.", fails, x.interrupts(x.inside, false))
		it := "it"
		if x.inside.also >= 0 {
			it = "them"
		}
		after := "after both"
		if whole := x.inside.second.Whole; whole > 0 {
			after = fmt.Sprintf("all that T%d does from its %s on after both", x.Trace.Events[whole].Thread, x.own(x.Event(whole)))
		}
		turned = fmt.Sprintf("With %s before both, or %s, it does not fail", it, after)
		if x.sameOperations(x.inside) { // with the roles of the two exchanged, it fails as well
			turned = "With these operations of one thread before those of the other, it does not fail"
		}
	case m.Begun > 0:
		x.add("%s %s comes after the beginning of %s, and before its end.", fails, x.Event(m.During), x.Event(m.Begun))
		turned = "With one after the other it does not fail"
	default:
		x.add("%s %s comes before %s.", fails, x.Event(o.First), x.second(o))
		if o.Failed > 0 {
			turned = strings.Replace(turned, "does not fail", "does not always fail", 1)
		}
	}
	if len(m.Triple) == 3 {
		x.add("So %s comes between %s and %s.", x.Event(m.Triple[1]), x.Event(m.Triple[0]), x.Event(m.Triple[2]))
	}
	if len(section) == 2 && x.inside == nil {
		behind := "With the lock held"
		if ops.Of(x.Trace.Events[o.First].Op).Of == ops.Channel {
			behind = "After these two"
		}
		x.add("%s, %s comes before %s.", behind, x.Event(section[0]), x.Event(section[1]))
	}
	if x.later >= 0 && x.inside == nil {
		x.add("With the lock held, %s comes before %s.", x.Event(section[0]), x.yetToCome(x.later))
	}
	x.say(m)
	switch {
	case x.also != nil:
		x.add("%s", x.together(e))
	case e.Interrupted != nil && m.Pattern.Name == pattern.InterruptedByHandler:
		x.add("%s", interruptedBy(e.Interrupted))
	case o.Again > 0:
		x.add("%s, unless the threads exchange their roles or others do the same (%s; %d more fail so).", turned, shownBy(o), o.Again)
	default:
		x.add("%s (%s).", turned, shownBy(o))
	}
	if o.Unconfirmed {
		x.add("The time or the executions ended before it was tried in other schedules.")
	}
	if o.needsMore() && x.inside == nil && !m.Alone {
		x.add("It needs something else, too.")
	}
	if late {
		x.add("No smaller ordering was found: a thread that is created so late hardly runs at the same time as others.")
	}
	if lock := x.missingLock(o); lock != "" {
		x.add("%s", lock)
	}

	steps := slices.Concat([]int{o.First}, m.Triple, section, m.More)
	if x.inside != nil {
		steps = append(steps, x.inside.events()...)
	}
	if m.Begun > 0 {
		steps = append(steps, m.Begun, m.During)
	}
	if o.Second >= 0 && !o.Waiting {
		steps = append(steps, o.Second)
	}
	for i := range e.Orders[1:] {
		if o := &e.Orders[i+1]; o.Second >= 0 && !o.Waiting {
			behind, _ := x.Guarded(o.events())
			steps = slices.Concat(steps, []int{o.First, o.Second}, behind)
		}
	}
	e.Steps = append(x.stepsToEnd(steps), x.waits()...)
	if m.Begun == 0 {
		var not []int
		if o.Second < 0 {
			not = append(not, o.InPassing)
		}
		if later >= 0 {
			not = append(not, later)
		}
		for _, s := range x.steps(x.Passing, not) {
			s.Passing = true
			e.Steps = append(e.Steps, s)
		}
	}
}

// say adds what a pattern says to the text.
func (x *explaining) say(m *pattern.Match) {
	if m.Say != nil {
		x.add("%s", m.Say(x))
	}
}

// add adds a sentence to the text.
func (x *explaining) add(format string, args ...any) {
	x.lines = append(x.lines, fmt.Sprintf(format, args...))
}

// oneObject reports whether the events of an ordering concern one object.
func (x *explaining) oneObject(o *Order) bool {
	first, second := &x.Trace.Events[o.First], &x.Trace.Events[o.Second]
	return first.Object == second.Object || x.SameLock(o.First, o.Second) || pattern.Overlaps(first, second)
}

// doesNotFail tells how often executions fail that have an ordering's events the other way round.
func doesNotFail(o *Order) string {
	if o.Failed == 0 {
		return "does not fail"
	}
	return fmt.Sprintf("fails in %d of %s", o.Failed, wording.Count(o.Executions, "execution"))
}

// interruptedBy tells the executions that show what a handler does.
func interruptedBy(i *Interrupted) string {
	return fmt.Sprintf("It fails in %d of %s with that, and in 0 of %d without.", i.Failed, wording.Count(i.Failed, "execution"), i.Passed)
}

// shownBy tells the executions that show an ordering.
func shownBy(o *Order) string {
	s := wording.Count(o.Executions, "execution")
	if o.Kept > 0 {
		s = fmt.Sprintf("%d of %s; in their order, %d of %d", o.Failed, s, o.KeptFailed, o.Kept)
	}
	return s
}
