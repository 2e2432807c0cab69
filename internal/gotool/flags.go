package gotool

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Overlay adds heddle's own files to a build: flags of go build, with at most one each of -overlay,
// -tags and -gcflags, and environment variables. A flag is one word, like -tags=race.
type Overlay struct {
	Flags []string
	Env   []string
}

// mergeFlags merges the build flags of the user and of the overlay into one list in which both take
// effect: where the go command would use only the last of two flags, it combines them. It adds
// flags from GOFLAGS that a flag on the command line would override. scratch is a directory for a
// combined overlay.
func (t *Tool) mergeFlags(user, overlay []string, scratch string) ([]string, error) {
	var out []string
	ours := map[string]string{}
	for _, f := range overlay {
		name, value, _ := cutFlag(f)
		switch name {
		case "overlay", "tags", "gcflags":
			ours[name] = value
		default:
			out = append(out, f)
		}
	}
	theirs := map[string][]string{}
	for _, f := range t.Flags {
		if name, value, _ := cutFlag(f); ours[name] != "" || name == "ldflags" {
			theirs[name] = append(theirs[name], value)
		}
	}
	seen := map[string]bool{}
	for _, f := range user {
		name, value, _ := cutFlag(f)
		if ours[name] == "" && name != "ldflags" {
			out = append(out, f)
			continue
		}
		if !seen[name] && name != "gcflags" && name != "ldflags" {
			theirs[name] = nil // the command line overrides GOFLAGS
		}
		seen[name] = true
		theirs[name] = append(theirs[name], value)
	}
	// Keep the debug information that names places in the program.
	for _, value := range theirs["ldflags"] {
		out = append(out, "-ldflags="+strings.TrimSpace(value+" -w=0"))
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		switch name {
		case "tags":
			tags := slices.Clone(theirs[name])
			tags = append(tags[max(0, len(tags)-1):], ours[name]) // the last one wins
			out = append(out, "-tags="+strings.Join(slices.DeleteFunc(tags, func(s string) bool { return s == "" }), ","))
		case "gcflags":
			out = append(out, "-gcflags="+ours[name])
			for _, value := range theirs[name] {
				// Of the patterns that match a package, the last wins.
				pattern, _ := cutPattern(value)
				_, own := cutPattern(ours[name])
				if pattern != "" {
					out = append(out, "-gcflags="+pattern+"="+own+" "+value[len(pattern)+1:])
				} else {
					out = append(out, "-gcflags="+strings.TrimSpace(own+" "+value))
				}
			}
		case "overlay":
			file := ours[name]
			if n := len(theirs[name]); n > 0 && theirs[name][n-1] != "" {
				var err error
				if file, err = t.mergeOverlays(theirs[name][n-1], file, scratch); err != nil {
					return nil, err
				}
			}
			out = append(out, "-overlay="+file)
		}
	}
	return out, nil
}

// cutFlag splits -name=value, with any number of dashes.
func cutFlag(word string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(strings.TrimLeft(word, "-"), "=")
	return name, value, ok
}

// cutPattern splits pattern=flags, the form of -gcflags and similar flags.
func cutPattern(value string) (pattern, flags string) {
	if strings.HasPrefix(value, "-") {
		return "", value
	}
	pattern, flags, ok := strings.Cut(value, "=")
	if !ok {
		return "", value
	}
	return pattern, flags
}

// replacement is the content of the file given to -overlay.
type replacement struct{ Replace map[string]string }

// mergeOverlays writes an overlay that combines the user's and heddle's. A file that both replace
// is an error.
func (t *Tool) mergeOverlays(user, own, scratch string) (string, error) {
	if !filepath.IsAbs(user) {
		user = filepath.Join(t.Dir, user)
	}
	var both, more replacement
	for _, f := range []struct {
		name string
		into *replacement
	}{{own, &both}, {user, &more}} {
		b, err := os.ReadFile(f.name)
		if err == nil {
			err = json.Unmarshal(b, f.into)
		}
		if err != nil {
			return "", fmt.Errorf("the overlay %s cannot be read: %w", f.name, err)
		}
	}
	for name, by := range more.Replace {
		if both.Replace[name] != "" {
			return "", fmt.Errorf("the overlay %s replaces %s, which heddle must replace itself: remove that file from it", user, name)
		}
		both.Replace[name] = by
	}
	b, err := json.Marshal(both)
	if err != nil {
		return "", err
	}
	file := filepath.Join(scratch, "overlay.json")
	return file, os.WriteFile(file, b, 0o666)
}
