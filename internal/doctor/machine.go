package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machineChecks are about the kernel and the processor.
func machineChecks() []check {
	return []check{
		platformCheck(),
		fsgsbaseCheck(),
		layoutCheck(),
		sharedMemoryCheck(),
		pagemapCheck(),
		coresCheck(),
		memoryCheck(),
	}
}

func platformCheck() check {
	detail := runtime.GOOS + "/" + runtime.GOARCH
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		detail += ", kernel " + unix.ByteSliceToString(u.Release[:])
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return check{"platform", bad, detail, "heddle's runtime exists for 64-bit x86 Linux only."}
	}
	return check{Name: "platform", Grade: good, Detail: detail}
}

// fsgsbaseCheck asks whether programs may write the FS base themselves (Linux 5.9 and a
// processor since 2012), which is how a fiber takes up its thread's identity.
func fsgsbaseCheck() check {
	const name = "fsgsbase"
	const atHWCAP2, hwcap2FSGSBASE = 26, 1 << 1
	auxv, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return check{name, poor, "not known: " + err.Error(), "Without it a switch between threads costs a system call."}
	}
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.LittleEndian.Uint64(auxv) == atHWCAP2 && binary.LittleEndian.Uint64(auxv[8:])&hwcap2FSGSBASE != 0 {
			return check{Name: name, Grade: good, Detail: "usable"}
		}
	}
	return check{name, poor, "not usable", "A switch between threads costs a system call: fewer executions per second."}
}

// layoutCheck asks whether address randomisation can be switched off. A personality
// belongs to a kernel thread, and it is put back before another goroutine gets this one.
func layoutCheck() check {
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
		return check{name, poor, "forbidden here: " + errno.Error(),
			"Containers often forbid personality(ADDR_NO_RANDOMIZE). Schedules replay without it, but a program that prints addresses or hashes them may differ from run to run."}
	}
	return check{Name: name, Grade: good, Detail: "address randomisation can be switched off"}
}

// sharedMemoryCheck makes the kind of file through which heddle talks to the runtime.
func sharedMemoryCheck() check {
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
		return check{name, bad, "not available: " + err.Error(), "heddle talks to the program through a memory file (memfd_create): allow it in this container."}
	}
	return check{Name: name, Grade: good, Detail: "memory files can be made and mapped"}
}

// pageScan is struct pm_scan_arg of <linux/fs.h>.
type pageScan struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages uint64
	categoryInverted, categoryMask, categoryAny, returnMask uint64
}

// pagemapCheck asks how much the kernel tells about pages. The runtime looks there for
// the pages that are present when it copies a program's memory.
func pagemapCheck() check {
	const name = "page map"
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return check{name, poor, "not readable: " + err.Error(), "More memory than needed is copied between executions: fewer executions per second."}
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
		return check{Name: name, Grade: good, Detail: "readable, without PAGEMAP_SCAN (Linux 6.7)"}
	}
	return check{Name: name, Grade: good, Detail: "readable, with PAGEMAP_SCAN"}
}

func coresCheck() check {
	detail := fmt.Sprintf("%d", runtime.NumCPU())
	if quota, ok := cpuQuota("/sys/fs/cgroup/cpu.max"); ok && quota < float64(runtime.NumCPU()) {
		detail += fmt.Sprintf(", limited to %.3g by a control group", quota)
	}
	if runtime.NumCPU() < 2 {
		return check{"cores", poor, detail, "heddle and the program take turns on one core: fewer executions per second."}
	}
	return check{Name: "cores", Grade: good, Detail: detail}
}

// cpuQuota is the share of processors that a control group allows.
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

// littleMemory is what heddle, a program's snapshot and a queue of events fit in.
const littleMemory = 512 << 20

func memoryCheck() check {
	const name = "memory"
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return check{name, poor, "not known: " + err.Error(), "It cannot be said whether there is enough."}
	}
	available, ok := memoryField(text, "MemAvailable:")
	if !ok {
		return check{name, poor, "not known: /proc/meminfo has no MemAvailable", "It cannot be said whether there is enough."}
	}
	detail := fmt.Sprintf("%d MB available", available>>20)
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseUint(strings.TrimSpace(string(limit)), 10, 64); err == nil {
			detail += fmt.Sprintf(", limited to %d MB by a control group", n>>20)
			available = min(available, n)
		}
	}
	if available < littleMemory {
		return check{name, poor, detail, "Large programs may be killed for want of memory."}
	}
	return check{Name: name, Grade: good, Detail: detail}
}

// memoryField reads a number of bytes from the text of /proc/meminfo.
func memoryField(text []byte, name string) (uint64, bool) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			kb, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(rest)), "kB")), 10, 64)
			return kb << 10, err == nil
		}
	}
	return 0, false
}
