package git

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"leasehold/shared/fault"
)

var (
	hash = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	// A ref's name has no control characters, spaces or anything that git forbids.
	refName = regexp.MustCompile(`^(HEAD|refs/[^\x00-\x20\x7f~^:?*\[\\]+)(\^\{\})?$`)
)

// addRef adds one line "HASH NAME", without the capabilities that may follow it. A server that only has files
// writes a tab for the space. The line of an empty repository adds nothing.
func addRef(refs map[string]string, line string) error {
	line = strings.TrimRight(line, "\n")
	line, _, _ = strings.Cut(line, "\x00") // capabilities
	sum, name, ok := strings.Cut(strings.Replace(line, "\t", " ", 1), " ")
	if name == "capabilities^{}" {
		return nil
	}
	if !ok || !hash.MatchString(sum) || !refName.MatchString(name) {
		return fmt.Errorf("not a ref: %.80q: %w", line, fault.ErrInvalid)
	}
	if refs[name] = sum; len(refs) > maxRefs {
		return fmt.Errorf("more than %d refs: %w", maxRefs, fault.ErrTooLarge)
	}
	return nil
}

// An advertisement is a server's description of a repository.
type advertisement struct {
	refs         map[string]string // hash, by name
	capabilities string            // of git-upload-pack, separated by spaces; empty: the server only has files
}

// parseAdvertisement reads the answer to GET info/refs: pkt-lines of git-upload-pack, or the plain lines of a
// server that only has files.
func parseAdvertisement(content []byte) (a advertisement, err error) {
	a.refs = map[string]string{}
	if !bytes.HasPrefix(content, []byte("001e# service=git-upload-pack")) {
		return a, parseLines(a.refs, string(content))
	}
	for len(content) > 0 {
		if len(content) < 4 {
			return a, fmt.Errorf("the refs are cut off: %w", fault.ErrInvalid)
		}
		n, err := strconv.ParseUint(string(content[:4]), 16, 16)
		if err != nil || n > 0 && n < 4 || int(n) > len(content) {
			return a, fmt.Errorf("not a line of refs: %.20q: %w", content, fault.ErrInvalid)
		}
		line := string(content[4:max(n, 4)]) // n counts itself; 0 ends a section
		content = content[max(n, 4):]
		if n == 0 || strings.HasPrefix(line, "# ") {
			continue
		}
		if _, words, ok := strings.Cut(line, "\x00"); ok && a.capabilities == "" {
			a.capabilities = words
		}
		if err := addRef(a.refs, line); err != nil {
			return a, err
		}
	}
	return a, nil
}

// parseLines reads lines "HASH NAME", and skips comments and peeled tags.
func parseLines(refs map[string]string, text string) error {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "^") || strings.TrimSpace(line) == "" {
			continue
		}
		if err := addRef(refs, line); err != nil {
			return err
		}
	}
	return nil
}
