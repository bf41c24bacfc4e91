package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"leasehold/shared/fault"
)

const (
	maxTreeBytes = 256 << 20 // of a list of files
	// MaxFiles is how many files of one commit are listed.
	MaxFiles = 1_000_000
)

// File is one entry of a commit's tree.
type File struct {
	Path string // as the commit has it: any bytes but zero, and it may lead anywhere
	OID  string // of the blob, in hexadecimal digits; of a submodule, its commit
	Size int64  // bytes of the blob; 0 for a submodule
	Kind Kind
}

// Kind is the kind of a File.
type Kind int

// The kinds of files.
const (
	Regular   Kind = iota
	Link           // a symbolic link, whose blob is its target
	Submodule      // a commit of another repository
)

// Files returns the files of a commit that Fetch has returned, in the order of their paths. It
// fails with fault.ErrTooLarge for more than MaxFiles, fault.ErrCorrupt for a damaged mirror, and
// fault.ErrInvalid for a malformed hash.
func (m *Mirror) Files(ctx context.Context, commit string) ([]File, error) {
	if !objectID.MatchString(commit) {
		return nil, fmt.Errorf("commit %.80q: %w: want 40 or 64 hexadecimal digits", commit, fault.ErrInvalid)
	}
	return m.engine.files(ctx, commit)
}

// files lists the files of a commit with git ls-tree; see Mirror.Files.
func (m command) files(ctx context.Context, commit string) ([]File, error) {
	out, err := m.run(ctx, nil, maxTreeBytes, "--git-dir="+m.dir, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	return parseTree(out)
}

// parseTree reads the entries of git ls-tree -l -z: "MODE TYPE OID SIZE\tPATH\0". SIZE is - for a
// submodule, and BAD for a missing or damaged blob; both get the size 0, because Blobs reports the
// damage.
func parseTree(out []byte) ([]File, error) {
	var files []File
	for len(out) > 0 {
		entry, rest, ok := bytes.Cut(out, []byte{0})
		about, path, isEntry := bytes.Cut(entry, []byte{'\t'})
		words := bytes.Fields(about)
		if !ok || !isEntry || len(words) != 4 || !objectID.Match(words[2]) || len(path) == 0 {
			return nil, fmt.Errorf("not an entry of a tree: %.80q: %w", entry, fault.ErrCorrupt)
		}
		f := File{Path: string(path), OID: string(words[2])}
		switch mode := string(words[0]); mode {
		case "120000":
			f.Kind = Link
		case "160000":
			f.Kind = Submodule
		}
		if size := string(words[3]); size != "-" {
			n, err := strconv.ParseInt(size, 10, 64)
			if err != nil && size != "BAD" {
				return nil, fmt.Errorf("not an entry of a tree: %.80q: %w", entry, fault.ErrCorrupt)
			}
			f.Size = n
		}
		files = append(files, f)
		if len(files) > MaxFiles {
			return nil, fmt.Errorf("%w: more than %d files in a commit", fault.ErrTooLarge, MaxFiles)
		}
		out = rest
	}
	return files, nil
}
