// Package machine measures the machine that heddle runs on.
package machine

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

const (
	// LeastMemory is what recording an execution takes at least.
	LeastMemory = 16 << 20
	mostMemory  = 2 << 30 // of DefaultMemory
)

// DefaultMemory is how much memory heddle uses to record an execution and look for races in
// it, unless the user says how much.
func DefaultMemory() int64 { return share(memory()) }

// share is a quarter of the machine's memory, in whole powers of two: machines of
// about the same size must find the same.
func share(machine uint64) int64 {
	m := int64(mostMemory)
	for m > LeastMemory && uint64(m) > machine/4 {
		m /= 2
	}
	return m
}

// memory is the machine's memory, or what a control group leaves of it.
func memory() uint64 {
	total := uint64(mostMemory)
	if n, ok := MemoryInfo("MemTotal:"); ok {
		total = n
	}
	if n, ok := MemoryLimit(); ok {
		total = min(total, n)
	}
	// A machine of 8 GB has somewhat less than that for programs.
	return total + total/8
}

// MemoryInfo is a line of /proc/meminfo, in bytes. ok is false if the file lacks the line.
func MemoryInfo(name string) (n uint64, ok bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			kb, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(rest)), "kB")), 10, 64)
			return kb << 10, err == nil
		}
	}
	return 0, false
}

// MemoryLimit is what a control group allows, in bytes. ok is false if it allows everything.
func MemoryLimit() (n uint64, ok bool) {
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
