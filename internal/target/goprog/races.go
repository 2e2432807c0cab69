package goprog

import "regexp"

var raceReport = regexp.MustCompile(`(?s)={18}\n(WARNING: DATA RACE\n.*?\n)={18}\n`)

// RaceReports returns the reports of Go's race detector in a program's output, without the lines
// around them.
func RaceReports(output []byte) (reports []string) {
	for _, m := range raceReport.FindAllSubmatch(output, -1) {
		reports = append(reports, string(m[1]))
	}
	return reports
}
