package elastic

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// generation is a repository's files at one moment, without the files.
type generation struct {
	ID     string     `json:"id"`
	RepoID string     `json:"repo_id"`
	Repo   string     `json:"repo"`
	Refs   []code.Ref `json:"refs"`
	Files  int        `json:"files"`
	Blobs  string     `json:"blobs"` // the id of the index of blobs that has them
}

// generationDocument is how a generation is stored.
type generationDocument struct {
	Generation string      `json:"generation"` // the document's id
	RepoID     string      `json:"repo_id"`
	Repository string      `json:"repository"`
	Manifest   *generation `json:"manifest"`
}

// newGeneration returns the generation of m, which was checked; places are its files in order.
// Its id is a hash of all that, so publishing the same files again makes the same generation.
func (x *Index) newGeneration(m code.Manifest, places []*file) *generation {
	g := &generation{RepoID: m.RepoID, Repo: m.Repo, Refs: m.Refs, Files: len(places), Blobs: *x.blobsID.Load()}
	h := sha256.New()
	h.Write(asJSON(g))
	for _, p := range places {
		fmt.Fprintf(h, "%s %v %t %d %s", p.OID, p.Place.Refs, p.Vendored, len(p.Place.Path), p.Place.Path)
	}
	g.ID = hex.EncodeToString(h.Sum(nil)[:16])
	return g
}

// currentIDs returns the ids of the generations that searches see: those that the filter of the
// alias current lists. A missing alias means that the index was deleted (noteDeleted); an alias on
// several indices gives fault.ErrCorrupt.
func (x *Index) currentIDs(ctx context.Context) ([]string, error) {
	var found map[string]struct {
		Aliases map[string]struct {
			Filter json.RawMessage `json:"filter"`
		} `json:"aliases"`
	}
	alias := x.prefix + current
	err := x.do(ctx, call{method: http.MethodGet, path: "_alias/" + alias, answer: &found})
	if errors.Is(err, fault.ErrNotFound) {
		return nil, x.noteDeleted(err)
	}
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("alias %s: %w: want it on 1 index; it is on %d", alias, fault.ErrCorrupt, len(found))
	}
	for _, index := range found { // the only one
		var filter struct {
			Terms struct {
				Generation []string `json:"generation"`
			} `json:"terms"`
		}
		if err := decode(index.Aliases[alias].Filter, &filter); err != nil {
			return nil, fmt.Errorf("alias %s: %w", alias, err)
		}
		return filter.Terms.Generation, nil
	}
	return nil, nil
}

// generations returns the generations that searches see, ordered by name and id of their
// repositories. It reads those that x.known does not have.
func (x *Index) generations(ctx context.Context) ([]*generation, error) {
	ids, err := x.currentIDs(ctx)
	if err != nil {
		return nil, err
	}
	var unknown []string
	all := make(map[string]*generation, len(ids))
	x.mu.Lock()
	for _, id := range ids {
		all[id] = x.known[id]
		if all[id] == nil {
			unknown = append(unknown, id)
		}
	}
	x.mu.Unlock()
	for part := range slices.Chunk(unknown, idsAtOnce) {
		found, err := readMany[generationDocument](ctx, x, generations, part, "manifest")
		if err != nil {
			return nil, err
		}
		for i, d := range found {
			if d == nil || d.Manifest == nil {
				return nil, fmt.Errorf("generation %s: %w: the search server lost its document; remove the alias %s, and visits index all again", part[i], fault.ErrCorrupt, x.prefix+current)
			}
			all[part[i]] = d.Manifest
		}
	}
	x.mu.Lock()
	x.known = all
	x.mu.Unlock()
	list := make([]*generation, 0, len(all))
	for _, g := range all {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *generation) int {
		return cmp.Or(strings.Compare(a.Repo, b.Repo), strings.Compare(a.RepoID, b.RepoID))
	})
	return list, nil
}

// setCurrent makes all the generations that searches see, and no others. One request replaces the
// filters of all views, so that a search sees all of the change or nothing. After
// fault.ErrUnavailable some nodes may not have acknowledged it; repeating it is harmless. The
// caller holds publishing.
func (x *Index) setCurrent(ctx context.Context, all []*generation) error {
	ids := make([]string, len(all))
	for i, g := range all {
		ids[i] = g.ID
	}
	slices.Sort(ids)
	var actions []object
	for _, index := range x.indices() {
		if view := views[index]; view != "" {
			actions = append(actions, object{"add": object{"index": x.prefix + index + version, "alias": x.prefix + view, "filter": currentFilter(ids)}})
		}
	}
	var answer struct {
		Acknowledged bool `json:"acknowledged"`
	}
	err := x.do(ctx, call{method: http.MethodPost, path: "_aliases", body: asJSON(object{"actions": actions}), answer: &answer})
	if err == nil && !answer.Acknowledged {
		err = fmt.Errorf("_aliases: %w: not all nodes of the search server have acknowledged it", fault.ErrUnavailable)
	}
	return err
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
