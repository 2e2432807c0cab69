package canonical

import (
	"io"

	"github.com/heddle-dev/heddle/trace"
)

// Execution is a sanitised trace: made by Sanitize, or a file opened by Open. Close it after use.
type Execution struct {
	Target  string // kind of target: "c" or "go"
	BuildID string // of the program
	// Complete is false if the trace has only the first of its accesses (trace.Header.MaxAccesses):
	// which ones these are depends on the schedule.
	Complete bool
	// Instrumented is false if the trace has synchronisation only.
	Instrumented bool
	// Values is false if repeated accesses may be missing: which ones depends on the schedule.
	Values bool
	// Functions reports whether the trace has entries and exits of functions.
	Functions bool
	// Live reports whether the trace was recorded on the backend live, which sees fewer calls of libc.
	Live    bool
	Modules []Module // those that events refer to, by name
	Threads []Thread // breadth first over the spawn tree
	Ending  Ending
	// Fault was injected into the execution; nil for none, or if the execution was read from a file.
	Fault *Fault

	store *store      // of Sanitize
	file  io.ReaderAt // of Open
	close func() error
}

// Module is a module by its canonical name.
type Module struct {
	Name    string
	Path    string
	BuildID string
}

// Thread is a thread with at least one event.
type Thread struct {
	Name   string
	Events int
	Bytes  int64 // of its lines

	section int   // in the store
	at      int64 // of its lines, in the file
}

// Ending is how an execution ended.
type Ending struct {
	Kind    trace.Kind
	Status  int32
	Thread  string
	Site    string
	Message string
	Output  []byte
}

// Fault is an injected fault: see trace.Fault.
type Fault struct {
	Model  trace.FaultModel
	Thread string
	Site   string
	Amount uint64
	Event  int // in the trace
}

// Close releases the execution's files.
func (x *Execution) Close() error {
	switch {
	case x.close != nil:
		return x.close()
	case x.store != nil:
		return x.store.close()
	}
	return nil
}

// lines returns a thread's events. Readers of different threads may be used at the same time.
func (x *Execution) lines(t *Thread) lines {
	if x.store != nil {
		return x.store.open(t.section)
	}
	return fileLines(x.file, t)
}
