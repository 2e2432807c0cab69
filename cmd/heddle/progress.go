package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// progress writes a line about the progress of a long command: one that is overwritten on a
// terminal, otherwise a new one every few seconds. It goes to standard error, so that standard
// output holds results only.
type progress struct {
	w        io.Writer
	terminal bool
	read     bool   // a program reads the lines
	subject  string // the subject, unless it is the whole command
	shown    bool
	width    int
	next     time.Time
	// patience is the time between lines without a terminal, and prefix begins each.
	patience time.Duration
	prefix   string
	mu       sync.Mutex      // held while a line is written
	names    *report.Running // places of executions that take long; nil: not shown
	long     time.Duration   // how long the execution had run that was reported last
	told     time.Duration   // how long it had run when the threads were where they were last said to be
	raced    time.Duration   // when a race was confirmed that is kept back
	said     bool            // and that it was
	lengthy  bool            // said how long executions are
}

func (a *app) progress() *progress {
	if a.reader != nil {
		return &progress{w: a.reader, read: true, patience: time.Second}
	}
	p := &progress{w: a.tty, patience: 10 * time.Second, prefix: "heddle: "}
	p.next = time.Now().Add(p.patience)
	if f, ok := a.terminal(); ok {
		p.terminal = true
		p.next = time.Now().Add(time.Second)
		p.width, _, _ = term.GetSize(int(f.Fd()))
	}
	return p
}

// terminal returns standard error if it is a terminal.
func (a *app) terminal() (f *os.File, ok bool) {
	f, ok = a.tty.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// of makes the progress of a search say where executions are that take long.
func (p *progress) of(t target.Target) *progress {
	p.names = report.NewRunning(t.Modules) // of its own: the search uses its names at the same time
	return p
}

// running shows where an execution is that takes long. The first line about one comes at once, and so does where its threads are
// when that is known.
func (p *progress) running(at *target.Position) {
	if at.For < p.long {
		p.long, p.told = 0, 0
	}
	if len(at.Threads) > 0 && p.names != nil && at.Told != p.told {
		p.told, p.long = at.Told, at.For
		u := engine.UnfinishedExecution(&schedule.Outcome{Ending: trace.Ending{Kind: trace.Unfinished, Thread: -1, Waiters: at.Threads}}, p.names.Locate, p.object)
		for i, steps := range at.Spins {
			if steps > 0 {
				u.Threads[i].Spins(steps)
			}
		}
		p.lines(fmt.Sprintf("an execution has run for %.0f s: %s; its threads:", at.Told.Seconds(), wording.Count(at.Points, "scheduling point")), result.PositionLines(u.Threads))
		return
	}
	line := fmt.Sprintf("an execution has run for %.0f s: %s", at.For.Seconds(), wording.Count(at.Points, "scheduling point"))
	if at.Site != 0 && p.names != nil {
		if where := p.names.Place(at.Site); where != "" {
			line += fmt.Sprintf(", the last one of T%d at %s", at.Thread, where)
		}
	}
	p.mu.Lock()
	if p.long == 0 {
		p.next = time.Time{}
	}
	p.long = at.For
	p.mu.Unlock()
	p.line(line)
}

func (p *progress) find(s engine.Progress) {
	if s.Long != nil {
		p.running(s.Long)
		return
	}
	p.race(&s)
	p.length(&s)
	line := fmt.Sprintf("%s: %s, %s/s, %s, %s, %.0f s",
		s.Phase, wording.Count(s.Executions, "execution"), wording.Thousands(int(s.PerSecond)), wording.Count(s.Behaviours, wording.Signature), wording.Count(s.Points, "memory point"), s.Elapsed.Seconds())
	if s.Cost != nil {
		line += fmt.Sprintf("; %s, %s", wording.Count(s.Cost.Switches, "switch"), wording.Count(s.Cost.Preemptions, "preemption"))
	}
	if p.subject != "" {
		line = p.subject + ": " + line
	}
	p.line(line)
}

// race says that a race has been confirmed, once, if the search for what it leads to goes on for more than a second after it.
func (p *progress) race(s *engine.Progress) {
	switch {
	case s.Race == nil || p.said || s.Phase != engine.Exploring:
	case p.raced == 0:
		p.raced = max(s.Elapsed, 1)
	case s.Elapsed-p.raced > time.Second:
		p.said = true
		text := fmt.Sprintf("confirmed in execution %s: %s; the search goes on for what it leads to", wording.Thousands(s.Race.Execution), s.Race.Message)
		if p.subject != "" {
			text = p.subject + ": " + text
		}
		p.lines(text, nil)
	}
}

// slowAfter is when a search of long executions says how long they are.
const slowAfter = 5 * time.Second

// length says, once, how long executions are if they are long, and what cutting does, or would do.
func (p *progress) length(s *engine.Progress) {
	if p.lengthy || s.Length == 0 || s.Elapsed < slowAfter || s.Phase != engine.Exploring {
		return
	}
	p.lengthy = true
	text := fmt.Sprintf("an execution that runs to its end passes %s; ", wording.Count(s.Length, "scheduling point"))
	if s.Cut > 0 {
		text += fmt.Sprintf("%s of %s so far were cut, to make more of them", wording.Thousands(s.Cut), wording.Count(s.Executions, "execution"))
	} else {
		text += "with --cut, executions end earlier, and more of them are made"
	}
	if p.subject != "" {
		text = p.subject + ": " + text
	}
	p.lines(text, nil)
}

func (p *progress) live(s engine.LiveProgress) {
	line := fmt.Sprintf("%s: %s, %.0f s", s.Phase, wording.Count(s.Executions, "execution"), s.Elapsed.Seconds())
	if s.Targets > 0 {
		line += fmt.Sprintf("; %s of %s", wording.Thousands(s.Done), wording.Count(s.Targets, "interleaving"))
	}
	p.line(line)
}

// checking shows how many interleavings have been checked.
func (p *progress) checking(done, of int) {
	p.line(fmt.Sprintf("checking: %s of %s", wording.Thousands(done), wording.Count(of, "interleaving")))
}

// begin shows the text at once, on a terminal or for a program that reads the progress.
func (p *progress) begin(text string) {
	if p.terminal || p.read {
		p.next = time.Time{}
		p.line(text)
	}
}

// line shows the text if it is time to.
func (p *progress) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	if !p.terminal {
		p.next = now.Add(p.patience)
		fmt.Fprintf(p.w, "%s%s\n", p.prefix, text)
		return
	}
	p.next = now.Add(200 * time.Millisecond)
	if p.width > 1 && len(text) >= p.width {
		text = text[:p.width-1]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.shown = true
}

// object names an object of an execution that is not recorded. Most on the heap have no name, only a place.
func (p *progress) object(t *trace.Trace, o trace.Object, size uint32, at int) string {
	if o.Region() == trace.RegionHeap {
		return ""
	}
	return p.names.Object(t, o, size, at)
}

// lines shows a heading and lines below it, which stay.
func (p *progress) lines(head string, below []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read {
		fmt.Fprintln(p.w, strings.TrimSuffix(head+" "+strings.Join(below, "; "), " "))
		return
	}
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
	fmt.Fprintf(p.w, "heddle: %s\n", head)
	for _, line := range below {
		fmt.Fprintf(p.w, "  %s\n", line)
	}
	p.next = time.Now().Add(p.patience)
}

// done takes the line away.
func (p *progress) done() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.shown = false
}

// slowly describes what heddle is doing if that takes so long that it looks stuck. The function it
// returns marks the end.
func (a *app) slowly(text string) (done func()) {
	timer := time.AfterFunc(time.Second, func() { fmt.Fprintf(a.stderr, "heddle: %s\n", text) })
	return func() { timer.Stop() }
}
