package valueflow

import (
	"debug/elf"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/heddle-dev/heddle/trace"
)

// Hides says what the loop changes that no event tells, as "calls arc4random"; "" if nothing of the kind was found. Then its end may depend
// on it, though the events and all that the thread alone knows recur. It may be
//
//   - the state of a function of a library without hooks, or of one of libc's that gives another number each time,
//   - memory, by a store without a hook before it: in inline assembly, or in code that was not compiled with hooks,
//   - the processor's, as in rdtsc.
//
// A path counts as it does for Ends. It passes over instructions that are not known and calls through pointers, so "" proves nothing.
func (c *Code) Hides(l *Loop) string {
	if !l.hasStack() {
		return ""
	}
	l.fixed = func(module int) bool { return c.file(module).fixed }
	f := newFlow(l, c, newMemory(l))
	if f.hiding = true; f.explore() != "" {
		return ""
	}
	var first *node
	for n := range f.counting {
		if n.hides != "" && (first == nil || n.id < first.id) {
			first = n
		}
	}
	if first == nil {
		return ""
	}
	return first.hides
}

// anySize is the size of a range that the program has said it writes.
const anySize = 1 << 30

// telling are instructions whose result nothing that the program does determines.
var telling = map[x86asm.Op]bool{
	x86asm.RDTSC: true, x86asm.RDTSCP: true, x86asm.RDRAND: true, x86asm.RDPMC: true, x86asm.SYSCALL: true, x86asm.XCHG: true, x86asm.CMPXCHG: true,
	x86asm.CMPXCHG8B: true, x86asm.CMPXCHG16B: true, x86asm.XADD: true, x86asm.IN: true,
}

// passOver is what an instruction that is not understood does, as far as is known: it may change every register but the stack pointer.
func (e *execution) passOver() {
	locked := strings.HasPrefix(e.inst.String(), "LOCK ")
	if _, memory := e.inst.Args[0].(x86asm.Mem); locked || telling[e.inst.Op] && (memory || e.inst.Op != x86asm.XCHG) {
		e.node.hides = fmt.Sprintf("has the instruction %s", strings.ToLower(e.inst.Op.String()))
	}
	sp := e.regs[rsp]
	e.called(e.node.id)
	for i := range e.regs {
		if e.regs[i].base != stack {
			e.regs[i] = value{base: mix(17, e.node.id, uint64(i)), private: true}
		}
	}
	e.regs[rsp] = sp
	e.node.lost = ""
}

// random are functions of libc and the C++ library whose results nothing that the program does determines, and which heddle does not
// model.
var random = regexp.MustCompile(`^arc4random|^sched_getcpu$|^getcpu$|^_ZNKSt13random_device|^_ZNSt13random_device`)

var system = regexp.MustCompile(`^(libc|libm|libpthread|librt|libdl|ld-linux-x86-64|libgcc_s|libstdc\+\+|libc\+\+|libc\+\+abi|libatomic)[.-]`)

// hooks is a function that heddle's runtime has, and that hooked code calls.
const hooks = "__tsan_func_entry"

// keeps reports whether a call of an imported function may change a state that no event tells.
func (c *Code) keeps(name string) bool {
	if random.MatchString(name) {
		return true
	}
	for m := range c.modules {
		f := c.file(m)
		if m == 0 || !f.exports[name] { // the program's own functions have hooks, or a store shows that they have not
			continue
		}
		path := c.modules[m].Path
		return !f.exports[hooks] && !f.hooked && !system.MatchString(path[strings.LastIndexByte(path, '/')+1:])
	}
	return false
}

// exported returns the names of the functions that a file gives to others.
func exported(f *elf.File) map[string]bool {
	names := map[string]bool{}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil
	}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && (elf.ST_TYPE(s.Info) == elf.STT_FUNC || elf.ST_TYPE(s.Info) == elf.STT_GNU_IFUNC) {
			names[s.Name] = true
		}
	}
	return names
}

// unknownCall does a call of a function of which nothing is known but its name, if hiding.
func (e *execution) unknownCall(name string, back trace.Site, on func()) {
	effect := callOf(name).effect
	taken := e.steps(effect, back)
	if strings.HasPrefix(name, "__tsan_") { // each is a step
		at := e.regs[rdi]
		e.follows(taken, func(next Step) {
			e.called(e.node.id)
			if strings.Contains(name, "write") {
				e.hook(at, anySize, next)
			}
			on()
		})
		return
	}
	if name != "" && len(taken) == 0 && effect == unknown && e.code.keeps(name) {
		e.node.hides = "calls " + name
	}
	if len(taken) > 0 {
		e.follows(taken, func(Step) {
			e.called(e.node.id)
			on()
		})
		return
	}
	e.called(e.node.id)
	on()
}
