// Package interactive shows a report.View on a terminal, for a reader who steps through the
// execution. The table is term's; this package adds the position in it, what is unfolded, the object
// that is followed, and the pane with the source.
//
// A model (model.go, search.go) knows nothing of the screen but its size; draw.go draws it, and
// run.go turns keys into changes of it.
package interactive
