package ipc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"
)

// stillness measures how long a process could have given a sign of life and has not. Time in which
// it was runnable but waited for a processor does not count, nor time in which it was stopped:
// otherwise every program would hang on a busy machine.
type stillness struct {
	beat  uint64
	begun time.Time
	// waited is how long each of its kernel threads had waited for a processor at the first look,
	// soon after begun; nil before.
	waited map[string]time.Duration
}

// lookAfter is when the kernel is asked for the first time. Most executions give a sign of life
// earlier.
const lookAfter = 500 * time.Millisecond

// since returns how long the process has been still; 0 at the first call.
func (s *stillness) since(p *Process) time.Duration {
	beat, now := atomic.LoadUint64(&p.shm.Heartbeat), time.Now()
	if s.begun.IsZero() || beat != s.beat {
		*s = stillness{beat: beat, begun: now}
	}
	still := now.Sub(s.begun)
	if still < lookAfter {
		return still
	}
	waits, stopped := waits(p.Pid())
	if stopped || s.waited == nil {
		if stopped {
			s.begun = now
		}
		s.waited = waits
		return now.Sub(s.begun)
	}
	// One thread at a time runs the program. The longest wait is an upper bound of the time it
	// lost.
	lost := time.Duration(0)
	for task, w := range waits {
		if before, ok := s.waited[task]; ok {
			lost = max(lost, w-before)
		} else {
			s.waited[task] = w
		}
	}
	return max(0, still-lost)
}

// waits returns how long each kernel thread of a process and of its children has waited for a
// processor (/proc/PID/schedstat), by the name of its directory; empty if the kernel does not
// report it. stopped reports whether a signal or a debugger has stopped the process.
func waits(pid int) (waits map[string]time.Duration, stopped bool) {
	waits = map[string]time.Duration{}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task + "/children")
		for _, child := range bytes.Fields(children) {
			more, _ := filepath.Glob("/proc/" + string(child) + "/task/*")
			tasks = append(tasks, more...)
		}
	}
	for _, task := range tasks {
		text, _ := os.ReadFile(task + "/schedstat") // ns run, ns waited, times
		if f := bytes.Fields(text); len(f) == 3 {
			if ns, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil {
				waits[task] = time.Duration(ns)
			}
		}
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) {
		stopped = stat[i+2] == 'T' || stat[i+2] == 't'
	}
	return waits, stopped
}
