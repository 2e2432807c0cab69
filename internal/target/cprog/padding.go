package cprog

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/abi"
)

// The kernel's layout of a new process's stack, from the top down: the path of the executable, the
// strings of the environment, those of the arguments, then the vectors of pointers to them. Their
// sizes move everything below.
const (
	maxArgStrlen = 32 << 12 // bytes of one string with its terminating zero (MAX_ARG_STRLEN)
	argMax       = 128 << 10
	argMost      = 6 << 20 // three quarters of the kernel's default for a stack
	argSlack     = 4 << 10
	usualSize    = 512 << 10 // bytes of everything that counts, in most processes; each megabyte takes 2 ms
	vectorSize   = 2048      // pointers; a thousand take 0.4 ms
	vectorSpare  = 64        // the least number of padding pointers: the runtime moves the auxiliary vector there
	pathSpare    = 20 << 10
)

// argLimit returns how many bytes of strings and pointers the kernel allows a new process.
func argLimit() int {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_STACK, &r); err != nil {
		return argMax
	}
	return int(max(argMax, min(r.Cur/4, argMost)))
}

// argSize returns what the kernel counts of a command.
func argSize(path string, args, env []string) (bytes, pointers int) {
	bytes = len(path) + 1
	for _, list := range [][]string{args, env} {
		for _, s := range list {
			bytes += len(s) + 1
		}
		pointers += len(list)
	}
	return bytes, pointers
}

// padding returns variables to append to a program's environment so that its stack begins at the
// same place whatever the size of its path, arguments and environment. Nearly all processes are
// padded to one size; if that is too small, to the largest size that the kernel allows. It returns
// nil if even that is too small.
func padding(path string, args, env []string, limit int) []string {
	bytes, pointers := argSize(path, args, env)
	vector := vectorSize
	for vector < pointers+vectorSpare {
		vector *= 4
	}
	for _, size := range []int{usualSize, 2 << 20, argMost} {
		fill := min(size, limit) - argSlack - vector*8 - bytes
		if fill < pathSpare+2*(vector-pointers) {
			continue
		}
		return pads(fill, vector-pointers)
	}
	return nil
}

// pads returns n variables that take size bytes with their zeros. None has the form of an
// assignment: os/exec would keep only one of several.
func pads(size, n int) []string {
	const most = maxArgStrlen - 1
	long := strings.Repeat("~", most)
	list := make([]string, 0, n)
	for i := range n {
		rest := 2 * (n - i - 1) // what the rest need
		k := min(most, size-rest-1)
		s := long[:k]
		if i == 0 {
			s = abi.Padding + long[len(abi.Padding):k]
		}
		list = append(list, s)
		size -= k + 1
	}
	return list
}
