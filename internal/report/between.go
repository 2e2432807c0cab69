package report

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/trace"
)

// interruption is an operation of a thread that comes between two of another one: first and second are the halves that Order.Between
// tells of, in their order.
type interruption struct {
	first, second *Order
	a, b          int // events: the one before, and the one in between
	c             int // the one behind; -1 if it is not an event of the execution
	also          int // a later one in between, of another critical section than b, where neither of them alone is what fails; -1 for none
	later         int // what it is in the execution that does not fail, if the acquisition of a lock stands for it; otherwise -1
}

// interruption returns what the first two orderings of an explanation tell; nil if they are not two halves.
func (x *explaining) interruption(e *Explanation) *interruption {
	if len(e.Orders) < 2 || !e.Orders[0].Between {
		return nil
	}
	i := &interruption{first: &e.Orders[0], second: &e.Orders[1], c: -1, also: -1, later: -1}
	if i.second.First < i.first.First {
		i.first, i.second = i.second, i.first
	}
	i.a, i.b = i.first.First, i.first.Second
	if i.second.Second >= 0 && !i.second.Waiting {
		i.c = i.second.Second
	}
	if e := i.second.First; e > i.b && !x.sameSection(i.b, e) {
		i.also = e
	}
	before, _ := x.Guarded(i.first.events())
	whole := i.second.events()
	whole.First = i.first.Second
	behind, later := x.Guarded(whole)
	locks := i.c >= 0 && ops.AcquiresAt(x.Trace, i.c) != 0 || i.second.Second < 0 && ops.AcquiresAt(x.Passing, i.second.InPassing) != 0
	if len(before) == 2 && (!locks || len(behind) == 2 || later >= 0) {
		i.a, i.b = before[0], before[1]
		switch {
		case len(behind) == 2:
			i.c = behind[1]
			if e := behind[0]; i.also < 0 && e > i.b && x.Object(e) != x.Object(i.b) { // what comes between c and itself is another access
				i.also = e
			}
		case later >= 0:
			i.c, i.later = -1, later
		}
	}
	return i
}

// rest returns the half that is not the ordering itself.
func (i *interruption) rest(o *Order) *pattern.Order {
	if i.first == o {
		return i.second.events()
	}
	return i.first.events()
}

// behind describes the second of the two operations.
func (x *explaining) behind(i *interruption) string {
	switch {
	case i.c >= 0:
		return x.Event(i.c)
	case i.later >= 0:
		return x.yetToCome(i.later)
	}
	return x.second(i.second)
}

// sameOperations reports whether the thread of what comes in between does both operations, too, one of which that is.
func (x *explaining) sameOperations(i *interruption) bool {
	own := x.Trace.Events[i.b].Thread
	does := func(site trace.Site) bool {
		of := func(ev trace.Event) bool { return ev.Thread == own && ev.Site == site }
		return site != 0 && (slices.ContainsFunc(x.Trace.Events, of) || x.Passing != nil && slices.ContainsFunc(x.Passing.Events, of))
	}
	a, b, c := x.Trace.Events[i.a].Site, x.Trace.Events[i.b].Site, trace.Site(0)
	switch {
	case i.c >= 0:
		c = x.Trace.Events[i.c].Site
	case i.later >= 0:
		c = x.Passing.Events[i.later].Site
	case i.second.Waiting:
		if w := x.Waiter(x.Trace.Events[i.second.Second].Thread); w != nil {
			c = w.Site
		}
	case x.Passing != nil:
		c = x.Passing.Events[i.second.InPassing].Site
	}
	return (b == a || b == c) && does(a) && does(c)
}

// sameSection reports whether a thread has not released a lock that it held at an event when another event of it happens.
func (x *explaining) sameSection(e, later int) bool {
	return slices.ContainsFunc(ops.LocksAt(x.Trace, later), func(h ops.HeldLock) bool {
		return h.Thread == x.Trace.Events[e].Thread && h.Event <= e
	})
}

// events returns the events that are told, without what has not happened.
func (i *interruption) events() []int {
	return slices.DeleteFunc([]int{i.a, i.b, i.also, i.c}, func(e int) bool { return e < 0 })
}

// oneObjectBetween reports whether what comes between, and the two operations that it comes between, are of one object, as far as they are known.
func (x *explaining) oneObjectBetween(i *interruption) bool {
	return !slices.ContainsFunc(i.events(), func(e int) bool { return x.Object(e) != x.Object(i.b) })
}

// objectsBetween names the objects of what comes between: `a and b`.
func (x *explaining) objectsBetween(i *interruption) string {
	objects := x.Object(i.b)
	if i.also >= 0 && x.Object(i.also) != objects {
		objects += " and " + x.Object(i.also)
	}
	return objects
}

// interrupts tells in a line what comes between what. named says that the object of what comes between has been told.
func (x *explaining) interrupts(i *interruption, named bool) string {
	describe := func(s string) string { return s }
	if named {
		describe = withoutIt
	}
	if i.also >= 0 && x.brief {
		return x.interruptsBriefly(i)
	}
	b := describe(x.Event(i.b))
	if i.also >= 0 {
		b += " and its " + x.own(describe(x.Event(i.also))) + " come"
	} else {
		b += " comes"
	}
	a := describe(x.Event(i.a))
	if x.brief && i.c >= 0 && x.oneObjectBetween(i) { // its object is left out
		x.last = x.Object(i.c)
	}
	return fmt.Sprintf("%s between %s and its %s", b, a, x.own(describe(x.behind(i))))
}

// interruptsBriefly is interrupts for two operations in between, without objects.
func (x *explaining) interruptsBriefly(i *interruption) string {
	in := func(t *trace.Trace, e int) string {
		ev := &t.Events[begun(t, e)]
		if tookDefault(ev) {
			return "default" + x.at(x.place(ev), "", 0)
		}
		return verb(ev) + x.at(x.place(ev), "", 0)
	}
	brief := func(e int) string {
		x.said[e] = true
		return in(x.Trace, e)
	}
	c := ""
	switch {
	case i.c >= 0:
		c = brief(i.c)
	case i.later >= 0:
		c = in(x.Passing, i.later)
	case !i.second.Waiting && x.Passing != nil:
		c = in(x.Passing, i.second.InPassing)
	default:
		c = x.own(x.behind(i))
	}
	return fmt.Sprintf("T%d's %s and %s come between T%d's %s and its %s", x.Trace.Events[i.b].Thread, brief(i.b), brief(i.also), x.Trace.Events[i.a].Thread, brief(i.a), c)
}
