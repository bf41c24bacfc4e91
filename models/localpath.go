package models

import (
	"path"
	"slices"
	"strings"
)

// IsPath reports whether a URI is an absolute path, of Unix or of Windows, clean or not. The process
// that reads the path may run on another system than the one that checks it.
func IsPath(uri string) bool {
	return strings.HasPrefix(uri, "/") || strings.HasPrefix(uri, `\`) || hasDrive(uri)
}

// hasDrive reports whether uri begins as C:\ or C:/ does.
func hasDrive(uri string) bool {
	if len(uri) < 3 || uri[1] != ':' || uri[2] != '\\' && uri[2] != '/' {
		return false
	}
	letter := uri[0] | 0x20
	return letter >= 'a' && letter <= 'z'
}

// isCleanPath reports whether uri is an absolute path without ., .. and NUL, of at most 4096 bytes. A path
// of Windows begins with a drive (C:\a) or a share (\\server\share\a).
func isCleanPath(uri string) bool {
	if len(uri) > MaxURI {
		return false
	}
	if strings.HasPrefix(uri, "/") {
		return path.Clean(uri) == uri && !strings.Contains(uri, "\x00")
	}
	share, isShare := strings.CutPrefix(uri, `\\`)
	switch {
	case strings.ContainsAny(uri, "/\x00"):
		return false
	case isShare:
		parts := strings.Split(share, `\`)
		return len(parts) >= 2 && areNames(parts)
	case hasDrive(uri):
		return len(uri) == 3 || areNames(strings.Split(uri[3:], `\`))
	}
	return false
}

// areNames reports whether parts of a path are names of files.
func areNames(parts []string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "." || p == ".." })
}

// isBelow reports whether a clean path is in a folder or in one below it.
func isBelow(folder, uri string) bool {
	separator := "/"
	if !strings.HasPrefix(folder, "/") {
		separator = `\`
	}
	return strings.HasPrefix(uri, strings.TrimSuffix(folder, separator)+separator)
}
