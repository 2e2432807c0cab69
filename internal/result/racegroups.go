package result

import (
	"math"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/wording"
)

// places are what decides whether two races are one to a reader.
type places struct {
	object string
	where  [2]string // FUNCTION FILE:LINE
	apart  string    // races that differ in it are never one
}

// together reports whether two races have one cause, as far as a reader is concerned: the same two places and parts of one variable, or
// heap blocks, as with a function that is inlined in many others; or members of one variable or block, accessed by the same two functions, or
// by one lambda on neighbouring lines: compilers give the parts of a statement the lines that they are on.
func (p places) together(o places) bool {
	if p.apart != o.apart {
		return false
	}
	if p.where[0] != "" && p.where[1] != "" && pair(p.where) == pair(o.where) && (p.variable() == o.variable() || inBlock(p.object) && inBlock(o.object)) {
		return true
	}
	if p.object != "" && p.variable() == o.variable() && oneStatement(p.where[0], p.where[1], o.where[0], o.where[1]) {
		return true
	}
	f, g := [2]string{function(p.where[0]), function(p.where[1])}, [2]string{function(o.where[0]), function(o.where[1])}
	return f[0] != "" && f[1] != "" && pair(f) == pair(g) && p.object != "" && p.variable() == o.variable()
}

// statementLines is how many lines a statement takes at most.
const statementLines = 4

// oneStatement reports whether places are so near to one another that they may be parts of one statement.
func oneStatement(places ...string) bool {
	first, last, in := math.MaxInt, 0, ""
	for i, p := range places {
		colon := strings.LastIndexByte(p, ':')
		line, err := strconv.Atoi(p[colon+1:])
		if file := p[:max(colon, 0)]; err != nil || i > 0 && file != in {
			return false
		}
		in, first, last = p[:colon], min(first, line), max(last, line)
	}
	return last-first < statementLines
}

// inBlock reports whether the object is in a heap block that has no name but its number.
func inBlock(object string) bool {
	return strings.HasPrefix(object, "block #") || strings.HasPrefix(object, "#")
}

func pair(p [2]string) [2]string {
	if p[1] < p[0] {
		p[0], p[1] = p[1], p[0]
	}
	return p
}

// function returns the function of a place, "" if that is not known. The name of a lambda's is that of all others.
func function(where string) string {
	i := strings.LastIndexByte(where, ' ')
	if i < 0 || where[:i] == "operator()" {
		return ""
	}
	return where[:i]
}

// variable returns the name of what the object is a part of: queue of queue.items[3].next, block #3 of block #3+8. The name of a Go
// variable begins with its package's.
func (p places) variable() string {
	if strings.Contains(p.where[0]+p.where[1], ".go:") {
		if end := strings.IndexByte(p.object, ')'); strings.HasPrefix(p.object, "(") && end > 0 {
			return p.object[:end+1]
		}
		return p.object
	}
	name, origin, _ := strings.Cut(p.object, " (") // where a block was allocated
	if i := strings.IndexAny(name, ".[+"); i > 0 {
		name = name[:i]
	}
	return name + origin
}

// grouped returns the races in groups of one cause, as indices, in the order of their first members.
func grouped(races []places) (groups [][]int) {
next:
	for i, p := range races {
		for g, members := range groups {
			if races[members[0]].together(p) {
				groups[g] = append(members, i)
				continue next
			}
		}
		groups = append(groups, []int{i})
	}
	return groups
}

// placesOf returns how many pairs of places of a group look different to a reader.
func placesOf(races []places, group []int) int {
	seen := map[places]bool{}
	for _, i := range group {
		p := races[i]
		p.where = pair(p.where)
		seen[p] = true
	}
	return len(seen)
}

// morePlaces says how many pairs of places a group has besides its first, "" if it has no other.
func morePlaces(races []places, group []int) string {
	switch n := placesOf(races, group) - 1; n {
	case 0:
		return ""
	case 1:
		return "and 1 more pair of places"
	default:
		return "and " + wording.Thousands(n) + " more pairs of places"
	}
}
