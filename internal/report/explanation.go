package report

// Explanation says why an execution fails: the orderings of events of different threads on which its
// failure depends, each shown by an execution. The engine makes it; pages and exports draw it beside
// the View of the same execution. Event numbers are indices into a trace of that execution with all accesses to memory,
// and InTrace those into the trace that is explained.
type Explanation struct {
	// Orders is the critical order, the most telling first.
	Orders []Order `json:"orders"`
	// Pattern names the kind of bug: `lost update`, `use after free`; empty if none was recognised.
	Pattern string `json:"pattern,omitempty"`
	// Short is one line for the reader, empty if the ordering says little; Text is a paragraph. Each sentence rests on events or executions that Orders
	// and Steps refer to.
	Short string `json:"short,omitempty"`
	Text  string `json:"text"`
	// Steps are the events that make the failure, in their order: those of Orders, what the critical sections stand for that
	// they begin, and those that show the pattern of the first.
	Steps []Step `json:"steps"`
	// Events are the two events of each of Orders.
	Events []ExplainedEvent `json:"events"`
	// Passing is the name of the trace of the nearest execution that does not fail; empty if none was
	// found.
	Passing string `json:"passing,omitempty"`
	// Executions is how many were needed. Complete is false if the limit on them ended the work before
	// every ordering was tried.
	Executions int  `json:"executions"`
	Complete   bool `json:"complete"`
	// Cut says that the limits ended the work, so that with more of them another ordering might be named.
	Cut bool `json:"cut,omitempty"`
	// Reason says why no ordering is named; empty if one is. Passed of the executions did not fail.
	Reason Unexplained `json:"reason,omitempty"`
	Passed int         `json:"passed,omitempty"`
}

// Step is an event, or what a thread waits for when the failing execution ends.
type Step struct {
	Event   int    `json:"event"`             // -1 for a wait
	InTrace *int   `json:"inTrace,omitempty"` // its number in the explained trace; nil if that lacks it
	Passing bool   `json:"passing,omitempty"` // an event of the execution that does not fail, which has not happened in the failing one
	Thread  string `json:"thread"`            // `T1`
	Text    string `json:"text"`              // `write counter ← 1`
	Where   string `json:"where,omitempty"`
}

// ExplainedEvent is an event of an ordering.
type ExplainedEvent struct {
	Event     int      `json:"event"`
	InTrace   *int     `json:"inTrace,omitempty"` // its number in the explained trace; nil if that lacks it
	Passing   bool     `json:"passing,omitempty"` // of the execution that does not fail: it has not happened in the other
	Waiting   bool     `json:"waiting,omitempty"` // not Event, but what the thread waits for after it when the execution ends
	Thread    string   `json:"thread"`
	Operation string   `json:"operation"`
	Where     string   `json:"where,omitempty"`
	Stack     []string `json:"stack,omitempty"` // callers, innermost first
	// Holds are the locks that the thread holds during the event. Locks of Go programs are not known.
	Holds []string `json:"holds,omitempty"`
}

// Order is an ordering of two events of different threads: turning it makes the failure vanish.
type Order struct {
	First  int `json:"first"`
	Second int `json:"second"`
	// Waiting: the second is not an event, but the operation for which a thread waits when the execution ends.
	// Second is then the thread's last event.
	Waiting bool   `json:"waiting,omitempty"`
	Object  string `json:"object,omitempty"` // that both events concern: `counter`, `queue->mutex`
	// Second is -1 if it has not happened when the execution ends. Then InPassing is its number in the trace of
	// Explanation.Passing.
	InPassing int `json:"inPassing,omitempty"`
	// Controlled: an execution in which everything moved but one of the two failed. Otherwise what had to move with
	// them may matter, too.
	Controlled bool `json:"controlled"`
	// Of the schedules near the failing one, Kept have the two in their order, and KeptFailed of these fail.
	Kept       int `json:"kept"`
	KeptFailed int `json:"keptFailed"`
	// Executions is how many had the two the other way round, Failed how many of these failed all the
	// same: 0 for an ordering of the critical order.
	Executions int `json:"executions"`
	Failed     int `json:"failed"`
	// Together: turning it makes the failure vanish only if the next of Explanation.Orders is turned, too.
	Together bool `json:"together,omitempty"`
}

// Doubtful reports whether an execution failed with the events of an ordering the other way round.
func (o *Order) Doubtful() bool { return o.Failed > 0 }
