// Command gen bundles the pages' scripts and style sheets, front/, into built/, which the page embeds, or into the directory
// that is its argument.
package main

import (
	"log"
	"os"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	out := "built"
	if len(os.Args) > 1 {
		out = os.Args[1]
	}
	r := api.Build(api.BuildOptions{
		EntryPoints:       []string{"front/page.js", "front/page.css", "front/compare.js", "front/compare.css", "front/beside.js", "front/beside.css"},
		Outdir:            out,
		Bundle:            true,
		Write:             true,
		Format:            api.FormatIIFE,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		MinifyWhitespace:  true,
		MinifySyntax:      true,
		MinifyIdentifiers: true,
		LegalComments:     api.LegalCommentsNone,
		LogLevel:          api.LogLevelWarning,
	})
	if len(r.Errors) > 0 {
		log.Fatal("the pages' scripts were not bundled")
	}
}
