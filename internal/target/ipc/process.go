package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
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
	"github.com/heddle-dev/heddle/internal/target"
)

const (
	planRingSize   = 64 << 20
	farSize        = 512 << 20 // for a plan that is too long for the ring; only what is used takes memory
	resultRingSize = 64 << 20
	addrNoRandom   = 0x0040000 // ADDR_NO_RANDOMIZE
)

// Command says how a process is started and what its lack of output means.
type Command struct {
	Path    string
	Args    []string // Args[0] as the program will see it
	Dir     string   // working directory, empty for the current one
	Env     []string // the whole environment
	Stdin   []byte   // what the program reads
	Hosts   int      // abi.Shm.Hosts
	Options uint32   // abi.Shm.Options
	// Append keeps the program's output in the order written, across its processes, for
	// Process.Output. Otherwise the runtime manages the file.
	Append bool
	// Terminal leaves heddle's own standard files and its terminal to the process, for a debugger.
	// Its output is not captured then.
	Terminal bool
	// Randomize leaves the address layout to the system, which chooses another for each process.
	Randomize bool
	// Bound ends the process when this one ends, for runtimes that do not do so on their own.
	Bound bool
	// Quit is sent to a program that does not answer. If QuitEnds is set, it ends the program;
	// otherwise the runtime ends the execution as a hang and continues.
	Quit     syscall.Signal
	QuitEnds bool
	// WarmUp is how long the program may go without a sign of life between the start of its runtime
	// and being ready; then Launch returns ErrCold. 0 means no limit.
	WarmUp time.Duration
	// Scratch is a directory that is removed when the process is closed; empty for none.
	Scratch string
	// Early returns the sentence for a program that ended before it was ready: before its runtime
	// had begun, or loaded. words is the end of its output.
	Early func(loaded bool, how, words string) string
	// Words extracts from the output what a user should see of a program that ended without a
	// reason. Nil if the controller cannot read the output.
	Words func(output []byte) string
	// Where, with Quit, extracts from the output what the signal made the program say of where it is, a line for each
	// thread (target.StuckError). nil if it says nothing.
	Where func(output []byte) []string
}

// Process is one launched program with its shared memory, ready to take plans.
type Process struct {
	// Budget is how many executions the process may be given, 0 for any number. The code that
	// launches the process sets it.
	Budget int
	// Closing, if not nil, gets the shared memory when the process has ended and before the memory
	// is unmapped.
	Closing func(*abi.Shm)
	// Mark is for a Program's own use: the offset in the output where the first execution begins.
	Mark int64
	// Scratch is that of its Command.
	Scratch string

	cmd      *exec.Cmd
	early    func(loaded bool, how, words string) string
	words    func(output []byte) string
	where    func(output []byte) []string
	quit     syscall.Signal
	quitEnds bool
	threads  bool // each of the program's threads has a kernel thread
	out      *os.File
	mem      []byte
	shm      *abi.Shm
	plans    Ring
	results  Ring
	far      uint64 // id of the plan that lies in the memory for long ones, 0 for none
	asked    int    // executions asked for so far
	sent     sentPoints
	dead     chan struct{} // closed when the program has been waited for
	waitErr  error
}

// ErrCold is Launch's error for a program whose warm-up failed (abi.StateCold).
var ErrCold = errors.New("the execution that was to warm up the program failed")

// Launch starts the program and waits until its runtime takes plans. A *RefusedError says in one
// sentence why heddle cannot run the program.
func Launch(ctx context.Context, c *Command) (*Process, error) {
	p := &Process{dead: make(chan struct{}), early: c.Early, words: c.Words, where: c.Where, quit: c.Quit, quitEnds: c.QuitEnds, threads: c.Options&abi.OptThreads != 0, Scratch: c.Scratch}
	shmFile, err := p.share(c)
	if err != nil {
		return nil, err
	}
	defer shmFile.Close()
	if p.out, err = memfile("heddle-output", nil); err != nil {
		p.unmap()
		return nil, err
	}
	if c.Append {
		if _, err := unix.FcntlInt(p.out.Fd(), unix.F_SETFL, unix.O_APPEND); err != nil {
			p.unmap()
			return nil, fmt.Errorf("cannot prepare a memory file: %w", err)
		}
	}
	in, err := memfile("heddle-input", c.Stdin)
	if err != nil {
		p.unmap()
		return nil, err
	}
	defer in.Close()

	p.cmd = exec.Command(c.Path)
	p.cmd.Args = append([]string{c.Args[0]}, c.Args[1:]...)
	p.cmd.Dir = c.Dir
	p.cmd.Env = c.Env
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, p.out, p.out
	if c.Terminal {
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	}
	p.cmd.ExtraFiles = []*os.File{shmFile} // abi.ShmFd
	// Its own process group: heddle handles Ctrl-C.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.Terminal}
	if c.Bound {
		p.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	start := startFixed
	if c.Randomize {
		start = startRandom
	}
	if err := start(p.cmd); err != nil {
		p.unmap()
		if errors.Is(err, syscall.E2BIG) {
			return nil, tooLong(c)
		}
		return nil, fmt.Errorf("cannot start %s: %w", c.Path, Plain(err))
	}
	go func() {
		p.waitErr = p.cmd.Wait()
		// A caller that waits for a result looks again and finds the process dead.
		wake(&p.shm.ResultRing.HeadWaiters, &p.shm.ResultRing.HeadSeq)
		close(p.dead)
	}()
	if err := p.handshake(ctx, c.WarmUp); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Wait waits until the process has ended.
func (p *Process) Wait() { <-p.dead }

// startFixed starts cmd with a fixed address layout where the system allows it. Nothing that heddle
// prints or stores depends on the layout; a fixed one only makes runs more alike.
func startFixed(cmd *exec.Cmd) error {
	return startIn(cmd, func(old uintptr) uintptr { return old | addrNoRandom })
}

// startRandom starts cmd with a random address layout, even if heddle's own is fixed.
func startRandom(cmd *exec.Cmd) error {
	return startIn(cmd, func(old uintptr) uintptr { return old &^ addrNoRandom })
}

// startIn starts cmd in another personality, which belongs to the thread that forks.
func startIn(cmd *exec.Cmd, personality func(old uintptr) uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old, _, errno := syscall.RawSyscall(syscall.SYS_PERSONALITY, 0xffffffff, 0, 0)
	if errno == 0 {
		if _, _, e := syscall.RawSyscall(syscall.SYS_PERSONALITY, personality(old), 0, 0); e == 0 {
			defer syscall.RawSyscall(syscall.SYS_PERSONALITY, old, 0, 0)
		}
	}
	return cmd.Start()
}

// tooLong explains why the kernel refuses a command's arguments and environment.
func tooLong(c *Command) error {
	const longest = 128 << 10 // with its zero: MAX_ARG_STRLEN
	bytes := 0
	for i, a := range c.Args {
		if len(a) >= longest {
			return fmt.Errorf("cannot start %s: argument %d has %d bytes, and Linux allows one argument %d: pass it in a file", c.Path, i, len(a), longest-1)
		}
		bytes += len(a) + 1
	}
	for _, v := range c.Env {
		if len(v) >= longest {
			name, _, _ := strings.Cut(v, "=")
			return fmt.Errorf("cannot start %s: the environment variable %s has %d bytes, and Linux allows one variable %d: shorten it", c.Path, name, len(v), longest-1)
		}
		bytes += len(v) + 1
	}
	return fmt.Errorf("cannot start %s: arguments and environment have %d bytes, more than the kernel allows a program: shorten them, or raise the limit on the stack (ulimit -s), a quarter of which they may take", c.Path, bytes)
}

// Plain drops the path from a file error, for messages that name the file already.
func Plain(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
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

func (p *Process) share(c *Command) (*os.File, error) {
	const page = 4096
	planOff := (abi.SizeofShm + page - 1) &^ (page - 1)
	resultOff := planOff + planRingSize
	farOff := resultOff + resultRingSize
	total := farOff + farSize
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
	s.FarOff, s.FarSize = uint64(farOff), farSize
	s.Hosts, s.Options = uint32(c.Hosts), c.Options
	p.shm, p.plans, p.results = View(p.mem)
	return f, nil
}

// View describes a mapping of the shared memory whose "set before start" fields are set.
func View(mem []byte) (s *abi.Shm, plans, results Ring) {
	s = (*abi.Shm)(unsafe.Pointer(&mem[0]))
	plans = Ring{&s.PlanRing, mem[s.PlanOff : s.PlanOff+s.PlanSize]}
	results = Ring{&s.ResultRing, mem[s.ResultOff : s.ResultOff+s.ResultSize]}
	return s, plans, results
}

func (p *Process) state() uint32 { return atomic.LoadUint32(&p.shm.State) }

func (p *Process) message() string {
	b := p.shm.Message[:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func (p *Process) handshake(ctx context.Context, warmUp time.Duration) error {
	var still stillness
	for {
		switch s := p.state(); s {
		case abi.StateReady:
			if got := int(p.shm.Points); got != abi.PointsVersion {
				return fmt.Errorf("the runtime has scheduling points of version %d, this heddle %d: remove the cache directory and try again", got, abi.PointsVersion)
			}
			return nil
		case abi.StateRefused, abi.StateFatal, abi.StateCold:
			return p.failure()
		case abi.StateLoaded:
			if warmUp > 0 && still.since(p) > warmUp {
				return ErrCold
			}
			fallthrough
		default:
			futexWait(&p.shm.State, s, 20*time.Millisecond)
		}
		select {
		case <-p.dead:
			return p.failure()
		case <-ctx.Done():
			return p.stuck(ctx)
		default:
		}
	}
}

// stuck returns the error for a program that is not ready when ctx ends. Unless the user interrupts it, it is asked where it is.
func (p *Process) stuck(ctx context.Context) error {
	if p.where == nil || context.Cause(ctx) == context.Canceled {
		return ctx.Err()
	}
	unix.Kill(p.Pid(), p.quit)
	select {
	case <-p.dead:
	case <-time.After(stuckPatience):
		return ctx.Err()
	}
	end := p.OutputSize()
	return &target.StuckError{Where: p.where(p.Output(max(0, end-mostWords), end)), Err: ctx.Err()}
}

// mostWords is how much of a program's output is read at most: the first words of a crash come before the stacks of all goroutines.
const mostWords = 128 << 20

// stuckPatience is how long a program may take to say where it is.
const stuckPatience = time.Second

// failure explains why the program is no longer running. The reason is never the program's bug.
func (p *Process) failure() error {
	switch p.state() {
	case abi.StateRefused:
		return &RefusedError{p.message()}
	case abi.StateFatal:
		return fmt.Errorf("heddle's runtime failed: %s", p.message())
	case abi.StateCold:
		return ErrCold
	}
	<-p.dead
	how := "ended"
	if p.waitErr != nil {
		how = p.waitErr.Error()
	}
	words := ""
	if p.words != nil {
		end := p.OutputSize()
		words = p.words(p.Output(max(0, end-mostWords), end))
	}
	switch s := p.state(); s {
	case abi.StateEmpty, abi.StateLoaded:
		return &RefusedError{p.early(s == abi.StateLoaded, how, words)}
	}
	return &LostError{how, words}
}

// RefusedError explains why heddle cannot run a program.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// LostError reports that the program's process vanished.
type LostError struct {
	How   string
	Words string // the end of its output, as Command.Words gives it
}

func (e *LostError) Error() string {
	s := "the program's process was lost (" + e.How + "): this is a failure of heddle or of its surroundings, not a finding"
	if e.Words != "" {
		s += "; its last words were:\n" + e.Words
	}
	return s
}

// Shm returns the shared memory, valid until Close.
func (p *Process) Shm() *abi.Shm { return p.shm }

// Pid returns the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Alive reports whether the process has not ended yet.
func (p *Process) Alive() bool {
	select {
	case <-p.dead:
		return false
	default:
		return true
	}
}

// Failure waits for the end of the process and returns its cause as an error of heddle's.
func (p *Process) Failure() error {
	<-p.dead
	return p.failure()
}

// OutputSize returns the number of bytes written to standard output and error so far.
func (p *Process) OutputSize() int64 {
	var st unix.Stat_t
	if err := unix.Fstat(int(p.out.Fd()), &st); err != nil {
		return 0
	}
	return st.Size
}

// Output returns a part of the output, nil if it is empty. Of more than OutputKept bytes it returns
// the end, after a line that says so.
func (p *Process) Output(from, to int64) []byte {
	if to <= from {
		return nil
	}
	if left := to - from - OutputKept; left > 0 {
		return append(fmt.Appendf(nil, "[heddle: %d bytes of output left out]\n", left), p.Output(from+left, to)...)
	}
	b := make([]byte, to-from)
	n, _ := p.out.ReadAt(b, from)
	return b[:n]
}

// OutputKept is the most that is kept of an execution's output, in bytes. The C runtime keeps half
// of it from the beginning.
const OutputKept = 2 * abi.OutputKept

// trim, called periodically, frees the memory of output that is no longer needed while the program
// still writes: all but the beginning and the end. The file keeps its size.
func (p *Process) trim() {
	const recent = 64 << 20
	if end := p.OutputSize() - recent; end > OutputKept {
		_ = unix.Fallocate(int(p.out.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, OutputKept, end-OutputKept)
	}
}

// spent reports whether the process must not be given another execution.
func (p *Process) spent() bool { return p.Budget > 0 && p.asked >= p.Budget }

// planEnded notes the end of a plan, whose id the record has.
func (p *Process) planEnded(record []byte) {
	if p.far == 0 || len(record) < 8 || binary.NativeEndian.Uint64(record) != p.far {
		return
	}
	p.far = 0
	_ = unix.Madvise(p.mem[p.shm.FarOff:p.shm.FarOff+p.shm.FarSize], unix.MADV_REMOVE) // frees the memory
}

// settle waits for the end of a process that is about to end, so that its output is complete.
func (p *Process) settle() {
	select {
	case <-p.dead:
	case <-time.After(5 * time.Second):
		p.kill()
	}
}

// kill ends the process and the processes it started.
func (p *Process) kill() {
	if p.Alive() {
		unix.Kill(-p.Pid(), unix.SIGKILL)
		p.cmd.Process.Kill()
		<-p.dead
	}
}

// restoring is how long a process may take to end an execution that has changed files, and to undo that.
const restoring = 2 * time.Second

// restored ends an execution that has changed files, so that the process undoes the changes: as for the
// watchdog, a handler ends it at the interrupted instruction or at its next scheduling point.
func (p *Process) restored() {
	if p.quit == 0 || atomic.LoadUint32(&p.shm.Changes) == 0 {
		return
	}
	end := time.Now().Add(restoring)
	for asked := false; p.Alive() && atomic.LoadUint32(&p.shm.Changes) > 0 && time.Now().Before(end); asked = true {
		p.ask(abi.CutTime, asked)
		time.Sleep(time.Millisecond)
	}
}

// Close ends the process and frees its memory. It may be called again.
func (p *Process) Close() {
	if p.mem == nil {
		return
	}
	atomic.StoreUint32(&p.shm.Stop, 1)
	p.restored()
	p.kill()
	if p.Closing != nil {
		p.Closing(p.shm)
	}
	p.unmap()
}

func (p *Process) unmap() {
	if p.Scratch != "" {
		os.RemoveAll(p.Scratch) // fails only if the program has changed permissions
	}
	if p.out != nil {
		p.out.Close()
	}
	unix.Munmap(p.mem)
	p.mem, p.shm = nil, nil
}
