package dapserver

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// session is an execution and a position in it: the event that was done last, or its end.
type session struct {
	tr   *trace.Trace
	v    *report.View
	rows []report.Row // those of events
	at   int          // the current row; len(rows) is the end

	lines     map[int]breakpoint // by its identifier
	functions map[string]bool
	data      map[string]string // object: access type
	next      int               // the last identifier given

	memory report.Memory // after row remembered-1
	upTo   int           // rows that memory has
}

// breakpoint is a line with an event.
type breakpoint struct {
	file string
	line int
}

func newSession(tr *trace.Trace, v *report.View) *session {
	s := &session{tr: tr, v: v, lines: map[int]breakpoint{}, functions: map[string]bool{}, data: map[string]string{}}
	for _, r := range v.Full() {
		if r.Cell != nil {
			s.rows = append(s.rows, r)
		}
	}
	return s
}

// Identifiers of the protocol are not 0: a thread's is its number plus 1.
func identifier(th trace.ThreadID) int { return int(th) + 1 }

// current returns the event that was done last, the last of all at the end; -1 if no event has a row.
func (s *session) current() int {
	if len(s.rows) == 0 {
		return -1
	}
	return s.rows[min(s.at, len(s.rows)-1)].Event
}

// thread returns the thread to show: that of the current event, or that which failed. Of threads that wait, it is the
// first that waits for an object, not for another thread's end.
func (s *session) thread() trace.ThreadID {
	if f := s.v.Failure; s.at >= len(s.rows) && f != nil {
		for i := range f.Waits {
			if f.Waits[i].Object >= 0 {
				return f.Waits[i].Thread
			}
		}
		return f.Thread
	}
	if s.at < len(s.rows) {
		return s.rows[s.at].Thread
	}
	return 0
}

// ending says how the execution ended, and why if the trace has an explanation.
func (s *session) ending() string {
	if said := s.v.Said(); said != "" {
		return s.v.Ending + "; why: " + said
	}
	return s.v.Ending
}

// describe says what the current event is.
func (s *session) describe() string {
	if s.at >= len(s.rows) {
		return s.ending()
	}
	r := &s.rows[s.at]
	return fmt.Sprintf("event %d, T%d: %s", r.Event, r.Thread, r.Cell.Text)
}

// stopped is the event that tells the client where the execution is.
func (s *session) stopped(reason string) *dap.StoppedEvent {
	return &dap.StoppedEvent{Event: event("stopped"), Body: dap.StoppedEventBody{
		Reason: reason, Description: s.describe(), Text: s.describe(), ThreadId: identifier(s.thread()), AllThreadsStopped: true,
	}}
}

// begin goes to where the client begins, and returns the reason of the stop.
func (s *session) begin(a *launchArguments) string {
	if a.Event != nil {
		if s.goTo(*a.Event) == nil {
			return "entry"
		}
	}
	s.at = 0
	if a.StopOnEntry != nil && !*a.StopOnEntry && s.hit(0) == "" {
		return s.run(1)
	}
	return "entry"
}

// goTo goes to an event, or to the next with a row.
func (s *session) goTo(e int) error {
	if e < 0 || e > s.v.Events {
		return fmt.Errorf("there is no event %d: the last is %d", e, s.v.Events-1)
	}
	s.at = len(s.rows)
	if i := slices.IndexFunc(s.rows, func(r report.Row) bool { return r.Event >= e }); i >= 0 && e < s.v.Events {
		s.at = i
	}
	return nil
}

// end is the reason of a stop at the end.
func (s *session) end() string {
	s.at = len(s.rows)
	if s.v.Failure != nil {
		return "exception"
	}
	return "step"
}

func anyThread(*report.Row) bool { return true }

// of returns whether a row is a thread's.
func (s *session) of(id int) func(*report.Row) bool {
	return func(r *report.Row) bool { return identifier(r.Thread) == id }
}

// outside returns whether a row is a thread's, and in fewer calls than its current one.
func (s *session) outside(id int) func(*report.Row) bool {
	depth := len(s.stackOf(trace.ThreadID(id - 1)))
	return func(r *report.Row) bool { return identifier(r.Thread) == id && len(s.v.Stacks[r.Cell.Stack]) < depth }
}

// step goes to the next row for which stop holds, or to the end or the beginning.
func (s *session) step(by int, stop func(*report.Row) bool) (reason string) {
	for i := min(s.at, len(s.rows)) + by; i >= 0 && i < len(s.rows); i += by {
		if stop(&s.rows[i]) {
			s.at = i
			return "step"
		}
	}
	if by > 0 {
		return s.end()
	}
	s.at = 0
	return "entry"
}

// run goes on to a breakpoint, or to the end or the beginning.
func (s *session) run(by int) (reason string) {
	for i := min(s.at, len(s.rows)) + by; i >= 0 && i < len(s.rows); i += by {
		if reason := s.hit(i); reason != "" {
			s.at = i
			return reason
		}
	}
	if by > 0 {
		return s.end()
	}
	s.at = 0
	return "entry"
}

// hit returns the kind of breakpoint at a row, or "".
func (s *session) hit(i int) string {
	c := s.rows[i].Cell
	place := &s.v.Places[c.Place]
	for _, b := range s.lines {
		if place.Line == b.line && place.File == b.file {
			return "breakpoint"
		}
	}
	for name := range s.functions {
		if s.inside(i, name) && !s.inside(s.before(i), name) {
			return "function breakpoint"
		}
	}
	if access, ok := s.data[c.Object]; ok && c.Object != "" {
		reads, writes := accesses(s.tr.Events[s.rows[i].Event].Op)
		if access == "readWrite" && (reads || writes) || access == "read" && reads || access == "write" && writes {
			return "data breakpoint"
		}
	}
	return ""
}

// accesses reports whether an operation reads and writes memory.
func accesses(op trace.Op) (reads, writes bool) {
	switch ops.Does(op) {
	case ops.Read, ops.AtomicRead:
		return true, false
	case ops.Write, ops.AtomicWrite, ops.Free:
		return false, true
	case ops.Exchange, ops.Compare:
		return true, true
	}
	return false, false
}

// before returns the row before row i of the same thread, -1 for none.
func (s *session) before(i int) int {
	for j := i - 1; j >= 0; j-- {
		if s.rows[j].Thread == s.rows[i].Thread {
			return j
		}
	}
	return -1
}

// inside reports whether a function is on the stack of a row.
func (s *session) inside(i int, function string) bool {
	return i >= 0 && slices.ContainsFunc(s.v.Stacks[s.rows[i].Cell.Stack], func(n int) bool { return s.v.Places[n].Func == function })
}

// setBreakpoints replaces the breakpoints of a file. One on a line without events moves to the next line of the
// file with one.
func (s *session) setBreakpoints(a *dap.SetBreakpointsArguments) []dap.Breakpoint {
	known := map[string][]int{} // lines with events, by file as the trace names it
	for i := range s.rows {
		p := &s.v.Places[s.rows[i].Cell.Place]
		if p.Line > 0 && sameFile(p.File, a.Source.Path) && !slices.Contains(known[p.File], p.Line) {
			known[p.File] = append(known[p.File], p.Line)
		}
	}
	for id, b := range s.lines {
		if sameFile(b.file, a.Source.Path) {
			delete(s.lines, id)
		}
	}
	out := []dap.Breakpoint{}
	for _, wanted := range a.Breakpoints {
		s.next++
		b := dap.Breakpoint{Id: s.next, Line: wanted.Line, Message: "no event of the trace is on this line, or on a later one nearby"}
		best := breakpoint{}
		for file, lines := range known {
			for _, l := range lines {
				if l >= wanted.Line && l <= wanted.Line+10 && (best.line == 0 || l < best.line) {
					best = breakpoint{file, l}
				}
			}
		}
		if best.line > 0 {
			b.Verified, b.Line, b.Message = true, best.line, ""
			s.lines[b.Id] = best
		}
		out = append(out, b)
	}
	return out
}

// sameFile reports whether a path of the client's names a file of the trace's. The trace's may be relative, or of
// another machine: then the ends of the paths decide.
func sameFile(traced, path string) bool {
	if filepath.Clean(traced) == filepath.Clean(path) {
		return true
	}
	a, b := strings.Split(filepath.ToSlash(traced), "/"), strings.Split(filepath.ToSlash(path), "/")
	same := 0
	for same < len(a) && same < len(b) && a[len(a)-1-same] == b[len(b)-1-same] {
		same++
	}
	return same > 0 && (same >= min(len(a), len(b)) || same >= 2)
}

func (s *session) setFunctions(wanted []dap.FunctionBreakpoint) []dap.Breakpoint {
	clear(s.functions)
	out := []dap.Breakpoint{}
	for _, f := range wanted {
		s.next++
		b := dap.Breakpoint{Id: s.next, Message: "no event of the trace is in this function"}
		if slices.ContainsFunc(s.v.Places, func(p report.Place) bool { return p.Func == f.Name }) {
			b.Verified, b.Message = true, ""
			s.functions[f.Name] = true
		}
		out = append(out, b)
	}
	return out
}

// dataInfo says whether an object can have a breakpoint.
func (s *session) dataInfo(name string) dap.DataBreakpointInfoResponseBody {
	if !slices.ContainsFunc(s.rows, func(r report.Row) bool { return r.Cell.Object == name }) {
		return dap.DataBreakpointInfoResponseBody{Description: fmt.Sprintf("no event of the trace concerns %s", name)}
	}
	return dap.DataBreakpointInfoResponseBody{DataId: name, Description: name, AccessTypes: []dap.DataBreakpointAccessType{"read", "write", "readWrite"}}
}

func (s *session) setData(wanted []dap.DataBreakpoint) []dap.Breakpoint {
	clear(s.data)
	out := []dap.Breakpoint{}
	for _, d := range wanted {
		access := string(d.AccessType)
		if access == "" {
			access = "write"
		}
		s.next++
		s.data[d.DataId] = access
		out = append(out, dap.Breakpoint{Id: s.next, Verified: true})
	}
	return out
}

// targets are the events on a line, to go to.
func (s *session) targets(path string, line int) []dap.GotoTarget {
	out := []dap.GotoTarget{}
	const most = 100
	for i := range s.rows {
		r := &s.rows[i]
		if p := &s.v.Places[r.Cell.Place]; p.Line == line && sameFile(p.File, path) && len(out) < most {
			out = append(out, dap.GotoTarget{Id: r.Event + 1, Label: fmt.Sprintf("event %d, T%d: %s", r.Event, r.Thread, r.Cell.Text), Line: line})
		}
	}
	return out
}

// threads are those that have had an event by now, and those that wait at the end.
func (s *session) threads() []dap.Thread {
	out := []dap.Thread{}
	for i := range s.v.Columns {
		c := &s.v.Columns[i]
		last := s.last(c.Thread)
		if last < 0 && (s.at < len(s.rows) || s.wait(c.Thread) == nil) && c.Thread != s.thread() {
			continue
		}
		name := c.Label()
		if s.ended(c.Thread) {
			name += " (ended)"
		}
		out = append(out, dap.Thread{Id: identifier(c.Thread), Name: name})
	}
	return out
}

// ended reports whether a thread has ended.
func (s *session) ended(th trace.ThreadID) bool {
	last := s.last(th)
	return last >= 0 && ops.Does(s.tr.Events[s.rows[last].Event].Op) == ops.Finish
}

// accesses reports whether an event is a plain access, which its hook precedes: a debugger that stops at the event stops before the
// instruction.
func (s *session) accesses(e int) bool {
	does := ops.Does(s.tr.Events[e].Op)
	return s.tr.Events[e].Op.IsAccess() && (does == ops.Read || does == ops.Write)
}

// last returns the last row of a thread up to the current one, -1 for none.
func (s *session) last(th trace.ThreadID) int {
	for i := min(s.at, len(s.rows)-1); i >= 0; i-- {
		if s.rows[i].Thread == th {
			return i
		}
	}
	return -1
}

// wait returns what a thread waits for at the end; nil before, and for others.
func (s *session) wait(th trace.ThreadID) *report.Wait {
	if f := s.v.Failure; f != nil && s.at >= len(s.rows) {
		for i := range f.Waits {
			if f.Waits[i].Thread == th {
				return &f.Waits[i]
			}
		}
	}
	return nil
}

// stackOf returns the places of a thread's calls, innermost first.
func (s *session) stackOf(th trace.ThreadID) []int {
	if w := s.wait(th); w != nil && len(w.Stack) > 0 {
		return w.Stack
	}
	if f := s.v.Failure; f != nil && s.at >= len(s.rows) && f.Thread == th && len(f.Stack) > 0 {
		return f.Stack
	}
	if i := s.last(th); i >= 0 {
		return s.v.Stacks[s.rows[i].Cell.Stack]
	}
	return nil
}

// A frame's identifier is its thread's times this, plus its depth.
const framesPerThread = 1 << 12

func (s *session) stack(id int) []dap.StackFrame {
	out := []dap.StackFrame{}
	for i, n := range s.stackOf(trace.ThreadID(id - 1)) {
		p := &s.v.Places[n]
		f := dap.StackFrame{Id: id*framesPerThread + min(i, framesPerThread-1), Name: p.Func, Line: p.Line, Column: 1}
		if f.Name == "" {
			f.Name = p.Label
		}
		if p.Func == "" && p.File == "" && s.ended(trace.ThreadID(id-1)) {
			f.Name = "ended"
		}
		if p.File != "" {
			f.Source = &dap.Source{Name: filepath.Base(p.File), Path: p.File}
		} else {
			f.PresentationHint = "subtle"
		}
		out = append(out, f)
	}
	return out
}

// References of variables: below firstThread those of scopes that all threads share.
const (
	memoryScope = iota + 1
	lockScope
	firstThread
)

func (s *session) scopes(frame int) []dap.Scope {
	return []dap.Scope{
		{Name: "Event", VariablesReference: firstThread + frame/framesPerThread},
		{Name: "Memory", VariablesReference: memoryScope},
		{Name: "Locks", VariablesReference: lockScope},
	}
}

func (s *session) variables(reference int) []dap.Variable {
	out := []dap.Variable{}
	switch reference {
	case memoryScope:
		for _, k := range s.remembered() {
			out = append(out, dap.Variable{Name: k.Name, Value: k.Value, EvaluateName: k.Name, Type: fmt.Sprintf("since event %d of T%d", k.Event, k.Thread)})
		}
	case lockScope:
		names := s.lockNames()
		for _, l := range ops.LocksAt(s.tr, s.done()) {
			value := "held by " + report.ThreadText(l.Thread)
			if l.Shared {
				value += " for reading"
			}
			out = append(out, dap.Variable{Name: names[l.Lock], Value: value, Type: fmt.Sprintf("since event %d", l.Event)})
		}
	default:
		return s.eventVariables(trace.ThreadID(reference - firstThread - 1))
	}
	return out
}

// done is how many events of the trace have been done.
func (s *session) done() int {
	if s.at >= len(s.rows) {
		return len(s.tr.Events)
	}
	return s.rows[s.at].Event + 1
}

func (s *session) lockNames() map[trace.Object]string {
	names := map[trace.Object]string{}
	for i := range s.rows {
		if c := s.rows[i].Cell; c.Object != "" {
			names[s.tr.Events[s.rows[i].Event].Object] = c.Object
		}
	}
	return names
}

// eventVariables describe the last event of a thread, and what it waits for at the end.
func (s *session) eventVariables(th trace.ThreadID) []dap.Variable {
	out := []dap.Variable{}
	add := func(name, value string) {
		if value != "" {
			out = append(out, dap.Variable{Name: name, Value: value})
		}
	}
	if w := s.wait(th); w != nil {
		add("waits", w.Text)
	}
	if f := s.v.Failure; f != nil && s.at >= len(s.rows) && f.Thread == th {
		add("failure", f.Title)
		add("object", f.Object)
	}
	if i := s.last(th); i >= 0 {
		c := s.rows[i].Cell
		add("operation", c.Text)
		add("event", fmt.Sprint(s.rows[i].Event))
		add("object", c.Object)
		add("value", c.Value)
	}
	return out
}

// remembered returns what is known of memory after the current event.
func (s *session) remembered() []report.Known {
	to := min(s.at+1, len(s.rows))
	if s.upTo > to {
		s.memory, s.upTo = report.Memory{}, 0
	}
	for ; s.upTo < to; s.upTo++ {
		r := &s.rows[s.upTo]
		s.memory.Apply(r.Event, &s.tr.Events[r.Event], r.Cell)
	}
	return s.memory.All()
}

// known returns the value of an object by its name, if only one has that name.
func (s *session) known(name string) (report.Known, bool) {
	var found []report.Known
	for _, k := range s.remembered() {
		if k.Name == name {
			found = append(found, k)
		}
	}
	if len(found) != 1 {
		return report.Known{}, false
	}
	return found[0], true
}

func (s *session) exception() dap.ExceptionInfoResponseBody {
	f := s.v.Failure
	if f == nil {
		return dap.ExceptionInfoResponseBody{ExceptionId: "none", Description: s.v.Ending, BreakMode: "always"}
	}
	out := dap.ExceptionInfoResponseBody{ExceptionId: f.Kind, Description: f.Title, BreakMode: "always"}
	if said := s.v.Said(); said != "" {
		out.Description += "\nwhy: " + said
	}
	return out
}
