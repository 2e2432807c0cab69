//go:build heddle

// What only the system knows: whether a thread works or waits, whether a signal is on its
// way.
package runtime

import "unsafe"

var hdProcBuf [2048]byte // there is one token, so one is enough

// hdProc is the beginning of a file of /proc, nil if it cannot be read; name ends with a 0.
func hdProc(name []byte) []byte {
	fd := open(&name[0], _O_RDONLY|_O_CLOEXEC, 0)
	if fd < 0 {
		return nil
	}
	n := read(fd, unsafe.Pointer(&hdProcBuf), int32(len(hdProcBuf)))
	closefd(fd)
	return hdProcBuf[:max(n, 0)]
}

// hdTaskState is the letter for the state that the system's thread is in: R, S, D …; 0 if
// that cannot be told.
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
	for i := len(text) - 3; i >= 0; i-- { // the name before it may have anything in it
		if text[i] == ')' {
			return text[i+2]
		}
	}
	return 0
}

// hdSpareThreads are more threads than programs have in system calls at one time, mostly.
const hdSpareThreads = 4

// hdSpares makes threads of the system's beforehand. One that the scheduler makes because a
// system call lasts is allocated when the kernel's timing has it so, and everything that the
// program allocates after it would be at another address.
func hdSpares() {
	if !hd.on {
		return
	}
	systemstack(func() {
		for range hdSpareThreads {
			newm(hdSpare, nil, -1)
		}
		for idle := int32(0); idle < hdSpareThreads; osyield() {
			lock(&sched.lock)
			idle = sched.nmidle
			unlock(&sched.lock)
		}
	})
}

// hdSpare waits, on a thread of its own, until the scheduler has work for it.
func hdSpare() {
	stopm()
	schedule()
}

// hdSignalled reports whether a signal that somebody asked for is being handed on. Like
// what else runs on behalf of the runtime, that comes before any controlled goroutine. With
// idle, nobody could go on: one that is still on its way to this process counts, too.
func hdSignalled(idle bool) bool {
	gp := hd.signals.ptr()
	if gp == nil || !sig.inuse {
		return false
	}
	switch readgstatus(gp) &^ _Gscan {
	case _Gwaiting, _Gdead, _Gidle:
		return false // for a lock
	case _Gsyscall:
		if sig.state.Load() == sigReceiving && sig.delivering.Load() == 0 {
			if !idle {
				return false
			}
			if hdSignalPending() {
				return true
			}
			usleep(200) // for a thread that has taken it and not told yet
			return sig.state.Load() != sigReceiving || sig.delivering.Load() != 0
		}
	}
	return true
}

// hdSignalPending reports whether there is a signal to the process that no thread has
// taken.
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

// hdPort is the n-th port, from 0, to try where the program leaves it to the system which
// one a socket is bound to, 0 for none; hdPortTaken says that it could be had.
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

// hdQuit is called when a signal has arrived, in the handler; gp was running, at pc. The controller
// sends SIGQUIT to a program that shows no sign of life. The execution ends as a hang, at the
// instruction that the holder of the token has come to; Go's runtime then prints all stacks and
// exits. With true, the signal is not meant for this kernel thread, or has to wait for the next hook.
//
//go:yeswritebarrierrec
func hdQuit(sig uint32, gp *g, pc, sender uintptr) bool {
	if sig != _SIGQUIT || !hd.active || hd.warm || hd.cur == nil || !hd.quit && uint32(sender) == uint32(getpid()) {
		return false // the program's own
	}
	t := hd.cur
	holder := t.gp.ptr()
	if t.state != hdRunning || holder == nil || holder.m == nil {
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
		pc = 0 // the stack that Go's runtime prints tells the controller
	}
	hdMessage(hdNoSign)
	hdFinish(hdOutHang, 0, pc, true)
	return false
}

const hdNoSign = "watchdog: no scheduling point was reached"
