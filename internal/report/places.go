package report

import (
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// places builds the view's table of places from sites.
type places struct {
	tr     *trace.Trace
	names  Names
	src    *symbol.Sources
	list   []Place
	stacks [][]int
	index  map[Place]int
	known  map[siteKey]located
}

type siteKey struct {
	site  trace.Site
	stack uint32
}

// located is the location of an event: the place to show and the whole call stack.
type located struct{ place, stack int }

func newPlaces(tr *trace.Trace, names Names, src *symbol.Sources) *places {
	unknown := Place{Label: "?"}
	return &places{
		tr: tr, names: names, src: src, list: []Place{unknown}, stacks: [][]int{{}},
		index: map[Place]int{unknown: 0}, known: map[siteKey]located{},
	}
}

// add returns the number of frame f, and adds it if it is new.
func (p *places) add(f symbol.Frame) int {
	pl := Place{Label: f.Place(), Func: f.Func, File: f.File, Line: f.Line}
	if text, ok := p.src.Line(f.File, f.Line); ok {
		pl.Text = strings.TrimSpace(text)
	}
	if n, ok := p.index[pl]; ok {
		return n
	}
	p.list = append(p.list, pl)
	p.index[pl] = len(p.list) - 1
	return len(p.list) - 1
}

// locate resolves the frames of an operation, innermost first. The place to show is the innermost
// frame in the program's own code: a lock acquired in a header of the C++ library is shown where
// the program called it.
func (p *places) locate(site trace.Site, stack uint32) located {
	key := siteKey{site, stack}
	if l, ok := p.known[key]; ok {
		return l
	}
	l := p.frames(p.sites(site, stack))
	p.known[key] = l
	return l
}

// sites returns a site followed by its call stack, innermost first.
func (p *places) sites(site trace.Site, stack uint32) []trace.Site {
	sites := []trace.Site{site}
	if int(stack) < len(p.tr.Stacks) {
		sites = append(sites, p.tr.Stacks[stack]...)
	}
	return sites
}

// frames adds a call stack, given as sites innermost first.
func (p *places) frames(sites []trace.Site) located {
	all := []int{}             // not nil: JSON has [], not null
	best, rank, own := 0, 0, 0 // own: frames up to the outermost of the program's own
	for i, s := range sites {
		if s == 0 && i > 0 {
			continue
		}
		for _, f := range p.names.Call(s) {
			n := p.add(f)
			all = append(all, n)
			r := p.rank(s, f)
			if len(all) == 1 || r > rank {
				best, rank = n, r
			}
			if r == ownCode {
				own = len(all)
			}
		}
	}
	if p.tr.Header.Target == "go" && own > 0 {
		all = all[:own] // the frames that started the goroutine or test are always the same
	}
	p.stacks = append(p.stacks, all)
	return located{best, len(p.stacks) - 1}
}

// ownCode is the rank of frames in the program's own source.
const ownCode = 3

// rank returns how useful a frame is for locating an event: from 0 (useless) to ownCode.
func (p *places) rank(s trace.Site, f symbol.Frame) int {
	switch {
	case !f.Known():
		return 0
	case standard(p.tr, f):
		return 1
	case !inOwnModule(p.tr, s):
		return 2
	}
	return ownCode
}
