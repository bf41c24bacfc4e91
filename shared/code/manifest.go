package code

import (
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
)

// A Manifest lists the files of one repository at one moment: its next generation.
type Manifest struct {
	RepoID string // identifies the repository for ever, such as the origin's id
	Repo   string // the name that results show and repo: matches
	Refs   []Ref  // the indexed branches, each once
	Files  []File // in any order; each (Ref, Path) once
}

// A Ref is an indexed branch.
type Ref struct {
	Name   string
	Commit string
	Time   time.Time // of the commit; newer repositories are ranked higher
}

// A File is a path in the tree of a ref.
type File struct {
	Ref      string // the name of one of the manifest's refs
	Path     string // relative, with slashes, in the bytes that git has
	OID      OID
	Vendored bool
}

// Limits of a manifest.
const (
	MaxRefs      = 64
	MaxPathBytes = 4098 // at least that of Linux, and as many as 5464 characters of base64 hold
	maxNameBytes = 1024 // of repository ids, names and refs
)

// Check returns fault.ErrInvalid with the first value of m out of range: an empty or too long id or
// name, too many refs, a ref or a path twice, or what checkFiles refuses. Without refs it refuses
// any file.
func (m Manifest) Check() error {
	if err := checkName("repository id", m.RepoID); err != nil {
		return err
	}
	if err := checkName("repository", m.Repo); err != nil {
		return err
	}
	if len(m.Refs) > MaxRefs {
		return fmt.Errorf("repository %q: %d refs: want at most %d: %w", m.Repo, len(m.Refs), MaxRefs, fault.ErrInvalid)
	}
	refs := make(map[string]bool, len(m.Refs))
	for _, r := range m.Refs {
		if err := checkName("ref", r.Name); err != nil {
			return err
		}
		if refs[r.Name] {
			return fmt.Errorf("repository %q: ref %q twice: %w", m.Repo, r.Name, fault.ErrContradiction)
		}
		refs[r.Name] = true
	}
	return m.checkFiles(refs)
}

// checkFiles returns fault.ErrInvalid with the first file whose ref is not one of refs, whose
// path has a length out of range or occurs twice in its ref, or whose object id is not one.
func (m Manifest) checkFiles(refs map[string]bool) error {
	type place struct{ ref, path string }
	seen := make(map[place]bool, len(m.Files))
	for _, f := range m.Files {
		at := place{f.Ref, f.Path}
		switch {
		case !refs[f.Ref]:
			return fmt.Errorf("file %.200q: unknown ref %q: want one of the manifest's refs: %w", f.Path, f.Ref, fault.ErrContradiction)
		case f.Path == "" || len(f.Path) > MaxPathBytes:
			return fmt.Errorf("path %.200q: want 1 to %d bytes: %w", f.Path, MaxPathBytes, fault.ErrInvalid)
		case seen[at]:
			return fmt.Errorf("file %.200q of ref %q twice: %w", f.Path, f.Ref, fault.ErrContradiction)
		}
		if err := f.OID.Check(); err != nil {
			return fmt.Errorf("file %.200q: %w", f.Path, err)
		}
		seen[at] = true
	}
	return nil
}

// OIDs returns the object ids of all files, sorted, each once.
func (m Manifest) OIDs() []OID {
	all := make([]OID, len(m.Files))
	for i, f := range m.Files {
		all[i] = f.OID
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkName returns fault.ErrInvalid unless a name has 1 to maxNameBytes bytes; what says whose
// name it is.
func checkName(what, name string) error {
	if name == "" || len(name) > maxNameBytes {
		return fmt.Errorf("%s %.200q: want 1 to %d bytes: %w", what, name, maxNameBytes, fault.ErrInvalid)
	}
	return nil
}
