package term

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/heddle-dev/heddle/internal/report"
)

// ending prints how the execution ended.
func (d *drawing) ending() {
	d.print("")
	f := d.v.Failure
	if f == nil {
		d.text(d.v.Ending, bold, "")
		return
	}
	d.text("✗ "+f.Title, alarm, "")
	if f.Object != "" {
		d.text(f.Object, plain, "  ")
	}
	for i, w := range f.Waits {
		if i == f.Ring && f.Ring > 0 {
			d.text("Besides:", plain, "  ")
		}
		d.wait(w)
	}
	for _, s := range f.Sides {
		text := s.Text + d.at(s.Place)
		if s.Event >= 0 {
			text += fmt.Sprintf(" (event %d)", s.Event)
		}
		d.text(text, plain, "  ")
		d.stack(s.Stack)
	}
	if len(f.Waits) == 0 && len(f.Sides) == 0 {
		where := report.ThreadText(f.Thread)
		if f.Child != "" {
			where = f.Child
		}
		d.text("in "+where+":", plain, "  ")
		d.stack(f.Stack)
	}
	if said := d.v.Said(); said != "" {
		d.print("")
		d.text("why: "+said, plain, "")
	}
}

func (d *drawing) wait(w report.Wait) {
	d.text(w.Sentence(d.v.Places), plain, "  ")
	if w.Created != 0 {
		d.text("started by "+report.ThreadText(w.Creator)+d.at(w.Created), faint, "    ")
	}
	for _, p := range w.Partners {
		d.text(p, faint, "    ")
	}
	if d.stacks {
		d.stack(w.Stack)
	}
}

// at is ` at file.c:12`, nothing for the unknown place.
func (d *drawing) at(place int) string {
	if place == 0 {
		return ""
	}
	return " at " + d.v.Places[place].Label
}

// stackDepth is how many frames of a stack the short form shows.
const stackDepth = 8

func (d *drawing) stack(places []int) {
	for shown := 0; len(places) > 0; {
		if !d.stacks && shown >= stackDepth {
			d.text("… "+count(len(places), "more frame"), faint, "    ")
			return
		}
		n, times := repeated(places)
		if d.stacks {
			n, times = 1, 1
		}
		for _, p := range places[:n] {
			d.print("    " + d.truncate(d.clean(d.v.Places[p].Frame()), d.width-4))
		}
		if times > 1 {
			d.text("… again and again", faint, "    ")
		}
		places, shown = places[n*times:], shown+n
	}
}

// repeated returns the length of the cycle of a recursion that the stack begins with, and how many of its rounds
// follow; 1, 1 if it begins with none.
func repeated(places []int) (n, times int) {
	const longest, fewest = 8, 4
	for n = 1; n <= longest; n++ {
		for times = 1; len(places) >= n*(times+1) && slices.Equal(places[:n], places[n*times:n*(times+1)]); times++ {
		}
		if times >= fewest {
			return n, times
		}
	}
	return 1, 1
}

// outputLines is how many lines of the program's output the short form shows.
const outputLines = 10

// legend explains the heap blocks that were mentioned and adds output and notes.
func (d *drawing) legend() {
	var known []report.Block
	for _, b := range d.v.Blocks {
		if d.blocks[b.Number] {
			known = append(known, b)
		}
	}
	sort.Slice(known, func(i, j int) bool { return known[i].Number < known[j].Number })
	if len(known) > 0 {
		d.print("")
	}
	for _, b := range known {
		d.text(b.Name+": "+b.Detail+", by "+report.ThreadText(b.Thread), plain, "")
	}
	if out := strings.TrimRight(d.v.Output, "\n"); out != "" {
		lines := strings.Split(out, "\n")
		d.print("")
		head := "output:"
		if !d.full && len(lines) > outputLines {
			head = "end of the output:"
			lines = lines[len(lines)-outputLines:]
		}
		d.text(head, plain, "")
		for _, l := range lines {
			d.print("  " + d.truncate(d.clean(l), d.width-2))
		}
	}
	if len(d.v.Notes) > 0 {
		d.print("")
	}
	for _, n := range d.v.Notes {
		d.text("note: "+n, plain, "")
	}
}
