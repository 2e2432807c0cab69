package finding

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Call returns the name of the function or statement that performs op and may block:
// `sem_wait`, `a mutex lock`, `sync.Mutex.Lock`, `a channel receive`.
func Call(op trace.Op) string {
	return cmp.Or(ops.Of(op).Call, op.String())
}

// callees are the functions of C that perform an operation, where there are several.
var callees = map[trace.Op][]string{
	trace.OpFdPoll:       {"poll", "select", "epoll_wait", "ppoll", "pselect", "epoll_pwait", "epoll_pwait2", "__poll_chk", "__ppoll_chk"},
	trace.OpSignalResume: {"pause", "sigsuspend"},
}

// Called returns the name of what the program called in order to perform the operation in which a thread waits:
// `std::latch::wait`, `epoll_wait`. It is empty if that is not known, or if the operation says as much. calls are the callers
// of the site, innermost first.
func Called(op trace.Op, site trace.Site, calls []trace.Site, locate Locate) string {
	if names := callees[op]; names != nil {
		if l := locate(site); l.Callee != nil {
			return strings.TrimSuffix(strings.TrimPrefix(l.Callee(names), "__"), "_chk")
		}
		return ""
	}
	if ops.Of(op).Of != ops.Futex {
		return ""
	}
	return entered(site, calls, locate)
}

// waiting matches functions of the C++ library whose purpose is to wait.
var waiting = regexp.MustCompile(`^std::.*::(wait|wait_for|wait_until|acquire|try_acquire_for|try_acquire_until|arrive_and_wait)$`)

// Waits returns the function of the C++ library in whose loop a thread looks at something again and again, such as
// `std::latch::wait`; empty if the loop is the program's. The arguments are as for Called.
func Waits(site trace.Site, calls []trace.Site, locate Locate) string {
	if name := entered(site, calls, locate); waiting.MatchString(name) {
		return name
	}
	return ""
}

// entered returns the function of the C or C++ library that the program called and in which the site is; empty if that is not known,
// or if the site is in the program's own code.
func entered(site trace.Site, calls []trace.Site, locate Locate) string {
	last := ""
	for _, s := range append([]trace.Site{site}, calls...) {
		if s == 0 {
			continue
		}
		l := locate(s)
		switch {
		case l.Text == "":
			return ""
		case l.isLibrary():
			last = cmp.Or(l.Entered, l.Func)
			continue
		}
		name := written.Replace(cmp.Or(l.Entered, last))
		if strings.Contains(name, "::_M_") || strings.Contains(name, "::_S_") { // a private function of libstdc++
			return ""
		}
		return name
	}
	return ""
}

// written makes names of the C++ library those that programs use.
var written = strings.NewReplacer("std::__atomic_base<", "std::atomic<", "<std::__empty_completion>", "<>")

// Named returns the message of the finding, in which the calls that do not return have the names that Called knows. stacks
// are as for Key.
func (f Finding) Named(stacks [][]trace.Site, locate Locate) string {
	if len(f.stuck) == 0 {
		return f.Message
	}
	return neverReturn(f.stuck, func(w trace.Waiter) string {
		var calls []trace.Site
		if int(w.Stack) < len(stacks) {
			calls = stacks[w.Stack]
		}
		return cmp.Or(Called(w.Op, w.Site, calls, locate), Call(w.Op))
	}) + f.tail
}

// neverReturn reports that threads stay in their calls: `T1 never returns from sem_wait`.
func neverReturn(waits []trace.Waiter, call func(trace.Waiter) string) string {
	if len(waits) == 0 {
		return "no thread is enabled"
	}
	verb := "return"
	if len(waits) == 1 {
		verb = "returns"
	}
	first := call(waits[0])
	if slices.ContainsFunc(waits, func(w trace.Waiter) bool { return call(w) != first }) {
		return fmt.Sprintf("%s never %s", threads(waits, call), verb)
	}
	return fmt.Sprintf("%s never %s from %s", threads(waits, nil), verb, first)
}

// performed is the name of the call in which a thread waits, as far as its operation tells.
func performed(w trace.Waiter) string { return Call(w.Op) }
