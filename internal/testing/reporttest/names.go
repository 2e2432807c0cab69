package reporttest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// Block is the heap block that o lies in when event number at happens.
func (n *Names) Block(o trace.Object, at int) int {
	if n.tr == nil {
		return -1
	}
	return n.lookup().Block(o, at)
}

// Name is the script's name of a variable, or what package symbol calls it.
func (n *Names) Name(o trace.Object, size uint32, at int) symbol.Name {
	if text, ok := n.objects[o]; ok {
		return symbol.Name{Text: text, Base: text, Alloc: -1}
	}
	name := n.lookup().Name(o, size, at)
	if name.Alloc >= 0 {
		a := n.tr.Allocs[name.Alloc]
		name.Detail = fmt.Sprintf("malloc at %s, %d bytes", n.Call(a.Site)[0].Place(), a.Size)
	}
	return name
}

func (n *Names) lookup() *symbol.Objects {
	if n.heap == nil {
		n.heap = symbol.New(nil, symbol.Options{}).Objects(n.tr)
	}
	return n.heap
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
