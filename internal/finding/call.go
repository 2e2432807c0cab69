package finding

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Call returns the name of the function or statement that performs op and may block:
// `sem_wait`, `a mutex lock`, `sync.Mutex.Lock`, `a channel receive`.
func Call(op trace.Op) string {
	return cmp.Or(ops.Of(op).Call, op.String())
}

// neverReturn reports that threads stay in their calls: `T1 never returns from sem_wait`.
func neverReturn(waits []trace.Waiter) string {
	if len(waits) == 0 {
		return "no thread is enabled"
	}
	verb := "return"
	if len(waits) == 1 {
		verb = "returns"
	}
	call := Call(waits[0].Op)
	if slices.ContainsFunc(waits, func(w trace.Waiter) bool { return Call(w.Op) != call }) {
		return fmt.Sprintf("%s never %s", threads(waits, true), verb)
	}
	return fmt.Sprintf("%s never %s from %s", threads(waits, false), verb, call)
}
