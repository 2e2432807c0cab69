package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/target/goprog"
)

// memorySize is a number of bytes, written with K, M or G for powers of 1,024.
type memorySize int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *memorySize) UnmarshalText(text []byte) error {
	word := strings.TrimSuffix(strings.ToUpper(string(text)), "B")
	word = strings.TrimSuffix(word, "I")
	shift := 0
	for i, unit := range []string{"K", "M", "G", "T"} {
		if w, ok := strings.CutSuffix(word, unit); ok {
			word, shift = w, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil || !(n > 0) || n > float64(int64(1)<<50>>shift) {
		return fmt.Errorf("%q is not a size: want a number of bytes like 512M or 2G", text)
	}
	if *m = memorySize(n * float64(int64(1)<<shift)); *m < leastMemory {
		return fmt.Errorf("%s is too little: want at least %s", text, memorySize(leastMemory))
	}
	return nil
}

func (m memorySize) String() string {
	for i, unit := range []string{"T", "G", "M", "K"} {
		if size := memorySize(1) << (10 * (4 - i)); m >= size && m%(size/8) == 0 {
			return strconv.FormatFloat(float64(m)/float64(size), 'f', -1, 64) + unit
		}
	}
	return strconv.FormatInt(int64(m), 10)
}

const (
	leastMemory = 16 << 20
	mostMemory  = 2 << 30 // unless --memory asks for more
	// processMemory is what heddle needs beside that: symbols, tables, behaviours.
	processMemory = 256 << 20
)

// memory is how much heddle may use to record an execution and look for races in it.
func (a *app) memory() int64 {
	if a.Memory != 0 {
		return int64(a.Memory)
	}
	return defaultMemory(machineMemory())
}

// defaultMemory is a quarter of the machine's memory, in whole powers of two: machines of
// about the same size must find the same.
func defaultMemory(machine uint64) int64 {
	m := int64(mostMemory)
	for m > leastMemory && uint64(m) > machine/4 {
		m /= 2
	}
	return m
}

// machineMemory is the machine's memory, or what a control group leaves of it.
func machineMemory() uint64 {
	total := uint64(mostMemory)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if n, ok := memoryField(text, "MemTotal:"); ok {
			total = n
		}
	}
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseUint(strings.TrimSpace(string(limit)), 10, 64); err == nil {
			total = min(total, n)
		}
	}
	// A machine of 8 GB has somewhat less than that for programs.
	return total + total/8
}

// bounded is a configuration with the memory that heddle may use.
func (a *app) bounded(c goprog.Config) goprog.Config {
	c.Memory = a.memory()
	return c
}
