package platform

import (
	"net/url"
	"runtime"
	"strings"
)

// FileURI returns the file URI of an absolute path of this machine (RFC 8089), such as
// file:///srv/a or file:///C:/a. Its authority is empty also for a share of another machine
// (file:////server/share/a), because SQLite refuses any other.
func FileURI(path string) *url.URL { return fileURI(path, isWindows) }

// FilePath returns the path that a file URI names on this machine.
func FilePath(u *url.URL) string { return filePath(u, isWindows) }

const isWindows = runtime.GOOS == "windows"

func fileURI(path string, windows bool) *url.URL {
	if windows {
		path = strings.ReplaceAll(path, `\`, "/")
		if !strings.HasPrefix(path, "/") { // C:/a
			path = "/" + path
		}
	}
	return &url.URL{Scheme: "file", Path: path}
}

func filePath(u *url.URL, windows bool) string {
	path := u.Path
	if windows {
		if len(path) > 2 && path[0] == '/' && path[2] == ':' {
			path = path[1:]
		}
		path = strings.ReplaceAll(path, "/", `\`)
	}
	return path
}
