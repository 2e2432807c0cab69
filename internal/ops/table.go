package ops

import "github.com/heddle-dev/heddle/trace"

// table has a row per operation. The operation table in runtime/include/heddle_abi.h defines the
// fields of its events.
var table = [...]Spec{
	// Threads.
	{Op: trace.OpNone, Does: None},
	{Op: trace.OpThreadStart, Does: Start, Of: Thread, Words: Words{Call: "its start", Tells: TellStart}},
	{Op: trace.OpThreadEnd, Does: Finish, Of: Thread, Words: Words{Tells: TellVerb}},
	{Op: trace.OpThreadCreate, Does: Create, Of: Thread, Value: ThreadNumber, Noticed: true, Words: Words{Verb: "create", Tells: TellThread}},
	{Op: trace.OpThreadCreated, Does: None, Of: Thread, Value: ThreadNumber, Words: Words{Verb: "return from creating", Tells: TellTarget}},
	{Op: trace.OpThreadJoin, Does: Join, Of: Thread, Blocks: UntilEnded, Value: ThreadNumber, Noticed: true, Words: Words{Call: "a thread join", Verb: "join", Tells: TellThread}},
	{Op: trace.OpThreadDetach, Does: None, Of: Thread, Value: ThreadNumber, Noticed: true, Words: Words{Verb: "detach", Tells: TellTarget}},
	{Op: trace.OpThreadExit, Does: Exit, Of: Thread, Words: Words{Tells: TellVerb}},
	{Op: trace.OpCancel, Does: Cancel, Of: Thread, Value: ThreadNumber, Words: Words{Verb: "cancel", Tells: TellTarget}},
	{Op: trace.OpCancelTest, Does: None, Of: Thread, Words: Words{Verb: "test for cancellation", Tells: TellLater}},
	{Op: trace.OpYield, Does: None, Words: Words{Tells: TellYield}},
	{Op: trace.OpSleep, Does: None, Blocks: UntilTime, Words: Words{Tells: TellSleep, Waits: "sleeps"}},

	// The end of the execution.
	{Op: trace.OpProcessExit, Does: Stop, Of: Execution, Noticed: true, Words: Words{Tells: TellStatus}},
	{Op: trace.OpAbort, Does: Stop, Of: Execution, Noticed: true, Words: Words{Tells: TellVerb}},
	{Op: trace.OpSignal, Does: Stop, Of: Execution, Noticed: true, Words: Words{Tells: TellCrash}},

	// Memory.
	{Op: trace.OpRead, Does: Read, Of: Memory, Words: Words{Tells: TellRead}},
	{Op: trace.OpReadRange, Does: Read, Of: Memory, Words: Words{Tells: TellRead}},
	{Op: trace.OpWrite, Does: Write, Of: Memory, Words: Words{Tells: TellWrite}},
	{Op: trace.OpWriteRange, Does: Write, Of: Memory, Words: Words{Tells: TellWrite}},
	{Op: trace.OpAtomicLoad, Does: AtomicRead, Of: Memory, Words: Words{Tells: TellAtomicRead}},
	{Op: trace.OpAtomicStore, Does: AtomicWrite, Of: Memory, Ok: Any, Words: Words{Tells: TellAtomicWrite}},
	{Op: trace.OpAtomicRmw, Does: Exchange, Of: Memory, Ok: Any, Words: Words{Tells: TellExchange}},
	{Op: trace.OpAtomicCas, Does: Compare, Of: Memory, Ok: One, Words: Words{Tells: TellCompare}},
	{Op: trace.OpAtomicFence, Does: Fence, Of: Memory, Words: Words{Tells: TellFence}},
	{Op: trace.OpMalloc, Does: Allocate, Of: Block, Words: Words{Tells: TellAllocation}},
	{Op: trace.OpFree, Does: Free, Of: Block, Words: Words{Tells: TellObject}},

	// Functions.
	{Op: trace.OpFunctionEntry, Does: None, Ok: Any, Words: Words{Verb: "enter", Tells: TellCall}},
	{Op: trace.OpFunctionExit, Does: None, Ok: Any, Words: Words{Verb: "leave", Tells: TellCall}},

	{Op: trace.OpState, Does: None, Ok: Any, Words: Words{Tells: TellVerb}},
	{Op: trace.OpWord, Does: None, Ok: Any, Words: Words{Tells: TellVerb}},

	// Mutexes and spin locks.
	{Op: trace.OpMutexInit, Does: Init, Of: Mutex},
	{Op: trace.OpMutexDestroy, Does: Destroy, Of: Mutex},
	{Op: trace.OpMutexLock, Does: Acquire, Of: Mutex, Blocks: UntilFree, Ok: Locked, Words: Words{Call: "a mutex lock", Tells: TellFailure}},
	{Op: trace.OpMutexTrylock, Does: Acquire, Of: Mutex, Ok: Locked, Words: Words{Tells: TellFailure}},
	{Op: trace.OpMutexTimedlock, Does: Acquire, Of: Mutex, Blocks: UntilFree, Ok: Locked, Deadline: true, Words: Words{Call: "a timed mutex lock", Tells: TellFailure}},
	{Op: trace.OpMutexUnlock, Does: Release, Of: Mutex, Words: Words{Tells: TellFailure}},
	{Op: trace.OpMutexAbandon, Does: Abandon, Of: Mutex, Ok: Any, Words: Words{Verb: "leave", Tells: TellAbandon}},
	{Op: trace.OpMutexConsistent, Does: Alter, Of: Mutex, Words: Words{Tells: TellFailure}},
	{Op: trace.OpSpinInit, Does: Init, Of: Mutex},
	{Op: trace.OpSpinDestroy, Does: Destroy, Of: Mutex},
	{Op: trace.OpSpinLock, Does: Acquire, Of: Mutex, Blocks: UntilFree, Ok: Locked, Words: Words{Call: "pthread_spin_lock"}},
	{Op: trace.OpSpinTrylock, Does: Acquire, Of: Mutex, Ok: Locked, Words: Words{Tells: TellFailure}},
	{Op: trace.OpSpinUnlock, Does: Release, Of: Mutex},

	// Locks and critical sections of OpenMP.
	{Op: trace.OpOmpLockInit, Does: Init, Of: Mutex},
	{Op: trace.OpOmpLockDestroy, Does: Destroy, Of: Mutex},
	{Op: trace.OpOmpLock, Does: Acquire, Of: Mutex, Blocks: UntilFree, Ok: Locked, Words: Words{Call: "an OpenMP lock", Tells: TellFailure}},
	{Op: trace.OpOmpTestLock, Does: Acquire, Of: Mutex, Ok: Locked, Words: Words{Tells: TellFailure}},
	{Op: trace.OpOmpUnlock, Does: Release, Of: Mutex},

	// Reader-writer locks.
	{Op: trace.OpRwlockInit, Does: Init, Of: RWLock},
	{Op: trace.OpRwlockDestroy, Does: Destroy, Of: RWLock},
	{Op: trace.OpRwlockRdlock, Does: AcquireShared, Of: RWLock, Blocks: UntilReadable, Words: Words{Call: "a read lock", Tells: TellFailure}},
	{Op: trace.OpRwlockTryrdlock, Does: AcquireShared, Of: RWLock, Words: Words{Tells: TellFailure}},
	{Op: trace.OpRwlockTimedrdlock, Does: AcquireShared, Of: RWLock, Blocks: UntilReadable, Deadline: true, Words: Words{Call: "a timed read lock", Tells: TellFailure}},
	{Op: trace.OpRwlockWrlock, Does: Acquire, Of: RWLock, Blocks: UntilFree, Words: Words{Call: "a write lock", Tells: TellFailure}},
	{Op: trace.OpRwlockTrywrlock, Does: Acquire, Of: RWLock, Words: Words{Tells: TellFailure}},
	{Op: trace.OpRwlockTimedwrlock, Does: Acquire, Of: RWLock, Blocks: UntilFree, Deadline: true, Words: Words{Call: "a timed write lock", Tells: TellFailure}},
	{Op: trace.OpRwlockQueue, Does: Announce, Of: RWLock, Words: Words{Call: "a write lock", Verb: "queue to write", Tells: TellObject}},
	{Op: trace.OpRwlockUnlock, Does: Release, Of: RWLock, Words: Words{Tells: TellFailure}},

	// Once.
	{Op: trace.OpOnceBegin, Does: Begin, Of: Once, Blocks: UntilDone, Words: Words{Call: "a once initialisation", Tells: TellOnce}},
	{Op: trace.OpOnceEnd, Does: Release, Of: Once},

	// Conditions.
	{Op: trace.OpCondInit, Does: Init, Of: Condition},
	{Op: trace.OpCondDestroy, Does: Destroy, Of: Condition},
	{Op: trace.OpCondWait, Does: Wait, Of: Condition, Aux: ObjectName, Words: Words{Call: "a condition wait", Tells: TellUnlocks}},
	{Op: trace.OpCondWake, Does: Resume, Of: Condition, Blocks: UntilReacquired, Ok: Relocked, Aux: ObjectName, Words: Words{Call: "a condition wait", Tells: TellLocks}},
	{Op: trace.OpCondTimeout, Does: Leave, Of: Condition, Blocks: UntilTime, Aux: ObjectName, Words: Words{Tells: TellObject, Waits: "waits in pthread_cond_wait on %s"}},
	{Op: trace.OpSpuriousWake, Does: Leave, Of: Condition, Blocks: UntilTime, Spontaneous: true, Words: Words{Tells: TellObject, Waits: "waits on %s"}},
	{Op: trace.OpCondSignal, Does: WakeOne, Of: Condition, Value: ThreadPlusOne, Words: Words{Tells: TellWoken}},
	{Op: trace.OpCondBroadcast, Does: WakeAll, Of: Condition, Words: Words{Tells: TellWakes}},

	// Futexes.
	{Op: trace.OpFutexWait, Does: Wait, Of: Futex, Words: Words{Call: "a futex wait", Tells: TellFailure, Waits: "waits on futex %s"}},
	{Op: trace.OpFutexWakeup, Does: Resume, Of: Futex, Blocks: UntilWoken, Words: Words{Call: "a futex wait", Tells: TellFailure, Waits: "waits on futex %s"}},
	{Op: trace.OpFutexWake, Does: WakeSome, Of: Futex, Aux: ThreadPlusOne, Words: Words{Tells: TellWakes}},

	// Semaphores.
	{Op: trace.OpSemInit, Does: Init, Of: Semaphore, Words: Words{Tells: TellCount}},
	{Op: trace.OpSemDestroy, Does: Destroy, Of: Semaphore},
	{Op: trace.OpSemWait, Does: Down, Of: Semaphore, Blocks: UntilPositive, Words: Words{Call: "sem_wait", Tells: TellCount, Waits: "waits in sem_wait on %s"}},
	{Op: trace.OpSemTrywait, Does: Down, Of: Semaphore, Words: Words{Tells: TellCount}},
	{Op: trace.OpSemTimedwait, Does: Down, Of: Semaphore, Blocks: UntilPositive, Deadline: true, Words: Words{Call: "sem_timedwait", Tells: TellCount, Waits: "waits in sem_wait on %s"}},
	{Op: trace.OpSemPost, Does: Up, Of: Semaphore, Words: Words{Tells: TellCount}},
	{Op: trace.OpSemGetvalue, Does: Inspect, Of: Semaphore, Words: Words{Tells: TellCount}},
	// The object does not identify the semaphore that a name opened.
	{Op: trace.OpSemOpen, Does: Opaque, Of: Semaphore, Words: Words{Tells: TellFailure}},
	{Op: trace.OpSemClose, Does: Opaque, Of: Semaphore, Words: Words{Tells: TellFailure}},
	{Op: trace.OpSemUnlink, Does: Opaque, Of: Semaphore, Words: Words{Tells: TellFailure}},

	// Barriers.
	{Op: trace.OpBarrierInit, Does: Init, Of: Barrier, Words: Words{Tells: TellValue}},
	{Op: trace.OpBarrierDestroy, Does: Destroy, Of: Barrier},
	{Op: trace.OpBarrierWait, Does: Arrive, Of: Barrier, Ok: Any, Words: Words{Call: "pthread_barrier_wait", Tells: TellArrivals, Waits: "waits in pthread_barrier_wait at %s"}},
	{Op: trace.OpBarrierLeave, Does: Depart, Of: Barrier, Blocks: UntilWoken, Ok: Any, Words: Words{Call: "pthread_barrier_wait", Waits: "waits in pthread_barrier_wait at %s"}},

	// Signals.
	{Op: trace.OpSignalSend, Does: Send, Of: Signal, Aux: ThreadPlusOne, Spontaneous: true, Noticed: true, Words: Words{Tells: TellSend}},
	{Op: trace.OpSignalWait, Does: Take, Of: Signal, Blocks: UntilSignal, Spontaneous: true, Words: Words{Call: "sigwait", Tells: TellReceived, Waits: "waits for a signal"}},
	{Op: trace.OpSignalDeliver, Does: Take, Of: Signal, Blocks: UntilDelivery, Ok: Any, Aux: ThreadPlusOne, Spontaneous: true, Noticed: true, Words: Words{Tells: TellDelivery, Waits: "waits, and takes a signal"}},
	{Op: trace.OpSignalInterrupt, Does: Take, Of: Signal, Blocks: UntilDelivery, Ok: Any, Aux: ThreadPlusOne, Spontaneous: true, Noticed: true, Words: Words{Tells: TellDelivery, Waits: "waits, and takes a signal"}},
	{Op: trace.OpSignalReturn, Does: Return, Of: Signal, Noticed: true, Words: Words{Tells: TellSignal}},
	{Op: trace.OpSignalSuspend, Does: Alter, Of: Signal, Spontaneous: true, Words: Words{Call: "a wait for a signal", Tells: TellMask}},
	{Op: trace.OpSignalResume, Does: Alter, Of: Signal, Blocks: UntilHandled, Words: Words{Call: "a wait for a signal", Tells: TellMask, Waits: "waits for a signal"}},
	{Op: trace.OpSignalMask, Does: Alter, Of: Signal, Words: Words{Tells: TellSignals}},
	{Op: trace.OpSignalAction, Does: Alter, Of: Signal, Spontaneous: true, Words: Words{Tells: TellSignal}},
	{Op: trace.OpSignalPending, Does: Alter, Of: Signal, Words: Words{Tells: TellSignals}},

	// Timers of C programs.
	{Op: trace.OpTimerSet, Does: Arm, Of: Timer, Aux: ThreadPlusOne, Spontaneous: true, Noticed: true, Words: Words{Tells: TellArm}},
	{Op: trace.OpTimerExpire, Does: Expire, Of: Timer, Blocks: UntilTime, Aux: ThreadPlusOne, Spontaneous: true, Noticed: true, Words: Words{Tells: TellExpiry, Waits: "waits for its time"}},
	{Op: trace.OpTimerDelete, Does: Alter, Of: Timer, Aux: ThreadPlusOne, Spontaneous: true, Noticed: true, Words: Words{Tells: TellTimer}},

	// Descriptors.
	{Op: trace.OpFdOpen, Does: Open, Of: Descriptor, Words: Words{Verb: "open", Tells: TellDescriptor}},
	{Op: trace.OpFdRead, Does: Receive, Of: Descriptor, Blocks: UntilInput, Words: Words{Call: "read", Verb: "read", Tells: TellDescriptor, Waits: "waits to read from %s"}},
	{Op: trace.OpFdWrite, Does: Transmit, Of: Descriptor, Blocks: UntilReady, Ok: Started, Words: Words{Call: "write", Verb: "write", Tells: TellDescriptor, Waits: "waits for room in %s"}},
	{Op: trace.OpFdPoll, Does: Poll, Of: Descriptor, Blocks: UntilReady, Words: Words{Call: "a wait for descriptors", Verb: "poll", Tells: TellDescriptor, Waits: "polls, and nothing is ready"}},
	{Op: trace.OpFdClose, Does: Close, Of: Descriptor, Ok: Started, Words: Words{Verb: "close", Tells: TellDescriptor}},
	{Op: trace.OpFdShutdown, Does: Close, Of: Descriptor, Ok: Started, Words: Words{Verb: "shutdown", Tells: TellDescriptor}},
	{Op: trace.OpFdListen, Does: Control, Of: Descriptor, Ok: Started, Words: Words{Verb: "listen", Tells: TellDescriptor}},
	{Op: trace.OpFdConnect, Does: Connect, Of: Descriptor, Blocks: UntilReady, Ok: Started, Words: Words{Call: "connect", Verb: "connect", Tells: TellDescriptor, Waits: "waits to be let in by %s"}},
	{Op: trace.OpFdAccept, Does: Accept, Of: Descriptor, Blocks: UntilInput, Words: Words{Call: "accept", Verb: "accept", Tells: TellDescriptor, Waits: "waits for a connection to %s"}},
	{Op: trace.OpFdCtl, Does: Control, Of: Descriptor, Ok: Started, Words: Words{Verb: "control", Tells: TellDescriptor}},

	// Child processes.
	{Op: trace.OpProcessStart, Does: Opaque, Of: Process, Spontaneous: true},
	{Op: trace.OpProcessWait, Does: Opaque, Of: Process, Spontaneous: true, Words: Words{Call: "waiting for a child process"}},
	{Op: trace.OpProcessSignal, Does: Opaque, Of: Process, Spontaneous: true},

	// Goroutines.
	{Op: trace.OpGo, Does: Create, Of: Thread, Value: ThreadNumber, Noticed: true, Words: Words{Tells: TellGo}},
	{Op: trace.OpGosched, Does: None, Words: Words{Tells: TellVerb}},
	{Op: trace.OpResume, Does: Continue, Of: Thread, Blocks: UntilResumed, Noticed: true, Words: Words{Tells: TellResume}},
	{Op: trace.OpCoroSwitch, Does: Switch, Of: Thread, Value: ThreadNumber, Noticed: true, Words: Words{Verb: "switch to", Tells: TellSwitch}},
	{Op: trace.OpGsleep, Does: Sleep, Words: Words{Tells: TellNap, Waits: "sleeps"}},
	{Op: trace.OpExternal, Does: Opaque, Spontaneous: true, Noticed: true, Words: Words{Call: "a system call", Tells: TellVerb, Waits: "waits for the outside world"}},
	{Op: trace.OpPark, Does: None, Words: Words{Call: "Go's runtime", Tells: TellVerb, Waits: "waits in Go's runtime"}},

	// Channels.
	{Op: trace.OpChanSend, Does: Communicate, Of: Channel, Words: Words{Call: "a channel send", Tells: TellAttempt}},
	{Op: trace.OpChanRecv, Does: Communicate, Of: Channel, Words: Words{Call: "a channel receive", Tells: TellAttempt}},
	{Op: trace.OpChanClose, Does: Communicate, Of: Channel, Words: Words{Tells: TellObject}},
	{Op: trace.OpSelect, Does: Select, Of: Channel, Noticed: true, Words: Words{Tells: TellSelect}},
	{Op: trace.OpSelectCase, Does: Selected, Of: Channel, Words: Words{Tells: TellObject}},

	// Package sync.
	{Op: trace.OpGmutexLock, Does: Acquire, Of: Mutex, Blocks: UntilFree, Words: Words{Call: "sync.Mutex.Lock", Tells: TellObject}},
	{Op: trace.OpGmutexTrylock, Does: Acquire, Of: Mutex, Words: Words{Tells: TellObject}},
	{Op: trace.OpGmutexUnlock, Does: Release, Of: Mutex, Words: Words{Tells: TellObject}},
	{Op: trace.OpRwRlock, Does: AcquireShared, Of: RWLock, Blocks: UntilReadable, Words: Words{Call: "sync.RWMutex.RLock", Tells: TellObject}},
	{Op: trace.OpRwTryrlock, Does: AcquireShared, Of: RWLock, Words: Words{Tells: TellObject}},
	{Op: trace.OpRwRunlock, Does: ReleaseShared, Of: RWLock, Words: Words{Tells: TellObject}},
	{Op: trace.OpRwLock, Does: Acquire, Of: RWLock, Blocks: UntilFree, Words: Words{Call: "sync.RWMutex.Lock", Tells: TellObject}},
	{Op: trace.OpRwTrylock, Does: Acquire, Of: RWLock, Words: Words{Tells: TellObject}},
	{Op: trace.OpRwUnlock, Does: Release, Of: RWLock, Words: Words{Tells: TellObject}},
	{Op: trace.OpWgAdd, Does: Count, Of: WaitGroup, Words: Words{Tells: TellDelta}},
	{Op: trace.OpWgWait, Does: Wait, Of: WaitGroup, Words: Words{Call: "sync.WaitGroup.Wait", Tells: TellObject}},
	{Op: trace.OpGcondWait, Does: Wait, Of: Condition, Words: Words{Call: "sync.Cond.Wait", Tells: TellObject}},
	{Op: trace.OpGcondSignal, Does: WakeOne, Of: Condition, Words: Words{Tells: TellObject}},
	{Op: trace.OpGcondBroadcast, Does: WakeAll, Of: Condition, Words: Words{Tells: TellObject}},
	{Op: trace.OpOnceDo, Does: Begin, Of: Once, Words: Words{Call: "sync.Once.Do", Tells: TellObject}},
	{Op: trace.OpPoolGet, Does: Alter, Of: Pool, Words: Words{Tells: TellObject}},
	{Op: trace.OpPoolPut, Does: Alter, Of: Pool, Words: Words{Tells: TellObject}},
	{Op: trace.OpSyncMap, Does: Alter, Of: Pool, Words: Words{Tells: TellObject}},

	// Timers of Go programs.
	{Op: trace.OpTimerStop, Does: Arm, Of: Timer, Words: Words{Tells: TellObject}},
	{Op: trace.OpTimerReset, Does: Arm, Of: Timer, Spontaneous: true, Words: Words{Tells: TellWhen}},
	{Op: trace.OpTimerFire, Does: Opaque, Of: Timer, Blocks: UntilTime, Noticed: true, Words: Words{Tells: TellWhen}},

	// Events of Go's race detector.
	{Op: trace.OpAcquire, Does: Observe, Of: SyncVar, Words: Words{Tells: TellObject}},
	{Op: trace.OpRelease, Does: Publish, Of: SyncVar, Words: Words{Tells: TellObject}},
	{Op: trace.OpReleaseMerge, Does: Merge, Of: SyncVar, Words: Words{Tells: TellObject}},
	{Op: trace.OpReleaseAcquire, Does: Renew, Of: SyncVar, Words: Words{Tells: TellObject}},

	// Tests.
	{Op: trace.OpTestEnd, Does: Opaque, Of: Test, Words: Words{Tells: TellVerb}},
	{Op: trace.OpTestFail, Does: Fail, Of: Test, Noticed: true, Words: Words{Tells: TellVerb}},
}
