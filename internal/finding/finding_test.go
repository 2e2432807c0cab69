package finding

import (
	"reflect"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

var modules = []trace.Module{{Path: "/bin/prog", Program: true}, {Path: "/lib/libc.so.6"}, {Path: "/lib/libm.so.6"}}

func prog(offset uint64) trace.Site { return trace.MakeSite(0, offset) }
func libc(offset uint64) trace.Site { return trace.MakeSite(1, offset) }

func waits(thread trace.ThreadID, op trace.Op, site trace.Site) trace.Waiter {
	return trace.Waiter{Thread: thread, Op: op, Site: site, Holder: -1}
}

func cycle(waiters ...trace.Waiter) trace.Ending {
	e := trace.Ending{Kind: trace.Deadlock, Waiters: waiters}
	for _, w := range waiters {
		e.Cycle = append(e.Cycle, w.Thread)
	}
	return e
}

func stuck(waiters ...trace.Waiter) trace.Ending {
	return trace.Ending{Kind: trace.Deadlock, Waiters: waiters}
}

func failed(kind trace.Kind, status int32, message string, site trace.Site, stack ...trace.Site) trace.Ending {
	return trace.Ending{Kind: kind, Status: status, Message: message, Site: site, Stack: stack}
}

func leak(site trace.Site, waiters ...trace.Waiter) trace.Ending {
	return trace.Ending{Kind: trace.Leak, Site: site, Waiters: waiters}
}

func raced(t trace.ThreadID, a trace.Site, u trace.ThreadID, b trace.Site) trace.Ending {
	return trace.Ending{Kind: trace.Race, Thread: u, Site: b, Message: "data race: write at f, read at g", Accesses: []trace.Access{
		{Thread: t, Op: trace.OpWrite, Site: a}, {Thread: u, Op: trace.OpRead, Site: b}}}
}

func with(e trace.Ending, change func(*trace.Ending)) trace.Ending { change(&e); return e }

// same reports whether two executions failed by the same bug.
func same(a, b trace.Ending, modules []trace.Module) bool { return Of(a, modules).Same(Of(b, modules)) }

func TestSame(t *testing.T) {
	const lock, join, wake = trace.OpMutexLock, trace.OpThreadJoin, trace.OpCondWake
	assertion := failed(trace.Assertion, 0, "x == 2", prog(0x10), prog(0x20))
	segv := failed(trace.Signal, 11, "", prog(0x10), prog(0x20))
	inLibrary := failed(trace.Signal, 11, "", libc(0x100), libc(0x200), prog(0x20), prog(0x30))
	tests := []struct {
		name string
		a, b trace.Ending
		same bool
	}{
		{"assertion", assertion, assertion, true},
		{"assertion in another thread, with other output and waiters", assertion, with(assertion, func(e *trace.Ending) {
			e.Thread, e.Output, e.Waiters = 4, []byte("x"), []trace.Waiter{waits(1, lock, prog(1))}
		}), true},
		{"assertion reached by another way", assertion, failed(trace.Assertion, 0, "x == 2", prog(0x10), prog(0x90)), true},
		{"other assertion", assertion, failed(trace.Assertion, 0, "x == 3", prog(0x10)), false},
		{"same text elsewhere", assertion, failed(trace.Assertion, 0, "x == 2", prog(0x14)), false},
		{"assertion and signal", assertion, segv, false},
		{"assertion that prints a pointer", failed(trace.Assertion, 0, "bad node 0x7f001234", prog(1)), failed(trace.Assertion, 0, "bad node 0x7fff0010", prog(1)), true},

		{"made text, another port", failed(trace.Assertion, 0, "assertion failed: port 4711 is taken at x.c:5 in f", prog(1)), failed(trace.Assertion, 0, "assertion failed: port 80 is taken at x.c:5 in f", prog(1)), true},
		{"made text, another UUID", failed(trace.Assertion, 0, "assertion failed: lost 25c5c5a7-10ab-4cde at x.c:5 in f", prog(1)), failed(trace.Assertion, 0, "assertion failed: lost f03b9898-ffff-0000 at x.c:5 in f", prog(1)), true},
		{"made text, other words", failed(trace.Assertion, 0, "assertion failed: port 4711 is taken at x.c:5 in f", prog(1)), failed(trace.Assertion, 0, "assertion failed: port 4711 is closed at x.c:5 in f", prog(1)), false},
		{"made text, another site", failed(trace.Assertion, 0, "assertion failed: port 4711 is taken at x.c:5 in f", prog(1)), failed(trace.Assertion, 0, "assertion failed: port 4711 is taken at x.c:5 in f", prog(2)), false},
		{"made text, another line of one call", failed(trace.Assertion, 0, "assertion failed: port 4711 is taken at x.c:5 in f", prog(1)), failed(trace.Assertion, 0, "assertion failed: port 4711 is taken at x.c:6 in f", prog(1)), false},
		{"made text and an expression", failed(trace.Assertion, 0, "assertion failed: port 4711 is taken at x.c:5 in f", prog(1)), failed(trace.Assertion, 0, "assertion `port' failed at x.c:5 in f", prog(1)), false},
		{"one line, another kind", failed(trace.Assertion, 0, "assertion failed: port 4711 is taken at x.c:5 in f", prog(1)), failed(trace.Misuse, 0, "assertion failed: port 4711 is taken at x.c:5 in f", prog(1)), false},
		{"expressions with other numbers", failed(trace.Assertion, 0, "assertion `n == 2' failed at x.c:5 in f", prog(1)), failed(trace.Assertion, 0, "assertion `n == 3' failed at x.c:5 in f", prog(1)), false},
		{"panic with another UUID", failed(trace.Panic, 0, "session 25c5c5a7-10ab is gone", prog(1)), failed(trace.Panic, 0, "session f03b9898-ffff is gone", prog(1)), true},
		{"panic with another word", failed(trace.Panic, 0, "session deadbeef is gone", prog(1)), failed(trace.Panic, 0, "session cafecafe is gone", prog(1)), false},
		{"panic with an identifier without digits", failed(trace.Panic, 0, "session ddfbabdb is gone", prog(1)), failed(trace.Panic, 0, "session 05c805bd is gone", prog(1)), true},

		{"signal", segv, segv, true},
		{"signal at another address", segv, with(segv, func(e *trace.Ending) { e.Object = trace.MakeObject(trace.RegionHeap, 0, 3) }), true},
		{"other signal", segv, failed(trace.Signal, 7, "", prog(0x10)), false},
		{"other instruction", segv, failed(trace.Signal, 11, "", prog(0x14)), false},
		{"library, other instruction, same call", inLibrary, failed(trace.Signal, 11, "", libc(0x180), prog(0x20)), true},
		{"library, same instruction, other call", inLibrary, failed(trace.Signal, 11, "", libc(0x100), libc(0x200), prog(0x28)), false},
		{"library, one without a stack", inLibrary, failed(trace.Signal, 11, "", libc(0x100)), true},
		{"library, other instruction, one without a stack", inLibrary, failed(trace.Signal, 11, "", libc(0x104)), false},
		{"jump to nowhere", failed(trace.Signal, 11, "", 0, prog(0x20)), failed(trace.Signal, 11, "", 0, prog(0x28)), false},

		{"misuse of another lock by another thread", failed(trace.Misuse, 0, "unlock of lock 0x5500 by T1, held by thread 2", prog(1)),
			failed(trace.Misuse, 0, "unlock of lock 0x55f0 by T3, held by thread 1", prog(1)), true},
		{"unlock of a mutex that another thread holds or none", failed(trace.Misuse, 0, "unlock of a mutex that another thread holds", prog(1)),
			failed(trace.Misuse, 0, "unlock of a mutex that is not held", prog(1)), true},
		{"unlock of something else", failed(trace.Misuse, 0, "unlock of a mutex that is not held", prog(1)),
			failed(trace.Misuse, 0, "unlock of a spin lock that is not held", prog(1)), false},
		{"other misuse", failed(trace.Misuse, 0, "unlock of a lock not held", prog(1)), failed(trace.Misuse, 0, "destroy of a locked mutex", prog(1)), false},
		{"misuse elsewhere", failed(trace.Misuse, 0, "unlock of a lock not held", prog(1)), failed(trace.Misuse, 0, "unlock of a lock not held", prog(2)), false},

		{"exception of the same type", failed(trace.Exception, 0, "std::out_of_range", libc(1)), failed(trace.Exception, 0, "std::out_of_range", prog(2)), true},
		{"exception of another type", failed(trace.Exception, 0, "std::out_of_range", libc(1)), failed(trace.Exception, 0, "std::bad_alloc", libc(1)), false},

		{"exit status", failed(trace.Exit, 3, "", prog(1)), failed(trace.Exit, 3, "", prog(2)), true},
		{"other exit status", failed(trace.Exit, 3, "", prog(1)), failed(trace.Exit, 4, "", prog(1)), false},

		{"cycle", cycle(waits(1, lock, prog(1)), waits(2, lock, prog(2))), cycle(waits(1, lock, prog(1)), waits(2, lock, prog(2))), true},
		{"cycle, roles changed", cycle(waits(1, lock, prog(1)), waits(2, lock, prog(2))), cycle(waits(1, lock, prog(2)), waits(2, lock, prog(1))), true},
		{"cycle, others wait too", cycle(waits(1, lock, prog(1)), waits(2, lock, prog(2))), with(cycle(waits(1, lock, prog(1)), waits(2, lock, prog(2))), func(e *trace.Ending) {
			e.Waiters = append(e.Waiters, waits(0, join, prog(9)), waits(3, lock, prog(1)))
		}), true},
		{"cycle of other locks", cycle(waits(1, lock, prog(1)), waits(2, lock, prog(2))), cycle(waits(1, lock, prog(1)), waits(2, lock, prog(3))), false},
		{"cycle of more at the same sites", cycle(waits(1, lock, prog(1)), waits(2, lock, prog(1))), cycle(waits(1, lock, prog(1)), waits(2, lock, prog(1)), waits(3, lock, prog(1))), false},
		{"cycle and none", cycle(waits(1, lock, prog(1))), stuck(waits(1, lock, prog(1))), false},

		{"lost signal, more of the pool waiting", stuck(waits(0, join, prog(9)), waits(1, wake, prog(1))),
			stuck(waits(0, join, prog(9)), waits(1, wake, prog(1)), waits(2, wake, prog(1)), waits(3, wake, prog(1))), true},
		{"lost signal, main already past the first join", stuck(waits(0, join, prog(9)), waits(1, wake, prog(1))),
			stuck(waits(0, join, prog(10)), waits(1, wake, prog(1))), true},
		{"another wait", stuck(waits(1, wake, prog(1))), stuck(waits(1, wake, prog(2))), false},
		{"another operation at the site", stuck(waits(1, wake, prog(1))), stuck(waits(1, lock, prog(1))), false},
		{"only joins", stuck(waits(0, join, prog(9))), stuck(waits(0, join, prog(9))), true},
		{"other joins", stuck(waits(0, join, prog(9))), stuck(waits(0, join, prog(8))), false},

		{"hang, cut off elsewhere", trace.Ending{Kind: trace.Hang, Waiters: []trace.Waiter{{Thread: 1, Site: prog(1), Ready: true}}},
			trace.Ending{Kind: trace.Hang, Waiters: []trace.Waiter{{Thread: 2, Site: prog(2), Ready: true}}}, true},
		{"hang and deadlock", trace.Ending{Kind: trace.Hang}, stuck(waits(1, wake, prog(1))), false},

		{"test, another value at one place", failed(trace.Test, 0, "got 3, want 4", prog(1)), failed(trace.Test, 0, "got abc, want 4", prog(1)), true},
		{"test, another error", failed(trace.Test, 0, "got 3, want 4", prog(1)), failed(trace.Test, 0, "got 3, want 4", prog(2)), false},
		{"test, nobody knows where", failed(trace.Test, 0, "got 3, want 4", 0), failed(trace.Test, 0, "got 5, want 4", 0), true},
		{"test, nobody knows where, another error", failed(trace.Test, 0, "got 3, want 4", 0), failed(trace.Test, 0, "it is not closed", 0), false},
		{"test and panic", failed(trace.Test, 0, "x", prog(1)), failed(trace.Panic, 0, "x", prog(1)), false},
		{"panic, other numbers", failed(trace.Panic, 0, "runtime error: index out of range [5] with length 3\n\ngoroutine 7", prog(1)),
			failed(trace.Panic, 0, "runtime error: index out of range [12] with length 4", prog(1)), true},
		{"panic of another class", failed(trace.Panic, 0, "send on closed channel", prog(1)), failed(trace.Panic, 0, "close of nil channel", prog(1)), false},
		{"panic elsewhere", failed(trace.Panic, 0, "send on closed channel", prog(1)), failed(trace.Panic, 0, "send on closed channel", prog(2)), false},
		{"fatal error", failed(trace.Fatal, 0, "concurrent map writes", prog(1)), failed(trace.Fatal, 0, "concurrent map writes", prog(1)), true},
		{"other fatal error", failed(trace.Fatal, 0, "concurrent map writes", prog(1)), failed(trace.Fatal, 0, "concurrent map read and map write", prog(1)), false},
		{"leak, more of them, noticed elsewhere", leak(prog(8), waits(2, trace.OpChanSend, prog(1))),
			leak(prog(9), waits(4, trace.OpChanSend, prog(1)), waits(3, trace.OpChanSend, prog(1))), true},
		{"leak of others too", leak(prog(8), waits(2, trace.OpChanSend, prog(1))), leak(prog(8), waits(2, trace.OpChanSend, prog(1)), waits(3, trace.OpSelect, prog(2))), false},
		{"leak and deadlock", leak(prog(8), waits(2, trace.OpChanSend, prog(1))), stuck(waits(2, trace.OpChanSend, prog(1))), false},
		{"race, the other way round", raced(1, prog(1), 2, prog(2)), raced(3, prog(2), 1, prog(1)), true},
		{"race with another access", raced(1, prog(1), 2, prog(2)), raced(1, prog(1), 2, prog(3)), false},
		{"race of two at one place, and with another", raced(1, prog(1), 2, prog(1)), raced(1, prog(1), 2, prog(2)), false},

		{"clean", trace.Ending{}, trace.Ending{}, false},
		{"unsupported", trace.Ending{Kind: trace.Unsupported}, trace.Ending{Kind: trace.Unsupported}, false},
		{"diverged", trace.Ending{Kind: trace.Diverged}, trace.Ending{Kind: trace.Diverged}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := same(test.a, test.b, modules); got != test.same {
				t.Errorf("Same = %v, want %v\n%+v\n%+v", got, test.same, Of(test.a, modules), Of(test.b, modules))
			}
			if got := same(test.b, test.a, modules); got != test.same {
				t.Errorf("not symmetric: Same(b, a) = %v, want %v", got, test.same)
			}
			if self := same(test.a, test.a, modules); self != test.a.Kind.Failed() {
				t.Errorf("Same(a, a) = %v", self)
			}
		})
	}
}

func TestOf(t *testing.T) {
	tests := []struct {
		ending  trace.Ending
		message string
		site    trace.Site
		threads []trace.ThreadID
	}{
		{with(failed(trace.Assertion, 0, "x == 2\nmore", prog(1)), func(e *trace.Ending) { e.Thread = 3 }), "x == 2", prog(1), []trace.ThreadID{3}},
		{failed(trace.Assertion, 0, "", libc(1), libc(5), prog(7)), "abort", prog(7), []trace.ThreadID{0}},
		{failed(trace.Signal, 11, "", prog(1)), "SIGSEGV", prog(1), []trace.ThreadID{0}},
		{failed(trace.Signal, 8, "", libc(1)), "SIGFPE", libc(1), []trace.ThreadID{0}},
		{failed(trace.Signal, 11, "use of a freed block", prog(1)), "SIGSEGV: use of a freed block", prog(1), []trace.ThreadID{0}},
		{failed(trace.Exit, 3, "", prog(1)), "exit status 3", prog(1), []trace.ThreadID{0}},
		{failed(trace.Exit, 3, "exit status 3, expected 0", prog(1)), "exit status 3, expected 0", prog(1), []trace.ThreadID{0}},
		{failed(trace.Exception, 0, "std::bad_alloc", 0), "uncaught exception: std::bad_alloc", 0, []trace.ThreadID{0}},
		{with(cycle(waits(1, trace.OpMutexLock, prog(1)), waits(2, trace.OpMutexLock, prog(2))), func(e *trace.Ending) {
			e.Waiters = append(e.Waiters, waits(0, trace.OpThreadJoin, prog(9)))
		}), "T1 (mutex lock) and T2 (mutex lock) wait for one another", prog(1), []trace.ThreadID{1, 2}},
		{cycle(waits(1, trace.OpMutexLock, prog(1))), "T1 (mutex lock) waits for itself", prog(1), []trace.ThreadID{1}},
		{stuck(waits(0, trace.OpThreadJoin, prog(9)), waits(1, trace.OpCondWake, prog(1))), "T1 never returns from a condition wait", prog(1), []trace.ThreadID{1}},
		{trace.Ending{Kind: trace.Hang, Waiters: []trace.Waiter{{Thread: 2, Ready: true}, {Thread: 1}}}, "the program does not end", 0, []trace.ThreadID{2}},
		{failed(trace.Test, 0, "got 3, want 4\nand more", prog(1)), "got 3, want 4", prog(1), []trace.ThreadID{0}},
		{failed(trace.Panic, 0, "panic: send on closed channel", prog(1)), "panic: send on closed channel", prog(1), []trace.ThreadID{0}},
		{failed(trace.Fatal, 0, "concurrent map writes", prog(1)), "fatal error: concurrent map writes", prog(1), []trace.ThreadID{0}},
		{leak(prog(8), waits(2, trace.OpChanSend, prog(1))), "T2 (channel send) was left, and nothing can wake it", prog(1), []trace.ThreadID{2}},
		{leak(prog(8), waits(2, trace.OpChanSend, prog(1)), waits(3, trace.OpSelect, prog(2))), "T2 (channel send) and T3 (select) were left, and nothing can wake them", prog(1), []trace.ThreadID{2, 3}},
		{raced(1, prog(1), 2, prog(2)), "data race: write at f, read at g", prog(2), []trace.ThreadID{1, 2}},
		{trace.Ending{Kind: trace.Clean, Message: "x"}, "", 0, nil},
	}
	for _, test := range tests {
		f := Of(test.ending, modules)
		if f.Message != test.message || f.Site != test.site || !reflect.DeepEqual(f.Threads, test.threads) {
			t.Errorf("Of(%v) = %q at %#x of %v, want %q at %#x of %v", test.ending, f.Message, f.Site, f.Threads, test.message, test.site, test.threads)
		}
	}
}

// TestWithoutProgramModule: where no module is marked as the program's, the failing
// instruction counts.
func TestWithoutProgramModule(t *testing.T) {
	e := failed(trace.Signal, 11, "", libc(1), prog(2))
	if f := Of(e, nil); f.Site != e.Site {
		t.Errorf("Site = %#x, want %#x", f.Site, e.Site)
	}
}
