//go:build heddle

package testing

import (
	"fmt"
	"unsafe"
)

//go:linkname hdTestBegin runtime.hdTestBegin
func hdTestBegin(fn uintptr)

//go:linkname hdTestEnd runtime.hdTestEnd
func hdTestEnd()

//go:linkname hdExploring runtime.hdExploring
func hdExploring() bool

//go:linkname hdTestFail runtime.hdTestFail
func hdTestFail(message string)

// heddleBegin begins an execution: fn, of any function type, is about to be called. Only top-level
// tests begin one.
func heddleBegin[F any](level int, fn F) {
	if level == 1 {
		hdTestBegin(**(**uintptr)(unsafe.Pointer(&fn)))
	}
}

// heddleEnd ends the execution, after the test and its clean-ups.
func heddleEnd(level int) {
	if level == 1 {
		hdTestEnd()
	}
}

func heddleError(args []any) { hdTestFail(fmt.Sprintln(args...)) }

func heddleErrorf(format string, args []any) { hdTestFail(fmt.Sprintf(format, args...)) }

// heddleAgain begins an execution of an example. It reports whether one is requested.
func heddleAgain(fn func()) bool {
	if !hdExploring() {
		return false
	}
	heddleBegin(1, fn)
	return true
}
