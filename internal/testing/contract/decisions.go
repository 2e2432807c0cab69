package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// words for operations.
var words = map[trace.Op]string{
	trace.OpThreadStart: "start", trace.OpThreadEnd: "end", trace.OpProcessExit: "exit",
	trace.OpThreadCreate: "go", trace.OpThreadCreated: "created", trace.OpGo: "go",
	trace.OpThreadJoin: "join", trace.OpChanRecv: "join", trace.OpChanClose: "close", trace.OpResume: "resume",
	trace.OpMutexLock: "lock", trace.OpGmutexLock: "lock", trace.OpMutexUnlock: "unlock", trace.OpGmutexUnlock: "unlock",
	trace.OpMutexTrylock: "trylock", trace.OpGmutexTrylock: "trylock",
	trace.OpCondWait: "wait", trace.OpGcondWait: "wait", trace.OpCondWake: "wake",
	trace.OpCondTimeout: "timeout", trace.OpSpuriousWake: "spurious",
	trace.OpCondSignal: "signal", trace.OpGcondSignal: "signal", trace.OpCondBroadcast: "broadcast", trace.OpGcondBroadcast: "broadcast",
	trace.OpRead: "read", trace.OpReadRange: "read", trace.OpWrite: "write", trace.OpWriteRange: "write",
	trace.OpAtomicLoad: "load", trace.OpAtomicStore: "store", trace.OpAtomicRmw: "add",
	trace.OpYield: "yield", trace.OpGosched: "yield", trace.OpSleep: "sleep", trace.OpGsleep: "sleep",
	trace.OpTimerSet: "set", trace.OpTimerExpire: "expire", trace.OpTimerFire: "fire",
	trace.OpSignalAction: "handle", trace.OpSignalSend: "kill", trace.OpSignalDeliver: "deliver", trace.OpSignalInterrupt: "interrupt",
}

// place is a decision as in the program's text.
type place struct {
	thread string
	word   string
	line   int // 0 for the start and the end of a thread
}

// recording is one execution in terms of the program.
type recording struct {
	turns  []Turn
	places []place // of each decision
	steps  []schedule.Step
	names  map[string]trace.Thread
	sites  map[instruction]trace.Site
}

// read turns a trace into terms of the program. line finds a site's line.
func (c *Case) read(t *trace.Trace, line func(trace.Site) int) (*recording, error) {
	names := map[trace.ThreadID]string{0: "main"}
	r := &recording{steps: schedule.ScriptOf(t), names: map[string]trace.Thread{}, sites: map[instruction]trace.Site{}}
	started := map[int]string{} // function started at a line
	for _, f := range c.Program.Functions {
		for _, o := range f.Ops {
			if o.Word == "go" {
				started[o.Line] = o.Args[0]
			}
		}
	}
	for i := range t.Events {
		e := &t.Events[i]
		if child, ok := e.Child(); ok && started[line(e.Site)] != "" {
			names[child] = started[line(e.Site)]
		}
		if in := (instruction{words[e.Op], line(e.Site)}); e.Site != 0 && in.line != 0 {
			r.sites[in] = e.Site
		}
		if e.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		p := place{names[e.Thread], words[e.Op], 0}
		switch {
		case p.thread == "" && e.Op == trace.OpTimerExpire:
			p.thread = "timer"
		case p.thread == "" && e.Op == trace.OpTimerFire:
			p.thread = "clock"
		case p.thread == "" || p.word == "":
			return nil, fmt.Errorf("event %d of thread %d: %v at line %d is not of the program", i, e.Thread, e.Op, line(e.Site))
		}
		if names[e.Thread] = p.thread; int(e.Thread) < len(t.Threads) {
			r.names[p.thread] = t.Threads[e.Thread]
		}
		switch e.Op {
		case trace.OpThreadStart, trace.OpThreadEnd, trace.OpProcessExit, trace.OpTimerExpire, trace.OpTimerFire, trace.OpChanClose:
		default:
			p.line = line(e.Site)
		}
		r.places = append(r.places, p)
		if len(r.turns) == 0 || r.turns[len(r.turns)-1].Thread != p.thread {
			r.turns = append(r.turns, Turn{Thread: p.thread})
		}
		word := p.word
		if e.Overtakes() {
			word += "!"
		}
		last := &r.turns[len(r.turns)-1]
		last.Words = append(last.Words, word)
	}
	return r, nil
}

// met returns the site that an instruction has in the recordings; 0 if none has met it.
func met(seen []*recording, in instruction) trace.Site {
	for _, r := range seen {
		if s := r.sites[in]; in.line != 0 && s != 0 {
			return s
		}
	}
	return 0
}

// weigh sets the weights and interesting instructions of a plan, as holds does its holds.
func (c *Case) weigh(p *schedule.Plan, seen []*recording, index map[string]int) error {
	if c.Weights != nil {
		p.Weights = make([]int, len(p.Threads))
	}
	for thread, n := range c.Weights {
		k, ok := index[thread]
		if !ok {
			return fmt.Errorf("weights: no execution has met thread %s", thread)
		}
		p.Weights[k] = n
	}
	for _, in := range c.Interesting {
		s := met(seen, in)
		if s == 0 {
			return fmt.Errorf("interesting: no execution has met %s@%d", in.word, in.line)
		}
		p.Interesting = append(p.Interesting, s)
	}
	return nil
}

// holds turns the case's holds into those of a plan, with the sites and the threads that recordings
// of the program have; index is the place of each thread in the plan's list.
func (c *Case) holds(seen []*recording, index map[string]int) (out []schedule.Hold, err error) {
	site := func(in instruction) trace.Site {
		s := met(seen, in)
		if in.line != 0 && s == 0 {
			err = fmt.Errorf("hold: no execution has met %s@%d", in.word, in.line)
		}
		return s
	}
	for _, h := range c.Holds {
		w := h.Hold
		w.Site, w.Until, w.Last, w.Thread = site(h.Site), site(h.Until), site(h.Last), schedule.AnyThread
		if h.Thread != "" {
			k, ok := index[h.Thread]
			if !ok {
				return nil, fmt.Errorf("hold: no execution has met thread %s", h.Thread)
			}
			w.Thread = trace.ThreadID(k)
		}
		out = append(out, w)
	}
	return out, err
}

// script turns the case's script into steps, with the sites and the threads that recordings
// of the program have.
func (c *Case) script(seen []*recording) (steps []schedule.Step, threads []trace.Thread, index map[string]int, err error) {
	sites := map[place]schedule.Step{}
	index = map[string]int{}
	for _, r := range seen {
		for i, p := range r.places {
			if _, ok := sites[p]; !ok {
				sites[p] = r.steps[i]
			}
		}
		for name, t := range r.names {
			if _, ok := index[name]; !ok {
				index[name] = len(threads)
				threads = append(threads, t)
			}
		}
	}
	at := map[string]place{}
	for _, turn := range c.Script {
		for _, w := range turn.Words {
			word, early := strings.CutSuffix(w, "!")
			word, to, _ := strings.Cut(word, ">")
			p, before := place{thread: turn.Thread, word: word}, at[turn.Thread]
			var line int
			if name, where, ok := strings.Cut(word, "@"); ok {
				p.word = name
				fmt.Sscan(where, &line)
				p.line = line
			} else {
				p.line = nextLine(sites, before, p)
			}
			step, ok := sites[p]
			if wait, waits := sites[place{p.thread, "wait", before.line}]; !ok && waits && (word == "spurious" || word == "timeout") {
				step, ok = wait, true // rare, but at the same place
				step.Op = map[string]trace.Op{"spurious": trace.OpSpuriousWake, "timeout": trace.OpCondTimeout}[word]
				p.line = before.line
			}
			if !ok {
				return nil, nil, nil, fmt.Errorf("script: no execution has met %+v", p)
			}
			at[turn.Thread] = p
			k, ok := index[turn.Thread]
			if !ok {
				return nil, nil, nil, fmt.Errorf("script: no execution has met thread %s", turn.Thread)
			}
			step.Thread, step.Timeout, step.Wake = trace.ThreadID(k), early, -1
			if to != "" {
				step.Wake = trace.ThreadID(index[to])
			}
			steps = append(steps, step)
		}
	}
	return steps, threads, index, nil
}

// seconds are what a thread does in the middle of an operation of the program.
var seconds = []string{"created", "wake", "timeout", "spurious", "resume", "set"}

// nextLine is the first line from that of the step before on at which a thread does what p
// says, or the first at all.
func nextLine(sites map[place]schedule.Step, before, p place) int {
	var lines []int
	for q := range sites {
		if q.thread == p.thread && q.word == p.word {
			lines = append(lines, q.line)
		}
	}
	slices.Sort(lines)
	for _, l := range lines {
		if l > before.line || l == before.line && (l == 0 || slices.Contains(seconds, p.word)) {
			return l
		}
	}
	if len(lines) == 0 {
		return -1
	}
	return lines[0]
}

// stats are an outcome's counts.
func stats(o schedule.Outcome) map[string]int {
	return map[string]int{"points": o.Points, "switches": o.Switches, "preemptions": o.Preemptions, "deviations": o.Deviations, "threads": o.Threads}
}
