package handmade

import (
	"fmt"
	"strconv"
)

// opcode is what an instruction does. Those up to opEnd are the operations at which other threads may come
// in between; the others concern the thread alone.
type opcode uint8

const (
	opLoad opcode = iota
	opStore
	opAdd
	opXchg
	opCas
	opRead
	opWrite
	opLock
	opTrylock
	opUnlock
	opWait
	opSignal
	opBroadcast
	opSleepWhile
	opWake
	opYield
	opNap
	opLate
	opStart
	opFinish
	opCheck
	opEnd

	opConst
	opMove
	opBinary
	opNot
	opMinus
	opJump
	opJumpIfZero
	opClear
)

// instr is an instruction. Numbers of registers and of jumps are those of the thread's code.
type instr struct {
	op        opcode
	dst, a, b int // registers
	base      int // of the first object of the variable
	size      int // of the variable; the register index selects the object
	index     int // register, -1 for none
	base2     int // the mutex of a wait
	binary    string
	n         int // a constant, or the target of a jump; opClear: the register after the last
	pos       int // in the source
}

// code is what a thread executes.
type code struct {
	instrs    []instr
	registers int
}

// object is a variable or an element of one.
type object struct {
	kind string
	name string
	init int
}

// compiled is a program that can be executed.
type compiled struct {
	objects []object
	body    code // main's
	worker  code // the parameter is register 0
}

type variable struct {
	global
	base int
}

type loop struct {
	top       int
	base      int
	continues []int // jumps to be mended
	breaks    []int
}

type call struct {
	function *function
	result   int
	base     int
	returns  []int
}

type compiler struct {
	unit      *unit
	variables map[string]variable
	code      code
	scopes    []map[string]int
	next      int // register
	loops     []*loop
	calls     []*call
	err       error
}

// compileProgram translates a parsed program; calls are expanded in place.
func compileProgram(u *unit) (p *compiled, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(compileError)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	p = &compiled{}
	variables := map[string]variable{}
	for _, g := range u.globals {
		variables[g.name] = variable{g, len(p.objects)}
		for i := range max(g.size, 1) {
			name := g.name
			if g.size > 0 {
				name = fmt.Sprintf("%s[%d]", g.name, i)
			}
			p.objects = append(p.objects, object{g.kind, name, g.init})
		}
	}
	thread := func(name string, params int) code {
		f := u.functions[name]
		if f == nil || len(f.params) != params {
			panic(compileError("no function " + name))
		}
		c := &compiler{unit: u, variables: variables, next: params}
		c.code.registers = params
		scope := map[string]int{}
		for i, p := range f.params {
			scope[p] = i
		}
		c.scopes = []map[string]int{scope}
		c.calls = []*call{{function: f, base: params}}
		c.statement(f.body)
		c.mend(c.calls[0].returns)
		c.emit(instr{op: opEnd})
		return c.code
	}
	p.body = thread("body", 0)
	p.worker = thread("worker", 1)
	return p, nil
}

type compileError string

func (e compileError) Error() string { return string(e) }

func (c *compiler) fail(n *node, format string, args ...any) {
	panic(compileError(fmt.Sprintf("at %d: %s", n.pos, fmt.Sprintf(format, args...))))
}

func (c *compiler) emit(i instr) int {
	c.code.instrs = append(c.code.instrs, i)
	return len(c.code.instrs) - 1
}

func (c *compiler) mend(jumps []int) {
	for _, j := range jumps {
		c.code.instrs[j].n = len(c.code.instrs)
	}
}

func (c *compiler) register() int {
	r := c.next
	c.next++
	c.code.registers = max(c.code.registers, c.next)
	return r
}

// clear makes registers from base on 0, so that values which no longer matter do not tell states apart.
func (c *compiler) clear(base int) {
	if c.next > base {
		c.emit(instr{op: opClear, a: base, n: c.next})
	}
}

func (c *compiler) drop(base int) {
	c.clear(base)
	c.next = base
}

func (c *compiler) statement(n *node) {
	base := c.next
	switch n.kind {
	case "block":
		c.scopes = append(c.scopes, map[string]int{})
		for _, k := range n.kids {
			c.statement(k)
		}
		c.scopes = c.scopes[:len(c.scopes)-1]
		c.drop(base)
	case "int":
		r := c.register()
		v := c.expr(n.kids[0])
		c.emit(instr{op: opMove, dst: r, a: v})
		c.drop(r + 1)
		c.scopes[len(c.scopes)-1][n.text] = r
	case "assign":
		v := c.expr(n.kids[1])
		c.assign(n.kids[0], v)
		c.drop(base)
	case "eval":
		c.expr(n.kids[0])
		c.drop(base)
	case "if":
		v := c.expr(n.kids[0])
		no := c.emit(instr{op: opJumpIfZero, a: v})
		c.clear(base)
		after := c.next
		c.next = base
		c.statement(n.kids[1])
		end := c.emit(instr{op: opJump})
		c.mend([]int{no})
		c.next = after
		c.drop(base)
		if len(n.kids) > 2 {
			c.statement(n.kids[2])
		}
		c.mend([]int{end})
	case "for":
		l := &loop{top: len(c.code.instrs), base: base}
		c.loops = append(c.loops, l)
		v := c.expr(n.kids[1])
		no := c.emit(instr{op: opJumpIfZero, a: v})
		after := c.next
		c.drop(base)
		c.statement(n.kids[3])
		c.mend(l.continues)
		c.statement(n.kids[2])
		c.emit(instr{op: opJump, n: l.top})
		c.mend([]int{no})
		c.next = after
		c.drop(base)
		c.mend(l.breaks)
		c.loops = c.loops[:len(c.loops)-1]
	case "break", "continue":
		if len(c.loops) == 0 {
			c.fail(n, "%s outside of a loop", n.kind)
		}
		l := c.loops[len(c.loops)-1]
		c.clear(l.base)
		j := c.emit(instr{op: opJump})
		if n.kind == "break" {
			l.breaks = append(l.breaks, j)
		} else {
			l.continues = append(l.continues, j)
		}
	case "return":
		k := c.calls[len(c.calls)-1]
		if len(n.kids) > 0 {
			v := c.expr(n.kids[0])
			c.emit(instr{op: opMove, dst: k.result, a: v})
		}
		c.clear(k.base)
		k.returns = append(k.returns, c.emit(instr{op: opJump}))
		c.next = base
	default:
		c.fail(n, "statement %s", n.kind)
	}
}

func (c *compiler) local(name string) (int, bool) {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if r, ok := c.scopes[i][name]; ok {
			return r, true
		}
	}
	return 0, false
}

// target returns an instruction about the variable that n names.
func (c *compiler) target(n *node, kinds ...string) instr {
	v, ok := c.variables[n.text]
	if !ok {
		c.fail(n, "no variable %s", n.text)
	}
	for _, k := range kinds {
		if v.kind != k {
			continue
		}
		i := instr{base: v.base, size: max(v.size, 1), index: -1, pos: n.pos}
		if (n.kind == "index") != (v.size > 0) {
			c.fail(n, "%s is an array or is not", n.text)
		}
		if n.kind == "index" {
			i.index = c.expr(n.kids[0])
		}
		return i
	}
	c.fail(n, "%s is of kind %s", n.text, v.kind)
	return instr{}
}

func (c *compiler) assign(to *node, value int) {
	if r, ok := c.local(to.text); ok && to.kind == "name" {
		c.emit(instr{op: opMove, dst: r, a: value})
		return
	}
	i := c.target(to, "plain")
	i.op, i.a = opWrite, value
	c.emit(i)
}

// expr translates an expression and returns the register with its value.
func (c *compiler) expr(n *node) int {
	switch n.kind {
	case "number":
		v, err := strconv.Atoi(n.text)
		if err != nil {
			c.fail(n, "%v", err)
		}
		r := c.register()
		c.emit(instr{op: opConst, dst: r, n: v})
		return r
	case "name":
		if r, ok := c.local(n.text); ok {
			return r
		}
		fallthrough
	case "index":
		i := c.target(n, "plain")
		i.op, i.dst = opRead, c.register()
		c.emit(i)
		return i.dst
	case "not":
		r := c.register()
		v := c.expr(n.kids[0])
		op := opNot
		if n.text == "-" {
			op = opMinus
		}
		c.emit(instr{op: op, dst: r, a: v})
		return r
	case "&&", "||":
		r := c.register()
		v := c.expr(n.kids[0])
		c.emit(instr{op: opNot, dst: r, a: v})
		c.emit(instr{op: opNot, dst: r, a: r})
		test := r
		if n.kind == "||" {
			test = c.register()
			c.emit(instr{op: opNot, dst: test, a: r})
		}
		j := c.emit(instr{op: opJumpIfZero, a: test})
		v = c.expr(n.kids[1])
		c.emit(instr{op: opNot, dst: r, a: v})
		c.emit(instr{op: opNot, dst: r, a: r})
		c.mend([]int{j})
		return r
	case "call":
		return c.call(n)
	}
	if precedence[n.kind] == 0 {
		c.fail(n, "expression %s", n.kind)
	}
	r := c.register()
	a := c.expr(n.kids[0])
	b := c.expr(n.kids[1])
	c.emit(instr{op: opBinary, dst: r, a: a, b: b, binary: n.kind})
	return r
}

// builtin are the calls that are operations, by the kinds of their first argument, and the number of values.
var builtin = map[string]struct {
	op     opcode
	kind   string
	values int
}{
	"load": {opLoad, "atom", 0}, "store": {opStore, "atom", 1}, "add": {opAdd, "atom", 1}, "xchg": {opXchg, "atom", 1}, "cas": {opCas, "atom", 2},
	"lock": {opLock, "mutex", 0}, "trylock": {opTrylock, "mutex", 0}, "unlock": {opUnlock, "mutex", 0},
	"signal": {opSignal, "cond", 0}, "broadcast": {opBroadcast, "cond", 0},
	"sleep_while": {opSleepWhile, "atom", 1}, "wake": {opWake, "atom", 1},
	"yield": {opYield, "", 0}, "nap": {opNap, "", 0}, "late": {opLate, "", 0}, "start": {opStart, "", 0}, "finish": {opFinish, "", 0}, "check": {opCheck, "", 1},
}

func (c *compiler) call(n *node) int {
	r := c.register()
	switch n.text {
	case "pause":
		return r
	case "wait":
		if len(n.kids) != 2 {
			c.fail(n, "wait has %d arguments, want 2", len(n.kids))
		}
		m := c.target(n.kids[1], "mutex")
		i := c.target(n.kids[0], "cond")
		if m.index >= 0 || i.index >= 0 {
			c.fail(n, "wait with arrays")
		}
		i.op, i.base2, i.pos = opWait, m.base, n.pos
		c.emit(i)
		return r
	}
	if b, ok := builtin[n.text]; ok {
		i := instr{index: -1}
		values := n.kids
		if b.kind != "" {
			if len(n.kids) == 0 {
				c.fail(n, "%s has no variable", n.text)
			}
			i = c.target(n.kids[0], b.kind)
			values = n.kids[1:]
		}
		if len(values) != b.values {
			c.fail(n, "%s has %d values, want %d", n.text, len(values), b.values)
		}
		i.op, i.dst, i.pos = b.op, r, n.pos
		for k, v := range values {
			if x := c.expr(v); k == 0 {
				i.a = x
			} else {
				i.b = x
			}
		}
		c.emit(i)
		return r
	}
	f := c.unit.functions[n.text]
	if f == nil || len(f.params) != len(n.kids) || len(c.calls) > 20 {
		c.fail(n, "call of %s", n.text)
	}
	scope := map[string]int{}
	for k, v := range n.kids {
		p := c.register()
		c.emit(instr{op: opMove, dst: p, a: c.expr(v)})
		scope[f.params[k]] = p
	}
	k := &call{function: f, result: r, base: r + 1}
	c.calls = append(c.calls, k)
	scopes, loops := c.scopes, c.loops
	c.scopes, c.loops = []map[string]int{scope}, nil
	c.statement(f.body)
	c.scopes, c.loops = scopes, loops
	c.drop(k.base)
	c.mend(k.returns)
	c.calls = c.calls[:len(c.calls)-1]
	return r
}

// local executes the instructions that concern the thread alone, from pc on, and returns the place of the
// next operation.
func (c *code) local(pc int, registers []int32) int {
	for steps := 0; ; steps++ {
		if steps > 10_000 {
			panic("handmade: a loop without an operation")
		}
		i := &c.instrs[pc]
		pc++
		switch i.op {
		case opConst:
			registers[i.dst] = int32(i.n)
		case opMove:
			registers[i.dst] = registers[i.a]
		case opNot:
			registers[i.dst] = truth(registers[i.a] == 0)
		case opMinus:
			registers[i.dst] = -registers[i.a]
		case opBinary:
			registers[i.dst] = calculate(i.binary, registers[i.a], registers[i.b])
		case opJump:
			pc = i.n
		case opJumpIfZero:
			if registers[i.a] == 0 {
				pc = i.n
			}
		case opClear:
			clear(registers[i.a:i.n])
		case opCheck:
			if registers[i.a] == 0 {
				return pc - 1
			}
		default:
			return pc - 1
		}
	}
}

func truth(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func calculate(op string, a, b int32) int32 {
	switch op {
	case "|":
		return a | b
	case "^":
		return a ^ b
	case "&":
		return a & b
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case "<":
		return truth(a < b)
	case ">":
		return truth(a > b)
	case "<=":
		return truth(a <= b)
	case ">=":
		return truth(a >= b)
	case "<<":
		return a << b
	case ">>":
		return a >> b
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "%":
		return a % b
	}
	panic("handmade: operator " + op)
}
