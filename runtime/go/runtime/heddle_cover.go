//go:build heddle

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// The counters of go test -cover are in a section of the program. At the end of each execution they are merged into a
// file that all processes of a package map, since a process may end at any time, and cleared. The test binary then runs
// once more without a controller, takes the counters of the file for its own, and reports them in Go's format.

// Counters of one function follow three words: their number, the package and the function. Zeros are between them
// (internal/coverage/encodecounter). They are absent until the function runs.
const hdCoverHead = 3

// hdCover is the mapped file.
var hdCover []uint32

// hdCoverCounters returns the counters of the program; none if it was not built for coverage.
func hdCoverCounters() []uint32 {
	md := &firstmoduledata
	if md.covctrs == 0 || md.ecovctrs <= md.covctrs {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(md.covctrs)), (md.ecovctrs-md.covctrs)/4)
}

// hdCoverMap maps a file with room for the counters, which is named by an environment variable.
func hdCoverMap(variable string) []uint32 {
	name := gogetenv(variable)
	own := hdCoverCounters()
	var path [4096]byte
	if name == "" || len(own) == 0 || len(name) >= len(path) {
		return nil
	}
	copy(path[:], name)
	const readWrite = 2 // O_RDWR
	fd := open(&path[0], readWrite, 0)
	if fd < 0 {
		return nil
	}
	p, err := mmap(nil, uintptr(len(own))*4, _PROT_READ|_PROT_WRITE, hdMapShared, fd, 0)
	closefd(fd)
	if err != 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(p), len(own))
}

// hdCoverMerge adds the program's counters to the file, and clears them. Other processes may do so at the same time.
func hdCoverMerge() {
	if hdCover != nil {
		hdCoverAdd(hdCover, hdCoverCounters(), true)
	}
}

// hdCoverAdd adds counters.
func hdCoverAdd(to, from []uint32, clear bool) {
	const most = 1 << 30 // the counters of executions without number do not overflow
	for i := 0; i < len(from); {
		n := int(from[i])
		if n == 0 {
			i++
			continue
		}
		end := i + hdCoverHead + n
		if n < 0 || end > len(from) {
			return // not the layout of this file
		}
		for j := i; j < i+hdCoverHead; j++ {
			atomic.Store(&to[j], from[j])
		}
		for j := i + hdCoverHead; j < end; j++ {
			if from[j] != 0 && atomic.Load(&to[j]) < most {
				atomic.Xadd(&to[j], int32(min(from[j], most)))
			}
			if clear {
				from[j] = 0
			}
		}
		i = end
	}
}

// hdCoverLoad adds the counters of the file that HEDDLE_COVER_LOAD names to the program's.
//
//go:linkname hdCoverLoad
func hdCoverLoad() {
	if hd.on {
		return
	}
	if file := hdCoverMap("HEDDLE_COVER_LOAD"); file != nil {
		hdCoverAdd(hdCoverCounters(), file, false)
	}
}
