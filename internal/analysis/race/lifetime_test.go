package race

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Operations that begin or end the lifetime of an object race with its uses, unless what POSIX allows orders
// them. Each operation is its own instruction.
func TestLifetimes(t *testing.T) {
	const m, c, s, b, x = trace.Object(0x1000), trace.Object(0x2000), trace.Object(0x3000), trace.Object(0x4000), trace.Object(0x5000)
	on := func(thread trace.ThreadID, op trace.Op, o trace.Object) trace.Event {
		return trace.Event{Thread: thread, Op: op, Object: o}
	}
	fd := func(thread trace.ThreadID, op trace.Op, n uint64, result int32) trace.Event {
		return trace.Event{Thread: thread, Op: op, Object: trace.Object(n) << 8, Aux: n, Result: result}
	}
	wait := func(thread trace.ThreadID, op trace.Op) trace.Event {
		return trace.Event{Thread: thread, Op: op, Object: c, Aux: uint64(m)}
	}
	create := func(n trace.ThreadID) trace.Event {
		return trace.Event{Op: trace.OpThreadCreate, Value: uint64(n)}
	}
	both := []trace.Event{create(1), create(2)}
	for _, test := range []struct {
		name   string
		events []trace.Event
		want   []string // pairs of operations
	}{
		{"the last user destroys", []trace.Event{
			on(1, trace.OpMutexLock, m), on(1, trace.OpMutexUnlock, m), on(2, trace.OpMutexLock, m), on(2, trace.OpMutexUnlock, m), on(2, trace.OpMutexDestroy, m),
			{Thread: 2, Op: trace.OpFree, Object: m, Size: 40}}, nil},
		{"another may still unlock", []trace.Event{on(1, trace.OpMutexLock, m), on(1, trace.OpMutexUnlock, m), on(2, trace.OpMutexDestroy, m)},
			[]string{"mutex destroy, lock", "mutex destroy, unlock"}},
		{"destroyed after a join", []trace.Event{on(1, trace.OpMutexLock, m), on(1, trace.OpMutexUnlock, m), on(1, trace.OpThreadEnd, 0),
			{Thread: 0, Op: trace.OpThreadJoin, Value: 1}, on(0, trace.OpMutexDestroy, m)}, nil},
		{"a failed destroy", []trace.Event{on(1, trace.OpMutexLock, m), {Thread: 2, Op: trace.OpMutexDestroy, Object: m, Result: 16}}, nil},
		{"used before it is known to be initialised", []trace.Event{on(1, trace.OpMutexInit, m), on(1, trace.OpMutexLock, m), on(1, trace.OpMutexUnlock, m), on(2, trace.OpMutexLock, m)},
			[]string{"mutex init, lock"}},
		{"freed in use", []trace.Event{on(1, trace.OpMutexUnlock, m), {Thread: 2, Op: trace.OpFree, Object: m, Size: 40}}, []string{"unlock, free"}},
		{"overwritten in use", []trace.Event{on(1, trace.OpMutexUnlock, m), {Thread: 2, Op: trace.OpWrite, Object: m, Size: 8}}, []string{"unlock, write"}},
		{"copied in use", []trace.Event{on(1, trace.OpMutexUnlock, m), {Thread: 2, Op: trace.OpRead, Object: m, Size: 8}}, nil},
		{"signalled under the lock", []trace.Event{
			on(2, trace.OpMutexLock, m), wait(2, trace.OpCondWait), on(1, trace.OpMutexLock, m), {Thread: 1, Op: trace.OpCondSignal, Object: c, Value: 3},
			on(1, trace.OpMutexUnlock, m), wait(2, trace.OpCondWake), on(2, trace.OpCondDestroy, c)}, nil},
		{"signalled after the lock", []trace.Event{
			on(1, trace.OpMutexLock, m), on(1, trace.OpMutexUnlock, m), on(1, trace.OpCondSignal, c), on(2, trace.OpMutexLock, m), on(2, trace.OpMutexUnlock, m), on(2, trace.OpCondDestroy, c)},
			[]string{"cond destroy, cond signal"}},
		{"destroyed when the waiters are woken", []trace.Event{
			on(2, trace.OpMutexLock, m), wait(2, trace.OpCondWait), on(1, trace.OpMutexLock, m), {Thread: 1, Op: trace.OpCondBroadcast, Object: c, Value: 1},
			on(1, trace.OpMutexUnlock, m), on(1, trace.OpCondDestroy, c), wait(2, trace.OpCondWake)}, nil},
		{"a posted semaphore", []trace.Event{on(1, trace.OpSemPost, s), on(2, trace.OpSemWait, s), on(2, trace.OpSemDestroy, s)}, nil},
		{"a semaphore posted twice", []trace.Event{on(1, trace.OpSemPost, s), on(2, trace.OpSemWait, s), on(1, trace.OpSemPost, s), on(2, trace.OpSemDestroy, s)}, []string{"sem destroy, sem post"}},
		{"all have arrived", []trace.Event{
			{Thread: 0, Op: trace.OpBarrierInit, Object: b, Value: 2}, create(3), {Thread: 1, Op: trace.OpBarrierWait, Object: b, Value: 1}, {Thread: 3, Op: trace.OpBarrierWait, Object: b, Value: 2},
			on(3, trace.OpBarrierLeave, b), on(3, trace.OpBarrierDestroy, b), on(1, trace.OpBarrierLeave, b)}, []string{"barrier init, barrier wait"}}, // thread 1 began before the init
		{"closed in use", []trace.Event{fd(1, trace.OpFdWrite, 4, 0), fd(2, trace.OpFdClose, 4, 0)}, []string{"fd write, fd close"}},
		{"used after the close", []trace.Event{fd(2, trace.OpFdClose, 4, 0), fd(1, trace.OpFdWrite, 4, ops.NotOpen)}, []string{"fd write, fd close"}},
		{"closed twice", []trace.Event{fd(2, trace.OpFdClose, 4, 0), fd(1, trace.OpFdClose, 4, ops.NotOpen)}, []string{"fd close, fd close"}},
		{"never open", []trace.Event{fd(2, trace.OpFdWrite, 4, ops.NotOpen), fd(1, trace.OpFdClose, 4, 0)}, nil},
		{"another descriptor", []trace.Event{fd(1, trace.OpFdWrite, 4, 0), fd(2, trace.OpFdClose, 5, 0)}, nil},
		{"no descriptor", []trace.Event{fd(1, trace.OpFdCtl, 1<<32-1, 0), fd(2, trace.OpFdClose, 1<<32-1, 0)}, nil},
		{"a number opened again", []trace.Event{fd(1, trace.OpFdWrite, 4, 0), fd(1, trace.OpFdClose, 4, 0), fd(2, trace.OpFdOpen, 4, 0), fd(2, trace.OpFdClose, 4, 0)}, nil},
		{"a number in use again", []trace.Event{fd(1, trace.OpFdWrite, 4, 0), fd(1, trace.OpFdClose, 4, 0), fd(2, trace.OpFdWrite, 4, 0), fd(2, trace.OpFdClose, 4, 0)}, nil},
		{"a number closed again", []trace.Event{fd(1, trace.OpFdWrite, 4, 0), fd(1, trace.OpFdClose, 4, 0), fd(2, trace.OpFdClose, 4, 0)}, nil},
		{"cancelled", []trace.Event{fd(1, trace.OpFdRead, 4, ops.Cancelled), fd(2, trace.OpFdClose, 4, 0)}, nil},
		{"shut down", []trace.Event{fd(1, trace.OpFdRead, 4, 0), fd(2, trace.OpFdShutdown, 4, 0)}, nil},
		{"a thread's first event acquires", []trace.Event{{Op: trace.OpWrite, Object: x, Size: 4}, on(0, trace.OpMutexInit, m), create(3), on(3, trace.OpMutexLock, m), on(3, trace.OpWrite, x)}, nil},
	} {
		events := append(slices.Clone(both), test.events...)
		for i := range events {
			events[i].Site = trace.MakeSite(0, uint64(i+1))
		}
		var got []string
		for _, r := range Check(&trace.Trace{Threads: make([]trace.Thread, 4), Events: events}) {
			ops := []string{r.Pair[0].Op.String(), r.Pair[1].Op.String()}
			if r.Pair[0].Op > r.Pair[1].Op {
				slices.Reverse(ops)
			}
			got = append(got, fmt.Sprintf("%s, %s", ops[0], ops[1]))
			if r.Size != 0 || r.Witness[0].Size != 0 {
				t.Errorf("%s: size %d", test.name, r.Size)
			}
		}
		if slices.Sort(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: races %q, want %q", test.name, got, test.want)
		}
	}
}
