package embedded

import (
	"bytes"
	"fmt"

	"leasehold/shared/code"
	"leasehold/shared/code/match"
)

// A hit is a matching line of a blob.
type hit struct {
	line       uint32 // from 1
	start, end uint32 // in the blob's text, without the line feed
	// The parts of the line that match, of symbols and multiline patterns. Those of other
	// patterns are found by searching the line again (results.ranges).
	ranges []code.Range
}

// hitBytes is about the memory of a hit.
const hitBytes = 48

// partSearch is a part with the candidates of a query.
type partSearch struct {
	*part
	chunks     []numbers // by leaf: chunks with a matching line; of single-line content
	blobs      []numbers // by leaf: blobs that match; of the other kinds
	candidates numbers   // blobs that may match the whole query
}

// candidatesIn returns the candidates of the query in part n of the view. It finds them at the
// first call: first the blobs of each leaf, then those that the whole query permits. At the first
// part it also makes the search's memory as large as the query needs.
func (s *search) candidatesIn(n int) *partSearch {
	if s.parts[n] != nil {
		return s.parts[n]
	}
	p := &partSearch{part: s.view.parts[n], chunks: make([]numbers, len(s.plan.leaves)), blobs: make([]numbers, len(s.plan.leaves))}
	for i, l := range s.plan.leaves {
		switch {
		case l.kind == kindSym:
			p.blobs[i] = p.blobsDefining(l)
		case l.kind == kindPath:
			p.blobs[i] = p.blobsWithFiles(s.paths[i])
		case l.kind != kindContent:
			p.blobs[i] = everything
		case l.matcher.Multiline():
			p.blobs[i] = p.part.blobs(l.matcher.Need())
		default:
			p.chunks[i] = p.part.chunks(l.matcher.Need())
			p.blobs[i] = p.blobsOf(p.chunks[i])
		}
	}
	p.candidates = p.candidateBlobs(&s.plan.root)
	for len(s.values) < len(s.plan.leaves) {
		s.values, s.hits = append(s.values, 0), append(s.hits, nil)
	}
	s.parts[n] = p
	return p
}

// candidateBlobs returns the blobs for which n may hold. A negation excludes none, because a blob
// that may match its part need not match it.
func (p *partSearch) candidateBlobs(n *node) numbers {
	switch n.op {
	case opAnd:
		found := everything
		for i := range n.of {
			found = found.and(p.candidateBlobs(&n.of[i]))
		}
		return found
	case opOr:
		found := numbers{}
		for i := range n.of {
			found = found.or(p.candidateBlobs(&n.of[i]))
		}
		return found
	case opLeaf:
		return p.blobs[n.leaf]
	}
	return everything // opNot
}

// blobsDefining returns the blobs that define a symbol whose name matches, in ascending order and
// each once.
func (p *part) blobsDefining(l leaf) numbers {
	found := make([]bool, p.Blobs())
	p.Defining(l.literal, l.matcher.MatchName, func(_ []byte, blobs []uint32) bool {
		for _, b := range blobs {
			found[b] = true
		}
		return true
	})
	var list []uint32
	for b, ok := range found {
		if ok {
			list = append(list, uint32(b))
		}
	}
	return numbers{list: list}
}

// each yields the numbers of a in ascending order; 0 to n-1 if a is all.
func (a numbers) each(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if a.all {
			for i := range n {
				if !yield(i) {
					return
				}
			}
			return
		}
		for _, i := range a.list {
			if !yield(int(i)) {
				return
			}
		}
	}
}

// evaluateForBlob returns whether leaf n, which is about blobs, holds for a blob, and collects
// the leaf's hits. The text of a skipped blob is not known, so the value is Unknown. The error is
// errStop at a limit of the search, or fault.ErrCorrupt for damaged text.
func (s *search) evaluateForBlob(n int, p *partSearch, blob int) (code.Truth, error) {
	l := &s.plan.leaves[n]
	switch {
	case l.kind == kindLang && p.isEmpty(blob): // by the name of each place
		return code.Unknown, nil
	case l.kind == kindLang:
		return code.TruthOf(l.filter(p.Lang(blob))), nil
	case p.Skipped(blob) != "":
		return code.Unknown, nil
	case !p.blobs[n].has(blob, blob+1):
		return code.False, nil
	case l.kind == kindSym:
		return code.True, s.addSymbolHits(n, p, blob)
	}
	var err error
	if l.matcher.Multiline() {
		err = s.addSpanHits(n, p, blob)
	} else {
		err = s.addLineHits(n, p, blob)
	}
	return code.TruthOf(len(s.hits[n]) > 0), err
}

// addLineHits adds the lines of a blob that match leaf n to its hits. It reads those chunks of the
// blob that are candidates; no line is in two chunks.
func (s *search) addLineHits(n int, p *partSearch, blob int) error {
	l := &s.plan.leaves[n]
	first, end := p.ChunksOf(blob)
	list := p.chunks[n].list // unused if all chunks are candidates
	at := p.chunks[n].indexOf(first)
	for c := first; c < end; c++ {
		if !p.chunks[n].all {
			if at == len(list) || int(list[at]) >= end {
				break
			}
			c = int(list[at])
			at++
		}
		chunk, err := p.Chunk(blob, c, &s.chunk)
		if err != nil {
			return err
		}
		line, counted := chunk.FirstLine+1, 0 // line is the line of the byte at counted in the chunk
		l.matcher.Lines(s.ctx, chunk.Text, &s.scratch, func(from, to int) bool {
			line += bytes.Count(chunk.Text[counted:from], []byte("\n"))
			counted = from
			s.hits[n] = append(s.hits[n], hit{line: uint32(line), start: uint32(chunk.Start + from), end: uint32(chunk.Start + to)})
			return true
		})
		if err := s.countScanned(n, len(chunk.Text)); err != nil {
			return err
		}
	}
	return nil
}

// countScanned counts bytes of text that leaf n was compared with. It returns errStop if the search's time has ended or its hits take too much memory; the caller
// returns it at once.
func (s *search) countScanned(n, bytes int) error {
	s.stats.BytesScanned += int64(bytes)
	if s.ctx.Err() != nil {
		return s.stop(code.StoppedTime)
	}
	if s.kept+int64(len(s.hits[n]))*hitBytes > s.options.MaxBytes {
		return s.stop(code.StoppedMemory)
	}
	return nil
}

// addSpanHits searches the whole text of a blob for matches over several lines, which chunks could
// cut.
func (s *search) addSpanHits(n int, p *partSearch, blob int) error {
	text, err := p.Text(blob, &s.blobText)
	if err != nil {
		return err
	}
	s.plan.leaves[n].matcher.SpanLines(s.ctx, text, func(line, start, end int, r code.Range) {
		s.addSpan(n, line, start, end, r)
	})
	return s.countScanned(n, len(text))
}

// addSpan adds the part r of a match in one line to the hits of leaf n. Parts in the same line
// join one hit; lines come in ascending order.
func (s *search) addSpan(n, line, start, end int, r code.Range) {
	if last := len(s.hits[n]) - 1; last >= 0 && s.hits[n][last].line == uint32(line) {
		s.hits[n][last].ranges = append(s.hits[n][last].ranges, r)
		return
	}
	s.hits[n] = append(s.hits[n], hit{uint32(line), uint32(start), uint32(end), []code.Range{r}})
}

// addSymbolHits adds the lines that define symbols whose names match to the hits of leaf n, with
// the range of the name. If the line does not have the name, the range is empty.
func (s *search) addSymbolHits(n int, p *partSearch, blob int) error {
	text, err := p.Text(blob, &s.blobText)
	if err != nil {
		return err
	}
	lines := match.Walk{Text: text}
	p.Symbols(blob, func(at int, read func() code.Symbol) bool {
		x := read()
		if !s.plan.leaves[n].matcher.MatchName([]byte(x.Name)) {
			return true
		}
		start, end, ok := lines.To(at)
		if !ok {
			err = fmt.Errorf("segment %s: blob %s has a symbol in line %d: %w", p.Name(), p.OID(blob), at, corrupt("facts"))
			return false
		}
		r := code.Range{}
		if i := bytes.Index(text[start:end], []byte(x.Name)); i >= 0 {
			r = code.Range{Start: i, End: i + len(x.Name)}
		}
		s.addSpan(n, at, start, end, r)
		return true
	})
	return err
}
