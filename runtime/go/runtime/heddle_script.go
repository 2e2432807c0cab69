//go:build heddle

// Following a schedule, as specified in docs/scheduler.md, which names the paper.
package runtime

func hdStep_(i uint32) *hdStep {
	return (*hdStep)(add(hd.steps, uintptr(i)*hdSizeofStep))
}

func hdScripted(s *hdStep) *hdThread { return hdPlanned(s.Thread) }

// hdScriptFires reports whether the next step is that a timer fires.
func hdScriptFires() bool {
	return hd.pos < hd.plan.Nsteps && hdStep_(hd.pos).Op == hdOpTimerFire
}

// hdScriptOvertakes reports whether the next step is a timer, due at when, that fires while other
// threads are enabled. A strict script repeats what was recorded. Under a tolerant script the
// execution may differ from the recorded one: timers overtake only within the plan's slack, and
// only where they do in the script.
func hdScriptOvertakes(when int64) bool {
	return hdScriptFires() && hdStep_(hd.pos).Flags&hdStepTimeout != 0 && (hd.plan.ScriptMode == hdScriptStrict || hdMayOvertake(when))
}

func hdMatches(t *hdThread, s *hdStep) bool {
	return t.pend.op == s.Op && uint32(t.pend.pc) == s.Pc
}

func hdTakeChoice(t *hdThread, s *hdStep) {
	if t.pend.op == hdOpSelect {
		t.choice = s.Aux
	}
}

func hdScriptChoose() int32 {
	if hd.plan.ScriptMode == hdScriptStrict {
		return hdStrict()
	}
	return hdTolerant()
}

func hdStrict() int32 {
	s := hdStep_(hd.pos)
	t := hdScripted(s)
	if t == nil || t.state == hdEnded {
		hdDiverged(nil)
	}
	if !hdHas(&hd.enabled, t.index) || !hdMatches(t, s) {
		hdDiverged(t)
	}
	hdTakeChoice(t, s)
	if hd.pos++; hd.pos == hd.plan.Nsteps && hdEndsWithScript() {
		hd.budget = hd.points
	}
	return int32(t.index)
}

// hdEndsWithScript reports whether the step budget equals the length of the strict script, so that
// the execution ends with it. The number of points does not tell when, since not every step is
// reached.
func hdEndsWithScript() bool {
	p := &hd.plan
	return p.Nsteps > 0 && p.ScriptMode == hdScriptStrict && p.MaxSteps == p.Nsteps
}

func hdDiverged(t *hdThread) {
	r := &hd.result
	r.MetThread = ^uint32(0)
	pc := uintptr(0)
	if t != nil {
		pc = t.pend.pc
		r.MetThread, r.MetOp = t.planned-1, uint32(t.pend.op)
	}
	hdFail(hdOutDiverged, int32(hd.pos), pc)
}

func hdNextInterval() {
	for {
		hd.pos++
		hd.devs++
		if hd.pos >= hd.plan.Nsteps || hdStep_(hd.pos).Flags&hdStepTei != 0 {
			break
		}
	}
	hd.devRun = 0
}

func hdTolerant() int32 {
	for hd.pos < hd.plan.Nsteps {
		s := hdStep_(hd.pos)
		t := hdScripted(s)
		if t == nil || t.state == hdEnded || !hdHas(&hd.enabled, t.index) {
			hdNextInterval()
			continue
		}
		if hdMatches(t, s) {
			hdTakeChoice(t, s)
			hd.pos++
			hd.devRun = 0
			return int32(t.index)
		}
		// Off the path. Does the rest of the TEI expect this operation?
		end := min(hd.plan.Nsteps, hd.pos+hdLookAhead)
		for j := hd.pos + 1; j < end; j++ {
			s := hdStep_(j)
			if s.Flags&hdStepTei != 0 {
				break
			}
			if hdMatches(t, s) {
				hd.devs += j - hd.pos
				hdTakeChoice(t, s)
				hd.pos = j + 1
				hd.devRun = 0
				return int32(t.index)
			}
		}
		if s.Op == hdOpGosched { // orders nothing: heddle inserted it, or the path has changed
			hd.devs++
			if hd.pos++; hd.pos < hd.plan.Nsteps && hdStep_(hd.pos).Flags&hdStepTei != 0 {
				hd.devRun = 0
			}
			continue
		}
		if t.computes {
			if hd.devRun += hdPatience / 4; hd.devRun <= hdPatience {
				return int32(t.index)
			}
		}
		// A thread that yields or sleeps off its path waits for another, and this is not
		// its turn.
		hd.devRun++
		if hdWaits(t) || hd.devRun > hdPatience {
			hdNextInterval()
			continue
		}
		hd.devs++
		return int32(t.index)
	}
	return -1
}
