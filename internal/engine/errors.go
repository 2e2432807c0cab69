package engine

import "fmt"

// UnsupportedError reports that the program uses something that heddle does not support. It is not
// a finding.
type UnsupportedError struct {
	What  string // named by the target
	Where string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("heddle cannot run this program: it uses %s, at %s", e.What, e.Where)
}

// OtherProgramError reports that a trace was recorded with a different build of the program.
type OtherProgramError struct{ Recorded, Now string }

func (e *OtherProgramError) Error() string {
	return fmt.Sprintf("the trace was recorded of build %s and this is build %s; use the program it was recorded of, record the bug again, or check a change by heddle replay --changed", e.Recorded, e.Now)
}
