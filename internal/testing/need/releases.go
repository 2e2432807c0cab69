package need

// GoReleases are the newest releases that tests know of each Go 1.n that heddle supports
// (gotool.OldestRelease to NewestRelease). The go command fetches those that are not installed.
var GoReleases = []string{"go1.24.12", "go1.25.6", "go1.26.8"}
