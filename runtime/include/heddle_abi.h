// heddle_abi.h: the shared memory between heddle's controller (Go) and its runtime
// (C, inside the program under test). This is the only header both sides read;
// internal/abi/abi_gen.go is generated from its compiled form (make generate), and a
// test compares sizes and offsets.
//
// Each field states which side writes it and when the other side may read it.
//   [C] the controller writes, the runtime reads.   [R] the runtime writes, the controller reads.
//   Fields marked "set before start" never change after the program is launched.
//
// Any change of layout or meaning: raise HD_ABI_VERSION. Any change of *where* a
// scheduling point is, or of what a script entry is compared with: raise
// HD_POINTS_VERSION, because recorded schedules are only valid within one.
#ifndef HEDDLE_ABI_H
#define HEDDLE_ABI_H

#include <stdint.h>

#define HD_ABI_MAGIC 0x31424145544c4448ull /* "HDLTEAB1" */
enum {
  HD_ABI_VERSION = 26,
  HD_POINTS_VERSION = 12,
  HD_SHM_FD = 3,          // descriptor of the shared memory in the program's process
  HD_MAX_THREADS = 16384, // slots of an execution: threads that exist at the same time
  HD_MAX_MODULES = 256,
  HD_MAX_LATE = 256,      // modules loaded while the program runs
  HD_MODULE_PATH = 512,
  HD_BUILD_ID = 32,
  // Bytes of output kept from the beginning of an execution, and as many from its end.
  HD_OUTPUT_KEPT = 512 << 10,
  HD_MAX_OMITTED = 64,         // calls that can be omitted (--omit)
  HD_MAX_OMITTED_SITES = 4096, // return addresses of those calls
  // A call inside a function defined in a library's header. It is omitted if the call to that
  // function is omitted; the function's caller may be in a header too.
  HD_OMITTED_CALLER = HD_MAX_OMITTED,
  HD_MAX_RELAXED = 1024,       // atomics of hd_shm.relaxed, a power of two
  HD_MAX_TRIED = 32,           // ranges of lines in which a lock is tried (--try-lock)
  HD_MAX_TRIED_SITES = 16384,  // return addresses of the calls in functions with such lines
};

// The environment of a C or C++ program ends with padding variables; the first one's name starts
// with this (runtime/c/process/initial_stack.c). [C]
#define HD_PADDING "heddle-padding"

// ---------------------------------------------------------------- operations
//
// The operation table. HD_OP(NAME, number, "printed name", class).
// A class says what the operation means to an analysis and to the policies.
//   ACQ/REL   acquire, release of a lock     ACQREL  atomics, once, barrier
//   READ/WRITE plain memory                  FORK/JOIN thread creation and join
//   WAIT/POST condition, semaphore           NONE    orders nothing
enum hd_class {
  HD_CLASS_NONE, HD_CLASS_ACQ, HD_CLASS_REL, HD_CLASS_READ, HD_CLASS_WRITE,
  HD_CLASS_ALOAD, HD_CLASS_ASTORE, HD_CLASS_ARMW,
  HD_CLASS_FORK, HD_CLASS_JOIN, HD_CLASS_WAIT, HD_CLASS_POST, HD_CLASS_SYNC,
  HD_CLASS_END,
};

#define HD_OPS(HD_OP) \
  HD_OP(NONE,            0, "none",               NONE) \
  HD_OP(THREAD_START,    1, "start",              NONE)  /* first event of a thread; object = entry function */ \
  HD_OP(THREAD_END,      2, "end",                END)   /* last event of a thread */ \
  HD_OP(THREAD_CREATE,   3, "pthread_create",     FORK)  /* value = number of the new thread */ \
  HD_OP(THREAD_JOIN,     4, "pthread_join",       JOIN)  /* value = number of the joined thread; size = 0, 1 if the call does not wait (pthread_tryjoin_np), or 2 if it has a time limit; result 0, EBUSY or ETIMEDOUT */ \
  HD_OP(THREAD_DETACH,   5, "pthread_detach",     NONE)  /* value = number */ \
  HD_OP(THREAD_EXIT,     6, "pthread_exit",       NONE) \
  HD_OP(PROCESS_EXIT,    7, "exit",               NONE)  /* value = status; exit, _exit, return from main */ \
  HD_OP(ABORT,           8, "abort",              NONE)  /* failed assertion, abort, terminate */ \
  HD_OP(SIGNAL,          9, "signal",             NONE)  /* fatal signal; value = number; never a scheduling decision */ \
  HD_OP(THREAD_CREATED, 10, "pthread_create returns", NONE) /* the creator continues; value = index of the new thread */ \
  HD_OP(MUTEX_INIT,     16, "mutex init",         NONE) \
  HD_OP(MUTEX_DESTROY,  17, "mutex destroy",      NONE) \
  HD_OP(MUTEX_LOCK,     18, "lock",               ACQ) \
  HD_OP(MUTEX_TRYLOCK,  19, "trylock",            ACQ)   /* result = 0 or EBUSY; for a robust mutex also EOWNERDEAD (acquired) or ENOTRECOVERABLE (not acquired) */ \
  HD_OP(MUTEX_TIMEDLOCK,20, "timedlock",          ACQ)   /* result = 0 or ETIMEDOUT */ \
  HD_OP(MUTEX_UNLOCK,   21, "unlock",             REL) \
  HD_OP(COND_INIT,      24, "cond init",          NONE) \
  HD_OP(COND_DESTROY,   25, "cond destroy",       NONE) \
  HD_OP(COND_WAIT,      26, "cond wait",          REL)   /* releases aux object, enters the queue of object */ \
  HD_OP(COND_WAKE,      27, "cond wake",          WAIT)  /* woken, with aux object locked again; result 0 or ETIMEDOUT */ \
  HD_OP(COND_SIGNAL,    28, "cond signal",        POST)  /* value = woken thread + 1, or 0 for none */ \
  HD_OP(COND_BROADCAST, 29, "cond broadcast",     POST)  /* value = number woken */ \
  HD_OP(SEM_INIT,       32, "sem init",           NONE) \
  HD_OP(SEM_DESTROY,    33, "sem destroy",        NONE) \
  HD_OP(SEM_WAIT,       34, "sem wait",           WAIT)  /* value = count after */ \
  HD_OP(SEM_TRYWAIT,    35, "sem trywait",        WAIT) \
  HD_OP(SEM_TIMEDWAIT,  36, "sem timedwait",      WAIT) \
  HD_OP(SEM_POST,       37, "sem post",           POST)  /* value = count after */ \
  HD_OP(SEM_GETVALUE,   38, "sem getvalue",       NONE) \
  HD_OP(SEM_OPEN,       39, "sem open",           SYNC)  /* object = the semaphore of that name, value = count; result 0 or errno */ \
  HD_OP(BARRIER_INIT,   40, "barrier init",       NONE)  /* value = count */ \
  HD_OP(BARRIER_DESTROY,41, "barrier destroy",    NONE) \
  HD_OP(BARRIER_WAIT,   42, "barrier wait",       POST)  /* arrival; value = arrivals so far */ \
  HD_OP(BARRIER_LEAVE,  43, "barrier leave",      WAIT) \
  HD_OP(ONCE_BEGIN,     44, "once",               ACQ)   /* value = 1 if this thread runs it, 0 if done already */ \
  HD_OP(ONCE_END,       45, "once done",          REL) \
  HD_OP(SEM_CLOSE,      46, "sem close",          SYNC)  /* value = number of times it is still open */ \
  HD_OP(SEM_UNLINK,     47, "sem unlink",         SYNC)  /* object = the semaphore that had the name; result 0 or errno */ \
  HD_OP(RWLOCK_INIT,    48, "rwlock init",        NONE) \
  HD_OP(RWLOCK_DESTROY, 49, "rwlock destroy",     NONE) \
  HD_OP(RWLOCK_RDLOCK,  50, "read lock",          ACQ) \
  HD_OP(RWLOCK_WRLOCK,  51, "write lock",         ACQ) \
  HD_OP(RWLOCK_TRYRDLOCK,52,"try read lock",      ACQ) \
  HD_OP(RWLOCK_TRYWRLOCK,53,"try write lock",     ACQ) \
  HD_OP(RWLOCK_UNLOCK,  54, "rw unlock",          REL) \
  HD_OP(SPIN_INIT,      56, "spin init",          NONE) \
  HD_OP(SPIN_DESTROY,   57, "spin destroy",       NONE) \
  HD_OP(SPIN_LOCK,      58, "spin lock",          ACQ) \
  HD_OP(SPIN_TRYLOCK,   59, "spin trylock",       ACQ) \
  HD_OP(SPIN_UNLOCK,    60, "spin unlock",        REL) \
  HD_OP(YIELD,          64, "yield",              NONE)  /* flag FORCED: inserted by the runtime after a long time without scheduling points */ \
  HD_OP(SLEEP,          65, "sleep",              NONE)  /* value = ns */ \
  HD_OP(FUTEX_WAIT,     68, "futex wait",         SYNC)  /* result 0 enqueued, EAGAIN */ \
  HD_OP(FUTEX_WAKEUP,   69, "futex wakeup",       WAIT)  /* the waiter continues; result 0 or ETIMEDOUT */ \
  HD_OP(FUTEX_WAKE,     70, "futex wake",         POST)  /* value = number woken; aux = first woken thread + 1, or 0 */ \
  HD_OP(SIGNAL_SEND,    72, "signal send",        POST)  /* pthread_kill, kill, raise: object = thread, value = number, aux = thread + 1, 0 for the process */ \
  HD_OP(SIGNAL_WAIT,    73, "signal wait",        WAIT)  /* sigwait and similar: value = number, aux = set; result 0 or EAGAIN */ \
  HD_OP(READ,           80, "read",               READ)  /* size bytes; value = low 8 bytes read */ \
  HD_OP(WRITE,          81, "write",              WRITE) /* value = low 8 bytes after the write, where known */ \
  HD_OP(READ_RANGE,     82, "read range",         READ) \
  HD_OP(WRITE_RANGE,    83, "write range",        WRITE) \
  HD_OP(ATOMIC_LOAD,    84, "atomic load",        ALOAD) \
  HD_OP(ATOMIC_STORE,   85, "atomic store",       ASTORE) \
  HD_OP(ATOMIC_RMW,     86, "atomic rmw",         ARMW)  /* exchange and fetch-ops; value = new, aux = old */ \
  HD_OP(ATOMIC_CAS,     87, "atomic cas",         ARMW)  /* result 1 success, 0 failure; value = seen before */ \
  HD_OP(ATOMIC_FENCE,   88, "fence",              SYNC) \
  HD_OP(FUNCTION_ENTRY, 90, "function entry",     NONE)  /* recorded with HD_PLAN_FUNCTIONS, never a scheduling decision; pc = in the function, object = its stack pointer */ \
  HD_OP(FUNCTION_EXIT,  91, "function exit",      NONE)  /* likewise, with the pc and object of its entry; result = 0, or 1 if the function was left by longjmp: then the event comes with the thread's next call or return */ \
  HD_OP(MALLOC,         92, "malloc",             NONE)  /* recorded, never a scheduling decision; object = block, size = low 32 bits of its bytes, value = bits above; result = 0, or ENOMEM: there is no block, as below HD_NO_MEMORY */ \
  HD_OP(FREE,           93, "free",               WRITE) /* object = block, size and value as of MALLOC; a scheduling point if its site is in the point set */ \
  HD_OP(STATE,          94, "state",              NONE)  /* recorded with HD_PLAN_STATES, never a scheduling decision; value = a hash of what no other event shows: the thread's registers and its stack */ \
  HD_OP(WORD,           89, "word",               NONE)  /* from the plan's words_from on, after a STATE: pc = a place in the program's code, aux = an address in its stack of that function when the call there returns; outermost last. Then, without pc, for aux < 16 the register of that number in the innermost of them, for HD_WORD_REST a hash of what is not sent, and for another aux the word at that address; value = what is there */ \
  HD_OP(RWLOCK_TIMEDRDLOCK, 96, "timed read lock",  ACQ) /* result = 0 or ETIMEDOUT */ \
  HD_OP(RWLOCK_TIMEDWRLOCK, 97, "timed write lock", ACQ) \
  HD_OP(RWLOCK_QUEUE,    98, "write lock queue",  NONE)  /* a writer requests the lock; later readers must not overtake it */ \
  HD_OP(MUTEX_ABANDON,  100, "owner died",        REL)   /* a thread ends while it holds a robust mutex, which releases it */ \
  HD_OP(MUTEX_CONSISTENT,101,"mutex consistent",  NONE)  /* result = 0 or EINVAL */ \
  HD_OP(CANCEL,         104, "pthread_cancel",    POST)  /* value = number of the thread */ \
  HD_OP(CANCEL_TEST,    105, "pthread_testcancel",WAIT)  /* result = 0 or ECANCELED */ \
  HD_OP(OMP_LOCK_INIT,   112, "omp_init_lock",    NONE)  /* OpenMP's locks and critical sections */ \
  HD_OP(OMP_LOCK_DESTROY,113, "omp_destroy_lock", NONE) \
  HD_OP(OMP_LOCK,        114, "omp lock",         ACQ) \
  HD_OP(OMP_TEST_LOCK,   115, "omp_test_lock",    ACQ)   /* result = 0 or EBUSY */ \
  HD_OP(OMP_UNLOCK,      116, "omp unlock",       REL) \
  HD_OP(COND_TIMEOUT, 128, "cond timeout", NONE) /* a condition wait times out and leaves the queue; it locks aux again in its COND_WAKE */ \
  HD_OP(SPURIOUS_WAKE, 129, "spurious wakeup",   NONE)  /* a wait on a condition (or futex) ends without a waker; COND_WAKE or FUTEX_WAKEUP follows */ \
  HD_OP(SIGNAL_DELIVER,130, "signal delivered",   WAIT)  /* the thread runs the handler: object = handler, value = number, aux = sender + 1 or 0; NODECISION for a fault */ \
  HD_OP(SIGNAL_INTERRUPT,131,"signal interrupts", WAIT)  /* like SIGNAL_DELIVER, inside a call that then fails with EINTR */ \
  HD_OP(SIGNAL_RETURN, 132, "handler ends",       NONE)  /* value = number; never a scheduling decision; the handler returned or jumped out */ \
  HD_OP(SIGNAL_SUSPEND,133, "sigsuspend",         NONE)  /* and pause: value = mask from now on */ \
  HD_OP(SIGNAL_RESUME, 134, "sigsuspend ends",    NONE)  /* value = mask from now on; result EINTR */ \
  HD_OP(SIGNAL_MASK,   135, "signal mask",        NONE)  /* value = mask from now on */ \
  HD_OP(SIGNAL_ACTION, 136, "sigaction",          NONE)  /* value = number, object = handler, 0 for none */ \
  HD_OP(SIGNAL_PENDING,137, "sigpending",         NONE)  /* value = set */ \
  HD_OP(TIMER_SET,     138, "timer set",          NONE)  /* value = ns to its first expiry, 0 to stop it; aux = its thread + 1 */ \
  HD_OP(TIMER_EXPIRE,  139, "timer expires",      POST)  /* an event of the timer's own thread: value = number of the signal it sends or 0, aux = thread it is sent to + 1, 0 for the process */ \
  HD_OP(TIMER_DELETE,  140, "timer delete",       NONE)  /* aux = its thread + 1 */ \
  HD_OP(FD_OPEN,       160, "fd open",            NONE)  /* object = channel (HD_FD_OBJECT_BIT), aux = descriptor, value = an eventfd's count; result of all of these = 0 or errno */ \
  HD_OP(FD_READ,       161, "fd read",            WAIT)  /* read, recv, …: object = channel read from, aux = descriptor, size = bytes requested, value = bytes read, or the count read from an eventfd */ \
  HD_OP(FD_WRITE,      162, "fd write",           POST)  /* write, send, …: likewise; object = channel the other end reads from */ \
  HD_OP(FD_POLL,       163, "fd poll",            WAIT)  /* poll, select, epoll_wait: object = first ready, value = how many are ready */ \
  HD_OP(FD_CLOSE,      164, "fd close",           POST)  /* object = channel the other end reads from */ \
  HD_OP(FD_SHUTDOWN,   165, "fd shutdown",        POST)  /* value = SHUT_RD, SHUT_WR, SHUT_RDWR */ \
  HD_OP(FD_LISTEN,     166, "fd listen",          POST) \
  HD_OP(FD_CONNECT,    167, "fd connect",         POST)  /* object = the listening socket, 0: no socket listens */ \
  HD_OP(FD_ACCEPT,     168, "fd accept",          WAIT)  /* object = the listening socket, value = the new descriptor */ \
  HD_OP(FD_CTL,        169, "fd control",         POST)  /* bind, epoll_ctl, timerfd_settime, lseek, truncate, dup, … */ \
  HD_OP(PROCESS_START, 192, "start process",      NONE)  /* fork, posix_spawn, exec, system, popen: value = n-th child, 0 unknown; result 0 or errno */ \
  HD_OP(PROCESS_WAIT,  193, "wait for process",   NONE)  /* value = n-th child, 0 none; result 0, errno, or EAGAIN: the child still runs, and other threads continue */ \
  HD_OP(PROCESS_SIGNAL,194, "signal process",     NONE)  /* kill: value = n-th child, aux = number of the signal */

// Any operation of a cancelable thread can have the result ECANCELED: the operation did
// not happen (a condition wake has locked its mutex again), and the thread begins to unwind.

// Operations of Go programs, from 256 on. The files that heddle overlays on Go's runtime
// (internal/target/goprog) perform them. Starts and ends of goroutines and accesses to memory
// use the operations above. An operation itself orders no goroutines: the ACQUIRE and RELEASE
// events around it do. Those are the events of Go's race detector and are never a scheduling
// decision.
#define HD_GO_OPS(HD_OP) \
  HD_OP(GO,            256, "go",                 FORK)  /* value = number of the new goroutine; object = its function */ \
  HD_OP(GOSCHED,       257, "Gosched",            NONE) \
  HD_OP(RESUME,        258, "resume",             WAIT)  /* continues after it was blocked; value = operation it was blocked in */ \
  HD_OP(CHAN_SEND,     260, "chan send",          POST)  /* object = channel; value = 1 of a select with this case and a default, whose result is EAGAIN if it takes the default */ \
  HD_OP(CHAN_RECV,     261, "chan receive",       WAIT)  /* likewise */ \
  HD_OP(CHAN_CLOSE,    262, "chan close",         POST) \
  HD_OP(SELECT,        263, "select",             SYNC)  /* aux = case tried first + 1, then those after it; size = number of cases */ \
  HD_OP(SELECT_CASE,   264, "select case",        NONE)  /* never a scheduling decision; value = case taken, by its position in the source, ~0 for default */ \
  HD_OP(GMUTEX_LOCK,   268, "Mutex.Lock",         ACQ) \
  HD_OP(GMUTEX_TRYLOCK,269, "Mutex.TryLock",      ACQ) \
  HD_OP(GMUTEX_UNLOCK, 270, "Mutex.Unlock",       REL) \
  HD_OP(RW_RLOCK,      272, "RWMutex.RLock",      ACQ) \
  HD_OP(RW_TRYRLOCK,   273, "RWMutex.TryRLock",   ACQ) \
  HD_OP(RW_RUNLOCK,    274, "RWMutex.RUnlock",    REL) \
  HD_OP(RW_LOCK,       275, "RWMutex.Lock",       ACQ) \
  HD_OP(RW_TRYLOCK,    276, "RWMutex.TryLock",    ACQ) \
  HD_OP(RW_UNLOCK,     277, "RWMutex.Unlock",     REL) \
  HD_OP(WG_ADD,        280, "WaitGroup.Add",      POST)  /* value = delta; Done is Add(-1) */ \
  HD_OP(WG_WAIT,       281, "WaitGroup.Wait",     WAIT) \
  HD_OP(GCOND_WAIT,    284, "Cond.Wait",          REL) \
  HD_OP(GCOND_SIGNAL,  285, "Cond.Signal",        POST) \
  HD_OP(GCOND_BROADCAST,286,"Cond.Broadcast",     POST) \
  HD_OP(ONCE_DO,       288, "Once.Do",            SYNC) \
  HD_OP(POOL_GET,      290, "Pool.Get",           SYNC) \
  HD_OP(POOL_PUT,      291, "Pool.Put",           SYNC) \
  HD_OP(SYNC_MAP,      292, "sync.Map",           SYNC) \
  HD_OP(GSLEEP,        296, "time.Sleep",         NONE)  /* value = ns */ \
  HD_OP(TIMER_STOP,    297, "timer stop",         SYNC)  /* object = timer */ \
  HD_OP(TIMER_RESET,   298, "timer start",        SYNC)  /* value = virtual ns when it fires */ \
  HD_OP(TIMER_FIRE,    299, "timer fires",        POST)  /* an event of the virtual clock's pseudo-thread; value = virtual ns it advances to */ \
  HD_OP(CORO_SWITCH,   302, "coroutine switch",   NONE)  /* never a scheduling decision; value = number of the goroutine that continues */ \
  HD_OP(EXTERNAL,      303, "outside world",      NONE)  /* never a scheduling decision; a long system call, or a wait for the network */ \
  HD_OP(PARK,          304, "park",               NONE)  /* not an event: names, in a RESUME or a waiter, a wait inside Go's runtime that has no other operation */ \
  /* Also in C programs, for the order that libraries without access hooks establish (libraries/); value = HD_ORDER_ALWAYS or 0 */ \
  HD_OP(ACQUIRE,       308, "acquire",            ACQ) \
  HD_OP(RELEASE,       309, "release",            REL)   /* replaces earlier releases to the object */ \
  HD_OP(RELEASE_MERGE, 310, "release merge",      REL)   /* adds to earlier releases */ \
  HD_OP(RELEASE_ACQUIRE,311,"release acquire",    SYNC)  /* acquires, then releases */ \
  HD_OP(TEST_END,      312, "test end",           NONE)  /* the test's function and its clean-ups have returned */ \
  HD_OP(TEST_FAIL,     313, "test fails",         NONE)  /* the first Error, Fatal or Fail */

// Value of an ACQUIRE or RELEASE_MERGE in a C program: in every schedule, the release comes before the acquire.
enum { HD_ORDER_ALWAYS = 1 };

enum hd_op {
#define HD_OP(name, num, text, cls) HD_OP_##name = num,
  HD_OPS(HD_OP)
  HD_GO_OPS(HD_OP)
#undef HD_OP
  HD_OP_COUNT = 320,
};

// The channels behind descriptors (pipes, sockets, eventfds, …) have no address. The object of a
// channel combines 1 << HD_FD_OBJECT_BIT, a kind, the descriptor that reads from it, and a hash
// of the creating thread's name and the number of channels it had created. It is therefore the
// same in every schedule.
enum hd_fd_kind {
  HD_FD_PIPE = 1, HD_FD_SOCKET, HD_FD_EVENTFD, HD_FD_TIMERFD, HD_FD_EPOLL,
  HD_FD_FILE,    // a regular file or directory; the hash is of its position in the order of first use
  HD_FD_EXTERNAL, // a terminal, a FIFO, …: the other end is in another process
  HD_FD_LOADER,  // not a descriptor: the loader's locks, in the order of enum hd_loader_lock
  HD_FD_TRIED,   // not a descriptor: a lock of heddle's own (--try-lock); for the descriptor, the first range with it
  HD_FD_NUMBER,  // the descriptor itself, whatever it refers to: the object of a race between a close and a use
  HD_FD_STREAM,  // not a descriptor: the lock of a stdio stream over it; the hash is 0 for stdin, stdout and stderr
  HD_FD_SIGNALFD, HD_FD_PIDFD,
};
enum hd_loader_lock {
  HD_LOADER_LOCK, // the lock of dlopen and dlclose, held while constructors and destructors run
  HD_LOADER_LIST, // the lock of the list of modules, held while dl_iterate_phdr runs its callback
};
enum hd_fd_object {
  HD_FD_OBJECT_BIT = 44,
  HD_FD_KIND_SHIFT = 40, // 4 bits
  HD_FD_SHIFT = 28,      // 12 bits
  HD_FD_NUMBERS = 1 << 12,
};

// Names of memory locations, as in traces (trace.Object): a region, an index and an offset.
// C programs send addresses, and the controller translates them to names; Go programs send names.
enum hd_region {
  HD_REGION_OTHER, HD_REGION_GLOBAL, HD_REGION_HEAP, HD_REGION_STACK,
  HD_REGION_FAR_STACK, // the stack of a thread whose number needs more than HD_INDEX_BITS bits
};
enum hd_object_name {
  HD_REGION_SHIFT = 60,
  HD_INDEX_BITS = 14,
  HD_OFFSET_BITS = 46,
  HD_FAR_OFFSET_BITS = 36, // FAR_STACK: the index has 24 bits
  HD_NO_MEMORY = 1 << 16,   // no memory lies below this address
  HD_HEAP_OFFSET_BITS = 24, // Go: offset within a heap object; the bits above hold its number, in order of first use
};

// ---------------------------------------------------------------- events
//
// A thread has a number, in order of creation, which is unique within the execution. While the
// program can refer to the thread, it also has a slot: its index in sets of threads. Slots are
// reused. All fields that name a thread hold its number, except the words of hd_event.enabled,
// which are indexed by slot. A record with op HD_OP_NONE assigns a slot to a thread: thread =
// number, value = slot. It precedes all events at which the thread is enabled, and is not an
// event of the trace.
//
// One recorded operation, 64 bytes. [R]
enum hd_event_flags {
  HD_EV_FORCED    = 1u << 0, // YIELD that the runtime inserted after quiet stretches or repeated clock readings
  HD_EV_TIMEOUT   = 1u << 1, // the thread's wait timed out. If the thread is not in the enabled set, its deadline had not
                             // passed: it overtook the enabled threads. A SLEEP has the flag only in that case.
  HD_EV_NODECISION  = 1u << 2, // recorded, but not a scheduling point (MALLOC, SIGNAL, SIGNAL_RETURN, a timer's START, profiled accesses)
  HD_EV_ATOMIC    = 1u << 3,
  HD_EV_ORDER_MASK = 7u << 4, // memory order of an atomic, __ATOMIC_* value << 4
  HD_EV_LIBRARY   = 1u << 7, // YIELD by which a library such as libomp waits; its text called it, or the program's call of it is in progress
  HD_EV_OFFERED   = 1u << 8, // the thread of the previous event was enabled and stood before a YIELD with LIBRARY: the switch is not a preemption
  HD_EV_HOOKS     = 1u << 9, // MALLOC, FREE, READ_RANGE, WRITE_RANGE: called by code with access hooks, whose order heddle sees. A MALLOC with
                             // it counts as a write of the block, which races with accesses other than such calls without it
  HD_EV_VOLATILE  = 1u << 10, // a volatile access of a program with inline assembly that has hooks
  HD_EV_ASSEMBLY  = 1u << 11, // an instruction of inline assembly. It does not race with a volatile access
  HD_EV_POINTER   = 1u << 14, // value is the name of a place in memory (HD_REGION_SHIFT), in place of its address; the controller sets it for C programs
  HD_EV_VALUE     = 1u << 13, // Go: the value of a plain access is known, and size is that of the accessed variable
};

struct hd_event {
  uint32_t thread;   // its number, in order of creation; main is 0
  uint32_t size;     // bytes accessed
  uint64_t pc;       // return address of the hook in the program: the instruction
  uint64_t object;   // address of the lock, variable, block, …
  uint64_t value;    // see the operation table
  uint64_t aux;      // second object or old value, see the operation table
  uint64_t enabled;  // slots 0..63 whose threads were enabled at this scheduling decision, the chosen one included
  uint16_t op;       // enum hd_op
  uint16_t flags;    // enum hd_event_flags
  int32_t  result;   // what the call returns, where it is an int
  uint32_t stack;    // 0, or the number of an earlier HD_REC_STACK of this execution
  uint32_t mask;     // number of records after this one that hold further words of enabled, slots 64.., instead of events
};

// ---------------------------------------------------------------- virtual time
//
// docs/scheduler.md and docs/signals.md describe the model.
enum hd_time {
  HD_POINT_NS = 100,        // virtual ns that a scheduling point takes
  HD_SLACK_NS = 100000000,  // default of hd_plan.slack
};

// ---------------------------------------------------------------- the scheduler
//
// Numbers of the scheduler contract (docs/scheduler.md), the same in the C runtime, in the Go
// runtime's hooks and in the simulated machine. A point is a scheduling point.
enum hd_scheduler {
  HD_MAX_STEPS = 1 << 20,     // step budget of a plan that names none, in points
  HD_WARM_STEPS = 1 << 22,    // Go: step budget of the execution that warms up a test
  HD_QUANTUM = 10000,         // consecutive points of a thread before it counts as yielding
  HD_FAIR_SALT = 0x66616972,  // mixed into the seeds of strongly fair decisions
  HD_FAIR_EVERY = 1 << 14,    // points after a fair window with which the next one begins
  HD_FAIR_VAIN = 256,         // fruitless observations after a fair window with which the next one begins
  HD_FAIR_WINDOW = 512,       // points of a fair window
  HD_FAIR_EPOCH = 512,        // the fair phase: points between changes of the odds
  HD_FAIR_SHORT = 4,          // one strongly fair decision in this many leaves the running thread
  HD_FAIR_LONG = 256,         // the same in every other epoch of the fair phase
  HD_STARVED = 10000,         // points that an enabled thread waits before it takes precedence
  HD_STARVED_EVERY = 1024,    // points between two searches for such threads, a power of two
  HD_CHANGE_POINTS = 64,      // PCT: maximum number of change points
  HD_POS_WINDOW = 64,         // POS: number of priorities in the window from which yielding threads draw
  HD_POS_STRIDE = 8,          // POS: priorities by which the window moves down with each draw
  HD_STALEMATE = 500,         // points without progress after which spinning threads get several points in a row
  HD_STRETCH = 8,             // average number of those points
  HD_EARLY_ODDS = 64,         // one decision in this many ends a wait early, or spuriously
  HD_EARLY_TIMER_ODDS = 16,   // the same for early ends in programs with timers
  HD_LOOK_AHEAD = 4096,       // tolerant script: steps searched for the pending operation
  HD_PATIENCE = 10000,        // tolerant script: consecutive operations off the path of a TEI
  HD_SPIN = 6,                // consecutive fruitless observations after which a thread counts as spinning
  HD_IDLE = 16,               // fruitless observations of each enabled thread before virtual time drifts
  HD_FUTILE = 2000,           // fruitless observations of each enabled thread before an execution may be a hang
  HD_HOPELESS = 4000,         // points without progress, per enabled thread, before an execution may be a hang
  HD_HOPELESS_ALONE = 30000,  // the same if one thread is enabled: its points need no switches, and it may count them
  HD_SURE = 16,               // how many times as many a plan requires that says when the fair phase begins
  HD_LONG = 1 << 19,          // points after which time passes although threads are at work
  HD_LONG_EVERY = 64,         // points between two steps of that time
  HD_LONG_NS = 10000,         // virtual ns of such a step, besides
  HD_LONG_SHARE = 32,         // one in this many of the ns since time began to pass in this way
  HD_LONG_BITS = 61,          // of a time, in ns, from which on steps no longer grow: programs have signed ns since 1970
  HD_CLOCK_NS = 100,          // virtual ns that a clock reading takes
  HD_LOOKS = 1000,            // consecutive clock readings after which a thread counts as waiting
  HD_LOOKS_AGAIN = 64,        // clock readings between two yields of such a thread
  HD_QUIET = 20000,           // memory accesses of a quiet stretch: accesses without a point before the runtime examines the thread
  HD_LOOK_ON = 64,            // accesses that the runtime examines after a quiet stretch
  HD_REPEATED = 16,           // consecutive examined accesses without new information after which the thread waits, and yields
  HD_STRETCHES = 1024,        // consecutive quiet stretches in which a thread computes before it yields to enabled threads
  HD_STRETCHES_MORE = 3,      // how often that number doubles, once for each such yield of the thread
  HD_STRETCHES_ALIVE = 5000,  // consecutive quiet stretches up to which a computing thread keeps the watchdog quiet
  HD_TURNS_NEW = 16,          // visits of an instruction by a thread that count as new behaviour
  HD_TURNS_SITES = 1 << 15,   // pairs of a thread and an instruction whose visits are counted
  HD_CPUS = 4,                // processors that a program sees
  HD_HOLDS = 64,              // maximum number of a plan's holds
  HD_HOLD_OBJECTS = 4096,     // objects whose last change, and operations done on them, are remembered for holds
};

// ---------------------------------------------------------------- plans
enum hd_policy {
  HD_POLICY_FAIR = 0,   // non-preemptive; round robin on block, yield and stale spinning
  HD_POLICY_RANDOM = 1, // uniform among enabled threads; param0 = probability in 1/65536 of staying with the running thread
  HD_POLICY_PCT = 2,    // param0 = depth (bugs of depth d), param1 = estimated points k
  HD_POLICY_POS = 3,    // partial order sampling
  HD_POLICY_WALK = 4,   // random walk by the threads' remaining events: the plan's weights and interesting instructions
  HD_POLICY_DELAY = 5,  // FAIR with param0 delays at points drawn from 1 .. param1, at most HD_CHANGE_POINTS
};

enum hd_script_mode {
  HD_SCRIPT_NONE = 0,
  HD_SCRIPT_STRICT = 1,   // any difference ends the execution as DIVERGED
  HD_SCRIPT_TOLERANT = 2, // FSE'10 §4.2.1
};

enum { HD_WORD_REST = 16 }; // see HD_OP_WORD

enum hd_plan_flags {
  HD_PLAN_EVENTS   = 1u << 0, // send every scheduling-point event
  HD_PLAN_ACCESSES = 1u << 1, // also send plain accesses that are not points, malloc and free (for race detection)
  HD_PLAN_STACKS   = 1u << 2, // send call stacks with events
  HD_PLAN_OUTPUT   = 1u << 3, // send what the program wrote to stdout and stderr
  HD_PLAN_STOP     = 1u << 4, // ends a repeated plan at the first outcome other than CLEAN with expect_status
  HD_PLAN_TIMEOUTS = 1u << 5, // explore early time-outs of timed waits, and early timers, within the plan's slack
  HD_PLAN_SPURIOUS = 1u << 8, // explore spurious wake-ups of condition and futex waits
  HD_PLAN_HASTE    = 1u << 9, // Go tests: if a remaining goroutine may still continue, report only those that did nothing of late
  HD_PLAN_VALUES   = 1u << 14, // with ACCESSES: every access of the execution with its value, repeated ones and those while no other thread exists included
  HD_PLAN_FUNCTIONS = 1u << 15, // with VALUES: function entries and exits
  HD_PLAN_STATES   = 1u << 17, // with EVENTS: a STATE event before each scheduling point of the fair phase
  HD_PLAN_CYCLES   = 1u << 16, // threads that are deadlocked end the execution at once, though others can go on: C, a cycle; Go, heddle_stuck.go, and from the end of a script that is to be followed exactly
  HD_PLAN_CUT      = 1u << 19, // at the end of max_steps the execution is CLEAN with expect_status and HD_NOTE_CUT: nothing else of the program runs
  HD_PLAN_WATCH    = 1u << 10, // find data races in place, and count the accesses of each memory instruction
  HD_PLAN_SHARED   = 1u << 20, // C, with ACCESSES: of the accesses that are not points, only those of the plan's shared instructions are sent, and HD_REC_SHARED
  HD_PLAN_KNOWN    = 1u << 21, // with SHARED: the list has all shared instructions. No others are looked for, and HD_REC_SHARED and HD_REC_LEFT_OUT are not sent
  HD_PLAN_VISITS   = 1u << 18, // C, with WATCH: the visits to modules with HD_MODULE_VISITS are ordered, as if each waited for those before it
};

// One step of a script. A step names its thread by index into the plan's own table
// (hd_plan.nthreads names follow the script), so a different creation order does not
// confuse threads.
struct hd_step {
  uint32_t thread; // index into the plan's table of thread names
  uint32_t pc;     // low 32 bits of the expected site
  uint32_t aux;    // COND_SIGNAL, FUTEX_WAKE: plan index of the thread to wake + 1 (0: none or any);
                   // SELECT: case to try first + 1 (0: any)
  uint16_t op;     // expected enum hd_op
  uint16_t flags;  // HD_STEP_*
};
enum hd_step_flags {
  HD_STEP_TEI = 1u << 0,     // first step of a thread execution interval
  HD_STEP_TIMEOUT = 1u << 1, // the thread's wait, sleep or timer ends before its deadline: the thread overtakes others
};

// A hold keeps threads before an instruction (docs/scheduler.md).
struct hd_hold {
  uint64_t site;       // the instruction before which threads are held
  uint64_t until;      // the instruction that ends the hold; 0: none
  uint64_t last;       // the instruction whose change of the object the hold depends on; 0: none
  uint32_t thread;     // index into the plan's table of thread names; ~0: any thread
  uint32_t arrival;    // a thread's arrival at site that is held, from 1; 0: each
  uint32_t steps;      // points after which the hold ends; 0: no bound
  uint32_t flags;      // enum hd_hold_flags
};
enum hd_hold_flags {
  HD_HOLD_SAME = 1u << 0,    // until counts only on the object that the held thread is about to touch
  HD_HOLD_EVER = 1u << 1,    // until also counts if it was done before the arrival, by any thread
  HD_HOLD_REACHED = 1u << 2, // until counts once another thread stands before it
  HD_HOLD_NOT = 1u << 3,     // in force while last did not make the last change; without: while it did
  HD_HOLD_TIME = 1u << 4,    // waits, sleeps and timers end early, within the slack, before the hold ends because no other thread can go on
};

// The fault that a plan injects into each of its executions (core/injection.c). A thread's occasions at one
// instruction are counted from 0, with HD_PLAN_VALUES. A call that copies or sets no byte is not an occasion.
enum hd_fault_model {
  HD_FAULT_NONE = 0,
  HD_FAULT_READ = 1,     // occasions: plain reads, ranges included. Bit amount of what is read is another for this read
  HD_FAULT_WRITE = 2,    // plain writes, ranges included. Bit amount of what is written becomes another
  HD_FAULT_SHORT = 3,    // allocations. The block is amount bytes shorter
  HD_FAULT_POINTER = 4,  // allocations. The program gets an address where no memory is
  HD_FAULT_OVERRUN = 5,  // calls of memcpy, memmove, memset and the strcpy and strcat families. They copy or set amount bytes more
  HD_FAULT_ARGUMENT = 6, // allocations, and calls of memcpy, memmove, memset, strncpy and stpncpy. Bit amount of the size is another
  HD_FAULT_DROPPED = 7,  // synchronisation calls that --omit can omit. The call does nothing
  HD_FAULT_KILLED = 8,   // events of accesses. The thread ends there, as by pthread_exit
  HD_FAULT_DELAYED = 9,  // not the runtime's: the plan has a hold before a synchronisation call
};

// Types of the plan ring's records.
enum hd_plan_record {
  HD_PLAN_HERE = 1, // struct hd_plan with what follows it
  HD_PLAN_FAR = 2,  // empty: the plan is too long for the ring and lies at far_off. The next one may be written there after its PLAN_END
};

// A plan record: this header, then steps[nsteps], then uint64 names[nthreads],
// then uint64 points[npoints] if SET_POINTS, then holds[nholds], then uint64 weights[nweights], then
// uint64 interesting[ninteresting], then uint64 shared[nshared]. [C]
struct hd_plan {
  uint64_t id;
  uint64_t seed;       // execution i of the plan uses seed + i
  uint64_t slack;      // total virtual ns by which threads may overtake threads that can run; ~0: unlimited
  uint32_t repeat;     // executions to run, >= 1
  uint32_t policy;     // enum hd_policy, once the script has ended
  uint32_t flags;      // enum hd_plan_flags
  uint32_t script_mode;
  uint32_t nsteps;
  uint32_t nthreads;   // thread names that follow
  uint32_t npoints;    // memory instructions that are scheduling points
  uint32_t set_points; // 1: points follow and replace the runtime's set; 0: keep it
  uint32_t max_steps;  // step budget; the execution is UNFINISHED at its end, with HD_PLAN_CUT cut there
  uint32_t param0;
  uint32_t param1;
  int32_t  expect_status; // exit status that counts as clean for STOP
  // With ACCESSES: accesses, malloc and free that are not scheduling points are numbered from 0.
  // The runtime sends max_accesses of them from number skip_accesses on, and every malloc and free.
  uint64_t skip_accesses;
  uint64_t max_accesses;
  uint64_t watch_budget; // with WATCH: bytes for remembered accesses and clocks, not counting the table that
                         // maps addresses to them, which takes half as much memory as the program touches
  uint32_t nholds;     // holds that follow, at most HD_HOLDS
  // WALK: for each name of the table the number of interesting events of the thread and of all that it
  // creates, directly or not; nweights is 0 or nthreads.
  uint32_t nweights;
  uint32_t ninteresting; // instructions whose events are interesting, in ascending order; 0: all events are
  uint32_t fault;        // enum hd_fault_model
  uint64_t fault_thread; // name of the thread
  uint64_t fault_site;   // the instruction, as in hd_event.pc
  uint64_t fault_index;  // of the thread's occasions there
  uint64_t fault_amount; // see enum hd_fault_model
  uint64_t fair_seed;    // of the fair phase's own random stream, with seed
  uint32_t fair_after;   // points with which the fair phase begins; 0: half of max_steps
  uint32_t words_from;   // C, with STATES: points from which on each STATE is followed by WORD events; 0: none are
  // If turns is not 0, the policy decides only in some of the turns of a loop (core/turns.c): in a thread's first
  // HD_TURNS_NEW visits of an instruction and in turns visits from turns_from on. For turns_after points after one of
  // these first visits it decides in all threads.
  uint32_t turns, turns_from, turns_after;
  uint32_t nshared;      // with SHARED: instructions whose accesses are sent, as in hd_event.pc, in ascending order
};

// ---------------------------------------------------------------- results
enum hd_record {
  HD_REC_PAD = 0,      // skip
  HD_REC_RESULT = 1,   // struct hd_result; ends the records of one execution
  HD_REC_EVENTS = 2,   // struct hd_event[]
  HD_REC_STACK = 3,    // uint32 number, uint32 n, uint64 pc[n], innermost first
  HD_REC_THREAD = 4,   // struct hd_thread_info, with EVENTS: of each thread, before its slot is reused; of a C
                       // program's thread also before the first event that can name its stack. The last one is valid.
  HD_REC_MESSAGE = 5,  // zero-terminated text: assertion, misuse, unsupported, exception type
  HD_REC_WAITER = 6,   // struct hd_waiter: a thread that has not ended (deadlock, hang)
  HD_REC_OUTPUT = 7,   // uint32 fd (1 or 2), uint32 n, bytes
  HD_REC_PLAN_END = 8, // uint64 plan id: all executions of the plan have ended
  HD_REC_LOCAL = 12,   // struct hd_local, before the first event on that object in that frame, and at times again
                       // when the frame's function is elsewhere
  HD_REC_TYPE = 13,    // struct hd_type, then the type's name, zero-terminated; before the first event on that object
  HD_REC_RACE = 14,    // struct hd_race, with WATCH: once for each pair of instructions
  HD_REC_PROFILE = 15, // struct hd_profile[], with WATCH: each instruction once, in several records
  HD_REC_HOLDS = 17,   // struct hd_hold_count[], one for each hold of a plan that has any
  HD_REC_BLOCK = 16,   // struct hd_block, with EVENTS and WATCH: before a race on a heap block
  HD_REC_AGAIN = 10,   // discards the records of this execution so far: it starts again
  HD_REC_INPUT = 11,   // absolute path of a regular file opened for reading, zero-terminated; with EVENTS
  HD_REC_BACKTRACE = 9,// uint64 pc[]: the failing thread's stack, innermost first
  HD_REC_WHERE = 18,   // uint32 0, uint32 n, struct hd_waiter[n]: where the threads of the running execution are, at most
                       // HD_WHERE_MOST of them, because the controller asked (HD_CUT_WHERE)
  HD_REC_SET_UP = 20,  // struct hd_set_up, then text, zero-terminated: why no execution can continue from this one's set-up, which was long
  HD_REC_SHARED = 21,  // uint64 pc[], with SHARED: instructions that accessed memory which several threads accessed while there
                       // were several, at least one of them to write; in several records, at least one
  HD_REC_LEFT_OUT = 22,// struct hd_left_out[], with SHARED: before the events that they name
  HD_REC_MAPPING = 19, // struct hd_mapping, then the path of the file, zero-terminated; with EVENTS
  HD_REC_CASE = 23,    // struct hd_select_case: of a leak, with EVENTS, after the waiters
};

enum { HD_WHERE_MOST = 64, HD_WHERE_SPINS = 256 };

enum hd_outcome {
  HD_OUT_CLEAN = 0,      // exited; status in hd_result.status
  HD_OUT_ASSERT = 1,     // __assert_fail, abort
  HD_OUT_SIGNAL = 2,     // fatal signal; status = number
  HD_OUT_DEADLOCK = 3,
  HD_OUT_HANG = 4,       // no progress under a strongly fair schedule: a suspicion, which the controller verifies
  HD_OUT_MISUSE = 5,     // of a lock, a thread, memory; message says which
  HD_OUT_EXCEPTION = 6,  // uncaught C++ exception; message = its type
  HD_OUT_UNSUPPORTED = 7,// heddle cannot run this program; message says why. Not a finding.
                         // status = the enum hd_isolation that can run it; 0: none can. If
                         // that is not higher than the current one, the runtime has raised shm.hosts instead.
  HD_OUT_DIVERGED = 8,   // strict script only: status = index of the first step that differed
  // Of Go programs.
  HD_OUT_TEST = 9,       // a test failed; message = the first error
  HD_OUT_PANIC = 10,     // an unrecovered panic; the message is in the output
  HD_OUT_FATAL = 11,     // an unrecoverable error of the Go runtime; the message is in the output
  HD_OUT_LEAK = 12,      // goroutines remained when the test ended: the waiters
  HD_OUT_EXIT = 13,      // os.Exit within a test; status
  HD_OUT_UNFINISHED = 14,// ended before it was over; message = why: step budget, time, interrupted, watchdog…. Not a finding.
                         // The waiters are all threads that live
  HD_OUT_LIVELOCK = 15,  // threads run, and their states recur
};

// How an execution ended. [R]
struct hd_result {
  uint64_t plan;       // hd_plan.id
  uint64_t index;      // 0 .. repeat-1
  uint64_t signature;  // trace signature: a hash of the order of conflicting operations, equal for equivalent executions
  uint64_t pc;         // where it ended: site of the failing operation or faulting instruction
  uint64_t object;     // faulting address, misused object, …
  uint64_t vtime;      // virtual time at the end, ns since start
  uint32_t outcome;    // enum hd_outcome
  int32_t  status;     // exit status, signal number, index of diverged step, isolation needed
  uint32_t thread;     // the thread that ended the execution
  uint32_t points;     // scheduling points passed
  uint32_t switches;
  uint32_t preemptions;
  uint32_t threads;    // threads created, main included, whether or not they have ended
  uint32_t deviations; // tolerant script: steps skipped or inserted
  uint32_t output;     // bytes written to stdout and stderr
  uint32_t notes;      // enum hd_note
  uint32_t last;       // 1: the process ends with this execution
  uint32_t met_thread; // DIVERGED: plan index of the thread found instead (~0: none enabled, or not in the plan)
  uint32_t met_op;
  uint32_t passed;     // scheduling points at which the plan's turns left the running thread running
  uint64_t watched;    // WATCH: accesses that were checked for races
  uint64_t fault;      // 1 + the number of events before the plan's fault was injected; 0: it was not
  uint32_t fair_at;    // points passed when the fair phase began; 0: it did not begin
  uint32_t stretches;  // quiet stretches: HD_QUIET memory accesses each, without a scheduling point of the program's
};

enum hd_note {
  HD_NOTE_EXTERNAL = 1u << 0,  // external nondeterminism: another run may differ
  HD_NOTE_ACCESSES = 1u << 1, // it made more accesses than the plan requests
  HD_NOTE_RANDOM = 1u << 2,   // Go, recorded executions: it drew a random number or iterated over a map
  HD_NOTE_UNWATCHED = 1u << 3, // WATCH: the budget was exhausted; only the first hd_result.watched accesses were checked
  HD_NOTE_SETUP = 1u << 5,     // C, snapshot isolation: what main does before it creates a thread takes long, and under fork isolation
                               // executions could share it
  HD_NOTE_CONTINUED = 1u << 6, // it has continued from the set-up of an earlier one (runtime/c/core/setup.c)
  HD_NOTE_SKIPPED = 1u << 7,   // Go: the test skipped what it had left to do
  HD_NOTE_CUT = 1u << 4,       // HD_PLAN_CUT ended it before it was over
  // Two threads made calls that are not scheduling points, in an order that happens-before does not fix, and at least
  // one changed state that the other saw (memory/shared_state.h), << enum hd_shared.
  HD_NOTE_UNORDERED = 1u << 8,
};

// What the state belongs to.
enum hd_shared {
  HD_SHARED_STREAM,  // a stdio stream or the contents of a file
  HD_SHARED_LIBC,    // libc: the environment, random numbers, static results
  HD_SHARED_THREAD,  // a thread or a lock: its name, priority, processors, ceiling
  HD_SHARED_KEY,     // keys of thread-specific data
  HD_SHARED_PROCESS, // the process: working directory, limits, exit handlers
  HD_SHARED_CLOCK,   // virtual time
  HD_SHARED_MEMORY,  // memory that is mapped twice: it has two names
};

// Two accesses that race: neither happens before the other. [R]
struct hd_race {
  uint64_t pc[2];      // of the earlier access and of the later one: return addresses of hooks
  uint64_t object;     // first byte that both accessed
  uint64_t order;      // increases with the later access; equal for all races of one access
  uint64_t event;      // number of events of the execution sent before the later access
  uint32_t thread[2];
  uint16_t op[2];      // enum hd_op
  uint32_t size;       // bytes that both accessed
  uint32_t stack;      // of the later access: number of a HD_REC_STACK, 0: none
  uint32_t flags;      // enum hd_race_flags
};
enum hd_race_flags {
  HD_RACE_HANDLER = 1u << 0, // not a data race: a signal handler made one access, and the code that it interrupted
                             // or could have interrupted in the same thread made the other
  HD_RACE_ASSEMBLY = 1u << 1, // not a data race: inline assembly made one access, and a volatile access of C the other
};

// The allocation of a heap block. With WATCH but not ACCESSES, the runtime sends no MALLOC and FREE
// events. [R]
struct hd_block {
  uint64_t object;     // its first byte
  uint64_t size;
  uint64_t pc;         // of the call that allocated it
  uint32_t thread;
  uint32_t stack;      // number of a HD_REC_STACK, 0: none
  uint64_t freed;      // 1: it has been freed, and its memory belongs to no other block
};

// What prevents that executions continue from a set-up. [R]
struct hd_set_up {
  uint64_t pc;         // where, 0: unknown
  uint32_t op;         // the operation; HD_OP_NONE: the text says what
  uint32_t pad;
};

// How often a memory instruction was executed while more than one thread could run. [R]
struct hd_profile {
  uint64_t pc;
  uint64_t count;
};

// What became of a hold: arrivals at it, and why those that were held ended. Those that neither
// count were held when the execution ended. [R]
struct hd_hold_count {
  uint32_t arrived;    // arrivals that the hold is for
  uint32_t held;       // those at which it was in force at a decision
  uint32_t done;       // held ones that ended because until was done, or because last no longer applied
  uint32_t nobody;     // no other thread could do more than wait
  uint32_t steps;      // the bound, HD_STARVED points, or the second half of the budget
  uint32_t script;     // the script chose the thread
};

struct hd_thread_info {
  uint32_t number;     // in order of creation; main is 0
  uint32_t parent;     // its number
  uint32_t nth;        // n-th thread created by its parent, from 1
  uint32_t flags;      // 1: ended, 2: detached, 4: joined, 8: the clock of a Go program, 16: a timer, which runs no code
  uint64_t name;       // hash of the path of nth numbers from main; main is HD_NAME_MAIN
  uint64_t entry;      // start routine
  uint64_t stack_hi;   // top of its stack, for naming stack objects
  uint64_t stack_size;
  char label[16];      // the name that the program gave it, zeros: none
};
// An object on a stack, and the frame that contains it (runtime/c/core/locals.c).
struct hd_local {
  uint64_t object;
  uint64_t pc;         // position of the frame's function, unless the call that it is in is of a function without access hooks: a return address
  uint64_t below;      // the word just below sp, its position in that case, unless it has moved its stack pointer
  uint64_t function;   // an address in the function
  int64_t cfa;         // object - the frame's canonical frame address
  int64_t sp;          // object - the stack pointer in the function's body
  int64_t fp;          // object - the frame pointer that the function's code had at its beginning
  uint64_t event;      // number of events of the execution sent before it
};
// Accesses that a recording leaves out, since the program's time is measured in accesses.
struct hd_left_out {
  uint64_t event;      // number of events of the execution sent before it
  uint64_t accesses;   // that the event's thread made since its previous event and that were not sent
};
// Memory that the program has mapped. Without a path, what lies there has no name: nothing is sent of such memory where no file was
// mapped before.
struct hd_mapping {
  uint64_t address;
  uint64_t size;       // whole pages
  uint64_t offset;     // in the file
  uint64_t from;       // mremap: where the memory was, of which the controller knows the file; 0: a new mapping
  uint64_t event;      // number of events of the execution sent before it
};
// The type with which a heap object of a Go program was allocated.
struct hd_type {
  uint64_t object;     // where the allocation begins
  uint64_t size;       // bytes of the allocation, a multiple of the type's unless CHANNEL
  uint64_t type;       // address of the type's descriptor in Go's runtime
  uint64_t pc;         // where the program allocated it: a return address, 0 if unknown
  uint64_t unit;       // bytes of the type
  uint64_t flags;      // enum hd_type_flags
};
enum hd_type_flags {
  HD_TYPE_CHANNEL = 1, // a channel of the type
};
#define HD_NAME_MAIN 0x6865646c652d6d31ull

enum hd_waiter_flags {
  HD_WAIT_READY = 1,
  HD_WAIT_TIMED = 2,
  // Of a leak, with EVENTS; none is set if it is not known.
  HD_WAIT_LOST = 4,  // no thread that may go on, timer, finalizer or global variable leads to what it waits for
  HD_WAIT_HELD = 8,  // it waits for a lock that one of those leads to, and that only threads unlock that never go on
  HD_WAIT_KEPT = 16, // one of those leads to what it waits for, or the thread may go on itself
};
struct hd_waiter {
  uint32_t thread;
  uint16_t op;       // enum hd_op: its pending operation
  uint16_t flags;
  uint64_t pc;
  uint64_t object;
  uint32_t holder;   // 1 + number of the thread that holds the object; 0: none or unknown
  uint32_t stack;    // number of a HD_REC_STACK, 0: none
  uint32_t process;  // 0: a thread of the program. n: the one of its n-th child process, which continues the thread's fork; then
                     // there is no other waiter, and holder is not in the child
  uint32_t spins;    // WHERE: how many observations in a row told the thread nothing new, 0 if they are few; op, pc and object are those of
                     // one of them
};

// A case of selects of one thread: a send or a receive on a channel.
struct hd_select_case {
  uint32_t thread;
  uint16_t op;
  uint16_t reserved;
  uint64_t object;
  uint64_t taken; // how often its selects took it; 0: one of the select in which it is blocked, or, with HD_OP_SELECT, selects took
                  // more cases than are reported
};

// ---------------------------------------------------------------- shared memory
//
// Layout: struct hd_shm, then at plan_off the plan ring's bytes, at result_off the
// result ring's. A ring holds records { struct hd_rec_header; payload }, each aligned
// to 8 bytes and contiguous (PAD fills the end of the ring). head and tail are byte
// counts that never decrease; position = count % size.
struct hd_rec_header {
  uint32_t size; // whole record with header, multiple of 8
  uint32_t type; // enum hd_record; in the plan ring enum hd_plan_record
};

struct hd_ring {
  uint64_t head;    // producer stores with release after it has written the bytes; consumer loads with acquire
  uint32_t head_waiters; // consumer sets to 1 before futex-waiting on head_seq; producer clears and wakes
  uint32_t head_seq;     // futex word, producer increments after head when head_waiters
  uint8_t  pad0[48];
  uint64_t tail;    // consumer stores with release after it has read the bytes; producer loads with acquire
  uint32_t tail_waiters; // like head_waiters, for a producer that found the ring full
  uint32_t tail_seq;
  uint8_t  pad1[48];
};

enum hd_state {
  HD_STATE_EMPTY = 0,
  HD_STATE_LOADED = 1,   // runtime constructor ran
  HD_STATE_READY = 2,    // at main: the modules are listed and the snapshot is taken
  HD_STATE_REFUSED = 3,  // cannot run this program; text in message. Not a finding.
  HD_STATE_FATAL = 4,    // the runtime itself failed; text in message
  HD_STATE_ENDED = 5,    // stopped at the controller's request
  HD_STATE_COLD = 6,     // Go: the warm-up execution failed; run without one
};

// Why the controller asks the runtime to end the running execution where it is.
enum hd_cut {
  HD_CUT_NONE = 0,
  HD_CUT_TIME = 1,     // the time limit is reached
  HD_CUT_USER = 2,     // the user interrupts heddle
  HD_CUT_WATCHDOG = 3, // no scheduling point for the time of --watchdog
  HD_CUT_WHERE = 4,    // not an end, and without a signal: the runtime sends a HD_REC_WHERE, and stores HD_CUT_NONE
};

enum hd_instrumented { HD_INSTR_NONE = 0, HD_INSTR_TSAN = 1 };

enum hd_module_flags {
  HD_MODULE_PROGRAM = 1u << 0,
  HD_MODULE_RUNTIME = 1u << 1,
  HD_MODULE_VISITS = 1u << 3,  // it may order threads in ways that the runtime does not know [C, before a plan with HD_PLAN_VISITS]
  HD_MODULE_VISITED = 1u << 4, // two threads have visited it in an execution of such a plan
};

struct hd_module {
  uint64_t base;   // load address (l_addr)
  uint64_t lo, hi; // mapped range
  uint64_t text_lo, text_hi; // executable segment
  uint8_t  build_id[HD_BUILD_ID];
  uint32_t build_id_len;
  uint32_t flags;  // enum hd_module_flags
  char     path[HD_MODULE_PATH];
};

// The address of a module loaded while the program runs depends on the execution. In records and
// plans, each such module has the base address HD_LATE_BASE + i * HD_LATE_SPAN, where i is its
// index in hd_shm.late; the runtime translates in both directions. Addresses of two modules also
// differ in their low 32 bits, because scripts compare steps by these bits.
enum hd_late_place {
  HD_LATE_BASE = 0x600000000000,
  HD_LATE_SPAN = 0x102000000,
};

struct hd_omitted_site {
  uint64_t pc;    // return address of a call
  uint32_t which; // index into omitted_times, or HD_OMITTED_CALLER
  uint32_t pad;
};
// A range of lines that threads execute with a lock held, as an experiment.
struct hd_tried_range {
  uint64_t mutex; // address of the program's pthread_mutex_t; 0: a lock of the runtime's own
  uint32_t own;   // number of the runtime's lock: index of the first range with it
  uint32_t pad;
};
// A call in a function that contains lines of tried ranges. Sets are masks of indices into tried_ranges.
struct hd_tried_site {
  uint64_t pc;    // return address
  uint32_t in;    // ranges that contain the call
  uint32_t of;    // ranges of the call's function, at least those of in
};
// An atomic that was performed and is not explored in all that it may do.
enum hd_relaxed_flags {
  HD_RELAXED_ORDER = 1, // its memory order, or the one of its failure, is weaker than seq_cst
  HD_RELAXED_WEAK = 2,  // a compare-exchange that may fail spuriously
};
struct hd_relaxed {
  uint64_t pc;       // return address; 0: the entry is free
  uint64_t calls[2]; // return addresses of its function's call and of that one's, 0 if unknown; the first is part of the key
  uint64_t flags;    // enum hd_relaxed_flags
};
struct hd_shm {
  uint64_t magic;        // set before start [C]
  uint32_t abi;          // HD_ABI_VERSION, set before start [C]; the runtime refuses another
  uint32_t points;       // HD_POINTS_VERSION [R], at LOADED
  uint32_t size_event, size_plan, size_result, size_shm; // sizeof, set before start [C]
  uint64_t total;        // bytes of the mapping [C]
  uint64_t plan_off, plan_size;     // [C]
  uint64_t result_off, result_size; // [C]
  uint64_t far_off, far_size; // [C]: where a plan lies that is too long for the ring
  uint32_t options;      // HD_OPT_*, set before start [C]
  uint32_t hosts;       // initial number of host threads [C]; raised by a process that needs more and cannot create them [R]
  uint32_t state;        // enum hd_state [R], futex word, release
  uint32_t stop;         // 1: exit after this execution [C]
  uint32_t changes;      // changes to files that the running execution has yet to undo [R]; the controller asks it to end before it kills the process
  uint32_t cut;          // enum hd_cut [C]; the controller sends a signal after it has set both. The execution ends as UNFINISHED
  uint64_t cut_execution;// value of executions while the execution to end runs [C]; the runtime ignores the signal in others
  uint64_t heartbeat;    // executions ended + scheduling points [R], relaxed; for the watchdog
  uint64_t at_pc;        // [R], relaxed: site of the running execution's last scheduling point
  uint32_t at_thread;    // the thread that reached it
  uint32_t at_points;    // how many it had passed by then
  uint64_t executions;   // [R], relaxed
  uint32_t current_plan; // low bits of the plan id being run [R]; for the watchdog
  uint32_t nmodules;     // [R] at READY
  uint32_t instrumented; // enum hd_instrumented [R] at READY
  uint32_t nproc_pages;  // pages restored after each execution [R] at READY
  uint64_t heap_base;    // [R] at LOADED: where the runtime's allocator starts
  uint64_t heap_size;
  uint64_t vectors;      // [R] at LOADED: argv, which pointers to the environment follow
  uint64_t strings, strings_end; // [R] at LOADED: the arguments and the environment
  uint64_t fatal_pc;     // [R] at FATAL
  char     message[1024];// [R] at REFUSED and FATAL
  struct hd_ring plan_ring;
  struct hd_ring result_ring;
  struct hd_module modules[HD_MAX_MODULES]; // [R] at READY
  // Synchronisation calls to omit (--omit).
  uint32_t nomitted;     // [C], after READY and before the first plan
  uint32_t executing;    // process id of the child that runs the execution [R], relaxed; 0: the process itself does
  struct hd_omitted_site omitted_sites[HD_MAX_OMITTED_SITES]; // [C], likewise
  uint64_t omitted_times[HD_MAX_OMITTED]; // [R], how often each call was omitted
  // Locks to try (--try-lock).
  uint32_t ntried, ntried_sites; // [C], after READY and before the first plan
  uint64_t tried_own;    // [R], before the first event: address of the runtime's lock number 0
  uint64_t tried_stride; // [R], bytes from one to the next
  struct hd_tried_range tried_ranges[HD_MAX_TRIED]; // [C], likewise
  struct hd_tried_site tried_sites[HD_MAX_TRIED_SITES]; // [C], likewise
  uint64_t tried_times[HD_MAX_TRIED]; // [R], how often a thread reached each range from outside
  // Atomics whose weaker behaviours executions do not show, each once: a hash table with linear probing. The
  // runtime writes an entry, or a flag, before the count of both.
  uint32_t nrelaxed;     // [R]
  uint32_t relaxed_full; // [R] 1: the table had no room for another
  struct hd_relaxed relaxed[HD_MAX_RELAXED]; // [R]
  // Modules that an execution has loaded while it ran. [C] writes the paths and build ids it knows
  // after READY and before the first plan; [R] appends new modules, each entry before the count.
  uint32_t nlate;
  uint32_t setups_shared; // executions that have continued from the set-up of an earlier one (runtime/c/core/setup.c) [R], relaxed
  struct hd_module late[HD_MAX_LATE];
};

// How executions are kept apart, so that none sees the effects of an earlier one.
enum hd_isolation {
  HD_ISOLATION_SNAPSHOT = 0, // one process, whose memory is restored after each execution
  HD_ISOLATION_FORK = 1,     // each execution in a child forked from a process stopped at main
  HD_ISOLATION_PROCESS = 2,  // each execution in a newly launched process
};

enum hd_options {
  HD_OPT_NO_SNAPSHOT = 1u << 0, // run one execution and exit: HD_ISOLATION_PROCESS
  HD_OPT_NO_WARMUP = 1u << 1,   // Go: no warm-up; the first execution already follows a plan
  HD_OPT_NO_LEAKS = 1u << 2,    // Go: goroutines that remain at the end are not a failure
  HD_OPT_FORK = 1u << 3,        // C: HD_ISOLATION_FORK
  HD_OPT_THREADS = 1u << 4,     // C: each thread on a kernel thread of its own; with NO_SNAPSHOT
  HD_OPT_BESIDE = 1u << 5,      // C: other processes of the program run at the same time, so an execution that would change a file ends as UNSUPPORTED
  HD_OPT_RANDOM = 1u << 6,      // C: the heap and the threads' stacks lie elsewhere in each process
  HD_OPT_SETUP_NEVER = 1u << 7, // C: each execution begins at main (runtime/c/core/setup.c)
  HD_OPT_SETUP_ALWAYS = 1u << 8,// C, with FORK: executions share what main does before it creates a thread, however short it is
  HD_OPT_SETUP_FORK = 1u << 9,  // C, with FORK: what snapshot isolation cannot undo is UNSUPPORTED all the same
};

#endif
