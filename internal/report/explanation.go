package report

// Explanation says why an execution fails: the orderings of events of different threads on which its
// failure depends, each shown by an execution. The engine makes it; pages and exports draw it beside
// the View of the same execution. Event numbers are indices into that execution's trace.
type Explanation struct {
	// Orders is the critical order, the most telling first.
	Orders []Order `json:"orders"`
	// Pattern names the kind of bug: `lost update`, `use after free`; empty if none was recognised.
	Pattern string `json:"pattern,omitempty"`
	// Text is one paragraph for the reader. Each sentence rests on events or executions that Orders
	// refers to.
	Text string `json:"text"`
	// Passing is the name of the trace of the nearest execution that does not fail; empty if none was
	// found.
	Passing string `json:"passing,omitempty"`
	// Executions is how many were needed. Complete is false if the limit on them ended the work before
	// every ordering was tried.
	Executions int  `json:"executions"`
	Complete   bool `json:"complete"`
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
	// Executions is how many had the two the other way round, Failed how many of these failed all the
	// same: 0 for an ordering of the critical order.
	Executions int `json:"executions"`
	Failed     int `json:"failed"`
}
