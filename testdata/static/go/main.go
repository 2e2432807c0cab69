// Command go runs the four programs of Table I and writes a trace of each, as STD.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/testdata/static/go/programs"
	"github.com/heddle-dev/heddle/trace"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", ".", "the directory to write to")
	seed := flag.Uint64("seed", 1, "for the yields")
	flag.Parse()
	for _, p := range programs.All {
		t := programs.Record(strings.ToLower(p.Name), p.Yield, *seed, p.Run)
		name := filepath.Join(*out, strings.ToLower(p.Name)+".std.gz")
		f, err := os.Create(name)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := rapid.Write(f, t, rapid.Options{Gzip: true}); err != nil {
			log.Fatal(err)
		}
		if err := f.Close(); err != nil {
			log.Fatal(err)
		}
		c := trace.CostOf(t.Events)
		fmt.Printf("%s: %d events, %d threads, %d switches\n", name, c.Events, c.Threads, c.Switches)
	}
}
