//go:build heddle

// State from the kernel: whether a thread works or waits, whether a signal is pending.
package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

var hdProcBuf [2048]byte // one token, so one buffer is enough

// hdProc returns the beginning of a file of /proc, nil if it cannot be read; name ends with a zero
// byte.
func hdProc(name []byte) []byte {
	fd := open(&name[0], _O_RDONLY|_O_CLOEXEC, 0)
	if fd < 0 {
		return nil
	}
	n := read(fd, unsafe.Pointer(&hdProcBuf), int32(len(hdProcBuf)))
	closefd(fd)
	return hdProcBuf[:max(n, 0)]
}

// hdTaskState returns the letter of a kernel thread's state: R, S, D …; 0 if it is unknown.
func hdTaskState(tid uint64) byte {
	var name [64]byte
	n := copy(name[:], "/proc/self/task/")
	digits := 1
	for rest := tid; rest >= 10; rest /= 10 {
		digits++
	}
	for i := n + digits - 1; i >= n; i-- {
		name[i] = byte('0' + tid%10)
		tid /= 10
	}
	copy(name[n+digits:], "/stat\x00")
	text := hdProc(name[:])
	for i := len(text) - 3; i >= 0; i-- { // the name before it may contain any character
		if text[i] == ')' {
			return text[i+2]
		}
	}
	return 0
}

// hdSpareThreads is more than the number of threads that most programs have in system calls at one
// time.
const hdSpareThreads = 4

// hdSpares creates kernel threads in advance. The scheduler would otherwise create one whenever a
// long system call requires it: that depends on the kernel's timing, and shifts the addresses of
// everything that the program allocates afterwards.
func hdSpares() {
	if !hd.on {
		return
	}
	systemstack(func() {
		for range hdSpareThreads {
			newm(hdSpare, nil, -1)
		}
		for idle := int32(0); idle < hdSpareThreads; usleep(20) {
			lock(&sched.lock)
			idle = sched.nmidle
			unlock(&sched.lock)
		}
	})
}

// hdSpare waits, on its own kernel thread, until the scheduler has work for it.
func hdSpare() {
	stopm()
	schedule()
}

// hdSignalled reports whether a signal that the program subscribed to is being delivered. Like the
// runtime's other work, delivery comes before any controlled goroutine. With idle set, no goroutine
// is enabled, and a signal still on its way to this process counts, too.
func hdSignalled(idle bool) bool {
	gp := hd.signals.ptr()
	if gp == nil || !sig.inuse {
		return false
	}
	switch readgstatus(gp) &^ _Gscan {
	case _Gwaiting, _Gdead, _Gidle:
		return false // on a lock
	case _Gsyscall:
		if sig.state.Load() == sigReceiving && sig.delivering.Load() == 0 {
			if !idle {
				return false
			}
			if hdSignalPending() {
				return true
			}
			usleep(200) // for a kernel thread that has taken the signal and not reported it yet
			return sig.state.Load() != sigReceiving || sig.delivering.Load() != 0
		}
	}
	return true
}

// hdSignalPending reports whether the process has a pending signal that no thread has taken.
func hdSignalPending() bool {
	name := [...]byte{'/', 'p', 'r', 'o', 'c', '/', 's', 'e', 'l', 'f', '/', 's', 't', 'a', 't', 'u', 's', 0}
	text := hdProc(name[:])
	const field = "\nShdPnd:\t"
	for i := 0; i+len(field)+16 <= len(text); i++ {
		if string(text[i:i+len(field)]) == field {
			const none = "0000000000000000"
			return string(text[i+len(field):i+len(field)+len(none)]) != none
		}
	}
	return false
}

// hdForks is called before the execution creates a child process.
func hdForks() { hd.forked = true }

// hdChildWorks reports whether the program has child processes and none of them has ended unseen.
func hdChildWorks() bool {
	if !hd.forked {
		return false
	}
	const all, exited, noHang, noWait = 0, 4, 1, 0x1000000
	var info [16]uint64 // a siginfo_t, whose first word is the signal's number
	if hdSystem(hdWaitid, all, 0, uintptr(unsafe.Pointer(&info)), exited|noHang|noWait) != 0 {
		hd.forked = false // it has none
		return false
	}
	return uint32(info[0]) == 0
}

// hdPort returns the n-th port, from 0, to try where the program lets the system choose a socket's
// port; 0 for none. hdPortTaken records that the port was free.
//
//go:linkname hdPort
func hdPort(n int) int {
	if !hd.active || hdThreadOf(getg()) == nil || n >= 100 {
		return 0
	}
	return 21000 + hd.ports + n // below those that the system chooses from
}

//go:linkname hdPortTaken
func hdPortTaken(n int) { hd.ports += n + 1 }

// hdQuit is called in the handler of a signal; gp was running, at pc. The controller sends SIGQUIT
// to end the execution where it is: at the instruction that the holder of the token has reached, or at
// its next hook. Go's runtime then prints all stacks and exits. It returns true if the signal is not
// meant for this kernel thread, or must wait for the next hook.
//
//go:yeswritebarrierrec
func hdQuit(sig uint32, gp *g, pc, sender uintptr) bool {
	if sig != _SIGQUIT || !hd.active || hd.warm || hd.cur == nil || !hd.quit && uint32(sender) == uint32(getpid()) || atomic.Load(&hd.shm.Cut) == hdCutNone {
		return false // the program's own signal
	}
	t := hd.cur
	holder := t.gp.ptr()
	if t.state != hdRunning || holder == nil || holder.m == nil {
		hdCut(0) // no goroutine is enabled: Go's runtime waits for the outside world
		return false
	}
	if mp := holder.m; mp != getg().m {
		hd.quit = true
		signalM(mp, _SIGQUIT)
		return true
	}
	if gp != holder { // it is in the runtime, perhaps in a hook
		hd.quit = true
		return true
	}
	if pc++; hdClassOf(pc) != 0 { // sites are return addresses
		pc = 0 // the controller reads the stack that Go's runtime prints
	}
	t.pend = hdPend{pc: pc} // between two operations
	hdCut(pc)
	return false
}

// hdCut ends the execution, which the controller has asked for.
func hdCut(pc uintptr) {
	switch atomic.Load(&hd.shm.Cut) {
	case hdCutUser:
		hdMessage("interrupted")
	case hdCutWatchdog:
		hdMessage("watchdog")
	default:
		hdMessage("time")
	}
	hdFinish(hdOutUnfinished, 0, pc, true)
}
