package trace

import (
	"errors"
	"fmt"
)

// Why a trace could not be read, for errors.Is. The errors that readers return say it
// in one sentence, with the place and what to do.
var (
	// ErrNotTrace: the file does not begin like a trace.
	ErrNotTrace = errors.New("not a heddle trace")
	// ErrVersion: the file has another format version; see VersionError.
	ErrVersion = errors.New("other trace format version")
	// ErrIncomplete: the file ends before its end record. Its writer was stopped, is
	// still at work, or the file was cut.
	ErrIncomplete = errors.New("incomplete trace")
	// ErrDamaged: the bytes are not what a writer wrote.
	ErrDamaged = errors.New("damaged trace")
	// ErrChecksum: the records can be read but are not those that were written. It is
	// a kind of ErrDamaged.
	ErrChecksum = fmt.Errorf("%w: checksum mismatch", ErrDamaged)
	// ErrLimit: a length in the file, or the memory the trace asks for, is beyond what
	// the reader accepts.
	ErrLimit = errors.New("trace beyond the limits")
	// ErrPoints: the trace was recorded under another meaning of scheduling points; see
	// PointsError.
	ErrPoints = errors.New("other scheduling points version")
	// ErrBusy: a trace cannot be written under a name because another process is doing so.
	ErrBusy = errors.New("another heddle is writing this trace")
)

// ReadError explains why a trace could not be read to its end.
type ReadError struct {
	Name   string // of the file, empty for a stream
	Reason error  // ErrNotTrace, ErrIncomplete, ErrDamaged, ErrChecksum or ErrLimit; nil if reading failed
	Events int    // events that were read before
	Record int    // number of the record at fault, from 1; 0 if it is not in a record
	Detail string // what is wrong, and what to do
	Err    error  // the lower layer's error, may be nil
}

func (e *ReadError) Error() string {
	s := e.Detail
	if e.Name != "" {
		s = e.Name + ": " + s
	}
	return s
}

func (e *ReadError) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Reason, e.Err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// VersionError reports that a trace file has a format version that this heddle does not
// read. It is an ErrVersion.
type VersionError struct {
	Name string // of the file, empty for a stream
	Got  uint32 // the file's version
	Want uint32 // FormatVersion
}

func (e *VersionError) Error() string {
	name := e.Name
	if name == "" {
		name = "the trace"
	}
	if e.Got > e.Want {
		return fmt.Sprintf("%s: trace format %d is newer than format %d, which this heddle reads: use the heddle that wrote it, or a newer one", name, e.Got, e.Want)
	}
	return fmt.Sprintf("%s: trace format %d is older than format %d, which this heddle reads: use the heddle that wrote it, or record the trace again", name, e.Got, e.Want)
}

func (e *VersionError) Is(target error) bool { return target == ErrVersion }

// PointsError reports that a trace was recorded under another meaning of scheduling points,
// so that its schedule cannot be followed. It is an ErrPoints.
type PointsError struct {
	Heddle    string // version of heddle that wrote the trace, may be empty
	Got, Want int
}

func (e *PointsError) Error() string {
	by := "the heddle that recorded it"
	if e.Heddle != "" {
		by = "heddle " + e.Heddle + ", which recorded it"
	}
	return fmt.Sprintf("the trace was recorded with scheduling points version %d, this heddle has version %d, so its schedule cannot be followed: use %s, or find the bug again", e.Got, e.Want, by)
}

func (e *PointsError) Is(target error) bool { return target == ErrPoints }

// CheckPoints returns a *PointsError unless a trace with header h can be followed by a
// heddle whose scheduling points have version want (schedule.PointsVersion). Reading and
// showing a trace does not need it; replaying it does.
func CheckPoints(h Header, want int) error {
	if h.PointsVersion == want {
		return nil
	}
	return &PointsError{Heddle: h.Heddle, Got: h.PointsVersion, Want: want}
}
