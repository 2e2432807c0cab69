package trace

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace/tracepb"
)

// Fault is a fault that was injected into an execution, or that is to be.
type Fault struct {
	Model FaultModel
	// Thread is the name of the thread, as in Thread.Name, and Site the instruction of the event or call.
	// Index counts the thread's occasions there from 0: FaultModel says which these are.
	Thread uint64
	Site   Site
	Index  uint64
	// Amount is the bit for flips and Argument, which counts modulo the bits of the value; bytes for
	// Short and Overrun; events of other threads for Delayed; 0 otherwise.
	Amount uint64
	// Event is the number of events before the fault, in the trace of an execution with the fault.
	Event int
}

// FaultModel is a kind of fault.
type FaultModel uint32

const (
	FaultRead     FaultModel = abi.FaultRead     // a bit of what a plain access reads; the memory keeps its value
	FaultWrite    FaultModel = abi.FaultWrite    // a bit of what a plain access writes
	FaultShort    FaultModel = abi.FaultShort    // an allocation gets fewer bytes
	FaultPointer  FaultModel = abi.FaultPointer  // an allocation returns an address without memory
	FaultOverrun  FaultModel = abi.FaultOverrun  // memcpy, strcpy or a similar function goes on behind the end
	FaultArgument FaultModel = abi.FaultArgument // a bit of the size passed to such a function or to an allocation
	FaultDropped  FaultModel = abi.FaultDropped  // a synchronisation call does nothing
	FaultKilled   FaultModel = abi.FaultKilled   // the thread ends before a plain access, as by pthread_exit
	FaultDelayed  FaultModel = abi.FaultDelayed  // a synchronisation call waits until others have done some events
)

var faultNames = [...]string{
	FaultRead: "bit-flip-read", FaultWrite: "bit-flip-write", FaultShort: "short-allocation", FaultPointer: "invalid-pointer",
	FaultOverrun: "overrun", FaultArgument: "argument", FaultDropped: "dropped-sync", FaultDelayed: "delayed-sync", FaultKilled: "killed-thread",
}

// FaultModels returns all models.
func FaultModels() []FaultModel {
	var all []FaultModel
	for m := FaultRead; int(m) < len(faultNames); m++ {
		all = append(all, m)
	}
	return all
}

// String returns the name of the model, as commands and files have it.
func (m FaultModel) String() string {
	if m.Valid() {
		return faultNames[m]
	}
	return "model " + strconv.Itoa(int(m))
}

// Valid reports whether there is such a model.
func (m FaultModel) Valid() bool { return m > 0 && int(m) < len(faultNames) }

// ParseFaultModel is the inverse of String.
func ParseFaultModel(s string) (FaultModel, error) {
	for _, m := range FaultModels() {
		if m.String() == s {
			return m, nil
		}
	}
	var names []string
	for _, m := range FaultModels() {
		names = append(names, m.String())
	}
	return 0, fmt.Errorf("there is no fault model %q: use %s", s, strings.Join(names, ", "))
}

// FaultRecord returns a fault as a file has it, nil for none.
func FaultRecord(f *Fault) *tracepb.Fault {
	if f == nil {
		return nil
	}
	return &tracepb.Fault{Model: uint32(f.Model), Thread: f.Thread, Site: uint64(f.Site), Index: f.Index, Amount: f.Amount, Event: uint64(f.Event)}
}

// FaultOf is the inverse of FaultRecord. The model need not be valid.
func FaultOf(p *tracepb.Fault) *Fault {
	if p == nil {
		return nil
	}
	return &Fault{Model: FaultModel(p.Model), Thread: p.Thread, Site: Site(p.Site), Index: p.Index, Amount: p.Amount, Event: int(min(p.Event, math.MaxInt32))}
}
