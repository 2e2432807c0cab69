package trace

import (
	"fmt"

	"github.com/heddle-dev/heddle/trace/tracepb"
)

// The conversions between the model's tables and their records. Events have their own,
// in block.go.

// appendDeltas appends sites to dst as differences, the first to prev.
func appendDeltas(dst []int64, prev Site, sites []Site) []int64 {
	for _, s := range sites {
		dst = append(dst, int64(s-prev))
		prev = s
	}
	return dst
}

// appendSites is the inverse of appendDeltas.
func appendSites(dst []Site, prev Site, deltas []int64) []Site {
	for _, d := range deltas {
		prev += Site(d)
		dst = append(dst, prev)
	}
	return dst
}

// pieces splits data into pieces of at most pieceBytes. nil has none, an empty slice has one.
func pieces(data []byte) [][]byte {
	if data == nil {
		return nil
	}
	var out [][]byte
	for len(data) > pieceBytes {
		out = append(out, data[:pieceBytes])
		data = data[pieceBytes:]
	}
	return append(out, data)
}

func byteSlices(ss []string) [][]byte {
	var out [][]byte
	for _, s := range ss {
		out = append(out, []byte(s))
	}
	return out
}

func stringSlice(bs [][]byte) []string {
	var out []string
	for _, b := range bs {
		out = append(out, string(b))
	}
	return out
}

// wordPieces splits a list of words into lists of at most pieceBytes, or of one word.
func wordPieces(words []string) (out [][]string) {
	for len(words) > 0 {
		n, bytes := 0, 0
		for n < len(words) && (n == 0 || bytes+len(words[n]) <= pieceBytes) {
			bytes += len(words[n])
			n++
		}
		out = append(out, words[:n])
		words = words[n:]
	}
	return out
}

// recipeRecord omits packages and arguments, which may take several records.
func recipeRecord(r *Recipe) *tracepb.Recipe {
	return &tracepb.Recipe{
		Kind:         []byte(r.Kind),
		Tool:         []byte(r.Tool),
		Flags:        byteSlices(r.Flags),
		Env:          byteSlices(r.Env),
		Vet:          []byte(r.Vet),
		Run:          []byte(r.Run),
		Skip:         []byte(r.Skip),
		Short:        r.Short,
		Parallel:     uint32(r.Parallel),
		RacesAllowed: r.RacesAllowed,
		Leaks:        []byte(r.Leaks),
		LeakIgnore:   byteSlices(r.LeakIgnore),
		Exec:         byteSlices(r.Exec),
	}
}

// addRecipePart adds the recipe of header part number i, from 0, to h.
func addRecipePart(h *Header, i int, p *tracepb.Recipe) {
	if p == nil {
		return
	}
	if i == 0 {
		h.Recipe = &Recipe{
			Kind:         string(p.Kind),
			Tool:         string(p.Tool),
			Flags:        stringSlice(p.Flags),
			Env:          stringSlice(p.Env),
			Vet:          string(p.Vet),
			Run:          string(p.Run),
			Skip:         string(p.Skip),
			Short:        p.Short,
			Parallel:     int(p.Parallel),
			RacesAllowed: p.RacesAllowed,
			Leaks:        string(p.Leaks),
			LeakIgnore:   stringSlice(p.LeakIgnore),
			Exec:         stringSlice(p.Exec),
		}
	}
	if h.Recipe == nil {
		return // a continuation without its beginning
	}
	h.Recipe.Packages = append(h.Recipe.Packages, stringSlice(p.Packages)...)
	h.Recipe.Args = append(h.Recipe.Args, stringSlice(p.Args)...)
}

// headerParts returns the records that carry h: one, unless h is large.
func headerParts(h *Header) []*tracepb.Header {
	parts := []*tracepb.Header{{
		Heddle:        []byte(h.Heddle),
		Target:        []byte(h.Target),
		PointsVersion: int64(h.PointsVersion),
		Argv0:         []byte(h.Argv0),
		Dir:           []byte(h.Dir),
		Env:           byteSlices(h.Env),
		EnvDigest:     []byte(h.EnvDigest),
		Surroundings:  byteSlices(h.Surroundings),
		BuildId:       []byte(h.BuildID),
		Strategy:      []byte(h.Strategy),
		ExpectStatus:  h.ExpectStatus,
		Oracle:        []byte(h.Oracle),
		Instrumented:  h.Instrumented,
		Original:      []byte(h.Original),
		Finding:       []byte(h.Finding),
		Isolation:     []byte(h.Isolation),
		Omit:          byteSlices(h.Omit),
		TryLock:       byteSlices(h.TryLock),
		MaxAccesses:   uint64(h.MaxAccesses),
		Unrecorded:    appendDeltas(nil, 0, h.Unrecorded),
		Values:        h.Values,
		Fault:         FaultRecord(h.Fault),
		Signature:     []byte(h.Signature),
		FairAfter:     uint32(h.FairAfter),
		Cut:           uint32(h.Cut),
		Live:          h.Live,
	}}
	part := func(i int) *tracepb.Header {
		for len(parts) <= i {
			parts[len(parts)-1].More = true
			parts = append(parts, &tracepb.Header{})
		}
		return parts[i]
	}
	for i, words := range wordPieces(h.Command) {
		part(i).Command = byteSlices(words)
	}
	if r := h.Recipe; r != nil {
		parts[0].Recipe = recipeRecord(r)
		recipe := func(i int) *tracepb.Recipe {
			if part(i).Recipe == nil {
				part(i).Recipe = &tracepb.Recipe{}
			}
			return part(i).Recipe
		}
		for i, words := range wordPieces(r.Packages) {
			recipe(i).Packages = byteSlices(words)
		}
		for i, words := range wordPieces(r.Args) {
			recipe(i).Args = byteSlices(words)
		}
	}
	for i, p := range pieces(h.Stdin) {
		part(i).Stdin = [][]byte{p}
	}
	for i, p := range pieces(h.ExpectOutput) {
		part(i).ExpectOutput = [][]byte{p}
	}
	var prev Site
	for i, points := 0, h.Points; len(points) > 0; i++ {
		n := min(len(points), piecePoints)
		part(i).Points = appendDeltas(nil, prev, points[:n])
		prev, points = points[n-1], points[n:]
	}
	return parts
}

// addHeaderPart adds part number i, from 0, to h.
func addHeaderPart(h *Header, i int, p *tracepb.Header) {
	if i == 0 {
		*h = Header{
			Heddle:        string(p.Heddle),
			Target:        string(p.Target),
			PointsVersion: int(p.PointsVersion),
			Argv0:         string(p.Argv0),
			Dir:           string(p.Dir),
			Env:           stringSlice(p.Env),
			EnvDigest:     string(p.EnvDigest),
			Surroundings:  stringSlice(p.Surroundings),
			BuildID:       string(p.BuildId),
			Strategy:      string(p.Strategy),
			ExpectStatus:  p.ExpectStatus,
			Oracle:        string(p.Oracle),
			Instrumented:  p.Instrumented,
			Original:      string(p.Original),
			Finding:       string(p.Finding),
			Isolation:     string(p.Isolation),
			Omit:          stringSlice(p.Omit),
			TryLock:       stringSlice(p.TryLock),
			MaxAccesses:   int(p.MaxAccesses),
			Unrecorded:    appendSites(nil, 0, p.Unrecorded),
			Values:        p.Values,
			Fault:         FaultOf(p.Fault),
			Signature:     string(p.Signature),
			FairAfter:     int(p.FairAfter),
			Cut:           int(p.Cut),
			Live:          p.Live,
		}
	}
	h.Command = append(h.Command, stringSlice(p.Command)...)
	addRecipePart(h, i, p.Recipe)
	for _, b := range p.Stdin {
		if h.Stdin == nil {
			h.Stdin = []byte{}
		}
		h.Stdin = append(h.Stdin, b...)
	}
	for _, b := range p.ExpectOutput {
		if h.ExpectOutput == nil {
			h.ExpectOutput = []byte{}
		}
		h.ExpectOutput = append(h.ExpectOutput, b...)
	}
	var prev Site
	if n := len(h.Points); n > 0 {
		prev = h.Points[n-1]
	}
	h.Points = appendSites(h.Points, prev, p.Points)
}

func moduleRecord(m *Module) *tracepb.Module {
	return &tracepb.Module{Path: []byte(m.Path), BuildId: []byte(m.BuildID), Program: m.Program}
}

func moduleOf(p *tracepb.Module) Module {
	return Module{Path: string(p.Path), BuildID: string(p.BuildId), Program: p.Program}
}

func threadRecord(t *Thread) *tracepb.Thread {
	return &tracepb.Thread{
		Id:     uint32(t.ID),
		Parent: int32(t.Parent),
		Nth:    int64(t.Nth),
		Name:   t.Name,
		Entry:  uint64(t.Entry),
		Label:  []byte(t.Label),
		Ended:  t.Ended,
	}
}

func threadOf(p *tracepb.Thread) Thread {
	return Thread{
		ID:     ThreadID(p.Id),
		Parent: ThreadID(p.Parent),
		Nth:    int(p.Nth),
		Name:   p.Name,
		Entry:  Site(p.Entry),
		Label:  string(p.Label),
		Ended:  p.Ended,
	}
}

func allocRecord(a *Alloc) *tracepb.Alloc {
	return &tracepb.Alloc{
		Object: uint64(a.Object),
		Size:   a.Size,
		Thread: int32(a.Thread),
		Site:   uint64(a.Site),
		Stack:  a.Stack,
		Event:  int64(a.Event),
		Freed:  int64(a.Freed),
	}
}

func allocOf(p *tracepb.Alloc) Alloc {
	return Alloc{
		Object: Object(p.Object),
		Size:   p.Size,
		Thread: ThreadID(p.Thread),
		Site:   Site(p.Site),
		Stack:  p.Stack,
		Event:  int(p.Event),
		Freed:  int(p.Freed),
	}
}

// EndingToProto returns the ending as a message, without the output, which has its own records in a
// trace file and its own field in an outcome.
func EndingToProto(e *Ending) *tracepb.Ending {
	p := &tracepb.Ending{
		Kind:    uint32(e.Kind),
		Status:  e.Status,
		Thread:  int32(e.Thread),
		Message: []byte(e.Message),
		Site:    uint64(e.Site),
		Object:  uint64(e.Object),
		Stack:   appendDeltas(nil, 0, e.Stack),
	}
	for _, w := range e.Waiters {
		p.Waiters = append(p.Waiters, &tracepb.Waiter{
			Thread: int32(w.Thread),
			Op:     uint32(w.Op),
			Site:   uint64(w.Site),
			Object: uint64(w.Object),
			Holder: int32(w.Holder),
			Ready:  w.Ready,
			Stack:  w.Stack,
			Reach:  uint32(w.Reach),
		})
	}
	for _, c := range e.Cases {
		p.Cases = append(p.Cases, &tracepb.Case{Thread: int32(c.Thread), Op: uint32(c.Op), Object: uint64(c.Object), Taken: c.Taken})
	}
	for _, t := range e.Cycle {
		p.Cycle = append(p.Cycle, int32(t))
	}
	for _, a := range e.Accesses {
		p.Accesses = append(p.Accesses, &tracepb.Access{
			Thread: int32(a.Thread),
			Op:     uint32(a.Op),
			Site:   uint64(a.Site),
			Object: uint64(a.Object),
			Size:   a.Size,
			Stack:  a.Stack,
		})
	}
	if c := e.Child; c != nil {
		p.Child = &tracepb.Child{Process: uint32(c.Process), Op: uint32(c.Op), Holder: int32(c.Holder)}
	}
	return p
}

// EndingFromProto is the inverse of EndingToProto. It rejects numbers that no ending has.
func EndingFromProto(p *tracepb.Ending) (Ending, error) {
	if p.Kind > 255 {
		return Ending{}, fmt.Errorf("%d is not a kind of ending", p.Kind)
	}
	e := Ending{
		Kind:    Kind(p.Kind),
		Status:  p.Status,
		Thread:  ThreadID(p.Thread),
		Message: string(p.Message),
		Site:    Site(p.Site),
		Object:  Object(p.Object),
		Stack:   appendSites(nil, 0, p.Stack),
	}
	for _, w := range p.Waiters {
		switch {
		case w.Op > 1<<16-1:
			return Ending{}, fmt.Errorf("%d is not an operation", w.Op)
		case w.Reach > 255:
			return Ending{}, fmt.Errorf("%d is not a reach", w.Reach)
		}
		e.Waiters = append(e.Waiters, Waiter{
			Thread: ThreadID(w.Thread),
			Op:     Op(w.Op),
			Site:   Site(w.Site),
			Object: Object(w.Object),
			Holder: ThreadID(w.Holder),
			Ready:  w.Ready,
			Stack:  w.Stack,
			Reach:  Reach(w.Reach),
		})
	}
	for _, c := range p.Cases {
		if c.Op > 1<<16-1 {
			return Ending{}, fmt.Errorf("%d is not an operation", c.Op)
		}
		e.Cases = append(e.Cases, Case{Thread: ThreadID(c.Thread), Op: Op(c.Op), Object: Object(c.Object), Taken: c.Taken})
	}
	for _, t := range p.Cycle {
		e.Cycle = append(e.Cycle, ThreadID(t))
	}
	for _, a := range p.Accesses {
		if a.Op > 1<<16-1 {
			return Ending{}, fmt.Errorf("%d is not an operation", a.Op)
		}
		e.Accesses = append(e.Accesses, Access{
			Thread: ThreadID(a.Thread),
			Op:     Op(a.Op),
			Site:   Site(a.Site),
			Object: Object(a.Object),
			Size:   a.Size,
			Stack:  a.Stack,
		})
	}
	if c := p.Child; c != nil {
		if c.Op > 1<<16-1 {
			return Ending{}, fmt.Errorf("%d is not an operation", c.Op)
		}
		e.Child = &Child{Process: int(c.Process), Op: Op(c.Op), Holder: ThreadID(c.Holder)}
	}
	return e, nil
}

func typeRecord(y *Type) *tracepb.Type {
	return &tracepb.Type{
		Object: uint64(y.Object), Size: y.Size, Unit: y.Unit, Name: []byte(y.Name),
		Descriptor_: uint64(y.Descriptor), Site: uint64(y.Site), Channel: y.Channel,
	}
}

func mappingRecord(m *Mapping) *tracepb.Mapping {
	return &tracepb.Mapping{Object: uint64(m.Object), Size: m.Size, Offset: m.Offset, Path: []byte(m.Path), Event: int64(m.Event)}
}

func mappingOf(r *tracepb.Mapping) Mapping {
	return Mapping{Object: Object(r.Object), Size: r.Size, Offset: r.Offset, Path: string(r.Path), Event: int(r.Event)}
}

func typeOf(r *tracepb.Type) Type {
	return Type{
		Object: Object(r.Object), Size: r.Size, Unit: r.Unit, Name: string(r.Name),
		Descriptor: Site(r.Descriptor_), Site: Site(r.Site), Channel: r.Channel,
	}
}
