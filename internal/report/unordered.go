package report

import (
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// unordered says why nothing orders the two accesses of a data race: an atomic store and load between them whose memory orders are too weak, or the
// locks that their threads hold. It is empty if the accesses were not recorded, or if neither explains it.
func (b *builder) unordered() string {
	first, second := b.raced[0], b.raced[1]
	if first < 0 || second < 0 {
		return ""
	}
	if first > second {
		first, second = second, first
	}
	if s := b.weakly(first, second); s != "" {
		return s
	}
	one, two := b.tr.Events[first].Thread, b.tr.Events[second].Thread
	here, there := heldBy(b.tr, one, first), heldBy(b.tr, two, second)
	for _, lock := range here {
		for _, other := range there {
			if lock == other { // both share it, or it is not what the trace says
				return ""
			}
		}
	}
	if len(here)+len(there) == 0 {
		return "nothing orders the two accesses, and neither thread holds a lock"
	}
	holds := func(th trace.ThreadID, locks []trace.Object, at int) string {
		names := make([]string, len(locks))
		for i, lock := range locks {
			names[i] = b.names.Name(lock, 0, at).Text
		}
		if len(names) == 0 {
			names = []string{"no lock"}
		}
		return ThreadText(th) + " holds " + strings.Join(names, " and ")
	}
	return fmt.Sprintf("nothing orders the two accesses: %s, and %s", holds(one, here, first), holds(two, there, second))
}

// weakly says that the thread of one event of a race has stored, after it, what the thread of the other has loaded before that, and which
// memory orders would have made this order the two; empty if it has not.
func (b *builder) weakly(first, second int) string {
	t := b.tr
	own, other := t.Events[first].Thread, t.Events[second].Thread
	for load := second - 1; load > first; load-- {
		ev := &t.Events[load]
		if ev.Thread != other || !atomicRead(ev) {
			continue
		}
		store := load - 1
		for store > first && !(t.Events[store].Object == ev.Object && ops.Of(t.Events[store].Op).Of == ops.Memory && ops.Changes(&t.Events[store])) {
			store--
		}
		if store <= first || t.Events[store].Thread != own || t.Events[store].Flags&trace.FlagAtomic == 0 || t.Events[store].Size != ev.Size {
			continue
		}
		var orders []string
		if !releases(&t.Events[store]) && !b.fenced(own, first, store, releases) {
			orders = append(orders, "memory_order_release")
		}
		if !acquires(ev) && !b.fenced(other, load, second, acquires) {
			orders = append(orders, "memory_order_acquire")
		}
		if len(orders) == 0 {
			return ""
		}
		place := func(i int) string {
			e := &t.Events[i]
			return b.places.list[b.places.locate(e.Site, e.Stack).place].Label
		}
		return fmt.Sprintf("%s's load of %s at %s reads %s's store at %s: with %s that would order the two accesses",
			ThreadText(other), b.names.Name(ev.Object, ev.Size, load).Text, place(load), ThreadText(own), place(store), strings.Join(orders, " and "))
	}
	return ""
}

// fenced reports whether a thread executes a fence of a memory order between two events.
func (b *builder) fenced(th trace.ThreadID, from, to int, is func(*trace.Event) bool) bool {
	for i := from + 1; i < to; i++ {
		if ev := &b.tr.Events[i]; ev.Thread == th && ops.Does(ev.Op) == ops.Fence && is(ev) {
			return true
		}
	}
	return false
}

// atomicRead reports whether an event reads memory as an atomic operation.
func atomicRead(ev *trace.Event) bool {
	switch ops.Does(ev.Op) {
	case ops.AtomicRead, ops.Exchange, ops.Compare:
		return true
	}
	return false
}

// The compiler's numbers of memory orders, from __ATOMIC_RELAXED on.
const (
	orderConsume = 1 + iota
	orderAcquire
	orderRelease
	orderBoth
	orderSequential
)

func acquires(ev *trace.Event) bool {
	switch ev.Flags & trace.FlagOrder >> 4 {
	case orderConsume, orderAcquire, orderBoth, orderSequential:
		return true
	}
	return false
}

func releases(ev *trace.Event) bool {
	switch ev.Flags & trace.FlagOrder >> 4 {
	case orderRelease, orderBoth, orderSequential:
		return true
	}
	return false
}
