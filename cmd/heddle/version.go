package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
)

type versionCommand struct{}

// versionInfo is what version prints. Points decides which recorded schedules can be
// followed, ABI is between heddle and its runtime and always fits.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the source, "+" behind it if it was modified
	Points   int    `json:"points_version"`
	ABI      int    `json:"abi_version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (versionCommand) Run(a *app) error {
	v := currentVersion()
	if a.JSON {
		return a.printJSON(v)
	}
	revision := ""
	if v.Revision != "" {
		revision = ", source " + v.Revision
	}
	_, err := fmt.Fprintf(a.stdout, "heddle %s%s\nscheduling points version %d, runtime ABI version %d\n%s %s\n",
		v.Version, revision, v.Points, v.ABI, v.Go, v.Platform)
	return err
}

func currentVersion() versionInfo {
	v := versionInfo{
		Version:  "(unknown)",
		Points:   schedule.PointsVersion,
		ABI:      abi.AbiVersion,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	modified := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = "+"
			}
		}
	}
	if v.Revision != "" {
		v.Revision += modified
	}
	return v
}
