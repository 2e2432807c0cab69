// Command build writes the documentation site from README.md and docs: go run ./internal/docsite/build -o site.
package main

import (
	"flag"
	"log"

	"github.com/heddle-dev/heddle/internal/docsite"
)

func main() {
	log.SetFlags(0)
	root := flag.String("root", ".", "the repository")
	out := flag.String("o", "site", "write the site into this directory")
	flag.Parse()
	if err := docsite.Build(*root, *out); err != nil {
		log.Fatal(err)
	}
	log.Printf("wrote %s/index.html", *out)
}
