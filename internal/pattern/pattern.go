package pattern

import "github.com/heddle-dev/heddle/trace"

// Pattern is a kind of bug.
type Pattern struct {
	Name  string
	Shows string // what the events of an execution show if it has the pattern, for the documentation
	// misuse: the program used an operation in a way that it does not allow.
	misuse bool
	find   func(x *Execution) *Match // nil if x does not show it
}

// table lists the patterns in the order of preference: an execution that shows several of them has the name of the first.
var table = []*Pattern{
	selfDeadlock,
	lockCycle,
	waitWithLock,
	doubleFree,
	useAfterFree,
	reusedDescriptor,
	closedDescriptor,
	lostWakeUp,
	tooFewWakeUps,
	interruptedByHandler,
	stolenWakeUp,
	aba,
	doubleChecked,
	lostUpdate,
	checkThenAct,
	tornWrite,
	tornRead,
	unserializable,
	tooEarly,
	doubleClose,
	closedSend,
	waitGroup,
	mapAccess,
	wrongWakeUp,
	cancelled,
	livelock,
	leak,
	atomicityViolation,
	orderViolation,
}

// Words are what a report calls the parts of an execution. Sentences use them to describe these.
type Words interface {
	// Event describes an event with its thread, object and place, and more briefly once it has been described:
	// `T1's read of x at main x.c:3`.
	Event(i int) string
	// Place says where an event happened, and Object what it concerns: `main x.c:3`, `x`. They are empty if unknown.
	Place(i int) string
	Object(i int) string
	// Value is what an event read or wrote; empty if unknown.
	Value(i int) string
	// Wait says what a thread waits for when the execution ends: `T1 waits for mu at main x.c:3`.
	Wait(th trace.ThreadID) string
	// Threads lists threads: `T1, T2 and T3`.
	Threads(list []trace.ThreadID) string
	// Brief reports whether there is room only for what nothing else tells.
	Brief() bool
}

// Match is a pattern with the events that show it.
type Match struct {
	Pattern *Pattern
	Say     func(w Words) string // a sentence about the execution, for the text; nil for none
	// An explanation in one line is the name of the pattern, the ordering, and Fact, unless that is nil. The name is followed by the object
	// that the ordering concerns, unless Bare says that the two have nothing to do with one another. Alone says that Fact says it all
	// without the ordering. So it does if no ordering is known.
	Fact  func(w Words) string
	Bare  bool
	Alone bool

	Triple  []int // p, r and c of unserializable accesses; nil for others
	Section []int // two events of the critical sections that the ordering is of, empty for none; nil for those that Guarded returns
	More    []int // other events that the sentence names
	// Begun is the event that begins an operation, and During another one that comes before its end; both are 0 for none.
	Begun, During int
}

// alone returns a match whose fact says it all, in the line and as a sentence. more are the events that it names.
func alone(fact func(w Words) string, more ...int) *Match {
	return &Match{Alone: true, More: more, Fact: fact, Say: func(w Words) string { return fact(w) + "." }}
}

// unguarded is a match without critical sections: an ordering of two acquisitions is told as such.
func (m *Match) unguarded() *Match {
	m.Section = []int{}
	return m
}

// allWait says that threads wait: `T1 waits`, `T1 and T2 wait`.
func allWait(w Words, threads []trace.ThreadID) string {
	if len(threads) == 1 {
		return w.Threads(threads) + " waits"
	}
	return w.Threads(threads) + " wait"
}

// Of returns the pattern of an execution, nil for none.
func Of(x *Execution) *Match {
	for _, p := range table {
		if m := p.find(x); m != nil {
			m.Pattern = p
			return m
		}
	}
	return nil
}

// Misuses reports whether an execution shows how a program misused an operation.
func Misuses(x *Execution) bool {
	for _, p := range table {
		if p.misuse && p.find(x) != nil {
			return true
		}
	}
	return false
}
