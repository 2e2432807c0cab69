package finding

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/expectation"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Finding is a failure and its identity.
type Finding struct {
	Kind    trace.Kind
	Message string // one line, without a place
	// Site is the place, as the package comment defines it; of a deadlock, where its first thread
	// waits. Zero is unknown.
	Site trace.Site
	// Threads took part: the failing thread, or the threads that wait for one another. They are
	// evidence, not identity.
	Threads []trace.ThreadID

	exact       trace.Site // the failing instruction, possibly in a library
	stack       bool       // a stack to look for Site in was recorded
	expectation bool       // of an exit: Site is where an expectation failed
	identity    string     // everything else that identifies the failure
	base        string     // identity without its places
	parts       []part     // the places that identify the failure
	calls       []trace.Site
	stuck       []trace.Waiter // the threads that Message says never return, and what it says then
	tail        string
}

// Of returns the finding of an execution with this outcome, or the zero Finding if it did not fail.
// The outcome's sites refer to modules; if none of them is marked as the program's own, all count
// as such.
func Of(e trace.Ending, modules []trace.Module) Finding {
	if !e.Kind.Failed() {
		return Finding{}
	}
	f := Finding{
		Kind: e.Kind, Message: firstLine(e.Message), Threads: []trace.ThreadID{e.Thread},
		Site: place(e, modules), exact: e.Site, stack: len(e.Stack) > 0, calls: e.Stack,
	}
	switch e.Kind {
	case trace.Assertion:
		f.identity = asserted(e.Message)
		f.base = assertedAt.ReplaceAllString(f.identity, "$1")
		f.Message = cmp.Or(f.Message, "abort")
	case trace.Signal:
		name := unix.SignalName(syscall.Signal(e.Status))
		if name == "" {
			name = fmt.Sprintf("signal %d", e.Status)
		}
		f.identity = fmt.Sprint(e.Status)
		f.Message = strings.TrimSuffix(name+": "+f.Message, ": ")
	case trace.Misuse:
		f.identity = owner.ReplaceAllString(normal(e.Message), "$1")
	case trace.Exception:
		f.identity = e.Message
		f.Message = "uncaught exception: " + f.Message
	case trace.Exit:
		if f.Message == "" || plainExit.MatchString(f.Message) {
			f.identity = fmt.Sprint(e.Status)
			f.Message = cmp.Or(f.Message, fmt.Sprintf("exit status %d", e.Status))
			break
		}
		// The status of a test framework is the same for all expectations, or counts those that failed.
		f.expectation = true
		f.identity = blank(f.Message)
		if place, ok := expectation.Place(f.Message); ok {
			f.identity = "expectation" + place // the text has the values that were met
		}
	case trace.WrongOutput:
		f.identity = fmt.Sprint(e.Status)
		f.Message = cmp.Or(f.Message, "the output is not the expected one")
	case trace.Test:
		f.Message = expectation.Headline(e.Message)
		if f.Site == 0 {
			f.identity = blank(f.Message)
		}
		f.Message = cmp.Or(f.Message, "a test failed")
	case trace.Panic:
		f.identity = blank(f.Message)
		f.Message = "panic: " + strings.TrimPrefix(f.Message, "panic: ")
	case trace.Fatal:
		f.identity = blank(f.Message)
		f.Message = "fatal error: " + strings.TrimPrefix(f.Message, "fatal error: ")
	case trace.Leak:
		f.leak(e)
	case trace.Race:
		f.race(e)
	case trace.Deadlock:
		if e.Child != nil {
			f.child(e)
		} else {
			f.deadlock(e, modules)
		}
	case trace.Hang, trace.Livelock:
		f.endless(e)
	}
	if f.base == "" && f.Kind != trace.Race {
		f.base = f.identity
	}
	if f.placed() && f.Site != 0 {
		f.parts = []part{{site: f.Site, calls: f.calls}}
	}
	return f
}

// placed reports whether the place of the failing thread is part of the identity.
func (f Finding) placed() bool {
	switch f.Kind {
	case trace.Assertion, trace.Signal, trace.Misuse, trace.Test, trace.Panic, trace.Fatal:
		return true
	}
	return f.expectation
}

// UnexpectedStatus is the message of an exit of which only the status is known.
func UnexpectedStatus(status, expected int32) string {
	return fmt.Sprintf("exit status %d, expected %d", status, expected)
}

// plainExit matches UnexpectedStatus.
var plainExit = regexp.MustCompile(`^exit status \d+, expected \d+$`)

// Same reports whether two findings show the same bug. It is false if one of the executions did not
// fail.
func (f Finding) Same(g Finding) bool {
	if !f.Kind.Failed() || f.Kind != g.Kind || f.identity != g.identity {
		return false
	}
	// Without a stack, a failure in a library cannot be traced back to the program; then the
	// instruction decides.
	return !f.placed() || f.Site == g.Site || (!f.stack || !g.stack) && f.exact == g.exact
}

func inProgram(s trace.Site, modules []trace.Module) bool {
	m := s.Module()
	return m >= 0 && m < len(modules) && modules[m].Program
}

// place returns where the failing thread was in the program's own code.
func place(e trace.Ending, modules []trace.Module) trace.Site {
	if inProgram(e.Site, modules) || !slices.ContainsFunc(modules, func(m trace.Module) bool { return m.Program }) {
		return e.Site
	}
	for _, s := range e.Stack {
		if inProgram(s, modules) {
			return s
		}
	}
	return e.Site
}

// deadlock identifies the waiting threads and what they wait for.
func (f *Finding) deadlock(e trace.Ending, modules []trace.Module) {
	// Waits on the cycle, or all of them; waiters that are ready are not stuck.
	var waits []trace.Waiter
	if len(e.Cycle) > 0 {
		for _, t := range e.Cycle {
			if i := slices.IndexFunc(e.Waiters, func(w trace.Waiter) bool { return w.Thread == t }); i >= 0 {
				waits = append(waits, e.Waiters[i])
			}
		}
		f.identity = "cycle"
		f.Message = fmt.Sprintf("%s wait for one another", threads(waits, performed))
		if len(waits) == 1 {
			f.Message = fmt.Sprintf("%s waits for itself", threads(waits, performed))
			// Any goroutine may unlock a Go mutex: one that waits for this goroutine may be the one that would.
			if others := waitFor(e.Waiters, waits[0].Thread); len(others) > 0 && anyUnlocks(waits[0].Op) {
				waits = append(waits, others...)
				f.Message = neverReturn(waits, performed)
			}
		}
	} else {
		stuck := func(w trace.Waiter) bool { return !w.Ready }
		joins := func(w trace.Waiter) bool { return w.Op == trace.OpThreadJoin }
		waits = slices.DeleteFunc(slices.Clone(e.Waiters), func(w trace.Waiter) bool { return !stuck(w) })
		if slices.ContainsFunc(waits, func(w trace.Waiter) bool { return !joins(w) }) {
			waits = slices.DeleteFunc(waits, joins)
		}
		f.identity = "waits"
		f.Message, f.stuck = neverReturn(waits, performed), waits
	}
	if e.Message != "" && slices.ContainsFunc(waits, func(w trace.Waiter) bool { return ops.Of(w.Op).Of == ops.Descriptor }) {
		// The message names the descriptors.
		f.tail = ": " + firstLine(e.Message)
		f.Message += f.tail
	}
	f.waits(waits, len(e.Cycle) > 0)
	// The execution ended where the last thread blocked, which may be main in its join.
	if !slices.ContainsFunc(waits, func(w trace.Waiter) bool { return w.Thread == e.Thread }) {
		i := slices.IndexFunc(waits, func(w trace.Waiter) bool { return inProgram(w.Site, modules) })
		if i >= 0 {
			f.Site = waits[i].Site
		}
	}
}

// waitFor returns the waits of other threads for what a thread holds.
func waitFor(waiters []trace.Waiter, th trace.ThreadID) (out []trace.Waiter) {
	for _, w := range waiters {
		if w.Holder == th && w.Thread != th && !w.Ready && w.Op != trace.OpThreadJoin {
			out = append(out, w)
		}
	}
	return out
}

// anyUnlocks reports whether any thread may unlock what an operation locks, as in Go.
func anyUnlocks(op trace.Op) bool {
	of := ops.Of(op).Of
	return op >= trace.OpGo && (of == ops.Mutex || of == ops.RWLock)
}

// endless identifies what the threads of a hang or livelock wait for: those in loops at their loops' places, and
// the blocked ones, but for joins. The places of a hang that was not verified are where its threads were
// cut off, which identifies nothing.
func (f *Finding) endless(e trace.Ending) {
	f.Threads = nil
	for _, w := range e.Waiters {
		if w.Ready {
			f.Threads = append(f.Threads, w.Thread)
		}
	}
	if f.Message = cmp.Or(f.Message, "the program does not end"); f.Message == trace.NoProgress || e.Site == 0 {
		return
	}
	loops := f.Threads
	f.identity = "waits"
	f.waits(slices.DeleteFunc(slices.Clone(e.Waiters), func(w trace.Waiter) bool { return !w.Ready && w.Op == trace.OpThreadJoin }), false)
	f.Threads = loops
}

// child identifies what a child process waits for.
func (f *Finding) child(e trace.Ending) {
	c := e.Child
	f.identity, f.base = "child", "child"
	f.Message = fmt.Sprintf("child process %d, forked by T%d, never returns from %s", c.Process, e.Thread, Call(c.Op))
	if ops.Of(c.Op).Call == "" { // it does not block; a loop repeats it
		f.Message = fmt.Sprintf("child process %d, forked by T%d, repeats its %v forever: it has no thread to change what that finds", c.Process, e.Thread, c.Op)
	}
	switch {
	case c.Holder == e.Thread:
		f.Message += ": it already held that at the fork"
	case c.Holder >= 0:
		f.Message += fmt.Sprintf(": T%d held it at the fork, and the child does not have T%d", c.Holder, c.Holder)
		f.Threads = append(f.Threads, c.Holder)
	}
	f.parts = append(f.parts, part{op: c.Op, site: e.Site, calls: e.Stack})
	f.identity += fmt.Sprintf(" %d@%x", c.Op, uint64(e.Site))
}

// waits adds the operations and sites of waiting threads to the identity, each as often as it
// occurs if counted is set, else once.
func (f *Finding) waits(waits []trace.Waiter, counted bool) {
	f.Threads, f.base = nil, f.identity
	var at []string
	for _, w := range waits {
		f.Threads = append(f.Threads, w.Thread)
		f.parts = append(f.parts, part{op: w.Op, site: w.Site, stack: w.Stack})
		at = append(at, fmt.Sprintf(" %d@%x", w.Op, uint64(w.Site)))
	}
	if slices.Sort(at); !counted {
		at = slices.Compact(at)
	}
	f.identity += strings.Join(at, "")
	if f.Site == 0 && len(waits) > 0 {
		f.Site = waits[0].Site
	}
}

// leak identifies what the remaining goroutines wait for. Where the test itself ended is not part
// of the identity.
func (f *Finding) leak(e trace.Ending) {
	were, them := "were", "them"
	left := slices.DeleteFunc(slices.Clone(e.Waiters), func(w trace.Waiter) bool { return w.Reach == trace.ReachKept })
	if len(left) == 0 {
		left = e.Waiters // otherwise what may be kept on purpose is not in the headline
	}
	if len(left) == 1 {
		were, them = "was", "it"
	}
	switch {
	case len(e.Waiters) == 0:
		f.Message = cmp.Or(f.Message, "goroutines were left")
	case slices.ContainsFunc(left, func(w trace.Waiter) bool { return w.MayGoOn() }):
		f.Message = fmt.Sprintf("%s %s still running when the test ended", threads(left, performed), were)
	default:
		f.Message = fmt.Sprintf("%s %s left, and nothing can wake %s", threads(left, performed), were, them)
	}
	f.Site = 0
	if len(left) > 0 {
		f.Site = left[0].Site
	}
	f.waits(e.Waiters, false)
}

// race identifies the two instructions.
func (f *Finding) race(e trace.Ending) {
	var at []string
	f.Threads = nil
	for _, a := range e.Accesses {
		f.Threads = append(f.Threads, a.Thread)
		f.parts = append(f.parts, part{site: a.Site, stack: a.Stack})
		at = append(at, fmt.Sprintf(" %x", uint64(a.Site)))
	}
	slices.Sort(at)
	f.identity = strings.Join(at, "")
	f.Message = cmp.Or(f.Message, "data race")
}

// threads names waiting threads and, unless call is nil, the calls they wait in: "T1 (sem_wait) and T2 (sem_wait)".
func threads(waits []trace.Waiter, call func(trace.Waiter) string) string {
	names := make([]string, len(waits))
	for i, w := range waits {
		names[i] = fmt.Sprintf("T%d", w.Thread)
		if call != nil {
			names[i] += " (" + strings.TrimPrefix(call(w), "a ") + ")"
		}
	}
	switch n := len(names); {
	case n == 0:
		return "all threads"
	case n == 1:
		return names[0]
	case n > 6:
		return fmt.Sprintf("%s and %d others", strings.Join(names[:5], ", "), n-5)
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// owner matches the end of the message of an unlock by a thread that does not hold the lock.
// Whether another thread holds it depends on the schedule; the bug is that this one does not.
var owner = regexp.MustCompile(`^(unlock of a [a-z -]+) that (another thread holds|is not held)$`)

// assertedAt matches the message of a failed assertion. Compilers write the function that follows
// differently, and the file's name depends on the build.
var assertedAt = regexp.MustCompile(`(?s)^(assertion (?:.* failed|failed: .*)) at .*$`)

// made matches the message of a failed assertion whose text the program made while it ran, instead
// of an expression in its source (runtime/c/loader/abort.c).
var made = regexp.MustCompile(`^assertion failed: `)

// AssertedAt returns the place in the message of a failed assertion, ` at x.c:5 in f`, or "".
func AssertedAt(message string) string {
	if m := assertedAt.FindStringSubmatch(message); m != nil {
		return message[len(m[1]):]
	}
	return ""
}

// asserted returns the message of a failed assertion without what varies in a text that the program
// made. Numbers in an expression do not vary.
func asserted(message string) string {
	if !made.MatchString(message) {
		return normal(message)
	}
	place := AssertedAt(message)
	return blank(strings.TrimSuffix(message, place)) + place
}

var variable = regexp.MustCompile(`0[xX][0-9a-fA-F]+|\bT[0-9]+\b|\bthread [0-9]+\b`)

// normal returns a message of the runtime without addresses and thread numbers.
func normal(message string) string {
	return variable.ReplaceAllStringFunc(message, func(s string) string {
		switch s[0] {
		case '0':
			return "0x?"
		default:
			return "T?"
		}
	})
}

var (
	// address matches addresses, and identifiers of eight and more hexadecimal digits: UUIDs, hashes.
	address = regexp.MustCompile(`\b0[xX][0-9a-fA-F]+|\b[0-9a-fA-F]{8,}\b(-[0-9a-fA-F]{4,}\b)*`)
	// words matches what programmers make of the digits a to f.
	words = regexp.MustCompile(`^(?i:(babe|bade|bead|beef|cafe|cede|dead|deaf|deed|face|fade|feed)+)$`)
	// number matches ports, process ids, times, indices, lengths, durations.
	number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
)

// blank returns a text that a program made without what varies between executions that fail alike.
func blank(text string) string { return number.ReplaceAllString(unaddressed(text), "#") }

// unaddressed returns a message without addresses and hexadecimal identifiers. A number that is made
// of English words, such as `deadbeef`, is text and stays.
func unaddressed(message string) string {
	return address.ReplaceAllStringFunc(message, func(s string) string {
		if words.MatchString(s) {
			return s
		}
		return "#"
	})
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
