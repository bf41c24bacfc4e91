package doctor

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// fewFiles is what a coordinator with some hundred sessions needs.
const fewFiles = 4096

// released is before any copy of this program was made.
var released = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func openFiles() Finding {
	f := Finding{Check: "open files", State: OK}
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		f.State, f.What = Warn, err.Error()
		return f
	}
	f.What = fmt.Sprintf("at most %d at once", l.Cur)
	if l.Cur < fewFiles {
		f.State, f.Advice = Warn, fmt.Sprintf("a coordinator has two for each session: ulimit -n %d, or more", fewFiles)
	}
	return f
}

// clock looks whether the wall clock can be right. Leases do not depend on it;
// visits and dates do.
func clock() Finding {
	now := time.Now()
	f := Finding{Check: "clock", State: OK, What: now.Format(time.RFC3339)}
	if now.Before(released) {
		f.State, f.Advice = Warn, "it is slow by years: certificates and visits go by it; set it"
	}
	return f
}

func processors() Finding {
	return Finding{Check: "processors", State: OK, What: fmt.Sprintf("%d, so that many workers and slots unless configured", runtime.GOMAXPROCS(0))}
}
