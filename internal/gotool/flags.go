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
// combined overlay, in which the files of replace have these contents.
func (t *Tool) mergeFlags(user, overlay []string, replace map[string][]byte, scratch string) ([]string, error) {
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
			theirs[name] = append([]string{""}, theirs[name]...) // the last one wins
			file, err := t.mergeOverlays(theirs[name][len(theirs[name])-1], ours[name], replace, scratch)
			if err != nil {
				return nil, err
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

// replaced returns what the user's overlay replaces: the flag of a build or, without one, of GOFLAGS.
func (t *Tool) replaced(flags []string) (map[string]string, error) {
	file := ""
	for _, f := range slices.Concat(t.Flags, flags) {
		if name, value, _ := cutFlag(f); name == "overlay" {
			file = value
		}
	}
	if file == "" {
		return nil, nil
	}
	return t.readOverlay(file)
}

// readOverlay returns what an overlay replaces, with absolute names.
func (t *Tool) readOverlay(file string) (map[string]string, error) {
	b, err := os.ReadFile(t.absolute(file))
	var r replacement
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("the overlay %s cannot be read: %w", t.absolute(file), err)
	}
	whole := map[string]string{}
	for name, by := range r.Replace {
		if by != "" { // empty: the file is removed
			by = t.absolute(by)
		}
		whole[t.absolute(name)] = by
	}
	return whole, nil
}

func (t *Tool) absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(t.Dir, file)
}

// mergeOverlays returns an overlay that combines the user's, which may be empty, and heddle's, with the files of replace in
// new versions: heddle's own, or one that it writes. A file that both overlays replace is an error.
func (t *Tool) mergeOverlays(user, own string, replace map[string][]byte, scratch string) (string, error) {
	if user == "" && len(replace) == 0 {
		return own, nil
	}
	both, err := t.readOverlay(own)
	if err != nil {
		return "", err
	}
	if user != "" {
		more, err := t.readOverlay(user)
		if err != nil {
			return "", err
		}
		for name, by := range more {
			if both[name] != "" {
				return "", fmt.Errorf("the overlay %s replaces %s, which heddle must replace itself: remove that file from it", t.absolute(user), name)
			}
			both[name] = by
		}
	}
	for i, name := range slices.Sorted(maps.Keys(replace)) {
		file := filepath.Join(scratch, fmt.Sprintf("%d-%s", i, filepath.Base(name)))
		if err := os.WriteFile(file, replace[name], 0o666); err != nil {
			return "", err
		}
		both[name] = file
	}
	b, err := json.Marshal(replacement{both})
	if err != nil {
		return "", err
	}
	file := filepath.Join(scratch, "overlay.json")
	return file, os.WriteFile(file, b, 0o666)
}
