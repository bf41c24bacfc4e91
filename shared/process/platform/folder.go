package platform

import (
	"fmt"
	"os"
	"path/filepath"
)

// MakeFolder is os.MkdirAll. If the path, or a folder above it, is a symbolic link that leads to nothing, the
// error tells that, because the system reports such a link as a file that exists.
func MakeFolder(path string, mode os.FileMode) error {
	err := os.MkdirAll(path, mode)
	if err == nil {
		return nil
	}
	if link := BrokenLink(path); link != nil {
		return link
	}
	return err
}

// BrokenLink returns an error if path, or a folder above it, is a symbolic link that leads to nothing; else nil.
func BrokenLink(path string) error {
	for {
		if target, err := os.Readlink(path); err == nil {
			if _, err := os.Stat(path); err != nil {
				return fmt.Errorf("%s is a symbolic link to %s, which leads to nothing", path, target)
			}
		}
		parent := filepath.Dir(path)
		if parent == path {
			return nil
		}
		path = parent
	}
}
