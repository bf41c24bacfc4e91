package elastic

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/shared/fault"
)

// entry is a document of the index published, which is a log: the last entry of a repository tells which
// generation of it is current. Its id is its number. As a document is created only once, each number
// has one entry, and a reader that knows an entry needs only those with higher numbers.
type entry struct {
	Number     int64         `json:"number"` // from 1; a higher number is later
	Log        string        `json:"log"`    // the same in all entries; another one if the index was made again
	RepoID     string        `json:"repo_id,omitempty"`
	Generation string        `json:"generation,omitempty"` // empty if the repository was dropped
	Manifest   *generation   `json:"manifest,omitempty"`   // nil if the repository was dropped
	Base       []*generation `json:"base,omitempty"`       // of the first entry: what was current before
}

// home is the two indices that have a generation, by their ids. What one that was deleted had is lost.
type home struct{ blobs, files string }

// known is the current generations as a reader knows them. It does not change.
type known struct {
	log    string // empty if the index published has no entry yet
	last   int64  // the number of the last entry that was read
	repos  map[string]*generation
	totals map[home]total
}

// total is about the current generations of a home.
type total struct {
	files   int
	skipped map[string]int // files that are not indexed, by reason
}

// superseded is an entry of a repository that has a later one.
type superseded struct {
	number int64
	since  time.Time
}

// maxSuperseded bounds how many such entries are remembered; others are found by the next process.
const maxSuperseded = 10_000

// snapshot is what a search sees.
type snapshot struct {
	*known
	home    home // of now
	indices home // the ids of the indices, which are others than those of home if they are copies (Rebuild)
}

// current returns the current generations. It reads which indices there are, and the entries that x does not
// know yet: usually two small requests.
func (x *Index) current(ctx context.Context) (snapshot, error) {
	at, indices, err := x.readHome(ctx)
	if err != nil {
		return snapshot{}, err
	}
	x.mu.Lock()
	was := x.known
	x.mu.Unlock()
	entries, follow, err := x.entriesSince(ctx, was)
	if err != nil {
		return snapshot{}, err
	}
	base := was
	if !follow {
		base = &known{}
	}
	if !follow && len(entries) == 0 {
		return x.beforeLog(ctx, at, indices)
	}
	var old []superseded
	next := base.with(entries, &old)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known == was { // else another reader has read the same
		x.known = next
		x.superseded = append(x.superseded, old...)
		x.superseded = x.superseded[max(0, len(x.superseded)-maxSuperseded):]
	}
	return snapshot{next, at, indices}, nil
}

// beforeLog is current for an index without an entry.
func (x *Index) beforeLog(ctx context.Context, at, indices home) (snapshot, error) {
	before, err := x.readBefore(ctx, at)
	if err != nil {
		return snapshot{}, err
	}
	if len(before) > 0 { // files of a first publication that has begun meanwhile are not lost
		entries, err := x.count(ctx, published, everyDocument)
		if err != nil {
			return snapshot{}, err
		}
		if entries > 0 {
			return x.current(ctx)
		}
	}
	return snapshot{(&known{}).with([]entry{{Base: before}}, nil), at, indices}, nil
}

// readHome returns by which ids generations name the indices of blobs and files, and the ids that they have. If an
// index is another one than before, it checks all of them, because another program may have made it.
func (x *Index) readHome(ctx context.Context) (at, indices home, err error) {
	used := []string{blobs, files, generations, published}
	names := make([]string, len(used))
	for i, index := range used {
		names[i] = x.prefix + index
	}
	var found indexStates
	err = x.do(ctx, call{method: http.MethodGet, path: strings.Join(names, ","), answer: &found, query: onlyIdentity})
	if err != nil {
		return at, indices, err
	}
	states := indexStates{} // by index
	for _, state := range found {
		for i, index := range used {
			if _, ok := state.Aliases[names[i]]; ok {
				states[index] = state
			}
		}
	}
	at, indices = home{states[blobs].identity(), states[files].identity()}, home{states[blobs].id(), states[files].id()}
	if len(found) != len(used) || at.blobs == "" || at.files == "" {
		return at, indices, fmt.Errorf("aliases %s: %w: want each on one index of its own", strings.Join(names, ", "), fault.ErrCorrupt)
	}
	return at, indices, x.noteIndices(ctx, states)
}

// noteIndices notes the ids of the indices, and checks all if one is new.
func (x *Index) noteIndices(ctx context.Context, states indexStates) error {
	ids := map[string]string{}
	for index, state := range states {
		ids[index] = state.id()
	}
	x.mu.Lock()
	changed := x.ids != nil && !maps.Equal(x.ids, ids)
	x.ids = ids
	x.mu.Unlock()
	if !changed {
		return nil
	}
	x.prepared.Store(false)
	return x.prepareIndices(ctx)
}

// entriesSince returns the entries behind the last one of was, in their order. follow is false if the log is another
// one than that of was; then they are all entries of it.
func (x *Index) entriesSince(ctx context.Context, was *known) (all []entry, follow bool, err error) {
	pages := selection{alias: published, query: object{"range": object{"number": object{"gte": was.last}}}, order: []string{"number"}}
	for {
		page, err := nextPage[entry](ctx, x, &pages)
		if err != nil {
			return nil, false, err
		}
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
	}
	switch {
	case was.last == 0 && len(all) > 0 && all[0].Number != 1:
		return nil, false, fmt.Errorf("index %s: %w: its first document is lost; delete the index, and visits index all again", x.prefix+published, fault.ErrCorrupt)
	case was.last == 0:
		return all, false, nil
	case len(all) > 0 && all[0].Log == was.log:
		return all, true, nil
	case len(all) == 0: // a copy of the index may not show yet what another one has shown
		found, err := readMany[entry](ctx, x, published, []string{entryID(was.last)}, "log")
		if err != nil || found[0] != nil && found[0].Log == was.log {
			return nil, true, err
		}
	}
	return x.entriesSince(ctx, &known{})
}

func entryID(number int64) string { return strconv.FormatInt(number, 10) }

// with returns s with further entries. It returns s if there are none that s lacks. To old, unless it is nil,
// it adds the entries that these have superseded.
func (s *known) with(entries []entry, old *[]superseded) *known {
	entries = slices.DeleteFunc(entries, func(e entry) bool { return e.Number <= s.last && s.last > 0 })
	if len(entries) == 0 && s.repos != nil {
		return s
	}
	next := &known{log: s.log, last: s.last, repos: maps.Clone(s.repos), totals: maps.Clone(s.totals)}
	if next.repos == nil {
		next.repos, next.totals = map[string]*generation{}, map[home]total{}
	}
	for _, e := range entries {
		next.log, next.last = e.Log, e.Number
		for _, g := range e.Base {
			next.replace(g.RepoID, g)
		}
		if e.RepoID == "" {
			continue
		}
		if e.Manifest != nil {
			e.Manifest.number = e.Number
		}
		if before := next.replace(e.RepoID, e.Manifest); before != nil && before.number > 0 && old != nil {
			*old = append(*old, superseded{before.number, time.Now()})
		}
	}
	return next
}

// replace makes g, nil for none, the current generation of a repository, and returns the one before.
func (s *known) replace(repoID string, g *generation) (before *generation) {
	before = s.repos[repoID]
	delete(s.repos, repoID)
	s.count(before, -1)
	s.count(g, 1)
	if g != nil {
		s.repos[repoID] = g
	}
	return before
}

// count adds g, unless it is nil, n times to the totals. It replaces the map of a total, because others share it.
func (s *known) count(g *generation, n int) {
	if g == nil {
		return
	}
	t := s.totals[g.home()]
	t.files += n * g.Files
	if len(g.Skipped) > 0 {
		skipped := maps.Clone(t.skipped)
		if skipped == nil {
			skipped = map[string]int{}
		}
		for reason, files := range g.Skipped {
			if skipped[reason] += n * files; skipped[reason] == 0 {
				delete(skipped, reason)
			}
		}
		t.skipped = skipped
	}
	s.totals[g.home()] = t
	if t.files == 0 && len(t.skipped) == 0 {
		delete(s.totals, g.home())
	}
}

// isCurrent reports whether a generation is the current one of its repository.
func (s *known) isCurrent(repoID, generation string) bool {
	g := s.repos[repoID]
	return g != nil && g.ID == generation
}

// sorted returns the generations, ordered by name and id of their repositories.
func (s *known) sorted() []*generation {
	return slices.SortedFunc(maps.Values(s.repos), func(a, b *generation) int {
		return cmp.Or(strings.Compare(a.Repo, b.Repo), strings.Compare(a.RepoID, b.RepoID))
	})
}

// openLog returns current, after it has written the first entry unless there is one. That has what the alias of an
// earlier version lists. If several processes write it, the server takes one.
func (x *Index) openLog(ctx context.Context) (snapshot, error) {
	now, err := x.current(ctx)
	if err != nil || now.log != "" {
		return now, err
	}
	writes := bulk{Index: x}
	first := entry{Number: 1, Log: rand.Text(), Base: now.sorted()}
	if err := writes.add(ctx, create, published, entryID(first.Number), first); err != nil {
		return now, err
	}
	if err := errors.Join(writes.flush(ctx), x.refresh(ctx, published)); err != nil {
		return now, err
	}
	return x.current(ctx)
}

// announce makes g the current generation of a repository, or none if g is nil. Before that it notes the one that
// is current now in the index of generations, so that Run removes it later. If another process takes the
// number of the entry, announce takes the next one. After fault.ErrUnavailable the entry may be
// written; repeating announce is harmless.
func (x *Index) announce(ctx context.Context, repoID string, g *generation) error {
	for {
		now, err := x.openLog(ctx)
		if err != nil {
			return err
		}
		before := now.repos[repoID]
		if before == nil && g == nil || before != nil && g != nil && before.ID == g.ID {
			return x.refresh(ctx, published) // so that every copy of the index shows it
		}
		if before != nil {
			if err := x.noteGeneration(ctx, before); err != nil {
				return err
			}
		}
		e := entry{Number: now.last + 1, Log: now.log, RepoID: repoID, Manifest: g}
		if g != nil {
			e.Generation = g.ID
		}
		writes := bulk{Index: x}
		if err := writes.add(ctx, create, published, entryID(e.Number), e); err != nil {
			return err
		}
		if err := writes.flush(ctx); err != nil {
			return err
		}
		found, err := readMany[entry](ctx, x, published, []string{entryID(e.Number)}, "log,repo_id,generation")
		if err != nil {
			return err
		}
		if err := x.refresh(ctx, published); err != nil {
			return err
		}
		if f := found[0]; f != nil && f.Log == e.Log && f.RepoID == e.RepoID && f.Generation == e.Generation {
			return nil
		}
	}
}

// removeSuperseded removes the entries that have been superseded for Grace: no request to create one of their
// numbers is under way any more.
func (x *Index) removeSuperseded(ctx context.Context) error {
	x.mu.Lock()
	n := 0
	for n < len(x.superseded) && time.Since(x.superseded[n].since) >= Grace {
		n++
	}
	old := x.superseded[:n:n]
	x.mu.Unlock()
	if n == 0 {
		return nil
	}
	if err := x.refresh(ctx, published); err != nil { // every copy shows the later ones
		return err
	}
	writes := bulk{Index: x}
	for _, s := range old {
		if err := writes.add(ctx, remove, published, entryID(s.number), nil); err != nil {
			return err
		}
	}
	if err := writes.flush(ctx); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.superseded = slices.DeleteFunc(x.superseded, func(s superseded) bool { return slices.Contains(old, s) })
	return nil
}
