package doctor

import (
	"fmt"
	"runtime"
	"time"

	"leasehold/shared/code/gitrepo"
	"leasehold/shared/process/platform"
)

// fewFiles is the number of open files that a coordinator with some hundred sessions needs.
const fewFiles = 4096

// released is before the first release, so that a clock before it is wrong.
var released = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// checkOpenFiles checks the limit of open files of this process.
func checkOpenFiles() Finding {
	f := Finding{Check: "open files", State: OK}
	limit, ok := platform.MaxOpenFiles()
	if !ok {
		f.What = "the system tells no limit"
		return f
	}
	f.What = fmt.Sprintf("at most %d", limit)
	if limit < fewFiles {
		f.State, f.Advice = Warn, fmt.Sprintf("a coordinator needs two for each session: set ulimit -n %d or more", fewFiles)
	}
	return f
}

// checkClock checks that the wall clock is plausible. Leases do not depend on it; visits and
// dates do.
func checkClock() Finding {
	now := time.Now()
	f := Finding{Check: "clock", State: OK, What: now.Format(time.RFC3339)}
	if now.Before(released) {
		f.State, f.Advice = Warn, "set the clock: it is years behind, and certificates and visits depend on it"
	}
	return f
}

// checkGit checks what copies repositories.
func checkGit() Finding {
	path := gitrepo.FindGit()
	if path == "" {
		return Finding{
			Check: "git", State: Warn, What: "not in the PATH: repositories are copied by the library go-git, which is slower",
			Advice: "install git on machines of managers, for large repositories, bundles, work trees and SHA-256",
		}
	}
	return Finding{Check: "git", State: OK, What: path}
}

// processors tells how many goroutines run at once; it cannot fail.
func checkProcessors() Finding {
	return Finding{Check: "processors", State: OK, What: fmt.Sprintf("%d, which is the default number of workers and slots", runtime.GOMAXPROCS(0))}
}
