package engine

import "fmt"

// UnsupportedError says that the program does something that heddle cannot carry. It is
// not a finding.
type UnsupportedError struct {
	What  string // named by the target
	Where string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("heddle cannot run this program: it uses %s, at %s", e.What, e.Where)
}

// OtherProgramError says that a trace was recorded of another build than the target is.
type OtherProgramError struct{ Recorded, Now string }

func (e *OtherProgramError) Error() string {
	return fmt.Sprintf("the trace was recorded of build %s and this is build %s; use the program it was recorded of, or record the bug again", e.Recorded, e.Now)
}
