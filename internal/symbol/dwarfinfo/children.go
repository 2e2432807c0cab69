package dwarfinfo

import "debug/dwarf"

// eachChild calls f for each child of e, the entry that rd has just read. f returns true if it has
// read the child's own children from rd; otherwise they are skipped.
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

// entryAt reads the entry at off and returns it with a reader positioned after it, or nil if it is
// damaged.
func (d *Info) entryAt(off dwarf.Offset) (*dwarf.Entry, *dwarf.Reader) {
	rd := d.data.Reader()
	rd.Seek(off)
	e, err := rd.Next()
	if err != nil {
		return nil, nil
	}
	return e, rd
}
