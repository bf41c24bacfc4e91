package audio

import (
	"io/fs"
	"path/filepath"
	"strings"

	"leasehold/shared/audio/decode"
)

// Files lists what by its name is a recording, in a folder and all folders in it,
// relative to it and in the order of the names. Hidden files and folders are left
// out.
func Files(folder string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != folder && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && decode.MediaType(path) != "":
			name, err := filepath.Rel(folder, path)
			all = append(all, name)
			return err
		}
		return nil
	})
	return all, err
}
