package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// State is what a visit sees of a repository in a folder.
type State struct {
	Refs  map[string]string // hash, by name
	Times []time.Time       // when HEAD moved, the latest first; at most models.MaxChanges
	Since time.Time         // Times has all since then; zero: it has the latest
	Size  int64             // of the refs, in bytes
}

// ReadFolder reads the refs of the repository in a folder, bare or with a work tree, and the dates of
// its changes from the log of HEAD. It follows no path out of the folder. It fails with
// fault.ErrInvalid if the folder is not a repository or malformed, with fault.ErrTooLarge for more
// than 200,000 refs, and with ctx's cause.
func ReadFolder(ctx context.Context, root *os.Root) (State, error) {
	if inner, err := root.OpenRoot(".git"); err == nil {
		defer inner.Close()
		root = inner
	}
	if !IsRepository(root) {
		return State{}, fmt.Errorf("not a git repository: %w", fault.ErrInvalid)
	}
	s := State{Refs: map[string]string{}}
	if err := s.readRefFiles(ctx, root); err != nil {
		return State{}, err
	}
	log, err := readTail(root, logHead, logBytes)
	if err != nil {
		return State{}, err
	}
	s.Times = logTimes(log)
	return s, nil
}

// logHead is the log of the changes of HEAD.
const logHead = "logs/HEAD"

// logBytes is how much of the end of the log is read.
const logBytes = 256 << 10

// Made returns when a repository was made or cloned, which is when its log of HEAD begins, or the
// zero time if there is no log.
func Made(root *os.Root) time.Time {
	f, err := openRegular(root, logHead)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, refBytes)).ReadString('\n') // logTimes skips a truncated line
	if times := logTimes(line); len(times) > 0 {
		return times[0]
	}
	return time.Time{}
}

// IsRepository reports whether a folder is the .git folder of a repository, or a bare repository: it has
// the file HEAD and the folders objects and refs.
func IsRepository(root *os.Root) bool {
	head, err := root.Stat("HEAD")
	if err != nil || !head.Mode().IsRegular() {
		return false
	}
	for _, dir := range []string{"objects", "refs"} {
		if info, err := root.Stat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// IsWorktree reports whether a folder is a work tree whose repository is elsewhere, as git
// worktree add makes it: its .git is a file.
func IsWorktree(path string) bool {
	root, err := os.OpenRoot(path)
	if err != nil {
		return false
	}
	defer root.Close()
	if info, err := root.Lstat(".git"); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := readTail(root, ".git", refBytes)
	return err == nil && strings.HasPrefix(text, "gitdir: ")
}

// readRefFiles reads HEAD, the packed refs, and the refs in files, which override packed ones.
// Links to other refs are left out.
func (s *State) readRefFiles(ctx context.Context, root *os.Root) error {
	packed, err := readTail(root, "packed-refs", maxRefBytes)
	if err == nil {
		err = parseRefLines(s.Refs, packed)
	}
	if err != nil {
		return fmt.Errorf("packed-refs: %w", err)
	}
	s.Size = int64(len(packed))
	head, err := readTail(root, "HEAD", refBytes)
	if err != nil {
		return fmt.Errorf("HEAD: %w", err)
	}
	s.Refs["HEAD"] = strings.TrimSpace(head)
	return fs.WalkDir(root.FS(), "refs", func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("%s: %w: %w", name, err, fault.ErrInvalid)
		case !e.Type().IsRegular() || strings.HasSuffix(name, ".lock"):
			return nil
		}
		text, err := readTail(root, name, refBytes)
		if err != nil || strings.HasPrefix(text, "ref: ") {
			return err
		}
		s.Size += int64(len(text))
		return addRef(s.Refs, strings.TrimSpace(text)+" "+name)
	})
}

// readTail returns the last bytes of a file, at most most, or "" if it does not exist.
func readTail(root *os.Root, name string, most int64) (string, error) {
	f, err := openRegular(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err != nil {
		return "", fmt.Errorf("%s: %w: %w", name, err, fault.ErrInvalid)
	} else if _, err = f.Seek(max(size-most, 0), io.SeekStart); err != nil {
		return "", fmt.Errorf("%s: %w: %w", name, err, fault.ErrInvalid)
	}
	content, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", fmt.Errorf("%s: %w: %w", name, err, fault.ErrInvalid)
	}
	return string(content), nil
}

// openRegular opens a regular file (fetch.OpenRegular). It adds fault.ErrInvalid to every error.
func openRegular(root *os.Root, name string) (*os.File, error) {
	f, _, err := fetch.OpenRegular(root, name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fault.ErrInvalid)
	}
	return f, nil
}

// logTimes returns when HEAD moved, the latest first. A line of the log is
// "OLD NEW NAME <MAIL> SECONDS ZONE\tMESSAGE"; truncated lines are skipped.
func logTimes(log string) []time.Time {
	var times []time.Time
	for line := range strings.Lines(log) {
		head, _, _ := strings.Cut(line, "\t")
		words := strings.Fields(head)
		if len(words) < 4 || !objectID.MatchString(words[0]) {
			continue
		}
		if at, ok := secondsOf(words[len(words)-2]); ok {
			times = append(times, at)
		}
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return times[:min(len(times), models.MaxChanges)]
}
