package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// TextError says what is wrong in a text form, and on which line.
type TextError struct {
	Line int // from 1
	Err  error
}

func (e *TextError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *TextError) Unwrap() error { return e.Err }

// ParseText reads a trace's text form, as WriteText writes it. Spacing is free, a # outside quotes
// begins a comment, and empty lines are skipped. An error in the text is a *TextError. ParseText
// does not check that the trace makes sense; Validate does.
func ParseText(r io.Reader) (*Trace, error) {
	p := &textParser{t: &Trace{Stacks: make([][]Site, 1)}, seen: make(map[string]bool)}
	in := bufio.NewReader(r)
	for {
		s, err := in.ReadString('\n')
		if s != "" {
			p.line++
			if perr := p.parseLine(s); perr != nil {
				return nil, &TextError{p.line, perr}
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if err := p.finish(); err != nil {
		return nil, &TextError{max(p.line, 1), err}
	}
	return p.t, nil
}

type textParser struct {
	t     *Trace
	line  int
	seen  map[string]bool // keywords that may occur once
	begun bool            // the first line was read
	ended bool            // the end line was read
}

func (p *textParser) finish() error {
	switch {
	case !p.begun:
		return errors.New("the input holds no trace")
	case !p.seen["ending"]:
		return errors.New("the text ends without an ending line: it was cut")
	case !p.ended:
		return errors.New("the text ends without an end line: it was cut")
	}
	return nil
}

func (p *textParser) parseLine(s string) error {
	if !p.begun {
		return p.parseFirst(s)
	}
	words, err := splitWords(s)
	if err != nil || len(words) == 0 {
		return err
	}
	if p.ended {
		return errors.New("text follows the end line")
	}
	key := words[0].text
	l := &textLine{words: words[1:]}
	switch {
	case words[0].quoted || words[0].key != "":
		return fmt.Errorf("unknown keyword %.40q", words[0].String())
	case key[0] >= '0' && key[0] <= '9':
		err = p.event(key, l)
	default:
		err = p.keyword(key, l)
	}
	if err != nil {
		return err
	}
	return l.done()
}

func (p *textParser) parseFirst(s string) error {
	s = strings.TrimSpace(s)
	if s == "" || s[0] == '#' {
		return nil
	}
	v, ok := strings.CutPrefix(s, textMagic)
	if !ok {
		return fmt.Errorf("this is not the text form of a heddle trace: its first line is %q", textMagic+strconv.Itoa(TextVersion))
	}
	if v != strconv.Itoa(TextVersion) {
		return fmt.Errorf("this is version %s of the text form, and this heddle reads version %d: use the heddle that wrote it: %w", v, TextVersion, ErrVersion)
	}
	p.begun = true
	return nil
}

// once lists the keywords that may occur once.
var once = map[string]bool{
	"heddle": true, "target": true, "points-version": true, "command": true, "argv0": true, "dir": true,
	"env-digest": true, "build-id": true, "strategy": true, "expect-status": true, "oracle": true,
	"instrumented": true, "original": true, "isolation": true, "ending": true, "child": true, "cycle": true, "explanation": true, "end": true,
}

func (p *textParser) keyword(key string, l *textLine) error {
	if p.seen[key] {
		return fmt.Errorf("a second %s line", key)
	}
	p.seen[key] = once[key] || strings.HasPrefix(key, "recipe")
	h := &p.t.Header
	if r, of := strings.CutPrefix(key, "recipe-"); of {
		return p.recipe(r, l)
	}
	switch key {
	case "heddle":
		h.Heddle = l.quoted("version")
	case "target":
		h.Target = l.quoted("target")
	case "points-version":
		h.PointsVersion = int(l.integer("version", 64))
	case "command":
		h.Command = l.quotedWords("argument")
	case "recipe":
		h.Recipe = &Recipe{Kind: l.quoted("kind"), Tool: l.quoted("tool")}
	case "argv0":
		h.Argv0 = l.quoted("argument")
	case "dir":
		h.Dir = l.quoted("directory")
	case "stdin":
		h.Stdin = l.bytes(h.Stdin)
	case "env":
		h.Env = append(h.Env, l.quoted("variable"))
	case "env-digest":
		h.EnvDigest = l.quoted("digest")
	case "surroundings":
		h.Surroundings = append(h.Surroundings, l.quoted("thing"))
	case "build-id":
		h.BuildID = l.quoted("build id")
	case "strategy":
		h.Strategy = l.quoted("strategy")
	case "points":
		h.Points = l.sites(h.Points)
	case "expect-status":
		h.ExpectStatus = int32(l.integer("status", 32))
	case "expect-output":
		h.ExpectOutput = l.bytes(h.ExpectOutput)
	case "oracle":
		h.Oracle = l.quoted("command")
	case "instrumented":
		h.Instrumented = true
	case "without":
		h.Omit = append(h.Omit, l.quoted("call"))
	case "try-lock":
		h.TryLock = append(h.TryLock, l.quoted("lock"))
	case "original":
		h.Original = l.quoted("file")
	case "finding":
		h.Finding = l.quoted("finding")
	case "isolation":
		h.Isolation = l.quoted("isolation")
	case "signature":
		h.Signature = l.quoted("signature")
	case "live":
		h.Live = true
	case "fair-after":
		h.FairAfter = int(l.integer("patience", 32))
	case "cut":
		h.Cut = int(l.integer("number of scheduling points", 32))
	case "unrecorded":
		h.Unrecorded = l.sites(h.Unrecorded)
	case "max-accesses":
		h.MaxAccesses = int(l.integer("number of accesses", 64))
	case "values":
		h.Values = true
	case "fault":
		p.fault(l)
	case "module":
		return p.module(l)
	case "thread":
		return p.thread(l)
	case "stack":
		if n := l.integer("stack number", 32); l.err == nil && n != int64(len(p.t.Stacks)) {
			return fmt.Errorf("stack %d where %d is next", n, len(p.t.Stacks))
		}
		p.t.Stacks = append(p.t.Stacks, l.sites(nil))
	case "alloc":
		p.alloc(l)
	case "type":
		p.typ(l)
	case "local":
		p.local(l)
	case "mapping":
		p.mapping(l)
	case "ending":
		p.ending(l)
	case "ending-stack":
		p.t.Ending.Stack = l.sites(p.t.Ending.Stack)
	case "child":
		p.child(l)
	case "waiter":
		p.waiter(l)
	case "case":
		p.selectCase(l)
	case "access":
		p.access(l)
	case "cycle":
		for l.more() {
			p.t.Ending.Cycle = append(p.t.Ending.Cycle, get(l, "thread", parseThread))
		}
	case "explanation":
		p.t.Explanation = &Explanation{Heddle: l.quoted("version"), BuildID: l.quoted("build id")}
		x := p.t.Explanation
		l.pairs(map[string]func(word){
			"version":   func(w word) { x.Version = int(value(l, w, parseUint32)) },
			"execution": func(w word) { x.Execution = value(l, w, parseUint) },
		})
	case "explanation-data":
		if p.t.Explanation == nil {
			return errors.New("the data of an explanation without an explanation line")
		}
		p.t.Explanation.Data = l.bytes(p.t.Explanation.Data)
	case "output":
		p.t.Ending.Output = l.bytes(p.t.Ending.Output)
	case "end":
		if n := l.integer("number of events", 64); l.err == nil && n != int64(len(p.t.Events)) {
			return fmt.Errorf("the end line says %d events, but %d are here", n, len(p.t.Events))
		}
		p.ended = true
	default:
		return fmt.Errorf("unknown keyword %q", key)
	}
	return nil
}

// recipe reads the line recipe-KEY.
func (p *textParser) recipe(key string, l *textLine) error {
	r := p.t.Header.Recipe
	if r == nil {
		return fmt.Errorf("a recipe-%s line without a recipe line before it", key)
	}
	switch key {
	case "flags":
		r.Flags = l.quotedWords("flag")
	case "env":
		r.Env = l.quotedWords("variable")
	case "packages":
		r.Packages = l.quotedWords("package")
	case "args":
		r.Args = l.quotedWords("argument")
	case "vet":
		r.Vet = l.quoted("checks")
	case "run":
		r.Run = l.quoted("expression")
	case "skip":
		r.Skip = l.quoted("expression")
	case "short":
		r.Short = true
	case "parallel":
		n := l.integer("number of tests", 64)
		if l.err == nil && (n < 0 || n > math.MaxUint32) {
			return fmt.Errorf("%d tests in parallel", n)
		}
		r.Parallel = int(n)
	case "races-allowed":
		r.RacesAllowed = true
	case "leaks":
		r.Leaks = l.quoted("treatment")
	case "leak-ignore":
		r.LeakIgnore = l.quotedWords("function")
	case "exec":
		r.Exec = l.quotedWords("word")
	default:
		return fmt.Errorf("unknown keyword %q", "recipe-"+key)
	}
	return nil
}

func (p *textParser) module(l *textLine) error {
	if name, want := l.word("module"), fmt.Sprintf("m%d", len(p.t.Modules)); l.err == nil && name != want {
		return fmt.Errorf("module %s where %s is next", name, want)
	}
	if len(p.t.Modules) == maxModules {
		return fmt.Errorf("more than %d modules", maxModules)
	}
	m := Module{Path: l.quoted("path")}
	l.pairs(map[string]func(word){
		"build-id": func(w word) { m.BuildID = l.string(w) },
		"program":  func(w word) { l.bare(w); m.Program = true },
	})
	p.t.Modules = append(p.t.Modules, m)
	return nil
}

func (p *textParser) thread(l *textLine) error {
	id := get(l, "thread", parseThread)
	if l.err == nil && int(id) != len(p.t.Threads) {
		return fmt.Errorf("thread %s where T%d is next", printThread(id), len(p.t.Threads))
	}
	if id >= MaxThreads {
		return fmt.Errorf("more than %d threads", MaxThreads)
	}
	t := Thread{ID: id, Parent: -1}
	l.pairs(map[string]func(word){
		"parent": func(w word) { t.Parent = value(l, w, parseThread) },
		"nth":    func(w word) { t.Nth = int(value(l, w, parseInt)) },
		"name":   func(w word) { t.Name = value(l, w, parseUint) },
		"entry":  func(w word) { t.Entry = value(l, w, parseSite) },
		"label":  func(w word) { t.Label = l.string(w) },
		"ended":  func(w word) { l.bare(w); t.Ended = true },
	})
	p.t.Threads = append(p.t.Threads, t)
	return nil
}

func (p *textParser) fault(l *textLine) {
	f := &Fault{}
	model, err := ParseFaultModel(l.quoted("fault model"))
	if err != nil && l.err == nil {
		l.err = err
	}
	f.Model = model
	l.pairs(map[string]func(word){
		"thread": func(w word) { f.Thread = value(l, w, parseUint) },
		"site":   func(w word) { f.Site = value(l, w, parseSite) },
		"index":  func(w word) { f.Index = value(l, w, parseUint) },
		"amount": func(w word) { f.Amount = value(l, w, parseUint) },
		"event":  func(w word) { f.Event = int(value(l, w, parseInt)) },
	})
	p.t.Header.Fault = f
}

func (p *textParser) alloc(l *textLine) {
	a := Alloc{Object: get(l, "object", parseObject), Freed: -1}
	l.pairs(map[string]func(word){
		"size":   func(w word) { a.Size = value(l, w, parseUint) },
		"thread": func(w word) { a.Thread = value(l, w, parseThread) },
		"site":   func(w word) { a.Site = value(l, w, parseSite) },
		"stack":  func(w word) { a.Stack = uint32(value(l, w, parseUint32)) },
		"event":  func(w word) { a.Event = int(value(l, w, parseInt)) },
		"freed":  func(w word) { a.Freed = int(value(l, w, parseInt)) },
	})
	p.t.Allocs = append(p.t.Allocs, a)
}

func (p *textParser) local(l *textLine) {
	v := Local{Object: get(l, "object", parseObject)}
	l.pairs(map[string]func(word){
		"site":     func(w word) { v.Site = value(l, w, parseSite) },
		"cfa":      func(w word) { v.CFA = value(l, w, parseInt) },
		"sp":       func(w word) { v.SP = value(l, w, parseInt) },
		"fp":       func(w word) { v.FP = value(l, w, parseInt) },
		"below":    func(w word) { v.Below = value(l, w, parseSite) },
		"function": func(w word) { v.Function = value(l, w, parseSite) },
		"event":    func(w word) { v.Event = int(value(l, w, parseInt)) },
	})
	p.t.Locals = append(p.t.Locals, v)
}

func (p *textParser) typ(l *textLine) {
	v := Type{Object: get(l, "object", parseObject)}
	l.pairs(map[string]func(word){
		"size":       func(w word) { v.Size = value(l, w, parseUint) },
		"unit":       func(w word) { v.Unit = value(l, w, parseUint) },
		"name":       func(w word) { v.Name = l.string(w) },
		"descriptor": func(w word) { v.Descriptor = value(l, w, parseSite) },
		"site":       func(w word) { v.Site = value(l, w, parseSite) },
		"channel":    func(w word) { l.bare(w); v.Channel = true },
	})
	p.t.Types = append(p.t.Types, v)
}

func (p *textParser) mapping(l *textLine) {
	m := Mapping{Object: get(l, "object", parseObject)}
	l.pairs(map[string]func(word){
		"size":   func(w word) { m.Size = value(l, w, parseUint) },
		"offset": func(w word) { m.Offset = value(l, w, parseUint) },
		"path":   func(w word) { m.Path = l.string(w) },
		"event":  func(w word) { m.Event = int(value(l, w, parseInt)) },
	})
	p.t.Mappings = append(p.t.Mappings, m)
}

func (p *textParser) event(index string, l *textLine) error {
	if p.seen["ending"] {
		return errors.New("an event after the ending line")
	}
	if want := strconv.Itoa(len(p.t.Events)); index != want {
		return fmt.Errorf("event %s where %s is next", index, want)
	}
	e := Event{
		Thread:  get(l, "thread", parseThread),
		Op:      get(l, "operation", parseOp),
		Site:    get(l, "site", parseSite),
		Object:  get(l, "object", parseObject),
		Enabled: get(l, "enabled set", parseSet),
	}
	l.pairs(map[string]func(word){
		"size":   func(w word) { e.Size = uint32(value(l, w, parseUint32)) },
		"value":  func(w word) { e.Value = value(l, w, parseUint) },
		"aux":    func(w word) { e.Aux = value(l, w, parseAux) },
		"result": func(w word) { e.Result = int32(value(l, w, parseInt32)) },
		"flags":  func(w word) { e.Flags = value(l, w, parseFlags) },
		"stack":  func(w word) { e.Stack = uint32(value(l, w, parseUint32)) },
	})
	p.t.Events = append(p.t.Events, e)
	return nil
}

func (p *textParser) ending(l *textLine) {
	e := &p.t.Ending
	e.Kind = get(l, "kind", parseKind)
	e.Thread = -1
	l.pairs(map[string]func(word){
		"thread":  func(w word) { e.Thread = value(l, w, parseThread) },
		"status":  func(w word) { e.Status = int32(value(l, w, parseInt32)) },
		"site":    func(w word) { e.Site = value(l, w, parseSite) },
		"object":  func(w word) { e.Object = value(l, w, parseObject) },
		"message": func(w word) { e.Message = l.string(w) },
	})
}

func (p *textParser) access(l *textLine) {
	a := Access{Thread: get(l, "thread", parseThread), Op: get(l, "operation", parseOp)}
	l.pairs(map[string]func(word){
		"site":   func(v word) { a.Site = value(l, v, parseSite) },
		"object": func(v word) { a.Object = value(l, v, parseObject) },
		"size":   func(v word) { a.Size = uint32(value(l, v, parseUint32)) },
		"stack":  func(v word) { a.Stack = uint32(value(l, v, parseUint32)) },
	})
	p.t.Ending.Accesses = append(p.t.Ending.Accesses, a)
}

func (p *textParser) selectCase(l *textLine) {
	c := Case{Thread: get(l, "thread", parseThread), Op: get(l, "operation", parseOp), Object: get(l, "object", parseObject)}
	l.pairs(map[string]func(word){
		"taken": func(v word) { c.Taken = value(l, v, parseUint) },
	})
	p.t.Ending.Cases = append(p.t.Ending.Cases, c)
}

func (p *textParser) child(l *textLine) {
	c := &Child{Process: int(get(l, "process", parseUint32)), Op: get(l, "operation", parseOp), Holder: -1}
	l.pairs(map[string]func(word){
		"holder": func(v word) { c.Holder = value(l, v, parseThread) },
	})
	p.t.Ending.Child = c
}

func (p *textParser) waiter(l *textLine) {
	w := Waiter{Thread: get(l, "thread", parseThread), Op: get(l, "operation", parseOp), Holder: -1}
	l.pairs(map[string]func(word){
		"site":   func(v word) { w.Site = value(l, v, parseSite) },
		"object": func(v word) { w.Object = value(l, v, parseObject) },
		"holder": func(v word) { w.Holder = value(l, v, parseThread) },
		"ready":  func(v word) { l.bare(v); w.Ready = true },
		"stack":  func(v word) { w.Stack = uint32(value(l, v, parseUint32)) },
		"reach":  func(v word) { w.Reach = Reach(min(value(l, v, parseUint32), 255)) },
	})
	p.t.Ending.Waiters = append(p.t.Ending.Waiters, w)
}
