package doctor

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/machine"
)

// machineChecks check the kernel and the processor.
func machineChecks() []Check {
	return []Check{
		platformCheck(),
		fsgsbaseCheck(),
		dispatchCheck(),
		layoutCheck(),
		sharedMemoryCheck(),
		pagemapCheck(),
		coresCheck(),
		memoryCheck(),
	}
}

func platformCheck() Check {
	detail := runtime.GOOS + "/" + runtime.GOARCH
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		detail += ", kernel " + unix.ByteSliceToString(u.Release[:])
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return Check{"platform", Bad, detail, "heddle's runtime exists for 64-bit x86 Linux only."}
	}
	return Check{Name: "platform", Grade: Good, Detail: detail}
}

// fsgsbaseCheck checks whether programs may write the FS base themselves (Linux 5.9 and a processor
// since 2012): a fiber switches to its thread's identity that way.
func fsgsbaseCheck() Check {
	const name = "fsgsbase"
	const atHWCAP2, hwcap2FSGSBASE = 26, 1 << 1
	auxv, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return Check{name, Poor, "not known: " + err.Error(), "Without it a switch between threads costs a system call."}
	}
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.LittleEndian.Uint64(auxv) == atHWCAP2 && binary.LittleEndian.Uint64(auxv[8:])&hwcap2FSGSBASE != 0 {
			return Check{Name: name, Grade: Good, Detail: "usable"}
		}
	}
	return Check{name, Poor, "not usable", "A switch between threads costs a system call: fewer executions per second."}
}

// dispatchCheck checks whether the kernel can hand over system calls that a library makes with
// instructions of its own (Linux 5.11), as libgomp does.
func dispatchCheck() Check {
	const name = "system calls"
	const option, off = 59, 0 // PR_SET_SYSCALL_USER_DISPATCH
	if err := unix.Prctl(option, off, 0, 0, 0); err != nil {
		return Check{name, Poor, "those of a library's own instructions cannot be caught: " + err.Error(),
			"OpenMP programs that gcc built cannot be controlled: Linux 5.11 or later is needed."}
	}
	return Check{Name: name, Grade: Good, Detail: "those of a library's own instructions can be caught"}
}

// layoutCheck checks whether address randomisation can be switched off. A personality belongs to a
// kernel thread, so it is restored before another goroutine runs on this one.
func layoutCheck() Check {
	const name = "fixed addresses"
	const addrNoRandomize, query = 0x0040000, 0xffffffff
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, query, 0, 0)
	if errno == 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_PERSONALITY, old|addrNoRandomize, 0, 0)
		unix.RawSyscall(unix.SYS_PERSONALITY, old, 0, 0)
	}
	if errno != 0 {
		return Check{name, Poor, "forbidden here: " + errno.Error(),
			"Containers often forbid personality(ADDR_NO_RANDOMIZE). Schedules replay without it, but a program that prints addresses or hashes them may differ from run to run."}
	}
	return Check{Name: name, Grade: Good, Detail: "address randomisation can be switched off"}
}

// sharedMemoryCheck creates the kind of file through which heddle talks to the runtime.
func sharedMemoryCheck() Check {
	const name = "shared memory"
	fd, err := unix.MemfdCreate("heddle-doctor", unix.MFD_CLOEXEC)
	if err == nil {
		defer unix.Close(fd)
		if err = unix.Ftruncate(fd, 1<<20); err == nil {
			var m []byte
			if m, err = unix.Mmap(fd, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
				err = unix.Munmap(m)
			}
		}
	}
	if err != nil {
		return Check{name, Bad, "not available: " + err.Error(), "heddle talks to the program through a memory file (memfd_create): allow it in this container."}
	}
	return Check{Name: name, Grade: Good, Detail: "memory files can be made and mapped"}
}

// pageScan is struct pm_scan_arg of <linux/fs.h>.
type pageScan struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages uint64
	categoryInverted, categoryMask, categoryAny, returnMask uint64
}

// pagemapCheck checks how much the kernel reports about pages. When it copies a program's memory,
// the runtime asks for the pages that are present.
func pagemapCheck() Check {
	const name = "page map"
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return Check{name, Poor, "not readable: " + err.Error(), "More memory than needed is copied between executions: fewer executions per second."}
	}
	defer f.Close()
	const pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)
	page := make([]byte, 2*os.Getpagesize())
	start := (uint64(uintptr(unsafe.Pointer(&page[0]))) + uint64(os.Getpagesize()) - 1) &^ uint64(os.Getpagesize()-1)
	arg := pageScan{start: start, end: start + uint64(os.Getpagesize())}
	arg.size = uint64(unsafe.Sizeof(arg))
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), pagemapScan, uintptr(unsafe.Pointer(&arg)))
	runtime.KeepAlive(page)
	if errno != 0 {
		return Check{Name: name, Grade: Good, Detail: "readable, without PAGEMAP_SCAN (Linux 6.7)"}
	}
	return Check{Name: name, Grade: Good, Detail: "readable, with PAGEMAP_SCAN"}
}

func coresCheck() Check {
	detail := fmt.Sprintf("%d", runtime.NumCPU())
	if quota, ok := cpuQuota("/sys/fs/cgroup/cpu.max"); ok && quota < float64(runtime.NumCPU()) {
		detail += fmt.Sprintf(", limited to %.3g by a control group", quota)
	}
	if runtime.NumCPU() < 2 {
		return Check{"cores", Poor, detail, "heddle and the program take turns on one core: fewer executions per second."}
	}
	return Check{Name: "cores", Grade: Good, Detail: detail}
}

// cpuQuota returns the number of processors that a control group allows.
func cpuQuota(file string) (float64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	var quota, period float64
	if n, _ := fmt.Sscan(string(text), &quota, &period); n != 2 || period <= 0 {
		return 0, false // "max 100000": no limit
	}
	return quota / period, true
}

// littleMemory is enough for heddle, a program's snapshot and a queue of events.
const littleMemory = 512 << 20

func memoryCheck() Check {
	const name = "memory"
	available, ok := machine.MemoryInfo("MemAvailable:")
	if !ok {
		return Check{name, Poor, "not known: /proc/meminfo has no MemAvailable", "It cannot be said whether there is enough."}
	}
	detail := fmt.Sprintf("%d MB available", available>>20)
	if limit, ok := machine.MemoryLimit(); ok {
		detail += fmt.Sprintf(", limited to %d MB by a control group", limit>>20)
		available = min(available, limit)
	}
	if available < littleMemory {
		return Check{name, Poor, detail, "Large programs may be killed for want of memory."}
	}
	return Check{Name: name, Grade: Good, Detail: detail}
}
