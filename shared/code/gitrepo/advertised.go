package gitrepo

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"

	"leasehold/shared/fault"
)

// Bounds of the refs of one repository.
const (
	maxRefs  = 200_000
	refBytes = 4 << 10 // of one ref in a file
)

// Advertised is what a server behind http(s) tells of a repository.
type Advertised struct {
	Refs         map[string]string // hash, by name
	capabilities []string          // of git-upload-pack; none: the server only has files
}

// Can reports whether the server has a capability of git-upload-pack.
func (a Advertised) Can(what string) bool { return slices.Contains(a.capabilities, what) }

// ParseAdvertised reads the answer to GET info/refs: pkt-lines of git-upload-pack (gitprotocol-pack,
// "Reference Discovery"), or the plain lines of a server that only has files. It fails with
// fault.ErrInvalid for other content, with fault.ErrTooLarge for more than 200,000 refs.
func ParseAdvertised(content []byte) (Advertised, error) {
	a := Advertised{Refs: map[string]string{}}
	if !bytes.HasPrefix(content, []byte("001e# service=git-upload-pack")) {
		return a, parseRefLines(a.Refs, string(content))
	}
	lines := pktline.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		line := string(lines.Bytes()) // empty at the end of a section
		if _, words, ok := strings.Cut(line, "\x00"); ok && a.capabilities == nil {
			a.capabilities = strings.Fields(words)
		}
		if err := addAdvertised(a.Refs, line); err != nil {
			return a, err
		}
	}
	if err := lines.Err(); err != nil {
		return a, fmt.Errorf("the refs are cut off or malformed: %w: %w", fault.ErrInvalid, err)
	}
	return a, nil
}

// addAdvertised adds the ref of a pkt-line. A shallow repository also names the commits at which its
// history ends, in lines "shallow HASH".
func addAdvertised(refs map[string]string, line string) error {
	if line == "" || strings.HasPrefix(line, "# ") {
		return nil
	}
	if end, ok := strings.CutPrefix(line, "shallow "); ok && objectID.MatchString(strings.TrimSuffix(end, "\n")) {
		return nil
	}
	return addRef(refs, line)
}

// addRef adds one line "HASH NAME", without the capabilities that may follow it. A server that only
// has files writes a tab for the space. The line of an empty repository adds nothing.
func addRef(refs map[string]string, line string) error {
	line = strings.TrimRight(line, "\n")
	line, _, _ = strings.Cut(line, "\x00") // capabilities
	hash, name, ok := strings.Cut(strings.Replace(line, "\t", " ", 1), " ")
	if name == "capabilities^{}" {
		return nil
	}
	if !ok || !objectID.MatchString(hash) || !refName.MatchString(strings.TrimSuffix(name, "^{}")) {
		return fmt.Errorf("not a ref: %.80q: %w", line, fault.ErrInvalid)
	}
	refs[name] = hash
	if len(refs) > maxRefs {
		return fmt.Errorf("more than %d refs: %w", maxRefs, fault.ErrTooLarge)
	}
	return nil
}

// parseRefLines reads lines "HASH NAME", and skips comments and peeled tags.
func parseRefLines(refs map[string]string, text string) error {
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
