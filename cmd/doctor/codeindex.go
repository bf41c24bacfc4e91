package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"leasehold/shared/code/embedded"
)

// checkCodeIndex checks that the code index has all its files. It opens none, so a coordinator may
// run on the folder.
func checkCodeIndex(data string) Finding {
	f := Finding{Check: "code index", State: OK, What: "all files are there; --deep reads them"}
	lacking, err := embedded.LackingIn(filepath.Join(data, "index"))
	switch {
	case err != nil:
		f.State, f.What, f.Advice = Warn, err.Error(), letWrite(data)
	case len(lacking) > 0:
		const shown = 3
		f.State, f.What = Warn, fmt.Sprintf("%d files are missing: %s", len(lacking), strings.Join(lacking[:min(len(lacking), shown)], ", "))
		f.Advice = "searches are not over everything; start the coordinator again, or leasehold run --until-idle: their repositories are visited and indexed again"
	}
	return f
}

// readCodeIndex reads the files of the code index, and checks that it has all. A damaged file is worse than a missing
// one, because the index cannot be opened with it.
func readCodeIndex(ctx context.Context, data string) Finding {
	damage, err := embedded.Examine(ctx, filepath.Join(data, "index"))
	if err == nil && len(damage) == 0 {
		f := checkCodeIndex(data)
		if f.State == OK {
			f.What = undamaged
		}
		return f
	}
	f := Finding{Check: "code index", State: Fail, What: shorten(damage), Advice: "stop the coordinator, move these files away and start it again: their repositories are visited and indexed again"}
	if err != nil {
		f.What, f.Advice = err.Error(), "repeat this"
	}
	return f
}
