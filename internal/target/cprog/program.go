package cprog

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/ianlancetaylor/demangle"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// program implements ipc.Program.
type program struct{ *Target }

// Launch starts the program with the runtime loaded.
func (p program) Launch(ctx context.Context) (*ipc.Process, error) {
	c := &p.cfg
	var options uint32
	switch p.isolation {
	case Fork:
		options = abi.OptFork
	case Process:
		options = abi.OptNoSnapshot
	}
	options |= map[setUp]uint32{setUpNever: abi.OptSetupNever, setUpAlways: abi.OptSetupAlways}[c.setUp]
	if p.fast {
		options |= abi.OptSetupFork
	}
	if c.Threads {
		options |= abi.OptThreads
	}
	if c.Randomize {
		options |= abi.OptRandom
	}
	if c.beside {
		options |= abi.OptBeside
	}
	proc, err := ipc.Launch(ctx, &ipc.Command{
		Path: c.Path, Args: c.Args, Dir: c.Dir, Env: environment(c), Stdin: c.Stdin, Hosts: c.Hosts, Options: options,
		Quit: syscall.SIGURG, Early: early, WarmUp: c.Watchdog, Bound: true, Randomize: c.Randomize,
	})
	if errors.Is(err, ipc.ErrCold) {
		err = &ipc.RefusedError{Reason: fmt.Sprintf("it did not reach main within %v: a constructor computes, or waits for a thread, and threads that are started before main begin with it; --watchdog gives it longer", c.Watchdog)}
	}
	if err != nil {
		return nil, err
	}
	if p.isolation == Process {
		proc.Budget = 1
	}
	p.readModules(proc.Shm())
	err = p.sendOmissions(proc.Shm())
	if err == nil {
		err = p.sendTries(proc.Shm())
	}
	if err != nil {
		proc.Close()
		return nil, err
	}
	proc.Closing = p.closing
	return proc, nil
}

// closing keeps what a process that has ended leaves in the shared memory.
func (p program) closing(s *abi.Shm) {
	p.addLate()
	p.addVisited(s)
	p.shm = nil
	p.counted(s)
}

func early(loaded bool, how, _ string) string {
	if loaded {
		return fmt.Sprintf("the program ended before it reached main (%s)", how)
	}
	return fmt.Sprintf("the program ended before heddle's runtime was loaded (%s): is it a dynamically linked program for this machine?", how)
}

// openMP makes the libraries of OpenMP wait in the kernel, where heddle sees it, instead of in loops.
// The runtime takes these variables out again if the program uses no such library
// (runtime/c/process/initial_stack.c).
var openMP = []string{"OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=0", "KMP_BLOCKTIME=0", "KMP_AFFINITY=disabled",
	fmt.Sprintf("OMP_NUM_THREADS=%d", abi.Cpus)}

func environment(c *Config) []string {
	env := make([]string, 0, len(c.Env)+2)
	preload, tunables := c.Runtime, "glibc.pthread.rseq=0"
	unset := slices.Clone(openMP)
	for _, e := range c.Env {
		name, value, _ := strings.Cut(e, "=")
		switch name {
		case "LD_PRELOAD":
			preload += ":" + value
			continue
		case "GLIBC_TUNABLES":
			tunables = value
			continue
		case "LD_BIND_NOW":
			continue
		}
		unset = slices.DeleteFunc(unset, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		env = append(env, e)
	}
	env = append(env, unset...)
	// Symbols are bound at start: lazy binding would happen inside an execution, at a place that
	// depends on the schedule.
	env = append(env, "LD_PRELOAD="+preload, "GLIBC_TUNABLES="+tunables, "LD_BIND_NOW=1")
	env = (&exec.Cmd{Env: env}).Environ() // as the program gets it: one value for each name
	return append(env, padding(c.Path, c.Args, env, argLimit())...)
}

// Ended gives an exception's type its name in the source, and adds what would help. It lists the modules that the execution has loaded.
func (p program) Ended(_ *ipc.Process, plan *schedule.Plan, e *trace.Ending) {
	if p.shm != nil && int(atomic.LoadUint32(&p.shm.Nlate)) > len(p.modules)-p.early {
		p.addLate()
	}
	switch {
	case e.Kind == trace.Clean && e.Status != plan.ExpectStatus:
		p.unexpected(e)
	case e.Kind == trace.Exception:
		e.Message = typeName(e.Message)
	case e.Kind == trace.Unsupported && e.Status != 0: // and the isolation in use is weaker
		e.Message += fmt.Sprintf(" (--isolation=%s can carry it)", Isolation(e.Status)+Snapshot)
		e.Status = 0
	}
}

func typeName(mangled string) string {
	s, err := demangle.ToString("_ZTS" + mangled)
	if err != nil {
		return mangled
	}
	return strings.TrimPrefix(s, "typeinfo name for ")
}
