package clips

import (
	"io/fs"
	"path/filepath"
	"strings"

	"leasehold/shared/clips/decode"
)

// Files lists the files below a folder whose name has the ending of a recording. The names are
// relative to the folder and sorted. Hidden files and folders are left out. The folder may be a
// link to one; links to folders below it are left out.
func Files(folder string) ([]string, error) {
	var all []string
	folder, err := filepath.EvalSymlinks(folder) // because WalkDir does not follow it
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
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
