package valueflow

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/heddle-dev/heddle/trace"
)

// execution is one instruction, with the state before and then after it.
type execution struct {
	*flow
	*state
	node  *node
	inst  x86asm.Inst
	after trace.Site // the instruction behind it
	then  Step       // the last one before what follows
	in    *context   // of what follows
}

// results is how many new names an instruction gives at most.
const results = 4

// fresh is a number that is not known: the i-th of those that the instruction computes.
func (e *execution) fresh(i uint64) value { return value{base: mix(7, e.node.id, i)} }

// part returns the number of a general register, its size, and whether it is bits 8 to 15.
func part(r x86asm.Reg) (number, size int, high, ok bool) {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return int(r - x86asm.AL), 1, false, true
	case r >= x86asm.AH && r <= x86asm.BH:
		return int(r - x86asm.AH), 1, true, true
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return int(r-x86asm.SPB) + rsp, 1, false, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX), 2, false, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX), 4, false, true
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX), 8, false, true
	}
	return 0, 0, false, false
}

func vector(a x86asm.Arg) (int, bool) {
	r, ok := a.(x86asm.Reg)
	return int(r - x86asm.X0), ok && r >= x86asm.X0 && r <= x86asm.X15
}

// size returns the size of an operand.
func (e *execution) size(a x86asm.Arg) int {
	switch a := a.(type) {
	case x86asm.Reg:
		if _, size, _, ok := part(a); ok {
			return size
		}
		return 16
	case x86asm.Mem:
		return e.inst.MemBytes
	}
	return e.inst.DataSize / 8
}

// add is the sum of two words, in 64 bits.
func (e *execution) add(a, b value) (v value) {
	switch {
	case a.base == number:
		v = value{base: b.base, off: a.off + b.off}
	case b.base == number:
		v = value{base: a.base, off: a.off + b.off}
	case a.inStack() || b.inStack():
		v = value{base: within}
	default:
		v = value{base: mix(8, a.base, uint64(a.off), b.base, uint64(b.off))}
	}
	if v.base == within {
		v.off = 0
	}
	v.private = a.private || b.private
	return v
}

// displacement returns that of an operand. The decoder does not extend the sign of one that has four bytes.
func displacement(m x86asm.Mem) int64 {
	if m.Base == 0 && m.Index == 0 && m.Segment == 0 {
		return m.Disp // it may have eight
	}
	return int64(int32(m.Disp))
}

// address returns the address of an operand.
func (e *execution) address(m x86asm.Mem) value {
	disp := displacement(m)
	v := value{off: disp}
	if m.Base == x86asm.RIP {
		return e.global(e.after.Module(), int64(e.after.Offset())+disp)
	}
	if m.Segment == x86asm.FS || m.Segment == x86asm.GS {
		v = value{base: mix(10, uint64(m.Segment)), off: disp}
	}
	if n, size, _, ok := part(m.Base); ok {
		if size != 8 {
			e.node.lost = "an address of 32 bits"
		}
		v = e.add(v, e.regs[n])
	}
	if n, size, _, ok := part(m.Index); ok && m.Scale != 0 {
		if size != 8 {
			e.node.lost = "an address of 32 bits"
		}
		i := e.regs[n]
		switch {
		case i.base == number:
			i.off *= int64(m.Scale)
		case m.Scale != 1:
			i = value{base: mix(11, i.base, uint64(i.off), uint64(m.Scale)), private: i.private}
		}
		v = e.add(v, i)
	}
	return v
}

// read returns what an operand has, in size bytes.
func (e *execution) read(a x86asm.Arg, size int) value {
	switch a := a.(type) {
	case x86asm.Imm:
		return value{off: int64(a)}
	case x86asm.Mem:
		return e.loadAt(e.address(a), size)
	case x86asm.Reg:
		if n, ok := vector(a); ok {
			return value{base: e.fresh(3).base, private: e.xmm[n]}
		}
		n, size, high, ok := part(a)
		if !ok {
			e.node.lost = "a register is not known"
			return value{}
		}
		v := e.regs[n]
		v.private = v.private && (high || size > v.low)
		v.low = 0
		if size == 8 {
			v.low = e.regs[n].low
		} else if v.base != number || high {
			v = value{base: mix(12, v.base, uint64(v.off), uint64(a)), private: v.private}
		}
		return v
	}
	e.node.lost = "an operand is not known"
	return value{}
}

func (e *execution) loadAt(at value, size int) value {
	switch {
	case at.private:
		e.node.wrong = "an address"
	case at.base == stack:
		return e.load(e.Loop, at.off, size, e.fresh(2).base)
	case at.base == within:
		return value{base: e.fresh(2).base, private: true}
	}
	return value{base: e.fresh(2).base, private: e.mayRead(at, size)}
}

// write changes an operand of so many bytes.
func (e *execution) write(a x86asm.Arg, size int, v value) {
	switch a := a.(type) {
	case x86asm.Mem:
		e.storeAt(e.address(a), size, v)
		return
	case x86asm.Reg:
		if n, ok := vector(a); ok {
			e.xmm[n] = v.private
			return
		}
		if n, size, high, ok := part(a); ok {
			if size < 4 { // the rest stays
				old := e.regs[n]
				low := old.low
				switch {
				case v.private && high:
					low = min(old.public(), 1)
				case v.private:
					low = 0
				case old.private && !high:
					low = max(low, size)
				}
				v = value{base: e.fresh(1).base, private: v.private || old.private, low: low}
			}
			e.regs[n] = v
			return
		}
	}
	e.node.lost = "an operand is not known"
}

func (e *execution) storeAt(at value, size int, v value) {
	switch {
	case at.private:
		e.node.wrong = "an address"
	case at.base == stack:
		e.store(at.off, size, v)
	case at.base == within:
		e.node.wrong = "a place in the stack that is not known"
	case at.base != e.hooked.base, at.off < e.hooked.off, at.off+int64(size) > e.hooked.off+int64(e.state.size):
		e.node.wrong = "a write that is not seen"
		e.node.hides = "writes to memory without a hook"
	default:
		e.storeSeen(v.private)
	}
}

// on goes on at the next instruction.
func (e *execution) on() { e.to(e.after) }

func (e *execution) to(at trace.Site) {
	if at <= e.node.at && e.state.size != anySize {
		e.hook(value{}, 0, Step{})
		clear(e.known)
	}
	if e.node.lost == "" {
		e.lead(e.node, place{e.then, at, e.in}, e.state)
	}
}

func (e *execution) target(r x86asm.Rel) trace.Site {
	return trace.MakeSite(e.after.Module(), e.after.Offset()+uint64(int64(r)))
}

// execute does the instruction and leads to those that may follow.
func (e *execution) execute() {
	if slices.ContainsFunc(e.inst.Prefix[:], func(p x86asm.Prefix) bool { return p&0xff == x86asm.PrefixLOCK }) {
		e.node.lost = "an instruction is not known"
		if e.hiding {
			e.passOver()
			e.on()
		}
		return
	}
	a, b := e.inst.Args[0], e.inst.Args[1]
	op := e.inst.Op
	switch {
	case op == x86asm.RET:
		e.ret()
		return
	case op == x86asm.CALL:
		e.call(a)
		return
	case op == x86asm.JMP:
		e.jump(a)
		return
	case op == x86asm.UD2 || op == x86asm.HLT:
		return // the execution would have ended
	case conditional[op] == jumps:
		r, ok := a.(x86asm.Rel)
		if !ok {
			e.node.lost = "a jump is not known"
			return
		}
		if e.asked(op) {
			e.node.wrong = "a jump"
		}
		other := e.clone()
		e.on()
		e.state = other
		e.to(e.target(r))
		return
	case !e.compute(op, a, b):
		e.node.lost = "an instruction is not known: " + op.String()
	}
	if e.node.lost != "" && e.hiding {
		e.passOver()
	}
	e.on()
}

// compute does an instruction that only computes.
func (e *execution) compute(op x86asm.Op, a, b x86asm.Arg) bool {
	size := 0
	if a != nil {
		size = e.size(a)
	}
	switch {
	case op == x86asm.NOP || op == x86asm.PAUSE:
	case op == x86asm.LEA:
		m, ok := b.(x86asm.Mem)
		if !ok {
			return false
		}
		v := e.address(m)
		if size < 8 {
			v = value{base: e.fresh(0).base, private: v.private}
		}
		e.write(a, size, v)
	case op == x86asm.MOV:
		v := e.read(b, size)
		if size == 4 && v.base == number {
			v.off = int64(uint32(v.off))
		}
		e.write(a, size, v)
	case moves[op]:
		v := value{base: e.fresh(0).base, private: e.read(b, e.size(b)).private}
		if to, ok := vector(a); ok && (op == x86asm.MOVSS || op == x86asm.MOVSD_XMM) {
			v.private = v.private || e.xmm[to] // the rest of the register stays
		}
		e.write(a, size, v)
	case op == x86asm.XOR && a == b, op == x86asm.SUB && a == b, op == x86asm.PXOR && a == b, op == x86asm.XORPS && a == b, op == x86asm.XORPD && a == b:
		if _, ok := a.(x86asm.Reg); !ok {
			return false
		}
		if size >= 4 {
			e.write(a, size, value{})
		} else {
			e.write(a, size, e.read(a, size))
		}
		if op == x86asm.XOR || op == x86asm.SUB {
			e.setFlags(false)
		}
	case op == x86asm.CMP || op == x86asm.TEST || op == x86asm.BT:
		x, y := e.read(a, size), e.read(b, size)
		e.setFlags(x.private || y.private)
	case op == x86asm.COMISD || op == x86asm.COMISS || op == x86asm.UCOMISD || op == x86asm.UCOMISS:
		x, y := e.read(a, size), e.read(b, e.size(b))
		if x.private || y.private {
			e.node.wrong = "an operation that may fault"
		}
		e.setFlags(x.private || y.private)
	case arithmetic[op] != 0:
		e.calculate(op, a, b, size)
	case conditional[op] == sets:
		e.write(a, size, value{base: e.fresh(0).base, private: e.asked(op)})
	case conditional[op] == copies:
		x, y := e.read(a, size), e.read(b, size)
		v := join(x, y, e.fresh(0).base)
		v.private = v.private || e.asked(op)
		e.write(a, size, v)
	case op == x86asm.CBW || op == x86asm.CWDE || op == x86asm.CDQE:
		e.regs[rax] = value{base: e.fresh(0).base, private: e.regs[rax].private}
	case op == x86asm.CWD || op == x86asm.CDQ || op == x86asm.CQO:
		e.regs[rdx] = value{base: e.fresh(0).base, private: e.regs[rax].private || op == x86asm.CWD && e.regs[rdx].private}
	case op == x86asm.MUL || op == x86asm.IMUL:
		e.multiply(a, b, size)
	case op == x86asm.DIV || op == x86asm.IDIV:
		if v := e.read(a, size); v.private || e.regs[rax].private || e.regs[rdx].private {
			e.node.wrong = "a division"
		}
		e.regs[rax], e.regs[rdx] = e.fresh(0), e.fresh(1)
		e.setFlags(false)
	case op == x86asm.PUSH:
		v := e.read(a, 8)
		e.push(v)
	case op == x86asm.POP:
		e.write(a, 8, e.pop())
	case op == x86asm.LEAVE:
		e.regs[rsp] = e.regs[rbp]
		e.regs[rbp] = e.pop()
	case op == x86asm.XCHG:
		if _, ok := a.(x86asm.Mem); ok {
			return false
		}
		if _, ok := b.(x86asm.Mem); ok {
			return false
		}
		x, y := e.read(a, size), e.read(b, size)
		e.write(a, size, y)
		e.write(b, size, x)
	default:
		return false
	}
	return true
}

// calculate does an operation on a, or on a and b, whose result is in a.
func (e *execution) calculate(op x86asm.Op, a, b x86asm.Arg, size int) {
	kind := arithmetic[op]
	x, y := e.read(a, size), value{}
	if b != nil {
		y = e.read(b, e.size(b))
	}
	if c := e.inst.Args[2]; c != nil {
		z := e.read(c, e.size(c))
		y.private = y.private || z.private
	}
	v := value{base: e.fresh(0).base}
	switch {
	case size == 8 && op == x86asm.ADD:
		v = e.add(x, y)
	case size == 8 && op == x86asm.SUB && y.base == number:
		v = value{base: x.base, off: x.off - y.off}
		if x.base == within {
			v.off = 0
		}
	case size == 8 && op == x86asm.SUB && x.base == stack && y.base == stack:
		v = value{off: x.off - y.off}
	case size == 8 && (x.inStack() || y.inStack()) && !(op == x86asm.SUB && x.inStack() && y.inStack()):
		v = value{base: within}
	}
	v.private = x.private || y.private
	switch kind {
	case setsFlags:
		e.setFlags(v.private)
	case keepsCarry:
		e.flags = v.private
	case keepsFlags:
		e.flags, e.carry = e.flags || v.private, e.carry || v.private
	case withCarry:
		v.private = v.private || e.carry
		e.setFlags(v.private)
	case mayFault:
		if v.private {
			e.node.wrong = "an operation that may fault"
		}
	}
	e.write(a, size, v)
}

func (e *execution) multiply(a, b x86asm.Arg, size int) {
	c := e.inst.Args[2]
	if b == nil { // the product has twice the size
		x := e.read(a, size)
		private := x.private || e.regs[rax].private || size == 1 && e.regs[rax].private || size < 4 && e.regs[rdx].private
		e.regs[rax] = value{base: e.fresh(0).base, private: private}
		if size > 1 {
			e.regs[rdx] = value{base: e.fresh(1).base, private: private}
		}
		e.setFlags(private)
		return
	}
	x := e.read(b, e.size(b))
	if c == nil {
		y := e.read(a, size)
		x.private = x.private || y.private
	}
	e.setFlags(x.private)
	e.write(a, size, value{base: e.fresh(0).base, private: x.private})
}

func (e *execution) setFlags(private bool) { e.flags, e.carry = private, private }

// asked reports whether a flag that the instruction reads is private.
func (e *execution) asked(op x86asm.Op) bool {
	switch op {
	case x86asm.JA, x86asm.JBE, x86asm.SETA, x86asm.SETBE, x86asm.CMOVA, x86asm.CMOVBE:
		return e.flags || e.carry
	case x86asm.JAE, x86asm.JB, x86asm.SETAE, x86asm.SETB, x86asm.CMOVAE, x86asm.CMOVB:
		return e.carry
	}
	return e.flags
}

func (e *execution) push(v value) {
	sp := e.add(e.regs[rsp], value{off: -8})
	e.regs[rsp] = sp
	e.storeAt(sp, 8, v)
}

func (e *execution) pop() value {
	v := e.loadAt(e.regs[rsp], 8)
	e.regs[rsp] = e.add(e.regs[rsp], value{off: 8})
	return v
}

// ret returns to the caller.
func (e *execution) ret() {
	sp, in := e.regs[rsp], e.in
	if sp.base != stack || sp.private || e.inst.Args[0] != nil {
		e.node.lost = "a return is not known"
		return
	}
	e.regs[rsp] = value{base: stack, off: sp.off + 8}
	switch {
	case in.caller != nil:
		if sp.off+8 != in.sp {
			e.node.lost = "a return is not known"
			return
		}
		e.in = in.caller
		e.to(in.to)
	case in.frame+1 < len(e.Frames):
		next := e.Frames[in.frame+1]
		if sp.off+8 != int64(e.Frames[0].SP.Offset())-int64(next.SP.Offset()) {
			e.node.lost = "a return is not known"
			return
		}
		e.in = e.flow.context(context{frame: in.frame + 1})
		e.to(next.Site)
	default:
		e.node.lost = "a return is not known"
	}
}

// callee returns where a call or a jump leads: the name of an imported function, or a site of the module's.
func (e *execution) callee(a x86asm.Arg) (name string, at trace.Site) {
	switch a := a.(type) {
	case x86asm.Rel:
		at = e.target(a)
		return e.code.stub(at), at
	case x86asm.Mem:
		if a.Base == x86asm.RIP && a.Index == 0 && a.Segment == 0 {
			return e.code.imported(e.after.Module(), e.after.Offset()+uint64(displacement(a))), 0
		}
		e.read(a, 8) // notes a private address
	case x86asm.Reg:
		if e.read(a, 8).private {
			e.node.wrong = "a jump"
		}
	}
	return "", 0
}

func (e *execution) call(a x86asm.Arg) {
	name, at := e.callee(a)
	if name == "" && at != 0 {
		sp := e.regs[rsp]
		if sp.base != stack || e.in.depth == mostCalls {
			e.node.lost = "a call is not known"
			return
		}
		e.push(value{base: mix(13, uint64(e.after))})
		e.in = e.flow.context(context{caller: e.in, to: e.after, sp: sp.off, depth: e.in.depth + 1})
		e.to(at)
		return
	}
	e.imported(name, e.after, e.on)
}

func (e *execution) jump(a x86asm.Arg) {
	name, at := e.callee(a)
	switch {
	case name != "":
		after := trace.Site(0)
		if e.in.caller != nil {
			after = e.in.to
		} else if e.in.frame+1 < len(e.Frames) {
			after = e.Frames[e.in.frame+1].Site
		}
		e.inst.Args[0] = nil
		e.imported(name, after, e.ret)
	case at != 0:
		e.to(at)
	default:
		e.node.lost = "a jump is not known"
	}
}

// imported does a call of an imported function, which returns to a site, and goes on.
func (e *execution) imported(name string, back trace.Site, on func()) {
	c := callOf(name)
	switch c.effect {
	case never:
		return
	case jumpsAway:
		e.node.lost = "a call of " + name
		return
	case unknown, plain:
		if e.hiding {
			e.unknownCall(name, back, on)
			return
		}
		e.node.wrong = "a call of " + name
		if c.effect == unknown && e.calls() {
			e.node.lost = e.node.wrong // it may call the program's functions
			return
		}
		e.called(e.node.id)
		on()
		return
	}
	for _, r := range []int{rdi, rsi, rdx, rcx, 8}[:c.arguments] {
		if e.regs[r].private {
			e.node.wrong = "an argument of " + name
		}
	}
	e.follows(e.steps(c.effect, back), func(next Step) {
		private := c.size > 0 && e.holdsPrivate(e.regs[rdi], c.size, next)
		e.effects(&c, next, private)
		e.called(e.node.id)
		if c.result {
			e.regs[rax] = value{base: e.fresh(0).base, private: private}
		}
		on()
	})
}

// steps returns those of Next that a call with an effect which returns to a site may be.
func (e *execution) steps(does effect, back trace.Site) (out []Step) {
	for _, next := range e.Next[e.node.step] {
		switch {
		case does == leaves && next.Op == trace.OpFunctionExit:
		case does == enters && next.Op == trace.OpFunctionEntry && next.Site == back:
		case does != leaves && does != enters && next.Site == back && !next.Op.IsCall():
		default:
			continue
		}
		out = append(out, next)
	}
	return out
}

// follows goes on after each of the steps.
func (e *execution) follows(steps []Step, on func(Step)) {
	before, in, from := e.state, e.in, e.node.step
	for _, next := range steps {
		e.node.reaches = true
		e.found[[2]Step{from, next}] = true
		e.state, e.in, e.then = before.clone(), in, next
		on(next)
	}
}

// effects is what a hook does to what the thread knows. private says that what the step accesses is.
func (e *execution) effects(c *call, step Step, private bool) {
	at := e.regs[rdi]
	if c.size > 0 && !at.inStack() {
		e.known[address{at.base, at.off}] = access{step, c.size}
	}
	switch c.effect {
	case stores:
		e.hook(at, c.size, step)
	case compares:
		seen := e.regs[rsi]
		if seen.base != stack {
			e.node.wrong = "a place in the stack that is not known"
			return
		}
		e.store(seen.off, c.size, value{base: e.fresh(1).base, private: private})
		fallthrough
	case changes:
		switch {
		case at.base == stack:
			e.store(at.off, c.size, value{base: e.fresh(2).base, private: private})
		case at.base == within || e.onStack(step):
			e.node.wrong = "a place in the stack that is not known"
		}
	}
}

// influence is what an instruction does with the flags.
type influence uint8

const (
	setsFlags influence = iota + 1
	keepsCarry
	keepsFlags // some, or all if its count is 0
	withCarry  // reads and sets them
	noFlags
	mayFault // has none, and computes with floating-point numbers
)

// arithmetic are instructions whose result depends on both operands, and replaces the first.
var arithmetic = map[x86asm.Op]influence{
	x86asm.ADD: setsFlags, x86asm.SUB: setsFlags, x86asm.AND: setsFlags, x86asm.OR: setsFlags, x86asm.XOR: setsFlags, x86asm.NEG: setsFlags,
	x86asm.INC: keepsCarry, x86asm.DEC: keepsCarry, x86asm.SHL: keepsFlags, x86asm.SHR: keepsFlags, x86asm.SAR: keepsFlags,
	x86asm.ROL: keepsFlags, x86asm.ROR: keepsFlags, x86asm.BSF: keepsFlags, x86asm.BSR: keepsFlags,
	x86asm.SHLD: keepsFlags, x86asm.SHRD: keepsFlags,
	x86asm.ADC: withCarry, x86asm.SBB: withCarry,
	x86asm.NOT: noFlags, x86asm.BSWAP: noFlags,
	x86asm.PXOR: noFlags, x86asm.XORPS: noFlags, x86asm.XORPD: noFlags, x86asm.POR: noFlags, x86asm.PAND: noFlags, x86asm.PANDN: noFlags,
	x86asm.ANDPS: noFlags, x86asm.ANDPD: noFlags, x86asm.ORPS: noFlags, x86asm.ORPD: noFlags,
	x86asm.PADDB: noFlags, x86asm.PADDW: noFlags, x86asm.PADDD: noFlags, x86asm.PADDQ: noFlags,
	x86asm.PSUBB: noFlags, x86asm.PSUBW: noFlags, x86asm.PSUBD: noFlags, x86asm.PSUBQ: noFlags,
	x86asm.PUNPCKLQDQ: noFlags, x86asm.PUNPCKLDQ: noFlags, x86asm.PUNPCKHQDQ: noFlags, x86asm.UNPCKLPS: noFlags, x86asm.UNPCKLPD: noFlags,
	x86asm.PSHUFD: noFlags, x86asm.MOVHPS: noFlags, x86asm.MOVLHPS: noFlags,
	x86asm.ADDSD: mayFault, x86asm.ADDSS: mayFault, x86asm.SUBSD: mayFault, x86asm.SUBSS: mayFault, x86asm.MULSD: mayFault, x86asm.MULSS: mayFault,
	x86asm.DIVSD: mayFault, x86asm.DIVSS: mayFault, x86asm.CVTSI2SD: mayFault, x86asm.CVTSI2SS: mayFault, x86asm.CVTSS2SD: mayFault,
	x86asm.CVTSD2SS: mayFault,
}

// moves are instructions that copy an operand, perhaps extended.
var moves = map[x86asm.Op]bool{
	x86asm.MOVZX: true, x86asm.MOVSX: true, x86asm.MOVSXD: true, x86asm.MOVD: true, x86asm.MOVQ: true, x86asm.MOVSS: true, x86asm.MOVSD_XMM: true,
	x86asm.MOVAPS: true, x86asm.MOVUPS: true, x86asm.MOVAPD: true, x86asm.MOVUPD: true, x86asm.MOVDQA: true, x86asm.MOVDQU: true,
}

// use is what an instruction reads the flags for.
type use uint8

const (
	jumps use = iota + 1
	sets
	copies
)

var conditional = map[x86asm.Op]use{
	x86asm.JA: jumps, x86asm.JAE: jumps, x86asm.JB: jumps, x86asm.JBE: jumps, x86asm.JE: jumps, x86asm.JG: jumps, x86asm.JGE: jumps,
	x86asm.JL: jumps, x86asm.JLE: jumps, x86asm.JNE: jumps, x86asm.JNO: jumps, x86asm.JNP: jumps, x86asm.JNS: jumps, x86asm.JO: jumps,
	x86asm.JP: jumps, x86asm.JS: jumps,
	x86asm.SETA: sets, x86asm.SETAE: sets, x86asm.SETB: sets, x86asm.SETBE: sets, x86asm.SETE: sets, x86asm.SETG: sets, x86asm.SETGE: sets,
	x86asm.SETL: sets, x86asm.SETLE: sets, x86asm.SETNE: sets, x86asm.SETNO: sets, x86asm.SETNP: sets, x86asm.SETNS: sets, x86asm.SETO: sets,
	x86asm.SETP: sets, x86asm.SETS: sets,
	x86asm.CMOVA: copies, x86asm.CMOVAE: copies, x86asm.CMOVB: copies, x86asm.CMOVBE: copies, x86asm.CMOVE: copies, x86asm.CMOVG: copies,
	x86asm.CMOVGE: copies, x86asm.CMOVL: copies, x86asm.CMOVLE: copies, x86asm.CMOVNE: copies, x86asm.CMOVNO: copies, x86asm.CMOVNP: copies,
	x86asm.CMOVNS: copies, x86asm.CMOVO: copies, x86asm.CMOVP: copies, x86asm.CMOVS: copies,
}
