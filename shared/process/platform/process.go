package platform

import "time"

// MaxOpenFiles returns how many files and connections this process may have open at once.
// The result is false if the system has no such limit or does not tell it.
func MaxOpenFiles() (uint64, bool) { return maxOpenFiles() }

// FreeSpace returns how many bytes this process's user may still write to the disk of dir,
// which must exist.
func FreeSpace(dir string) (int64, error) { return freeSpace(dir) }

// ProcessorTime returns the processor time of this process and, on Unix, of its children that
// have ended. It is zero if the system does not tell.
func ProcessorTime() time.Duration { return processorTime() }

// MakeNewFilesPrivate removes the rights of other users from every file that this process
// creates from now on. On Windows, files have the rights of their folder, and it does nothing.
func MakeNewFilesPrivate() { makeNewFilesPrivate() }

// Restart runs this program again with its arguments and its environment. On Unix the new
// program replaces this process, and Restart returns only if that fails. On Windows it returns
// when the new program has ended.
func Restart() error { return restart() }
