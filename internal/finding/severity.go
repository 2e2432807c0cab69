package finding

import "github.com/heddle-dev/heddle/trace"

// Severity orders kinds of failures, the worst first: crashes, which end the program; data
// races, which may do anything; executions that do not end; what the program itself calls a
// failure; goroutines that are left. Within one of these groups kinds are equal. What is not
// a failure comes last.
func Severity(k trace.Kind) int {
	switch k {
	case trace.Assertion, trace.Signal, trace.Misuse, trace.Exception, trace.Panic, trace.Fatal:
		return 0
	case trace.Race:
		return 1
	case trace.Deadlock:
		return 2
	case trace.Hang:
		return 3
	case trace.Test, trace.Exit:
		return 4
	case trace.Leak:
		return 5
	}
	return 6
}
