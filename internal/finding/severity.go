package finding

import "github.com/heddle-dev/heddle/trace"

// Severity orders kinds of failures, the worst first: crashes, which end the program; executions that
// do not end; failures that the program itself reports; data races, which a search reports if it finds
// nothing worse; leaked goroutines. Kinds in one of these groups are equal. Outcomes that are not
// failures come last.
func Severity(k trace.Kind) int {
	switch k {
	case trace.Assertion, trace.Signal, trace.Misuse, trace.Exception, trace.Panic, trace.Fatal:
		return 0
	case trace.Deadlock:
		return 1
	case trace.Hang, trace.Livelock:
		return 2
	case trace.Test, trace.Exit, trace.WrongOutput:
		return 3
	case trace.Race:
		return 4
	case trace.Leak:
		return 5
	}
	return 6
}
