package dwarfinfo

import "debug/dwarf"

// eachChild calls f for each child of e, the entry that rd has just read. If f has read the
// child's own children from rd, it returns true; else they are skipped.
func eachChild(rd *dwarf.Reader, e *dwarf.Entry, f func(c *dwarf.Entry) (read bool)) {
	if !e.Children {
		return
	}
	for {
		c, err := rd.Next()
		if c == nil || err != nil || c.Tag == 0 {
			return
		}
		if !f(c) && c.Children {
			rd.SkipChildren()
		}
	}
}

// entryAt reads the entry at off, after which rd goes on; nil for damage.
func (d *Info) entryAt(off dwarf.Offset) (*dwarf.Entry, *dwarf.Reader) {
	rd := d.data.Reader()
	rd.Seek(off)
	e, err := rd.Next()
	if err != nil {
		return nil, nil
	}
	return e, rd
}
