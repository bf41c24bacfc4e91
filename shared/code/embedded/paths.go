package embedded

import (
	"bytes"
	"sort"

	"leasehold/shared/code"
	"leasehold/shared/code/match"
)

// A fileSet is a set of the files of a generation, one bit for each; nil is empty.
type fileSet []uint64

func (f fileSet) has(file uint32) bool {
	return int(file/64) < len(f) && f[file/64]&(1<<(file%64)) != 0
}

// matchPaths finds the files whose paths have the texts of the query, once for each text and
// repository. Words are looked for in all paths, because posting lists have no paths. The error is
// errStop if the search's time has ended.
func (s *search) matchPaths() error {
	s.paths = make([][]fileSet, len(s.plan.leaves))
	var folded []byte
	for n, l := range s.plan.leaves {
		if l.kind != kindPath {
			continue
		}
		s.paths[n] = make([]fileSet, len(s.view.repos))
		for slot, g := range s.view.repos {
			if s.ctx.Err() != nil {
				return s.stop(code.StoppedTime)
			}
			if g == nil || g.files() == 0 {
				continue
			}
			text, paths := l.literal, g.paths
			if need := l.matcher.Need(); text == "" && need.Op == match.Literal {
				var same bool
				if folded, same = code.Fold(folded[:0], g.paths); same {
					text, paths = string(need.Text), folded
				}
			}
			if text == "" {
				s.paths[n][slot] = g.filesMatching(l.matcher)
			} else {
				s.paths[n][slot] = g.filesWith(paths, []byte(text))
			}
		}
	}
	return nil
}

// filesWith returns the files whose paths have text. paths has the paths of g one after the other,
// perhaps folded, so it is searched as a whole.
func (g *generation) filesWith(paths, text []byte) (found fileSet) {
	for at := 0; ; {
		i := bytes.Index(paths[at:], text)
		if i < 0 {
			return found
		}
		at += i
		file := sort.Search(g.files(), func(n int) bool { return g.pathEnd(n) > at })
		end := g.pathEnd(file)
		if at+len(text) > end { // the text goes on in the path of the next file
			at++
			continue
		}
		found = found.with(file, g.files())
		at = end
	}
}

// filesMatching returns the files whose paths match.
func (g *generation) filesMatching(m *match.Matcher) (found fileSet) {
	for file := range g.files() {
		if m.MatchName(g.path(file)) {
			found = found.with(file, g.files())
		}
	}
	return found
}

// with adds a file to f, of a generation of that many files, and returns f, which may be nil.
func (f fileSet) with(file, files int) fileSet {
	if f == nil {
		f = make(fileSet, (files+63)/64)
	}
	f[file/64] |= 1 << (file % 64)
	return f
}

// blobsWithFiles returns the blobs that occur in one of the files, which are by slot.
func (p *part) blobsWithFiles(files []fileSet) numbers {
	some := false
	for _, f := range files {
		some = some || f != nil
	}
	if !some {
		return numbers{}
	}
	var list []uint32
	for blob := range p.Blobs() {
		for _, at := range p.placesOf(blob) {
			if files[at.repo].has(at.file) {
				list = append(list, uint32(blob))
				break
			}
		}
	}
	return numbers{list: list}
}
