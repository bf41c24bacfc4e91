package gitrepo

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"leasehold/shared/fault"
)

// Bounds of a pack of commits.
const (
	maxCommit  = 1 << 20  // bytes of one object
	maxCommits = 32 << 20 // bytes of all objects
)

// CommitTimes returns when the commits of a pack were made, in its order. Of a truncated pack, or one
// with other objects, it returns the commits before the end or the object.
func CommitTimes(content []byte) (times []time.Time) {
	p := commitPack{scanner: packfile.NewScanner(bytes.NewReader(content)), objects: map[int64][]byte{}}
	_, count, err := p.scanner.Header()
	for range count {
		var commit []byte
		if err == nil {
			commit, err = p.next()
		}
		if err != nil {
			break
		}
		if at, ok := commitTime(commit); ok {
			times = append(times, at)
		}
	}
	return times
}

// commitPack reads a pack object by object.
type commitPack struct {
	scanner *packfile.Scanner
	objects map[int64][]byte // by their offsets
	size    int              // of all objects
}

// next reads a commit, or a delta to an earlier one. It refuses other objects, and objects past the
// bounds, before it has them in memory.
func (p *commitPack) next() ([]byte, error) {
	h, err := p.scanner.NextObjectHeader()
	if err != nil {
		return nil, err
	}
	base, known := p.objects[h.OffsetReference]
	isDelta := h.Type == plumbing.OFSDeltaObject
	if h.Length > maxCommit || h.Type != plumbing.CommitObject && !(isDelta && known) {
		return nil, fmt.Errorf("%s of %d bytes in a pack of commits: %w", h.Type, h.Length, fault.ErrInvalid)
	}
	var content bytes.Buffer
	if _, _, err := p.scanner.NextObject(&boundedWriter{&content, maxCommit}); err != nil {
		return nil, err
	}
	object := content.Bytes()
	if isDelta {
		start := deltaStart{kept: object[:min(len(object), deltaStartBytes)]}
		if start.resultSize() > maxCommit {
			return nil, fmt.Errorf("commit of %d bytes: %w", start.resultSize(), fault.ErrTooLarge)
		}
		if object, err = packfile.PatchDelta(base, object); err != nil {
			return nil, err
		}
	}
	p.size += len(object)
	if p.size > maxCommits {
		return nil, fmt.Errorf("commits of more than %d bytes: %w", maxCommits, fault.ErrTooLarge)
	}
	p.objects[h.Offset] = object
	return object, nil
}

// commitTime returns when a commit was made, and reports whether its header has a valid line
// "committer NAME <MAIL> SECONDS ZONE".
func commitTime(object []byte) (time.Time, bool) {
	header, _, _ := bytes.Cut(object, []byte("\n\n"))
	for line := range strings.Lines(string(header)) {
		if words := strings.Fields(line); strings.HasPrefix(line, "committer ") && len(words) > 3 {
			return secondsOf(words[len(words)-2])
		}
	}
	return time.Time{}, false
}

// secondsOf parses a time of git, in seconds since 1970 up to the year 9999; ok is false for any
// other text.
func secondsOf(text string) (at time.Time, ok bool) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err == nil && seconds > 0 && seconds < 253402300800
}
