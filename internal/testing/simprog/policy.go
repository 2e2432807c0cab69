package simprog

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// policy implements the stepping policies of docs/scheduler.md. The order of its random draws is
// part of the contract.
type policy struct {
	x       *execution
	kind    schedule.Policy
	state   uint64 // of the random number generator
	fair    uint64 // of that of strongly fair decisions
	stay    uint64 // RANDOM: probability to stay with the running thread, in 1/65536
	changes []int  // PCT: change points, 0 for those that were used
	low     int64  // the priority of the next thread that yields is below this or equal
	delays  int    // DELAY: those that the next decision makes
	// WALK: the thread whose interesting event is to come next; nil for none.
	intended *Thread
}

// seedSalt is mixed into the seed of an execution.
const seedSalt = 0x6865646c65

func newPolicy(x *execution) policy {
	p := policy{x: x, kind: x.plan.Policy, state: seedMix(x.plan.Seed, seedSalt), fair: seedMix(x.plan.Seed, abi.FairSalt)}
	switch p.kind {
	case schedule.Random:
		p.stay = uint64(min(x.plan.Stay, 1) * 65535)
	case schedule.Delay:
		for len(p.changes) < min(x.plan.Depth, abi.ChangePoints) {
			p.changes = append(p.changes, 1+int(p.random()%uint64(max(x.plan.Length, 1))))
		}
	case schedule.PCT:
		for i := 1; i < x.plan.Depth && len(p.changes) < abi.ChangePoints; i++ {
			p.changes = append(p.changes, 1+int(p.random()%uint64(max(x.plan.Length, 1))))
		}
	}
	return p
}

func seedMix(a, b uint64) uint64 {
	x := (a ^ b) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

func (p *policy) random() uint64 { return splitmix(&p.state) }

// splitmix draws from splitmix64.
func splitmix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// fresh is a priority above those of change points and of yielding threads.
func (p *policy) fresh() int64 { return int64(p.random()>>2) | 1<<61 }

// created gives a new thread its priority.
func (p *policy) created(t *Thread) {
	t.priority = p.fresh()
	t.ran, t.acted = p.x.points, p.x.points
}

// draw returns a random number below n.
func (p *policy) draw(n uint64) uint64 {
	if n == 1 {
		return 0
	}
	return (p.random() >> 32) * n >> 32
}

// weigh sets the events that a new thread has left, which are no longer those of its parent.
func (p *policy) weigh(t, parent *Thread) {
	if p.kind != schedule.Walk {
		return
	}
	for i, w := range p.x.plan.Weights {
		if p.x.plan.Threads[i].Name == t.info.Name {
			t.left = uint64(w)
			break
		}
	}
	if parent == nil {
		return
	}
	all := parent.left
	parent.left -= min(all, t.left)
	if p.intended == parent && all > 0 && t.left > 0 && p.draw(all) < t.left {
		p.intended = t
	}
}

// counts reports whether an operation of t is one of those that WALK counts.
func (p *policy) counts(t *Thread, o *operation) bool {
	if len(p.x.plan.Interesting) == 0 {
		return true
	}
	return !t.timer && o.site != 0 && !o.forced && o.op != trace.OpThreadStart && slices.Contains(p.x.plan.Interesting, o.site)
}

// walk draws a thread by its remaining events; with interesting instructions, one that stands before
// another instruction, or the intended one.
func (p *policy) walk(can []*Thread) *Thread {
	x := p.x
	selects := len(x.plan.Interesting) > 0
	if selects {
		if p.intended == nil || p.intended.ended {
			p.intended = p.next()
		}
		if p.intended != nil {
			if some := slices.DeleteFunc(slices.Clone(can), func(t *Thread) bool { return t != p.intended && p.counts(t, &t.next) }); len(some) > 0 {
				can = some
			}
		}
	}
	if idle := slices.DeleteFunc(slices.Clone(can), func(t *Thread) bool { return t.computes }); len(idle) > 0 {
		can = idle
	}
	return p.weighted(can, func(t *Thread) uint64 {
		if selects {
			return 1
		}
		return max(t.left, 1)
	})
}

// next draws the thread whose interesting event is to come next.
func (p *policy) next() *Thread {
	var live []*Thread
	for _, t := range p.x.threads {
		if !t.ended && t.left > 0 {
			live = append(live, t)
		}
	}
	if len(live) == 0 {
		return nil
	}
	return p.weighted(live, func(t *Thread) uint64 { return t.left })
}

// weighted draws a thread in proportion to its weight.
func (p *policy) weighted(ts []*Thread, weight func(*Thread) uint64) *Thread {
	all := uint64(0)
	for _, t := range ts {
		all += weight(t)
	}
	k := p.draw(all)
	for _, t := range ts {
		if k < weight(t) {
			return t
		}
		k -= weight(t)
	}
	panic("a draw beyond all weights")
}

// delayed is inTurn, with the delays that are due.
func (p *policy) delayed(can []*Thread) *Thread {
	t := p.inTurn(can)
	for ; p.delays > 0; p.delays-- {
		t = can[(slices.Index(can, t)+1)%len(can)]
	}
	return t
}

// beginFairPhase begins the phase in which every decision is strongly fair, if it is due: so that what
// does not end even then is stuck.
func (x *execution) beginFairPhase() {
	if x.late {
		return
	}
	after := x.plan.FairAfter
	if after == 0 {
		after = x.budget / 2
	}
	due := x.points >= after && !(x.plan.Mode == schedule.Tolerant && x.script.remains())
	if !due && !x.suspected {
		return
	}
	x.late = true
	x.fairAt, x.progressAt = x.points, x.points
	x.policy.fair = seedMix(x.plan.Seed+x.plan.FairSeed, abi.FairSalt+1)
}

// monopolises reports whether t has run without interruption for too long.
func (p *policy) monopolises(t *Thread) bool {
	return t == p.x.last && p.x.points-p.x.since >= abi.Quantum
}

// yields reports whether t is to let others run first.
func (p *policy) yields(t *Thread) bool {
	if t.next.op == trace.OpYield || t.next.op == trace.OpSleep || p.monopolises(t) {
		return true
	}
	return t.spinning() && (p.x.points-p.x.progressAt < abi.Stalemate || p.random()%abi.Stretch == 0)
}

// arrive is called when t has reached a scheduling point.
func (p *policy) arrive(t *Thread) {
	switch p.kind {
	case schedule.Delay:
		for i, at := range p.changes {
			if at != 0 && at <= p.x.points {
				p.delays++
				p.changes[i] = 0
			}
		}
	case schedule.PCT:
		for i, at := range p.changes {
			if at != 0 && at <= p.x.points {
				t.priority = int64(1 + i)
				p.changes[i] = 0
			}
		}
		if p.yields(t) {
			t.priority = p.low
			p.low--
		}
	case schedule.POS:
		if p.yields(t) {
			p.low -= abi.PosStride
			t.priority = p.low - int64(p.random()%abi.PosWindow)
		} else {
			t.priority = p.fresh()
		}
	}
}

// done is called when t has performed an operation: under POS, enabled threads whose pending
// operations race with it get another priority.
func (p *policy) done(t *Thread, o *operation) {
	if p.kind == schedule.Walk && p.counts(t, o) {
		t.left -= min(t.left, 1)
		p.intended = nil
	}
	if p.kind != schedule.POS || o.object() == nil {
		return
	}
	for _, u := range p.x.threads {
		if u == t || !p.x.decision.Has(u.id) || u.next.object() != o.object() {
			continue
		}
		if !p.yields(u) && !(o.reads() && u.next.reads()) {
			u.priority = p.fresh()
		}
	}
}

// choose picks one of the threads that can run, which may be one whose time has not come.
func (p *policy) choose(can []*Thread) *Thread {
	x := p.x
	strongly := x.late || x.inWindow()
	fair := strongly || p.kind == schedule.Fair
	if !fair && x.points%abi.StarvedEvery == 0 {
		if t := p.starving(can); t != nil {
			t.detour = x.detourNeeded(t)
			return t
		}
	}
	if !x.late {
		if t := p.chooseEarly(); t != nil {
			return t
		}
	}
	if x.holds.wait(can) {
		if t := p.whileHeld(); t != nil {
			return t
		}
	}
	var offered []*Thread
	if !fair {
		can, offered = x.offerSleepers(can)
	}
	can = x.holds.among(can)
	var t *Thread
	switch {
	case strongly:
		t = p.stronglyFair(can)
	case fair:
		t = p.inTurn(can)
	case p.kind == schedule.Random:
		t = p.anyOf(can)
	case p.kind == schedule.Walk:
		t = p.walk(can)
	case p.kind == schedule.Delay:
		t = p.delayed(can)
	default:
		t = highest(can)
	}
	x.takeOffer(t, offered)
	t.detour = x.detourNeeded(t)
	return t
}

// dueTimer returns a timer whose time has come: it runs first, but not twice in a row.
func (p *policy) dueTimer(can []*Thread) *Thread {
	for _, t := range can {
		if t.timer && t != p.x.last {
			return t
		}
	}
	return nil
}

// starving returns the thread that has waited longest, if that is too long; or nil.
func (p *policy) starving(can []*Thread) *Thread {
	first := can[0]
	for _, t := range can {
		if t.ran < first.ran {
			first = t
		}
	}
	if p.x.points-first.ran < abi.Starved {
		return nil
	}
	return first
}

// inWindow reports whether a fair window is open at this decision, and opens one that is due.
func (x *execution) inWindow() bool {
	if x.points >= x.fairUntil {
		if x.vain < abi.FairVain && x.points-x.fairUntil < abi.FairEvery {
			return false
		}
		x.fairUntil = x.points + abi.FairWindow
	}
	x.vain = 0
	return true
}

// stronglyFair leaves the running thread at random, half of the time for the thread that has acted
// longest ago.
func (p *policy) stronglyFair(can []*Thread) *Thread {
	x, current := p.x, p.x.current
	if t := p.dueTimer(can); t != nil {
		return t
	}
	stays := slices.Contains(can, current)
	if stays && current.next.op != trace.OpYield && current.next.op != trace.OpSleep {
		odds := uint64(abi.FairShort)
		if x.late && (x.points-x.fairAt)/abi.FairEpoch%2 == 1 {
			odds = abi.FairLong
		}
		if current.spinning() {
			odds = 2
		}
		if splitmix(&p.fair)%odds != 0 {
			return current
		}
	}
	others := slices.DeleteFunc(slices.Clone(can), func(t *Thread) bool { return t == current })
	switch len(others) {
	case 0:
		return current
	case 1:
		return others[0]
	}
	if r := splitmix(&p.fair); r&1 == 0 {
		return others[(r>>32)*uint64(len(others))>>32]
	}
	return slices.MinFunc(others, func(a, b *Thread) int { return a.acted - b.acted })
}

// inTurn stays with the running thread while it can run and does not yield.
func (p *policy) inTurn(can []*Thread) *Thread {
	x := p.x
	if t := p.dueTimer(can); t != nil {
		return t
	}
	if slices.Contains(can, x.current) && !p.yields(x.current) {
		return x.current
	}
	for _, t := range can {
		if t.id > x.current.id {
			return t
		}
	}
	return can[0]
}

func (p *policy) anyOf(can []*Thread) *Thread {
	c := p.x.current
	if p.stay != 0 && !c.ended && slices.Contains(can, c) && !p.yields(c) && p.random()&0xffff < p.stay {
		return c
	}
	// One that yields though it computes would compute for long again.
	if idle := slices.DeleteFunc(slices.Clone(can), func(t *Thread) bool { return t.computes }); len(idle) > 0 {
		can = idle
	}
	if len(can) == 1 {
		return can[0]
	}
	return can[(p.random()>>32)*uint64(len(can))>>32]
}

func highest(can []*Thread) *Thread {
	best := can[0]
	for _, t := range can {
		if t.priority > best.priority {
			best = t
		}
	}
	return best
}

// chooseEarly ends a wait before its time, or one that no thread has signalled, in a few
// decisions of plans that ask for it; nil otherwise.
func (p *policy) chooseEarly() *Thread {
	x := p.x
	odds := uint64(abi.EarlyOdds)
	if x.timers > 0 {
		odds = abi.EarlyTimerOdds
	}
	timeouts := x.plan.Timeouts && p.random()%odds == 0
	spurious := x.plan.Spurious && p.random()%abi.EarlyOdds == 0
	if !timeouts && !spurious {
		return nil
	}
	var pick *Thread
	var detour trace.Op
	n := uint64(0)
	for _, t := range x.threads {
		if t.ended || x.decision.Has(t.id) || slices.Contains(x.holds.held, t) {
			continue
		}
		early := timeouts && t.timed && t.next.op != trace.OpSleep && x.mayOvertake(t)
		if !early && !(spurious && x.detourPossible(t, trace.OpSpuriousWake)) {
			continue
		}
		if n++; p.random()%n != 0 {
			continue
		}
		pick, detour = t, trace.OpNone
		if !early {
			detour = trace.OpSpuriousWake
		} else if t.next.op == trace.OpCondWake {
			detour = trace.OpCondTimeout
		}
	}
	if pick == nil {
		return nil
	}
	if pick.detour = detour; detour != trace.OpSpuriousWake {
		x.overtaken(pick)
	}
	if detour == trace.OpNone {
		x.early(pick)
	}
	return pick
}

// whileHeld ends the first wait, sleep or timer of a thread that is not held before its time; nil if the slack does not allow that.
func (p *policy) whileHeld() (first *Thread) {
	x := p.x
	for _, t := range x.threads {
		if t.timed && !t.ended && !x.decision.Has(t.id) && !slices.Contains(x.holds.held, t) && (first == nil || t.deadline < first.deadline) {
			first = t
		}
	}
	if first == nil || !x.mayOvertake(first) {
		return nil
	}
	x.overtaken(first)
	if first.detour = trace.OpNone; first.next.op == trace.OpCondWake {
		first.detour = trace.OpCondTimeout
	} else {
		x.early(first)
	}
	return first
}

// toWake chooses the thread that a signal wakes: the one given by the script, else the first to
// wait under the fair policy, or any under the others.
func (p *policy) toWake(c *Cond) *Thread {
	x := p.x
	fifo := p.kind == schedule.Fair && x.plan.Mode != schedule.Tolerant
	var pick *Thread
	n := uint64(0)
	for _, t := range x.threads {
		if t.ended || t.next.op != trace.OpCondWake || t.next.cond != c || t.granted || t.timedOut {
			continue
		}
		if t == x.script.wake {
			return t
		}
		n++
		if pick == nil || fifo && t.arrival < pick.arrival || !fifo && p.random()%n == 0 {
			pick = t
		}
	}
	return pick
}
