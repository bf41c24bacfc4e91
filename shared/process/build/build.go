// Package build tells which version of the program runs.
package build

import "runtime/debug"

// number is the next release; it ends in -dev until the tag of that name exists. The Makefile reads
// this line.
const number = "v0.1.0-dev"

// commit is set by the Makefile (-ldflags "-X leasehold/shared/process/build.commit=…").
var commit string

// Version returns the version of this program: v0.1.0-dev+COMMIT, with ".dirty" behind the commit if
// files were changed since, or "unknown" instead of the commit.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return version(commit, info)
}

// UserAgent returns the User-Agent of requests: this program, its version and, unless contact is empty, a URL or mail
// address at which server administrators reach the operator, such as leasehold/v0.1.0-dev (+https://example.org/).
func UserAgent(contact string) string {
	if contact == "" {
		return "leasehold/" + number
	}
	return "leasehold/" + number + " (+" + contact + ")"
}

// version is Version for a commit that the linker's flag set, empty if it did not, and for what Go
// recorded, which may be nil. A program that only uses packages of this module records the commit of
// its own.
func version(commit string, info *debug.BuildInfo) string {
	if commit == "" && info != nil && info.Main.Path == "leasehold" {
		commit = recorded(info.Settings)
	}
	if commit == "" {
		commit = "unknown"
	}
	return number + "+" + commit
}

// recorded returns the commit as `git describe` in the Makefile prints it. It is empty if the program
// was not built in a work tree of git.
func recorded(settings []debug.BuildSetting) string {
	const digits = 12
	values := make(map[string]string)
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	commit := values["vcs.revision"]
	commit = commit[:min(digits, len(commit))]
	if commit != "" && values["vcs.modified"] == "true" {
		commit += ".dirty"
	}
	return commit
}
