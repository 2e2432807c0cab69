package trace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/abi"
)

// Spelling of the parts of an event in the text form. Each pair of functions is lossless:
// parse(print(x)) == x for every x.

func printThread(t ThreadID) string {
	if t == -1 {
		return "-"
	}
	return "T" + strconv.Itoa(int(t))
}

func parseThread(s string) (ThreadID, error) {
	if s == "-" {
		return -1, nil
	}
	if n, ok := strings.CutPrefix(s, "T"); ok {
		if v, err := strconv.ParseInt(n, 10, 32); err == nil {
			return ThreadID(v), nil
		}
	}
	return 0, fmt.Errorf("%q is not a thread: write T and its number, or - for none", s)
}

// printOp returns the operation's name with hyphens for spaces. A test checks that no name contains
// a hyphen.
func printOp(o Op) string { return strings.ReplaceAll(o.String(), " ", "-") }

func parseOp(s string) (Op, error) {
	if o, ok := ParseOp(strings.ReplaceAll(s, "-", " ")); ok {
		return o, nil
	}
	if n, ok := strings.CutPrefix(s, "op"); ok {
		if v, err := strconv.ParseUint(n, 10, 16); err == nil {
			return Op(v), nil
		}
	}
	return 0, fmt.Errorf("%q is not an operation", s)
}

func printSite(s Site) string {
	switch {
	case s == 0:
		return "-"
	case s.Module() < 0:
		return fmt.Sprintf("?+%#x", s.Offset())
	}
	return fmt.Sprintf("m%d+%#x", s.Module(), s.Offset())
}

func parseSite(s string) (Site, error) {
	if s == "-" {
		return 0, nil
	}
	if module, offset, ok := strings.Cut(s, "+"); ok {
		if off, err := strconv.ParseUint(offset, 0, 48); err == nil {
			if module == "?" {
				return Site(off), nil
			}
			if n, ok := strings.CutPrefix(module, "m"); ok {
				if m, err := strconv.ParseUint(n, 10, 16); err == nil && m < maxModules {
					return MakeSite(int(m), off), nil
				}
			}
		}
	}
	return 0, fmt.Errorf("%q is not a site: write a module and an offset, as m0+0x1139, or - for unknown", s)
}

// regions is the number of regions that have a name; the others print as a number.
const regions = int(RegionStack) + 1

func printObject(o Object) string {
	r := o.Region()
	switch {
	case o == 0:
		return "-"
	case r == RegionOther:
		return fmt.Sprintf("%#x", uint64(o))
	case r == RegionGlobal:
		return fmt.Sprintf("g%d+%#x", o.Index(), o.Offset())
	case r == RegionHeap && o.Index() == 0:
		return fmt.Sprintf("h+%#x", o.Offset())
	case r == RegionHeap:
		return fmt.Sprintf("h%d+%#x", o.Index(), o.Offset())
	case r == RegionStack:
		return fmt.Sprintf("s%d-%#x", o.Index(), o.Offset())
	}
	return fmt.Sprintf("r%d.%d+%#x", r, o.Index(), o.Offset())
}

func parseObject(s string) (Object, error) {
	if s == "-" {
		return 0, nil
	}
	bad := fmt.Errorf("%q is not an object: write g (global), h (heap) or s (stack) with index and offset, as g0+0x4010, an address as 0x7f00, or - for none", s)
	if s == "" {
		return 0, bad
	}
	if s[0] >= '0' && s[0] <= '9' {
		v, err := strconv.ParseUint(s, 0, 60)
		if err != nil {
			return 0, bad
		}
		return Object(v), nil
	}
	sign := "+"
	if s[0] == 's' {
		sign = "-"
	}
	place, offset, ok := strings.Cut(s[1:], sign)
	off, err := strconv.ParseUint(offset, 0, 46)
	if !ok || err != nil {
		return 0, bad
	}
	var r Region
	switch s[0] {
	case 'g':
		r = RegionGlobal
	case 'h':
		r = RegionHeap
		if place == "" {
			place = "0"
		}
	case 's':
		r = RegionStack
	case 'r':
		number, rest, ok := strings.Cut(place, ".")
		v, err := strconv.ParseUint(number, 10, 4)
		if !ok || err != nil || v < uint64(regions) {
			return 0, bad
		}
		r, place = Region(v), rest
	default:
		return 0, bad
	}
	index, err := strconv.ParseUint(place, 10, 24)
	if err != nil || index >= 1<<abi.IndexBits && (r != RegionStack || off >= 1<<abi.FarOffsetBits) {
		return 0, bad
	}
	return MakeObject(r, int(index), off), nil
}

// printValue prints small numbers, which tend to be counts, in decimal, and large ones,
// which tend to be addresses, in hexadecimal.
func printValue(v uint64) string {
	if v < 1e6 {
		return strconv.FormatUint(v, 10)
	}
	return fmt.Sprintf("%#x", v)
}

// auxIsObject reports whether Event.Aux is an Object for this operation.
func auxIsObject(o Op) bool { return o == OpCondWait || o == OpCondWake || o == OpCondTimeout }

func printAux(o Op, aux uint64) string {
	if auxIsObject(o) {
		return printObject(Object(aux))
	}
	return printValue(aux)
}

// parseAux accepts a number or an object for every operation: an object written as a number has
// that value.
func parseAux(s string) (uint64, error) {
	if s != "" && s[0] >= '0' && s[0] <= '9' {
		v, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a 64-bit number", s)
		}
		return v, nil
	}
	o, err := parseObject(s)
	return uint64(o), err
}

var flagNames = []struct {
	flag Flags
	name string
}{
	{FlagForced, "forced"}, {FlagTimeout, "timeout"}, {FlagNoDecision, "nochoice"}, {FlagAtomic, "atomic"},
	{FlagLibrary, "library"}, {FlagOffered, "offered"}, {FlagPointer, "pointer"}, {FlagValue, "value"}, {FlagHooks, "hooks"},
	{FlagVolatile, "volatile"}, {FlagAssembly, "assembly"},
}

const knownFlags = FlagForced | FlagTimeout | FlagNoDecision | FlagAtomic | FlagOrder | FlagLibrary | FlagOffered | FlagPointer | FlagValue | FlagHooks | FlagVolatile | FlagAssembly

// orderNames are the compiler's memory orders; the first, relaxed, is not printed.
var orderNames = [8]string{"", "consume", "acquire", "release", "acq_rel", "seq_cst", "order6", "order7"}

func printFlags(f Flags) string {
	var parts []string
	for _, n := range flagNames {
		if f&n.flag != 0 {
			parts = append(parts, n.name)
		}
	}
	if o := orderNames[f&FlagOrder>>4]; o != "" {
		parts = append(parts, o)
	}
	if rest := f &^ knownFlags; rest != 0 {
		parts = append(parts, fmt.Sprintf("%#x", uint32(rest)))
	}
	return strings.Join(parts, "|")
}

func parseFlags(s string) (Flags, error) {
	var f Flags
next:
	for _, p := range strings.Split(s, "|") {
		for _, n := range flagNames {
			if p == n.name {
				f |= n.flag
				continue next
			}
		}
		for i, n := range orderNames {
			if n != "" && p == n {
				if f&FlagOrder != 0 {
					return 0, fmt.Errorf("flags %q have two memory orders", s)
				}
				f |= Flags(i) << 4
				continue next
			}
		}
		v, err := strconv.ParseUint(p, 0, 32)
		if err != nil || Flags(v)&knownFlags != 0 {
			return 0, fmt.Errorf("%q is not a flag", p)
		}
		f |= Flags(v)
	}
	return f, nil
}

// printKind returns the kind's name with hyphens for spaces.
func printKind(k Kind) string {
	if int(k) < len(kindNames) {
		return strings.ReplaceAll(kindNames[k], " ", "-")
	}
	return fmt.Sprintf("kind%d", k)
}

func parseKind(s string) (Kind, error) {
	for i := range kindNames {
		if s == printKind(Kind(i)) {
			return Kind(i), nil
		}
	}
	if n, ok := strings.CutPrefix(s, "kind"); ok {
		if v, err := strconv.ParseUint(n, 10, 8); err == nil {
			return Kind(v), nil
		}
	}
	return 0, fmt.Errorf("%q is not a kind of ending", s)
}

func parseSet(s string) (ThreadSet, error) {
	var set ThreadSet
	bad := fmt.Errorf("%q is not a set of threads: write their numbers in braces, upwards, as {0,2-4}; the last possible is %d", s, MaxThreads-1)
	if len(s) < 2 || s[0] != '{' || s[len(s)-1] != '}' {
		return set, bad
	}
	if s == "{}" {
		return set, nil
	}
	next := uint64(0)
	for r := range strings.SplitSeq(s[1:len(s)-1], ",") {
		lo, hi, isRange := strings.Cut(r, "-")
		if !isRange {
			hi = lo
		}
		from, err1 := strconv.ParseUint(lo, 10, 32)
		to, err2 := strconv.ParseUint(hi, 10, 32)
		if err1 != nil || err2 != nil || from < next || from > to || to >= MaxThreads {
			return ThreadSet{}, bad
		}
		for next = from; next <= to; next++ {
			set.Add(ThreadID(next))
		}
	}
	return set, nil
}
