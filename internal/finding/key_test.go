package finding

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// at names site n of the program as line n of x.c, and of the library as line n of lib.h.
func at(s trace.Site) Location {
	if s.Module() == 1 {
		return Location{Text: fmt.Sprintf("lock lib.h:%d", s.Offset()), Func: "lock", Place: fmt.Sprintf("lib.h:%d", s.Offset()), Library: true}
	}
	return Location{Text: fmt.Sprintf("f x.c:%d", s.Offset()), Func: "f", Place: fmt.Sprintf("x.c:%d", s.Offset())}
}

func keyOf(t *testing.T, e trace.Ending, stacks [][]trace.Site) string {
	t.Helper()
	key, certain := Of(e, nil).Key(stacks, at)
	if !certain || !IsKey(key) {
		t.Errorf("%v: key %q, certain %v", e.Kind, key, certain)
	}
	return key
}

func site(n uint64) trace.Site { return trace.MakeSite(0, n) }

// Keys are equal where the findings are the same, and differ where they are not.
func TestKey(t *testing.T) {
	deadlock := func(threads []trace.ThreadID, sites ...uint64) trace.Ending {
		e := trace.Ending{Kind: trace.Deadlock, Cycle: threads}
		for i, s := range sites {
			e.Waiters = append(e.Waiters, trace.Waiter{Thread: threads[i], Op: trace.OpMutexLock, Site: site(s)})
		}
		return e
	}
	assertion := func(line uint64, text string) trace.Ending {
		return trace.Ending{Kind: trace.Assertion, Site: site(line), Message: text}
	}
	for _, test := range []struct {
		a, b trace.Ending
		same bool
	}{
		{deadlock([]trace.ThreadID{1, 2}, 7, 9), deadlock([]trace.ThreadID{4, 3}, 9, 7), true},
		{deadlock([]trace.ThreadID{1, 2}, 7, 9), deadlock([]trace.ThreadID{1, 2}, 7, 8), false},
		{deadlock([]trace.ThreadID{1, 2}, 7, 7), deadlock([]trace.ThreadID{1}, 7), false},
		{assertion(5, "assertion `x' failed at x.c:5 in f"), assertion(5, "assertion `x' failed at /src/x.c:5 in int f(void)"), true},
		{assertion(5, "assertion `x' failed at x.c:5 in f"), assertion(5, "assertion `y' failed at x.c:5 in f"), false},
		{assertion(5, "assertion `x' failed at x.c:5 in f"), assertion(6, "assertion `x' failed at x.c:6 in f"), false},
		{assertion(5, "assertion failed: pid 7 at x.c:5 in f"), assertion(5, "assertion failed: pid 89 at /src/x.c:5 in int f(void)"), true},
		{assertion(5, "assertion failed: pid 7 at x.c:5 in f"), assertion(6, "assertion failed: pid 7 at x.c:6 in f"), false},
		{assertion(5, "assertion `n == 7' failed at x.c:5 in f"), assertion(5, "assertion `n == 8' failed at x.c:5 in f"), false},
		{trace.Ending{Kind: trace.Signal, Status: 11, Site: site(5)}, trace.Ending{Kind: trace.Signal, Status: 6, Site: site(5)}, false},
		{trace.Ending{Kind: trace.Hang, Site: site(5)}, trace.Ending{Kind: trace.Hang, Site: site(6)}, true},
		{trace.Ending{Kind: trace.Exit, Status: 1}, trace.Ending{Kind: trace.Exit, Status: 2}, false},
		{trace.Ending{Kind: trace.Panic, Site: site(3), Message: "panic: index 5"}, trace.Ending{Kind: trace.Panic, Site: site(3), Message: "panic: index 7"}, true},
		{trace.Ending{Kind: trace.Race, Accesses: []trace.Access{{Site: site(1)}, {Site: site(2)}}}, trace.Ending{Kind: trace.Race, Accesses: []trace.Access{{Site: site(2)}, {Site: site(1)}}}, true},
		{trace.Ending{Kind: trace.Race, Accesses: []trace.Access{{Site: site(1)}, {Site: site(2)}}}, trace.Ending{Kind: trace.Race, Accesses: []trace.Access{{Site: site(1)}, {Site: site(3)}}}, false},
	} {
		if a, b := keyOf(t, test.a, nil), keyOf(t, test.b, nil); (a == b) != test.same {
			t.Errorf("%+v: %s\n%+v: %s\nwant the same: %v", test.a, a, test.b, b, test.same)
		}
	}
	if key := keyOf(t, deadlock([]trace.ThreadID{2, 1, 3}, 9, 7, 8), nil); !strings.HasPrefix(key, "deadlock@x.c:7,x.c:8,+1#") {
		t.Error(key)
	}
}

// A thread that waits in a function of the library waits where the program called it; without its
// callers, the key is not certain.
func TestKeyInLibrary(t *testing.T) {
	e := trace.Ending{Kind: trace.Deadlock, Cycle: []trace.ThreadID{1}, Waiters: []trace.Waiter{
		{Thread: 1, Op: trace.OpMutexLock, Site: trace.MakeSite(1, 100), Stack: 1},
	}}
	if _, certain := Of(e, nil).Key(nil, at); certain {
		t.Error("the caller is not known, and the key is certain")
	}
	one := [][]trace.Site{nil, {trace.MakeSite(1, 200), site(5)}}
	two := [][]trace.Site{nil, {trace.MakeSite(1, 200), site(6)}}
	if a, b := keyOf(t, e, one), keyOf(t, e, two); a == b || !strings.HasPrefix(a, "deadlock@x.c:5#") {
		t.Errorf("%s, %s", a, b)
	}
	if l := Of(e, nil).Place(one, at); l.Text != "f x.c:5" {
		t.Errorf("place %+v", l)
	}
}

func TestIsKey(t *testing.T) {
	for s, want := range map[string]bool{
		"deadlock@queue.c:41,queue.c:57#1a2b3c4d": true, "hang#00000000": true, "data-race@x.c:1,x.c:2#01234567": true,
		"deadlock@queue.c:41": false, "deadlock#1a2b3c4": false, "clean#00000000": false, "unsupported@x#00000000": false,
		"deadlock@a b#1a2b3c4d": false, "": false, " hang#00000000": false,
	} {
		if IsKey(s) != want {
			t.Errorf("IsKey(%q) = %v", s, !want)
		}
	}
}

// What is shown of a place in a library of the system's is where the program calls it, if that is known. The key does not
// depend on that: the callers are known only of a recorded execution.
func TestPlaceInSystemLibrary(t *testing.T) {
	locate := func(s trace.Site) Location {
		if s.Module() == 2 {
			return Location{Text: "join+0x17", Func: "join", Place: "join+0x17", System: true}
		}
		return at(s)
	}
	join := trace.MakeSite(2, 0x17)
	end := trace.Ending{Kind: trace.Deadlock, Site: join, Cycle: []trace.ThreadID{1}, Waiters: []trace.Waiter{{Thread: 1, Op: trace.OpThreadJoin, Site: join, Stack: 1}}}
	f := Of(end, nil)
	recorded := [][]trace.Site{nil, {trace.MakeSite(2, 9), trace.MakeSite(1, 4), site(7), site(8)}}
	for _, test := range []struct {
		stacks [][]trace.Site
		place  string
	}{{nil, "join+0x17"}, {recorded, "f x.c:7"}} {
		if got := f.Place(test.stacks, locate).Text; got != test.place {
			t.Errorf("place with stacks %v: %q, want %q", test.stacks, got, test.place)
		}
		key, certain := f.Key(test.stacks, locate)
		if !strings.HasPrefix(key, "deadlock@join+0x17#") || !certain {
			t.Errorf("key with stacks %v: %q, %v", test.stacks, key, certain)
		}
	}
	if got := Caller(join, recorded[1], locate).Text; got != "f x.c:7" {
		t.Errorf("caller: %q", got)
	}
}

// A function of libstdc++ of which no source line is known has no offset in a key, and its caller in the program comes before it.
func TestKeyWithoutOffset(t *testing.T) {
	offset := ""
	at := func(s trace.Site) Location {
		if s.Module() == 1 {
			return Location{Text: "std::f" + offset, Func: "std::f", Place: "std::f" + offset}
		}
		return at(s)
	}
	e := trace.Ending{Kind: trace.Deadlock, Waiters: []trace.Waiter{{Thread: 1, Op: trace.OpFutexWakeup, Site: trace.MakeSite(1, 100), Stack: 1}}}
	var keys [2]string
	for i := range keys {
		offset = fmt.Sprintf("+0x%d", i+1)
		key, certain := Of(e, nil).Key([][]trace.Site{nil, nil}, at)
		if !certain || !strings.HasPrefix(key, "deadlock@std::f#") {
			t.Errorf("key %q, certain %v", key, certain)
		}
		keys[i] = key
	}
	if keys[0] != keys[1] {
		t.Errorf("keys differ: %v", keys)
	}
	if _, certain := Of(e, nil).Key(nil, at); certain {
		t.Error("the execution was not recorded, and the key is certain")
	}
	if key, _ := Of(e, nil).Key([][]trace.Site{nil, {site(5)}}, at); !strings.HasPrefix(key, "deadlock@x.c:5#") {
		t.Error(key)
	}
}

// A wait has the name of what the program called.
func TestNamed(t *testing.T) {
	lib := func(n uint64) trace.Site { return trace.MakeSite(1, n) }
	entered := map[trace.Site]string{}
	at := func(s trace.Site) Location {
		l := at(s)
		l.Entered = entered[s]
		l.Callee = func(names []string) string {
			if s == site(7) {
				return "__poll_chk"
			}
			return ""
		}
		return l
	}
	for _, test := range []struct {
		name  string
		op    trace.Op
		site  trace.Site
		calls []trace.Site
		in    map[trace.Site]string
		want  string
	}{
		{"inlined", trace.OpFutexWakeup, site(5), nil, map[trace.Site]string{site(5): "std::latch::wait"}, "std::latch::wait"},
		{"not inlined", trace.OpFutexWakeup, lib(1), []trace.Site{lib(2), site(5)}, map[trace.Site]string{lib(1): "std::f", lib(2): "std::latch::wait"}, "std::latch::wait"},
		{"of a base class", trace.OpFutexWakeup, site(5), nil, map[trace.Site]string{site(5): "std::__atomic_base<int>::wait"}, "std::atomic<int>::wait"},
		{"private", trace.OpFutexWakeup, site(5), nil, map[trace.Site]string{site(5): "std::f::_M_wait"}, "a futex wait"},
		{"no caller", trace.OpFutexWakeup, lib(1), nil, map[trace.Site]string{lib(1): "std::f"}, "a futex wait"},
		{"the program's own", trace.OpFutexWakeup, site(5), nil, nil, "a futex wait"},
		{"of C", trace.OpFdPoll, site(7), nil, nil, "poll"},
		{"through a pointer", trace.OpFdPoll, site(8), nil, nil, "a wait for descriptors"},
		{"a lock", trace.OpMutexLock, site(5), nil, map[trace.Site]string{site(5): "std::mutex::lock"}, "a mutex lock"},
	} {
		entered = test.in
		e := trace.Ending{Kind: trace.Deadlock, Waiters: []trace.Waiter{{Thread: 1, Op: test.op, Site: test.site, Stack: 1}}}
		if got := Of(e, nil).Named([][]trace.Site{nil, test.calls}, at); got != "T1 never returns from "+test.want {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}
