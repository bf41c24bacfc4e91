package platform

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Glob returns the files below a folder whose slash-separated paths from there match a pattern of
// path.Match, in the order of names. It takes the name of the folder as it is, where filepath.Glob
// would take a [ in it for a part of the pattern. A folder that does not exist has no files. The error
// is path.ErrBadPattern.
func Glob(folder, pattern string) ([]string, error) {
	files, err := fs.Glob(os.DirFS(folder), pattern)
	for i, f := range files {
		files[i] = filepath.Join(folder, filepath.FromSlash(f))
	}
	return files, err
}
