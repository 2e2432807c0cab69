package ipc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const (
	// cutEvery is how often the signal is repeated: it has no effect while the program is in a hook that is not a
	// scheduling point.
	cutEvery = 5 * time.Millisecond
	// cutPatience is how long a program may take to answer, and to undo its changes to files, before it is killed.
	cutPatience = 2 * time.Second
	// positionAfter is how long an execution runs before its position is kept, and the runtime is asked where all threads are.
	positionAfter = time.Second
)

// ask asks the runtime to end the running execution where it is. again says that it was asked before.
func (p *Process) ask(why uint32, again bool) {
	if again && p.quitEnds {
		return // the first signal ends the program
	}
	if why != abi.CutWatchdog || !again {
		atomic.StoreUint64(&p.shm.CutExecution, atomic.LoadUint64(&p.shm.Executions))
	}
	atomic.StoreUint32(&p.shm.Cut, why)
	if !p.threads {
		unix.Kill(p.Pid(), p.quit)
		return
	}
	// One of its kernel threads runs the program; the others wait inside the runtime, where the signal changes nothing.
	for _, task := range tasks(p.Pid()) {
		unix.Tgkill(p.Pid(), task, p.quit)
	}
}

// answered forgets that the runtime was asked: the execution has ended.
func (p *Process) answered() { atomic.StoreUint32(&p.shm.Cut, abi.CutNone) }

func tasks(pid int) (ids []int) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, n := range names {
		if id, err := strconv.Atoi(filepath.Base(n)); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// reached returns the last scheduling point that the running execution has reached.
func (p *Process) reached(prog Program) (at target.Position) {
	if at.Points = int(atomic.LoadUint32(&p.shm.AtPoints)); at.Points > 0 {
		at.Thread = trace.ThreadID(atomic.LoadUint32(&p.shm.AtThread))
		at.Site = prog.Site(atomic.LoadUint64(&p.shm.AtPc))
	}
	return at
}

// cut ends the execution that runs when the context has ended, and returns the error of Stream: a *target.CutError if
// there is such an execution.
func (s *stream) cut(ctx context.Context) error {
	err := ctx.Err()
	if s.proc == nil || s.sent == 0 || s.stopped || !s.proc.Alive() || s.proc.quit == 0 {
		return err
	}
	why := uint32(abi.CutTime)
	if context.Cause(ctx) == context.Canceled {
		why = abi.CutUser
	}
	still := s.dog.after
	s.cutting = true
	call := ""
	if s.proc.results.head() == s.proc.results.tail() { // otherwise the runtime may wait for room
		call = s.proc.kernelCall()
	}
	s.proc.ask(why, false)
	for asked, end := time.Now(), time.Now().Add(cutPatience); s.last == nil && time.Now().Before(end); {
		// An execution that was about to begin ignores the question, and its records may not cease.
		if time.Since(asked) >= cutEvery {
			s.proc.ask(why, true)
			asked = time.Now()
		}
		kind, b, ok := s.proc.results.Next()
		if !ok {
			if !s.proc.Alive() && s.proc.results.head() == s.proc.results.tail() || s.proc.state() == abi.StateFatal {
				return err
			}
			s.proc.results.Wait(cutEvery)
			continue
		}
		if s.record(kind, b) != nil || s.sent == 0 || s.proc == nil {
			return err
		}
	}
	if s.last == nil {
		s.last = &target.CutError{Plan: s.queue[0].plan, Outcome: s.killed(cutMessages[why] + ": killed, because the program did not answer" + call)}
	} else if call != "" {
		s.last.Outcome.Ending.Message += call
	}
	s.last.Still, s.last.Err = still, err
	return s.last
}

var cutMessages = map[uint32]string{abi.CutTime: trace.CutByTime, abi.CutUser: trace.CutByUser, abi.CutWatchdog: trace.CutByWatchdog}

// killed ends the process and returns the outcome of its execution, of which only the last position is known.
func (s *stream) killed(message string) schedule.Outcome {
	at := s.proc.reached(s.Program)
	s.proc.kill()
	o := schedule.Outcome{Index: s.queue[0].done, Points: at.Points, Ending: trace.Ending{Kind: trace.Unfinished, Message: message, Thread: at.Thread, Site: at.Site}}
	if at.Site != 0 {
		o.Ending.Waiters = []trace.Waiter{{Thread: at.Thread, Site: at.Site, Holder: -1, Ready: true}}
	}
	s.Program.Ended(s.proc, &s.queue[0].plan, &o.Ending)
	return o
}

// follow keeps the position of an execution that takes long.
func (s *stream) follow() {
	if s.sent == 0 || s.proc == nil || time.Since(s.began) < positionAfter {
		return
	}
	at := s.proc.reached(s.Program)
	at.Plan, at.Index, at.Execution = s.queue[0].plan, s.queue[0].done, s.running()
	at.For = time.Since(s.began)
	if before := s.position.Load(); before != nil {
		at.Threads, at.Spins, at.Told = before.Threads, before.Spins, before.Told
	}
	if s.x.where != nil {
		stacks := &Stacks{}
		if s.x.recording != nil {
			stacks = &s.x.recording.who
		}
		at.Threads, at.Spins, at.Told = make([]trace.Waiter, len(s.x.where)), make([]int, len(s.x.where)), at.For
		for i := range s.x.where {
			at.Threads[i] = waiterOf(s.Program, stacks, &s.x.where[i])
			at.Threads[i].Stack = 0
			at.Spins[i] = int(s.x.where[i].Spins)
		}
		s.x.where = nil
	}
	// Each time it has run twice as long.
	if at.For >= 2*at.Told {
		atomic.CompareAndSwapUint32(&s.proc.shm.Cut, abi.CutNone, abi.CutWhere) // while nothing else is asked
	}
	s.position.Store(&at)
}

// Position implements target.Positioned.
func (l *Loop) Position() (target.Position, bool) {
	if at := l.position.Load(); at != nil {
		return *at, true
	}
	return target.Position{}, false
}

// running numbers the execution that runs, from 1.
func (l *Loop) running() uint64 { return l.over + 1 }

// Expire implements target.Positioned.
func (l *Loop) Expire(at target.Position) { l.expired.Store(at.Execution) }

// errNoCall says that no system call of a process is known.
var errNoCall = errors.New("no system call")

// kernelCall describes the system call in which a process, or the child that carries out its execution, is blocked;
// empty if it runs or that is not known.
func (p *Process) kernelCall() string {
	if p.threads || p.quitEnds {
		return "" // several kernel threads run the program
	}
	pid := p.Pid()
	if child := atomic.LoadUint32(&p.shm.Executing); child != 0 {
		pid = int(child)
	}
	n, err := blockedIn(pid)
	if err != nil {
		return ""
	}
	name := calls[n]
	if name == "" {
		name = fmt.Sprintf("system call %d", n)
	}
	return ": blocked in the kernel, in " + name
}

func blockedIn(pid int) (int, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	if i := bytes.LastIndexByte(stat, ')'); i < 0 || i+2 >= len(stat) || stat[i+2] != 'S' && stat[i+2] != 'D' {
		return 0, errNoCall
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.Atoi(string(first)) // "running" is not a number
	if n < 0 {                            // it waits for memory
		err = errNoCall
	}
	return n, err
}

// calls names the system calls of x86-64 that block.
var calls = map[int]string{
	0: "read", 1: "write", 7: "poll", 16: "ioctl", 17: "pread64", 18: "pwrite64", 19: "readv", 20: "writev", 23: "select", 34: "pause",
	35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 46: "sendmsg", 47: "recvmsg", 61: "wait4", 65: "semop",
	69: "msgsnd", 70: "msgrcv", 72: "fcntl", 73: "flock", 74: "fsync", 75: "fdatasync", 128: "rt_sigtimedwait", 130: "rt_sigsuspend",
	202: "futex", 208: "io_getevents", 220: "semtimedop", 230: "clock_nanosleep", 232: "epoll_wait", 242: "mq_timedsend",
	243: "mq_timedreceive", 247: "waitid", 257: "openat", 270: "pselect6", 271: "ppoll", 281: "epoll_pwait", 288: "accept4",
	299: "recvmmsg", 307: "sendmmsg", 318: "getrandom", 426: "io_uring_enter", 441: "epoll_pwait2",
}
