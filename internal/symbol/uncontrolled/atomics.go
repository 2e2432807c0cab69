package uncontrolled

import (
	"bytes"
	"debug/elf"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/toolchain/inlineasm"
)

// Atomics returns the addresses of the atomic instructions in the code of f before which no hook is called: those with the prefix
// lock, and exchanges with memory. In code with access hooks, compilers call the runtime for their own. code lists the file's
// functions. Where code cannot be decoded, it may miss an exchange.
func Atomics(f *elf.File, code elffile.Symtab) (at []uint64) {
	if f.Machine != elf.EM_X86_64 {
		return nil
	}
	for s, b := range elffile.Code(f) {
		for from := 0; from < len(b); {
			to := from + max(1, int(code.Gap(s.Addr+uint64(from), uint64(len(b)-from))))
			for _, i := range atomics(b[from:to]) {
				if !bytes.HasSuffix(b[:from+i], []byte(inlineasm.End)) {
					at = append(at, s.Addr+uint64(from+i))
				}
			}
			from = to
		}
	}
	return at
}

// AtomicsIn returns how many of Atomics the file at path has, 0 if it cannot be read.
func AtomicsIn(path string) int {
	f, err := regular.OpenELF(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	symbols, _ := f.Symbols()
	code, _ := elffile.NewSymtabs(symbols)
	return len(Atomics(f.File, code))
}

// atomics returns where atomic instructions begin in a function.
func atomics(b []byte) (at []int) {
	if bytes.IndexByte(b, 0xf0) < 0 && bytes.IndexByte(b, 0x86) < 0 && bytes.IndexByte(b, 0x87) < 0 {
		return nil
	}
	unknown := -settles
	for i := 0; i < len(b); {
		if bytes.HasPrefix(b[i:], []byte(endBranch)) {
			i += len(endBranch)
			continue
		}
		inst, err := x86asm.Decode(b[i:], 64)
		if err != nil || inst.Len == 0 {
			unknown = i
			i++
			continue
		}
		if locked(&inst) || exchanges(&inst) && i-unknown >= settles {
			at = append(at, i)
		}
		i += inst.Len
	}
	return at
}

// endBranch is an instruction that is not decoded, at the beginning of functions.
const endBranch = "\xf3\x0f\x1e\xfa"

func exchanges(inst *x86asm.Inst) bool {
	if inst.Op != x86asm.XCHG {
		return false
	}
	_, first := inst.Args[0].(x86asm.Mem)
	_, second := inst.Args[1].(x86asm.Mem)
	return first || second
}

func locked(inst *x86asm.Inst) bool {
	switch inst.Op {
	case x86asm.ADD, x86asm.ADC, x86asm.AND, x86asm.BTC, x86asm.BTR, x86asm.BTS, x86asm.CMPXCHG, x86asm.CMPXCHG8B, x86asm.CMPXCHG16B, x86asm.DEC,
		x86asm.INC, x86asm.NEG, x86asm.NOT, x86asm.OR, x86asm.SBB, x86asm.SUB, x86asm.XOR, x86asm.XADD:
	default:
		return false
	}
	if _, memory := inst.Args[0].(x86asm.Mem); !memory {
		return false
	}
	return slices.ContainsFunc(inst.Prefix[:], func(p x86asm.Prefix) bool { return p&0xff == 0xf0 && p&x86asm.PrefixInvalid == 0 })
}
