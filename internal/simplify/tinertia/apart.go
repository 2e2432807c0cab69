package tinertia

// apart is a second frontier, whose prefixes are executed each in a process that has done nothing
// before. It is not in the paper.
//
// If executions share a process, an execution may differ from that of the same schedule alone, so an
// exhausted frontier proves nothing. If none of its prefixes has another gap, a new frontier is
// exhausted with executions that are alone. They see the program as a replay does. The bug may have
// few schedules that cost less, and then that takes little time.
type apart struct {
	frontier  *frontier
	memory    *memory
	exhausted bool
}

// restartApart exhausts the frontier again if only the sharing of processes keeps it from proving
// that no schedule costs less. It reports whether an execution was accepted.
func (s *search) restartApart() (better bool, err error) {
	if !s.has(Restart) || !s.shared || s.atFloor() || s.gap != "" || s.frontier == nil || s.frontier.gap != "" {
		return false, nil
	}
	if s.apart == nil {
		s.apart = &apart{memory: newMemory()}
		s.apart.memory.room = s.memory.room
	}
	a := s.apart
	if a.exhausted {
		return false, nil // a simpler execution only removes prefixes
	}
	// Only its gap is needed of the first frontier from now on, and it has none.
	first, memory, batch := &frontier{}, s.memory, s.batch
	s.frontier, s.memory, s.batch, s.shared = a.frontier, a.memory, nil, false
	defer func() {
		a.frontier = s.frontier
		a.exhausted = a.exhausted && !s.shared
		s.frontier, s.memory, s.batch, s.shared = first, memory, batch, true
	}()
	for s.extra > 0 && !a.exhausted && !s.extraOver() && s.gap == "" && (s.frontier == nil || s.frontier.gap == "") {
		before := s.made
		better, a.exhausted, err = s.restart(min(s.extra, restartBatch))
		s.extra -= s.made - before
		if better || err != nil || s.made == before {
			return better, err
		}
	}
	return false, nil
}
