package goprog

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target/ipc"
)

// executable is what a program's file contains. It is not position-independent: addresses in the
// process equal those in the file and the offsets of sites and objects, and its load address is 0.
type executable struct {
	lo, hi  uint64 // bounds of its loaded segments
	buildID string // the GNU build id, or "sha256:" followed by the file's hash
}

func inspect(path string) (executable, error) {
	f, err := regular.Open(path)
	if err != nil {
		return executable{}, fmt.Errorf("cannot read %s: %w", path, ipc.Plain(err))
	}
	defer f.Close()
	e, err := elf.NewFile(f)
	switch {
	case err != nil:
		return executable{}, &RefusedError{Reason: fmt.Sprintf("%s is not a program for this machine: give one that go build or go test -c made", path)}
	case e.Machine != elf.EM_X86_64:
		return executable{}, &RefusedError{Reason: fmt.Sprintf("%s is for another machine (%v): build it for linux/amd64", path, e.Machine)}
	case e.Section(".gopclntab") == nil && e.Section(".data.rel.ro.gopclntab") == nil:
		return executable{}, &RefusedError{Reason: fmt.Sprintf("%s is not a Go program", path)}
	case e.Type != elf.ET_EXEC:
		return executable{}, &RefusedError{Reason: fmt.Sprintf("%s is position-independent: build it with -buildmode=exe", path)}
	}
	var x executable
	for _, p := range e.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if x.hi == 0 || p.Vaddr < x.lo {
			x.lo = p.Vaddr
		}
		x.hi = max(x.hi, p.Vaddr+p.Memsz)
	}
	if x.buildID = symbol.BuildID(e); x.buildID == "" {
		h := sha256.New()
		if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62)); err != nil {
			return executable{}, fmt.Errorf("cannot read %s: %w", path, ipc.Plain(err))
		}
		x.buildID = "sha256:" + hex.EncodeToString(h.Sum(nil))
	}
	return x, nil
}
