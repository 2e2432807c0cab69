package finding

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// calls are the functions that threads block in, as programs name them. Operations not listed have
// the name they have in a trace.
var calls = map[trace.Op]string{
	trace.OpThreadJoin: "pthread_join", trace.OpThreadStart: "its start",
	trace.OpMutexLock: "pthread_mutex_lock", trace.OpMutexTimedlock: "pthread_mutex_timedlock",
	trace.OpCondWait: "pthread_cond_wait", trace.OpCondWake: "pthread_cond_wait",
	trace.OpSemWait: "sem_wait", trace.OpSemTimedwait: "sem_timedwait",
	trace.OpBarrierWait: "pthread_barrier_wait", trace.OpBarrierLeave: "pthread_barrier_wait",
	trace.OpOnceBegin:    "pthread_once",
	trace.OpRwlockRdlock: "pthread_rwlock_rdlock", trace.OpRwlockWrlock: "pthread_rwlock_wrlock", trace.OpRwlockQueue: "pthread_rwlock_wrlock",
	trace.OpRwlockTimedrdlock: "pthread_rwlock_timedrdlock", trace.OpRwlockTimedwrlock: "pthread_rwlock_timedwrlock",
	trace.OpSpinLock:  "pthread_spin_lock",
	trace.OpFutexWait: "a futex wait", trace.OpFutexWakeup: "a futex wait",
	trace.OpSignalWait: "sigwait", trace.OpSignalResume: "sigsuspend", trace.OpSignalSuspend: "sigsuspend",
	trace.OpFdRead: "read", trace.OpFdWrite: "write", trace.OpFdPoll: "poll", trace.OpFdConnect: "connect", trace.OpFdAccept: "accept",
	trace.OpProcessWait: "waiting for a child process",

	trace.OpChanSend: "a channel send", trace.OpChanRecv: "a channel receive",
	trace.OpGmutexLock: "sync.Mutex.Lock", trace.OpRwRlock: "sync.RWMutex.RLock", trace.OpRwLock: "sync.RWMutex.Lock",
	trace.OpWgWait: "sync.WaitGroup.Wait", trace.OpGcondWait: "sync.Cond.Wait", trace.OpOnceDo: "sync.Once.Do",
	trace.OpOutside: "a system call",
}

// Call returns the name that programs use for the function that performs op and may block:
// `pthread_cond_wait`, `sync.Mutex.Lock`, `a channel receive`.
func Call(op trace.Op) string {
	if name := calls[op]; name != "" {
		return name
	}
	return op.String()
}

// neverReturn reports that threads stay in their calls: `T1 never returns from sem_wait`.
func neverReturn(waits []trace.Waiter) string {
	if len(waits) == 0 {
		return "no thread can go on"
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
