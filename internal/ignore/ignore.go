// Package ignore reads the findings that a user wants a search to pass over.
package ignore

import (
	"bufio"
	"errors"
	"io/fs"
	"strings"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
)

// Form is how a key looks, for messages.
const Form = "KIND@PLACE#HASH, as heddle prints it"

// Keys returns the keys of findings (finding.Key) that the arguments of --ignore name. An argument is
// a key, a trace that shows the finding, or a text file with a key on each line, in which # begins a
// comment. The error is a usage.Error.
func Keys(arguments []string) (keys []string, err error) {
	for _, a := range arguments {
		switch {
		case finding.IsKey(a):
			keys = append(keys, a)
			continue
		case tracefile.Is(a):
			key, err := ofTrace(a)
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
			continue
		}
		listed, err := ofList(a)
		if err != nil {
			return nil, err
		}
		keys = append(keys, listed...)
	}
	return keys, nil
}

// ofTrace returns the key of the finding that a trace shows. Traces of earlier versions do not have
// it; for them the program must be as it was.
func ofTrace(name string) (string, error) {
	tr, err := tracefile.Read(name)
	if err != nil {
		return "", usage.Errorf("--ignore: %w", err)
	}
	if !tr.Ending.Kind.Failed() {
		return "", usage.Errorf("--ignore: %s shows no failure: want a trace of a finding", name)
	}
	if finding.IsKey(tr.Header.Finding) {
		return tr.Header.Finding, nil
	}
	table := symbol.ForTrace(tr, symbol.Options{})
	key, _ := finding.Of(tr.Ending, tr.Modules).Key(tr.Stacks, report.LocateIn(table, tr.Modules))
	if err := errors.Join(table.Problems()...); err != nil {
		return "", usage.Errorf("--ignore: %s does not contain the key of its finding, and the key cannot be computed (%w): give the key itself", name, err)
	}
	return key, nil
}

// ofList returns the keys in a text file.
func ofList(name string) (keys []string, err error) {
	f, err := regular.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage.Errorf("invalid --ignore %q: want the key of a finding (%s), a trace, or a file with a key on each line", name, Form)
	}
	if err != nil {
		return nil, usage.Errorf("--ignore: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		key := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(key, "#") {
			continue
		}
		// A key contains a #, so a comment after one begins with " #".
		if i := strings.IndexAny(key, " \t"); i >= 0 && strings.HasPrefix(strings.TrimSpace(key[i:]), "#") {
			key = key[:i]
		}
		if key == "" {
			continue
		}
		if !finding.IsKey(key) {
			return nil, usage.Errorf("%s:%d: %q is not the key of a finding: want %s", name, n, key, Form)
		}
		keys = append(keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, usage.Errorf("--ignore: cannot read %s: %w", name, err)
	}
	return keys, nil
}
