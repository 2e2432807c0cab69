package tinertia

import (
	"iter"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// The three passes of Algorithm 1 (FSE'10 §3.3). A position is an index into the sequence, from 0.
// An operation is only valid at one end of a TEI, so the passes iterate over TEIs rather than
// actions; the candidates and their order are the same.

// removeLast implements lines 5 to 10.
func removeLast(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		if len(q.teis) < 2 {
			return
		}
		for k := q.covering(at); k >= 0; k-- {
			tei := q.teis[k]
			if tei.Start > at || q.next[k] >= 0 {
				continue
			}
			script := splice(q.part(0, k), q.part(k+1, len(q.teis)))
			if !yield(candidate{op: RemoveLast, script: script, bound: q.bound(script), resume: tei.Start - 1}) {
				return
			}
		}
	}
}

// consolidateUp implements lines 11 to 17. Its second stage, move-up-actions, needs to know how
// much of the second TEI could run at the earlier place. The execution rejected in the first stage
// shows this (§4.1).
func consolidateUp(actions bool) generator {
	return func(q *sequence, at int) iter.Seq[candidate] {
		return func(yield func(candidate) bool) {
			if at >= len(q.steps) {
				return
			}
			for k := q.covering(at); k < len(q.teis); k++ {
				j := q.next[k]
				if j < 0 {
					continue
				}
				script := splice(q.part(0, k+1), q.tei(j), q.part(k+1, j), q.part(j+1, len(q.teis)))
				c := candidate{op: MoveUp, script: script, bound: q.bound(script), resume: q.teis[k].End}
				if actions {
					c.next = func(rejected *trace.Trace) []candidate { return moveUpActions(q, k, j, rejected) }
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}

// moveUpActions moves part of TEI j to the end of TEI k: the part that ran there in rejected, the
// execution in which all of TEI j had been moved.
func moveUpActions(q *sequence, k, j int, rejected *trace.Trace) []candidate {
	end := q.teis[k].End
	tei := q.tei(j)
	m := matched(tei, runAt(rejected, q.kept+end, nameOf(q.trace.Threads, q.teis[k].Thread)))
	if m == 0 || m == len(tei) {
		return nil
	}
	return []candidate{{
		op:     MoveUpActions,
		script: moveUpPrefix(q, k, j, m),
		bound:  q.cost.Switches,
		equal:  true,
		resume: end,
	}}
}

// moveUpPrefix moves the first m steps of TEI j to the end of TEI k, an earlier TEI of
// the same thread.
func moveUpPrefix(q *sequence, k, j, m int) []schedule.Step {
	tei := q.tei(j)
	return splice(q.part(0, k+1), tei[:m], q.part(k+1, j), tei[m:], q.part(j+1, len(q.teis)))
}

// consolidateDown implements lines 18 to 22.
func consolidateDown(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		for k := q.covering(at); k >= 0; k-- {
			tei := q.teis[k]
			j := q.prev[k]
			if tei.Start > at || j < 0 {
				continue
			}
			script := splice(q.part(0, j), q.part(j+1, k), q.tei(j), q.part(k, len(q.teis)))
			if !yield(candidate{op: MoveDown, script: script, bound: q.bound(script), resume: tei.Start - 1}) {
				return
			}
		}
	}
}
