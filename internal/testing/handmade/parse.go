package handmade

import (
	"fmt"
	"strconv"
	"strings"
)

// The language is C without pointers. Global declarations begin with
//
//	atom     an int that is accessed by load, store, add, xchg and cas only
//	plain    an int that is accessed as a variable
//	mutex    of Pthreads
//	cond     of Pthreads
//
// and may be arrays. Functions take ints and return void or int; recursion is not allowed. worker(me) is
// the function of each thread, body() that of main, and the operations of a program are calls:
//
//	load(a) store(a, v) add(a, v) xchg(a, v) cas(a, old, v)     atomic; add and xchg return the old value
//	lock(m) trylock(m) unlock(m) wait(c, m) signal(c) broadcast(c)
//	sleep_while(a, v) wake(a, n)                                futex
//	yield() pause() nap()                                       sched_yield, the processor's, usleep
//	late()                                                      the deadline of the program has passed
//	start() finish()                                            create and join the workers
//	check(v)                                                    assert
type node struct {
	kind string // what it is: a statement's keyword, an operator, "name", "number", "call", "index", …
	text string
	pos  int // in the source
	kids []*node
}

type token struct {
	text string
	pos  int
}

// global is a variable of the program.
type global struct {
	kind string
	name string
	size int // 0 if it is not an array
	init int
}

type function struct {
	name    string
	returns bool
	params  []string
	body    *node
}

type unit struct {
	globals   []global
	functions map[string]*function
}

func isName(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func scan(source string) (tokens []token) {
	for i := 0; i < len(source); {
		c := source[i]
		n := 1
		switch {
		case c == ' ' || c == '\n' || c == '\t':
			i++
			continue
		case isName(c):
			for i+n < len(source) && isName(source[i+n]) {
				n++
			}
		case i+1 < len(source):
			switch source[i : i+2] {
			case "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "++", "--":
				n = 2
			}
		}
		tokens = append(tokens, token{source[i : i+n], i})
		i += n
	}
	return tokens
}

type parser struct {
	source string
	tokens []token
	err    error
}

// parse reads a program.
func parse(source string) (u *unit, err error) {
	p := &parser{source: source, tokens: scan(source)}
	defer func() {
		if r := recover(); r != nil {
			if p.err == nil {
				panic(r)
			}
			err = p.err
		}
	}()
	u = &unit{functions: map[string]*function{}}
	for len(p.tokens) > 0 {
		t := p.next()
		switch t.text {
		case "atom", "plain", "mutex", "cond":
			u.globals = append(u.globals, p.global(t.text))
		case "void", "int":
			f := &function{name: p.next().text, returns: t.text == "int"}
			p.want("(")
			for !p.accept(")") {
				p.want("int")
				f.params = append(f.params, p.next().text)
				p.accept(",")
			}
			p.want("{")
			f.body = p.block()
			u.functions[f.name] = f
		default:
			p.fail(t, "declaration")
		}
	}
	return u, nil
}

func (p *parser) fail(t token, want string) {
	line := 1 + strings.Count(p.source[:min(t.pos, len(p.source))], "\n")
	p.err = fmt.Errorf("line %d: unexpected %q, want %s", line, t.text, want)
	panic(p.err)
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0].text
}

func (p *parser) next() token {
	if len(p.tokens) == 0 {
		p.fail(token{"end of source", len(p.source)}, "more")
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *parser) accept(text string) bool {
	if p.peek() != text {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) want(text string) {
	if t := p.next(); t.text != text {
		p.fail(t, text)
	}
}

func (p *parser) number() int {
	t := p.next()
	n, err := strconv.Atoi(t.text)
	if err != nil {
		p.fail(t, "a number")
	}
	return n
}

func (p *parser) global(kind string) global {
	g := global{kind: kind, name: p.next().text}
	if p.accept("[") {
		g.size = p.number()
		p.want("]")
	}
	if p.accept("=") {
		g.init = p.number()
	}
	p.want(";")
	return g
}

// block reads the rest of a block, after its brace.
func (p *parser) block() *node {
	b := &node{kind: "block"}
	for !p.accept("}") {
		b.kids = append(b.kids, p.statement())
	}
	return b
}

func (p *parser) statement() *node {
	pos := 0
	if len(p.tokens) > 0 {
		pos = p.tokens[0].pos
	}
	switch {
	case p.accept("{"):
		return p.block()
	case p.accept(";"):
		return &node{kind: "block"}
	case p.accept("if"):
		n := &node{kind: "if", pos: pos}
		p.want("(")
		n.kids = append(n.kids, p.expr(0))
		p.want(")")
		n.kids = append(n.kids, p.statement())
		if p.accept("else") {
			n.kids = append(n.kids, p.statement())
		}
		return n
	case p.accept("while"):
		p.want("(")
		c := p.expr(0)
		p.want(")")
		return &node{kind: "for", pos: pos, kids: []*node{{kind: "block"}, c, {kind: "block"}, p.statement()}}
	case p.accept("for"):
		p.want("(")
		begin, cond, step := &node{kind: "block"}, &node{kind: "number", text: "1"}, &node{kind: "block"}
		if p.peek() != ";" {
			begin = p.simple()
		}
		p.want(";")
		if p.peek() != ";" {
			cond = p.expr(0)
		}
		p.want(";")
		if p.peek() != ")" {
			step = p.simple()
		}
		p.want(")")
		body := p.statement()
		return &node{kind: "block", kids: []*node{begin, {kind: "for", pos: pos, kids: []*node{{kind: "block"}, cond, step, body}}}}
	case p.accept("break"), p.accept("continue"):
		n := &node{kind: strings.TrimSpace(p.source[pos : pos+len("break")]), pos: pos}
		if n.kind != "break" {
			n.kind = "continue"
		}
		p.want(";")
		return n
	case p.accept("return"):
		n := &node{kind: "return", pos: pos}
		if p.peek() != ";" {
			n.kids = append(n.kids, p.expr(0))
		}
		p.want(";")
		return n
	}
	n := p.simple()
	p.want(";")
	return n
}

// simple reads a declaration, an assignment or a call.
func (p *parser) simple() *node {
	if p.accept("int") {
		t := p.next()
		p.want("=")
		return &node{kind: "int", text: t.text, pos: t.pos, kids: []*node{p.expr(0)}}
	}
	pos := p.tokens[0].pos
	e := p.expr(0)
	switch {
	case p.accept("="):
		return &node{kind: "assign", pos: pos, kids: []*node{e, p.expr(0)}}
	case p.accept("++"):
		return &node{kind: "assign", pos: pos, kids: []*node{e, {kind: "+", pos: pos, kids: []*node{e, {kind: "number", text: "1"}}}}}
	case p.accept("--"):
		return &node{kind: "assign", pos: pos, kids: []*node{e, {kind: "-", pos: pos, kids: []*node{e, {kind: "number", text: "1"}}}}}
	}
	return &node{kind: "eval", pos: pos, kids: []*node{e}}
}

// precedence of C's binary operators.
var precedence = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

func (p *parser) expr(above int) *node {
	left := p.unary()
	for {
		op := p.peek()
		level := precedence[op]
		if level <= above {
			return left
		}
		t := p.next()
		left = &node{kind: op, pos: t.pos, kids: []*node{left, p.expr(level)}}
	}
}

func (p *parser) unary() *node {
	t := p.next()
	switch c := t.text[0]; {
	case t.text == "!" || t.text == "-":
		return &node{kind: "not", text: t.text, pos: t.pos, kids: []*node{p.unary()}}
	case t.text == "(":
		e := p.expr(0)
		p.want(")")
		return e
	case '0' <= c && c <= '9':
		return &node{kind: "number", text: t.text, pos: t.pos}
	case !isName(c):
		p.fail(t, "an expression")
	}
	switch {
	case p.accept("("):
		n := &node{kind: "call", text: t.text, pos: t.pos}
		for !p.accept(")") {
			n.kids = append(n.kids, p.expr(0))
			p.accept(",")
		}
		return n
	case p.accept("["):
		n := &node{kind: "index", text: t.text, pos: t.pos, kids: []*node{p.expr(0)}}
		p.want("]")
		return n
	}
	return &node{kind: "name", text: t.text, pos: t.pos}
}
