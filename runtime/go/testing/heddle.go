//go:build heddle

package testing

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"unsafe"
)

//go:linkname hdTestBegin runtime.hdTestBegin
func hdTestBegin(fn uintptr)

//go:linkname hdTestEnd runtime.hdTestEnd
func hdTestEnd(skipped bool)

//go:linkname hdExploring runtime.hdExploring
func hdExploring() bool

//go:linkname heddleCover runtime.hdCoverLoad
func heddleCover()

//go:linkname hdTestFail runtime.hdTestFail
func hdTestFail(message string)

// heddleBegin begins an execution: fn, of any function type, is about to be called. Only top-level
// tests begin one.
func heddleBegin[F any](level int, fn F) {
	if level == 1 {
		heddleBegun = hdExploring()
		hdTestBegin(**(**uintptr)(unsafe.Pointer(&fn)))
	}
}

// heddleBegun is set when a controller has had a test begun: whether it counts as run or not, it runs again.
var heddleBegun bool

// heddleEnded is set when a top-level test has ended that the function of its root waited for.
var heddleEnded bool

// heddleEnd ends the execution, after the test and its clean-ups.
func heddleEnd(c *common, parallel bool) {
	if c.level == 1 {
		hdTestEnd(c.skipped)
		heddleEnded = hdExploring() && !parallel
	}
}

// heddleRepeats reports whether root, which has just run a test, runs it again for the next
// execution. A test that calls t.Parallel continues after root's function and is not run again here.
// What root does for each of its tests otherwise, such as matching all names, is done once.
func heddleRepeats(root *T, name string) bool {
	again := heddleEnded
	if heddleEnded = false; again {
		root.tstate.match.clearSubNames()
		heddleName = name
	}
	return again
}

// heddleCount returns how often the tests run: for a controller, until it ends the process. The flag
// -test.count keeps the user's value, which tests read.
func heddleCount() *uint {
	if !hdExploring() {
		return count
	}
	var n uint = 1 << 62
	return &n
}

// heddleParallel returns how many tests run in parallel if -test.parallel is not given, which tests
// notice: for a controller, the same number on every machine.
func heddleParallel() *int {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	n, err := strconv.Atoi(os.Getenv("HEDDLE_PARALLEL"))
	if given || err != nil || !hdExploring() {
		return parallel
	}
	return &n
}

// heddleName is the test that runs again, which has been matched.
var heddleName string

// heddleRepeated reports whether the test that a root runs has been matched.
func heddleRepeated(c *common, name string) bool {
	return heddleName == name && name != "" && c != nil && c.level == 0
}

// heddleReports reports whether the result of a test must be formatted.
func heddleReports(c *common) bool {
	return !hdExploring() || c.level > 1 || c.chatty != nil || c.Failed()
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
