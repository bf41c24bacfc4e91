package doctor

import (
	"fmt"
	"path/filepath"
	"strings"

	"leasehold/shared/code/embedded"
)

// checkCodeIndex checks that the code index has all its files. It opens none, so a coordinator may
// run on the folder.
func checkCodeIndex(data string) Finding {
	f := Finding{Check: "code index", State: OK, What: "all files are there"}
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
