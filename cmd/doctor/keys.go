package doctor

import (
	"fmt"
	"os"
	"path/filepath"

	"leasehold/shared/process/platform"
)

// secretFiles are the files and folders of a data folder that only their owner may use: the identity of a coordinator,
// and the keys of processes that have joined.
var secretFiles = []string{"identity", "identity/*.key", "identity/*.token", "*/identity.key"}

// checkKeys finds the secrets of a data folder that other users of the machine can read, because Leasehold refuses them;
// nothing without such files.
func checkKeys(dir string) (found []Finding) {
	for _, pattern := range secretFiles {
		paths, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are correct, unless dir has one
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil || platform.IsPrivate(info.Mode()) {
				continue
			}
			mode := "600"
			if info.IsDir() {
				mode = "700"
			}
			found = append(found, Finding{Check: "keys", State: Fail, What: fmt.Sprintf("other users can read %s (mode %o)", path, info.Mode().Perm()), Advice: "chmod " + mode + " " + path})
		}
	}
	return found
}
