package trace

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/heddle-dev/heddle/trace/tracepb"
)

// Explanation is why the execution fails, as found by executions with the same program. Its content has its own version: package
// internal/report reads and writes it.
type Explanation struct {
	Version int    // form of Data
	Heddle  string // version of heddle that found it
	BuildID string // of the program that it executed, as in Header.BuildID
	// Execution is a digest of the events and the ending that it is about. Other events have no explanation; see
	// Trace.Explained.
	Execution uint64
	Data      []byte
}

// maxExplanation is the largest Explanation.Data, in bytes, that is written: it is part of the record of the ending.
const maxExplanation = 1 << 20

// SetExplanation makes e the explanation of the trace as it is now.
func (t *Trace) SetExplanation(e Explanation) {
	e.Execution = t.digest()
	t.Explanation = &e
}

// Explained returns the explanation of the trace, nil if it has none or if that is of another execution: who changes the events
// need not remove it. Only what Explained returns is written.
func (t *Trace) Explained() *Explanation {
	if e := t.Explanation; e != nil && len(e.Data) <= maxExplanation && e.Execution == t.digest() {
		return e
	}
	return nil
}

// digest is the same for traces with the same events and ending.
func (t *Trace) digest() uint64 {
	h := fnv.New64a()
	var b [48]byte
	le := binary.LittleEndian
	for i := range t.Events {
		e := &t.Events[i]
		le.PutUint32(b[0:], uint32(e.Thread))
		le.PutUint32(b[4:], uint32(e.Op))
		le.PutUint64(b[8:], uint64(e.Site))
		le.PutUint64(b[16:], uint64(e.Object))
		le.PutUint64(b[24:], e.Aux)
		le.PutUint64(b[32:], e.Value)
		le.PutUint32(b[40:], uint32(e.Flags))
		le.PutUint32(b[44:], uint32(e.Result))
		h.Write(b[:])
	}
	end := &t.Ending
	le.PutUint32(b[0:], uint32(end.Kind))
	le.PutUint32(b[4:], uint32(end.Thread))
	le.PutUint64(b[8:], uint64(end.Site))
	le.PutUint64(b[16:], uint64(len(t.Events)))
	h.Write(b[:24])
	h.Write([]byte(end.Message))
	return h.Sum64()
}

func explanationRecord(e *Explanation) *tracepb.Explanation {
	if e == nil {
		return nil
	}
	return &tracepb.Explanation{Version: uint32(e.Version), Heddle: []byte(e.Heddle), BuildId: []byte(e.BuildID), Execution: e.Execution, Data: e.Data}
}

func explanationOf(p *tracepb.Explanation) *Explanation {
	if p == nil {
		return nil
	}
	return &Explanation{Version: int(p.Version), Heddle: string(p.Heddle), BuildID: string(p.BuildId), Execution: p.Execution, Data: p.Data}
}
