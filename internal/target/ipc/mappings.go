package ipc

import (
	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// maxMappings bounds the bytes that mappings take in a trace.
const maxMappings = 1 << 19

// mappings are what an execution has mapped, for the names of objects in files.
type mappings struct {
	waiting []mapping // sent before the event they belong to
	list    []trace.Mapping
	bytes   int
	many    bool // there were too many: a later one may lie where an earlier one did, so none has a name
}

type mapping struct {
	abi.Mapping
	path string
}

// add adds a mapping that is valid from an event of the trace on.
func (m *mappings) add(n *mapping, object trace.Object, event int) {
	if m.many || object.Region() != trace.RegionOther || n.Size == 0 {
		return
	}
	to := trace.Mapping{Object: object, Size: n.Size, Offset: n.Offset, Path: n.path, Event: event}
	covers, came := false, n.From == 0
	for i := len(m.list) - 1; i >= 0 && n.path == ""; i-- {
		was := &m.list[i]
		covers = covers || was.Object < to.Object+trace.Object(to.Size) && to.Object < was.Object+trace.Object(was.Size)
		if from := trace.Object(n.From); !came && was.Object <= from && uint64(from-was.Object) < was.Size {
			to.Path, to.Offset, came = was.Path, was.Offset+uint64(from-was.Object), true
		}
	}
	if to.Path == "" && !covers {
		return
	}
	if m.bytes += abi.SizeofMapping + len(to.Path); m.bytes > maxMappings {
		m.list, m.many = nil, true
		return
	}
	m.list = append(m.list, to)
}
