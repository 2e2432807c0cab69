package cprog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/abi"
)

const (
	planRingSize   = 64 << 20
	resultRingSize = 64 << 20
	addrNoRandom   = 0x0040000 // ADDR_NO_RANDOMIZE
)

// process is one launched program under the runtime.
type process struct {
	cmd     *exec.Cmd
	mem     []byte
	shm     *abi.Shm
	plans   ring
	results ring
	dead    chan struct{} // closed when the program has been waited for
	waitErr error
}

// launch starts the program and waits until the runtime stands at main.
func launch(ctx context.Context, c *Config) (*process, error) {
	p := &process{dead: make(chan struct{})}
	shmFile, err := p.share(c)
	if err != nil {
		return nil, err
	}
	defer shmFile.Close()
	out, err := memfile("heddle-output", nil)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	in, err := memfile("heddle-input", c.Stdin)
	if err != nil {
		return nil, err
	}
	defer in.Close()

	p.cmd = exec.Command(c.Path)
	p.cmd.Args = append([]string{c.Args[0]}, c.Args[1:]...)
	p.cmd.Dir = c.Dir
	p.cmd.Env = environment(c)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, out
	p.cmd.ExtraFiles = []*os.File{shmFile} // abi.ShmFd
	// Its own process group: Ctrl-C is heddle's to handle.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := startFixed(p.cmd); err != nil {
		p.unmap()
		return nil, fmt.Errorf("cannot start %s: %w", c.Path, plain(err))
	}
	go func() {
		p.waitErr = p.cmd.Wait()
		close(p.dead)
	}()
	if err := p.handshake(ctx); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// startFixed starts cmd with a fixed address layout where the system allows it. The
// personality belongs to the thread that forks; nothing heddle prints or stores depends
// on it, it only makes runs more alike.
func startFixed(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old, _, errno := syscall.RawSyscall(syscall.SYS_PERSONALITY, 0xffffffff, 0, 0)
	if errno == 0 {
		if _, _, e := syscall.RawSyscall(syscall.SYS_PERSONALITY, old|addrNoRandom, 0, 0); e == 0 {
			defer syscall.RawSyscall(syscall.SYS_PERSONALITY, old, 0, 0)
		}
	}
	return cmd.Start()
}

func plain(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func environment(c *Config) []string {
	env := make([]string, 0, len(c.Env)+2)
	preload, tunables := c.Runtime, "glibc.pthread.rseq=0"
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
		env = append(env, e)
	}
	// Symbols are bound at start: lazy binding would happen inside an execution, in a
	// place that depends on the schedule.
	return append(env, "LD_PRELOAD="+preload, "GLIBC_TUNABLES="+tunables, "LD_BIND_NOW=1")
}

func memfile(name string, content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot make a memory file: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if len(content) > 0 {
		if _, err := f.WriteAt(content, 0); err != nil {
			f.Close()
			return nil, fmt.Errorf("cannot fill a memory file: %w", err)
		}
	}
	return f, nil
}

func (p *process) share(c *Config) (*os.File, error) {
	const page = 4096
	planOff := (abi.SizeofShm + page - 1) &^ (page - 1)
	resultOff := planOff + planRingSize
	total := resultOff + resultRingSize
	f, err := memfile("heddle", nil)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(int64(total)); err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot make %d MB of shared memory: %w", total>>20, err)
	}
	p.mem, err = unix.Mmap(int(f.Fd()), 0, total, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot map %d MB of shared memory: %w", total>>20, err)
	}
	s := (*abi.Shm)(unsafe.Pointer(&p.mem[0]))
	s.Magic, s.Abi = abi.Magic, abi.AbiVersion
	s.SizeEvent, s.SizePlan, s.SizeResult, s.SizeShm = abi.SizeofEvent, abi.SizeofPlan, abi.SizeofResult, abi.SizeofShm
	s.Total = uint64(total)
	s.PlanOff, s.PlanSize = uint64(planOff), planRingSize
	s.ResultOff, s.ResultSize = uint64(resultOff), resultRingSize
	s.Donors = uint32(c.Donors)
	p.shm = s
	p.plans = ring{&s.PlanRing, p.mem[planOff:resultOff]}
	p.results = ring{&s.ResultRing, p.mem[resultOff:total]}
	return f, nil
}

func (p *process) state() uint32 { return atomic.LoadUint32(&p.shm.State) }

func (p *process) message() string {
	b := p.shm.Message[:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func (p *process) handshake(ctx context.Context) error {
	for {
		switch s := p.state(); s {
		case abi.StateReady:
			if got := int(p.shm.Points); got != abi.PointsVersion {
				return fmt.Errorf("the runtime has scheduling points of version %d, this heddle %d: remove the cache directory and try again", got, abi.PointsVersion)
			}
			return nil
		case abi.StateRefused, abi.StateFatal:
			return p.failure()
		default:
			futexWait(&p.shm.State, s, 20*time.Millisecond)
		}
		select {
		case <-p.dead:
			return p.failure()
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
	}
}

// failure says why the program is not running any more. It is never the program's bug.
func (p *process) failure() error {
	switch p.state() {
	case abi.StateRefused:
		return &RefusedError{p.message()}
	case abi.StateFatal:
		return fmt.Errorf("heddle's runtime failed: %s", p.message())
	}
	<-p.dead
	how := "ended"
	if p.waitErr != nil {
		how = p.waitErr.Error()
	}
	switch p.state() {
	case abi.StateEmpty:
		return &RefusedError{fmt.Sprintf("the program ended before heddle's runtime was loaded (%s): is it a dynamically linked program for this machine?", how)}
	case abi.StateLoaded:
		return &RefusedError{fmt.Sprintf("the program ended before it reached main (%s)", how)}
	}
	return &LostError{how}
}

// RefusedError says why heddle cannot run a program.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// LostError says that the program's process vanished.
type LostError struct{ How string }

func (e *LostError) Error() string {
	return "the program's process was lost (" + e.How + "): this is a failure of heddle or of its surroundings, not a finding"
}

// alive is false once the process has ended.
func (p *process) alive() bool {
	select {
	case <-p.dead:
		return false
	default:
		return true
	}
}

func (p *process) kill() {
	atomic.StoreUint32(&p.shm.Stop, 1)
	p.cmd.Process.Kill()
	<-p.dead
	p.unmap()
}

func (p *process) unmap() {
	if p.mem != nil {
		unix.Munmap(p.mem)
		p.mem, p.shm = nil, nil
	}
}
