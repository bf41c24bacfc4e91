package embedded

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// inventoryName is the name of the inventory in the folder of the index.
const inventoryName = "inventory"

// An inventory names the files that the index has, so that Open notices a missing one: each line of
// its file adds a name or removes one. A file is added after it is in its place, and a removed one
// before it is removed, durably; so after a crash each name has its file. It is guarded by
// Index.writing. nil, of a read-only index, keeps nothing.
type inventory struct {
	path  string
	names map[string]inventoryEntry
	lines int // appended since the file was written as a whole
}

// inventoryEntry is one line of the file.
type inventoryEntry struct {
	Name    string `json:"name"` // of a segment or a generation, without its folder
	Removed bool   `json:"removed,omitempty"`
	RepoID  string `json:"repo_id,omitempty"` // of a generation
	Repo    string `json:"repo,omitempty"`
}

// readInventory reads the inventory of the index in dir. Without one, as in a folder of an earlier
// version, it is empty. A line that a crash cut is left out.
func readInventory(dir string) (map[string]inventoryEntry, error) {
	data, err := os.ReadFile(filepath.Join(dir, inventoryName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	names := map[string]inventoryEntry{}
	for line := range bytes.Lines(data) {
		var e inventoryEntry
		if json.Unmarshal(line, &e) != nil || e.Name == "" {
			continue
		}
		if e.Removed {
			delete(names, e.Name)
		} else {
			names[e.Name] = e
		}
	}
	return names, nil
}

// add adds files that are in their place.
func (v *inventory) add(entries ...inventoryEntry) error {
	if v == nil {
		return nil
	}
	added := slices.DeleteFunc(entries, func(e inventoryEntry) bool { return v.names[e.Name] == e })
	for _, e := range added {
		v.names[e.Name] = e
	}
	return v.append(added)
}

// remove removes the names of files that are about to be removed, or that are missing and not needed
// any more.
func (v *inventory) remove(names ...string) error {
	if v == nil {
		return nil
	}
	var removed []inventoryEntry
	for _, name := range names {
		if _, ok := v.names[name]; ok {
			removed = append(removed, inventoryEntry{Name: name, Removed: true})
			delete(v.names, name)
		}
	}
	return v.append(removed)
}

// maxAppended is how many lines, beside one for each name, are appended before the file is written
// as a whole.
const maxAppended = 1000

// append writes lines behind the others, durably. v.names has their changes.
func (v *inventory) append(lines []inventoryEntry) error {
	if len(lines) == 0 {
		return nil
	}
	if v.lines += len(lines); v.lines > maxAppended+len(v.names) {
		return v.rewrite()
	}
	f, err := os.OpenFile(v.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	data := []byte("\n") // ends a line that a crash cut
	for _, e := range lines {
		line, _ := json.Marshal(e) // strings and a bool
		data = append(append(data, line...), '\n')
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// rewrite replaces the file by the names that v has.
func (v *inventory) rewrite() error {
	if v == nil {
		return nil
	}
	v.lines = 0
	var data bytes.Buffer
	lines := json.NewEncoder(&data)
	for _, e := range v.names {
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	writing := filepath.Join(filepath.Dir(v.path), "writing-"+inventoryName)
	err := cmp.Or(os.WriteFile(writing, data.Bytes(), 0o600), platform.SyncFile(writing), os.Rename(writing, v.path), platform.SyncDir(filepath.Dir(v.path)))
	if err != nil {
		return fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	return nil
}

// segmentEntry is the entry of the segment at path.
func segmentEntry(path string) inventoryEntry { return inventoryEntry{Name: filepath.Base(path)} }

// generationEntry is the entry of the generation of a repository.
func generationEntry(repoID, repo string) inventoryEntry {
	return inventoryEntry{Name: filepath.Base(generationPath("", repoID)), RepoID: repoID, Repo: repo}
}

// noteMissing puts the files that the inventory names and the folder does not have into v. replaced
// has the hashes of merged segments, which are not missed. If no generation lacks a blob, missing
// segments are not either.
func (v *view) noteMissing(names map[string]inventoryEntry, replaced map[string]bool) {
	for _, e := range names {
		switch _, known := v.slots[e.RepoID]; {
		case strings.HasSuffix(e.Name, generationExtension):
			if !known {
				v.missingRepos[e.RepoID] = e.Repo
			}
		case !replaced[segment.Hash(e.Name)] && !slices.ContainsFunc(v.parts, func(p *part) bool { return filepath.Base(p.path) == e.Name }):
			v.missingSegments = append(v.missingSegments, e.Name)
		}
	}
	slices.Sort(v.missingSegments)
	v.forgetFound()
}

// forgetFound forgets missing segments once every generation has all its blobs.
func (v *view) forgetFound() {
	if len(v.lost) == 0 {
		v.missingSegments = nil
	}
}

// takeInventory opens the inventory of the index in dir, compares it with the files of v, which is not
// installed yet, and writes it again.
func (x *Index) takeInventory(dir string, v *view) error {
	names, err := readInventory(dir)
	if err != nil {
		return err
	}
	replaced := map[string]bool{}
	for _, p := range v.parts {
		for _, hash := range p.Replaces() {
			replaced[hash] = true
		}
	}
	v.noteMissing(names, replaced)
	if x.options.ReadOnly {
		return nil
	}
	x.inventory = &inventory{path: filepath.Join(dir, inventoryName), names: map[string]inventoryEntry{}}
	for _, p := range v.parts {
		e := segmentEntry(p.path)
		x.inventory.names[e.Name] = e
	}
	for _, g := range v.repos {
		e := generationEntry(g.repoID, g.repo)
		x.inventory.names[e.Name] = e
	}
	for _, name := range v.missingSegments {
		x.inventory.names[name] = inventoryEntry{Name: name}
	}
	for id, repo := range v.missingRepos {
		e := generationEntry(id, repo)
		x.inventory.names[e.Name] = e
	}
	return x.inventory.rewrite()
}

// forgetMissing removes the names of the segments that v misses and w does not, because their blobs
// were indexed again or are not needed. A depot keeps them, because Adopt may take them in later.
func (x *Index) forgetMissing(v, w *view) error {
	if len(w.missingSegments) > 0 {
		return nil
	}
	return x.inventory.remove(v.missingSegments...)
}

// Lacks returns what the index should have and does not. It is empty while all is there.
func (x *Index) Lacks() (code.Lack, error) {
	v, err := x.acquire()
	if err != nil {
		return code.Lack{}, err
	}
	defer x.release(v)
	l := code.Lack{Files: slices.Clone(v.missingSegments)}
	for id, repo := range v.missingRepos {
		l.Files = append(l.Files, generationEntry(id, repo).Name)
		l.Repos = append(l.Repos, code.RepoInfo{ID: id, Repo: repo})
	}
	for id, lost := range v.lost {
		g := v.repos[v.slots[id]]
		l.Repos = append(l.Repos, code.RepoInfo{ID: id, Repo: g.repo, Files: g.files(), Lost: lost})
	}
	slices.Sort(l.Files)
	slices.SortFunc(l.Repos, func(a, b code.RepoInfo) int { return strings.Compare(a.Repo, b.Repo) })
	return l, nil
}

// LackingIn returns the names of the files that the index in dir should have and does not. It opens none of
// them, so that another process may use the index. A merge at the same time may make it name a file
// that is being removed.
func LackingIn(dir string) ([]string, error) {
	names, err := readInventory(dir)
	var lacking []string
	for name := range names {
		folder := "segments"
		if strings.HasSuffix(name, generationExtension) {
			folder = "repositories"
		}
		if _, err := os.Stat(filepath.Join(dir, folder, name)); errors.Is(err, fs.ErrNotExist) {
			lacking = append(lacking, filepath.Join(folder, name))
		}
	}
	slices.Sort(lacking)
	return lacking, err
}
