package elastic

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"leasehold/shared/code"
)

// generation is a repository's files at one moment, without the files.
type generation struct {
	ID     string     `json:"id"`
	RepoID string     `json:"repo_id"`
	Repo   string     `json:"repo"`
	Refs   []code.Ref `json:"refs"`
	Files  int        `json:"files"`
	// The ids of the indices that have its blobs and its files.
	Blobs      string         `json:"blobs"`
	FilesIndex string         `json:"files_index"`
	Skipped    map[string]int `json:"skipped,omitempty"` // files that are not indexed, by reason

	number int64 // of its entry in the index published; 0 if the first entry has it
}

func (g *generation) home() home { return home{g.Blobs, g.FilesIndex} }

// generationDocument notes a generation that Run removes if it is not current.
type generationDocument struct {
	Generation string      `json:"generation"` // the document's id
	RepoID     string      `json:"repo_id"`
	Repository string      `json:"repository"`
	Manifest   *generation `json:"manifest,omitempty"` // only an earlier version wrote it
}

// newGeneration returns the generation of m, which was checked; places are its files in order.
// Its id is a hash of all that, so publishing the same files again makes the same generation.
func newGeneration(m code.Manifest, places []*file, at home) *generation {
	g := &generation{RepoID: m.RepoID, Repo: m.Repo, Refs: m.Refs, Files: len(places), Blobs: at.blobs, FilesIndex: at.files}
	for _, p := range places {
		if p.Skipped != "" {
			if g.Skipped == nil {
				g.Skipped = map[string]int{}
			}
			g.Skipped[p.Skipped]++
		}
	}
	h := sha256.New()
	h.Write(asJSON(g))
	for _, p := range places {
		fmt.Fprintf(h, "%s %v %t %d %s", p.OID, p.Place.Refs, p.Vendored, len(p.Place.Path), p.Place.Path)
	}
	g.ID = hex.EncodeToString(h.Sum(nil)[:16])
	return g
}

// noteGeneration writes that a generation exists, so that Run removes it once it is not current.
func (x *Index) noteGeneration(ctx context.Context, g *generation) error {
	writes := bulk{Index: x}
	document := generationDocument{Generation: g.ID, RepoID: g.RepoID, Repository: strings.ToValidUTF8(g.Repo, string(utf8.RuneError))}
	if err := writes.add(ctx, replace, generations, g.ID, document); err != nil {
		return err
	}
	return writes.flush(ctx)
}

// refsOf returns the refs of g that a file is in.
func (g *generation) refsOf(f *file) []code.Ref {
	var refs []code.Ref
	for _, n := range f.Place.Refs {
		if n >= 0 && n < len(g.Refs) {
			refs = append(refs, g.Refs[n])
		}
	}
	return refs
}

// newestCommit returns the time of the newest commit of refs; zero if none has a time.
func newestCommit(refs []code.Ref) (t time.Time) {
	for _, r := range refs {
		if r.Time.After(t) {
			t = r.Time
		}
	}
	return t
}
