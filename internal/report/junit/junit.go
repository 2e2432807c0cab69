// Package junit writes the results of tests as JUnit's XML, in the form of the schema of Ant's JUnit
// task, which CI systems read.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"time"
)

// Suite is a package, or a program.
type Suite struct {
	Name  string
	Began time.Time
	Cases []Case
}

// Case is a test, or a search for a program's bugs. At most one of Failure, Error and Skipped is
// set.
type Case struct {
	Name    string
	Seconds float64
	Failure *Problem // the test found a bug
	Error   *Problem // nothing is known about it
	Skipped *Problem // nothing is known about it, which the user accepts
}

// Problem is why a case did not pass.
type Problem struct {
	Type    string // kind of failure
	Message string // one line
	Text    string // details; may be empty
}

type (
	suitesXML struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suites  []suiteXML `xml:"testsuite"`
	}
	// suiteXML has the elements in the order that the schema demands.
	suiteXML struct {
		ID         int       `xml:"id,attr"`
		Package    string    `xml:"package,attr"`
		Name       string    `xml:"name,attr"`
		Timestamp  string    `xml:"timestamp,attr"` // ISO 8601, UTC, without a zone
		Hostname   string    `xml:"hostname,attr"`
		Tests      int       `xml:"tests,attr"`
		Failures   int       `xml:"failures,attr"`
		Errors     int       `xml:"errors,attr"`
		Skipped    int       `xml:"skipped,attr"`
		Time       string    `xml:"time,attr"` // s
		Properties struct{}  `xml:"properties"`
		Cases      []caseXML `xml:"testcase"`
		Out        string    `xml:"system-out"`
		Err        string    `xml:"system-err"`
	}
	caseXML struct {
		Name    string      `xml:"name,attr"`
		Class   string      `xml:"classname,attr"`
		Time    string      `xml:"time,attr"`
		Skipped *problemXML `xml:"skipped"`
		Error   *problemXML `xml:"error"`
		Failure *problemXML `xml:"failure"`
	}
	problemXML struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// Write writes suites.
func Write(w io.Writer, suites []Suite) error {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	out := suitesXML{Suites: []suiteXML{}}
	for i, s := range suites {
		x := suiteXML{ID: i, Package: s.Name, Name: s.Name, Hostname: host, Timestamp: s.Began.UTC().Format("2006-01-02T15:04:05"), Tests: len(s.Cases)}
		total := 0.0
		for _, c := range s.Cases {
			total += c.Seconds
			y := caseXML{Name: c.Name, Class: s.Name, Time: seconds(c.Seconds)}
			switch {
			case c.Failure != nil:
				x.Failures++
				y.Failure = problem(c.Failure)
			case c.Error != nil:
				x.Errors++
				y.Error = problem(c.Error)
			case c.Skipped != nil:
				x.Skipped++
				y.Skipped = problem(c.Skipped)
				y.Skipped.Type = ""
			}
			x.Cases = append(x.Cases, y)
		}
		x.Time = seconds(total)
		out.Suites = append(out.Suites, x)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}

func problem(p *Problem) *problemXML { return &problemXML{p.Message, p.Type, p.Text} }

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }
