package strategy

import "slices"

// NewBoundedDPOR returns a search that is reduced and bounded: of the schedules with at most bound
// preemptions it leaves out only some that are equivalent to another one. It is bounded partial-order
// reduction (Coons, Musuvathi, McKinley, "Bounded Partial-Order Reduction", OOPSLA 2013, §4: the
// preemption bound with conservative backtracking points). Every state that a thread reaches in some
// schedule with at most bound preemptions, it reaches in an execution of the search, and so the search
// finds every failed assertion and every deadlock that these schedules have. A bound of 0 or more is
// required; a search without a bound is NewDPOR's.
//
// It differs from NewDPOR's in three ways:
//
//   - To reverse a race of operations e and e', the thread of e' is tried before e and, since that may
//     cost a preemption that the bound does not allow, also where the thread of e began to run: a switch
//     there costs nothing that the execution has not paid. Where the thread of e' is not enabled, all
//     that are enabled are tried.
//   - All races are reversed, rather than only those that no operation between the two orders: the
//     reversal that would show the others may be beyond the bound.
//   - There are no sleep sets. A thread falls asleep because equivalent executions have been made, and
//     those may have cost more preemptions, so that what follows was beyond the bound (§3). Hence the
//     search does not know which executions are redundant.
//
// A switch costs what CHESS counts.
func NewBoundedDPOR(s Setting, bound int) *DPOR {
	d := NewDPOR(s)
	d.state.Bound = max(bound, 0)
	return d
}

// bounded reports whether there is a bound on preemptions.
func (d *DPOR) bounded() bool { return d.state.Bound >= 0 }

// pay sets what a switch costs at node i, which decision x has made.
func (d *DPOR) pay(i int, x *decision) {
	n := d.state.Stack[i]
	n.Stays = -1
	if i == 0 {
		return
	}
	before := d.state.Stack[i-1]
	n.Cost = before.Cost + before.price(int(before.Step.Thread))
	if last := int(before.Step.Thread); x.thread() == last && slices.Contains(x.enabled, last) && !x.yields {
		n.Stays = last
	}
}

// price returns how many preemptions it costs to choose a thread at the node.
func (n *dporNode) price(thread int) int {
	if n.Stays >= 0 && thread != n.Stays {
		return 1
	}
	return 0
}

// precede makes sure that executions are explored in which thread me comes before decision j, if the
// bound allows one.
func (d *DPOR) precede(r *recorded, j, me int) {
	s := &d.state
	began := j
	for began > 0 && s.Stack[began-1].Step.Thread == s.Stack[j].Step.Thread {
		began--
	}
	for _, k := range []int{j, began} {
		if n := s.Stack[k]; slices.Contains(n.Enabled, me) {
			d.offer(r, k, me)
		} else {
			for _, t := range n.Enabled {
				d.offer(r, k, t)
			}
		}
	}
}

// offer adds a thread to what is to be explored at node j, if the bound allows it.
func (d *DPOR) offer(r *recorded, j, thread int) {
	n := d.state.Stack[j]
	switch {
	case thread == int(n.Step.Thread) || n.has(thread):
	case n.Cost+n.price(thread) > d.state.Bound:
		d.state.Beyond = true
	default:
		d.add(r, j, thread)
	}
}
