package inverted

import (
	"encoding/binary"
	"fmt"
	"runtime"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/fault"
)

// Query is a set of hashes in the order in which an entry has the landmarks of one frame: by the
// bin of the first peak, then the distance of the second in frames, then its bin.
type Query []uint32

// NewQuery returns the hashes of a set, ordered by the first bin, then by the difference of bins,
// then by the frames between.
func NewQuery(some landmark.Hashes) Query {
	var q Query
	for first := range uint32(1 << 8) {
		for frames := range uint32(1 << 6) {
			for bins := range uint32(1 << 6) {
				if h := first<<12 | bins<<6 | frames; some.Has(h) {
					q = append(q, h)
				}
			}
		}
	}
	return q
}

// Broad reports whether the lists of a query are so long that Landmarks refuses them.
func (s *Segment) Broad(q Query) bool {
	bytes := 0
	for _, h := range q {
		bytes += len(s.list(h))
	}
	runtime.KeepAlive(s)
	return bytes > len(s.lists)/broad
}

// Landmarks calls use with the landmarks of each episode for which wanted is true that have a hash
// of the query, in the order of time; episodes without any are passed too. An error of use ends it.
// use must not keep the slice. It fails with fault.ErrCorrupt for a damaged list. The caller asks
// Broad before, because all hits are in memory.
func (s *Segment) Landmarks(q Query, wanted []bool, use func(episode int, l []landmark.Landmark) error) error {
	hits, err := s.hits(q)
	if err != nil {
		return err
	}
	radix(hits)
	var own []landmark.Landmark
	for i, e := range s.Episodes {
		own = own[:0]
		end := e.base + e.frames()
		n := 0
		for n < len(hits) && hits[n].frame() < end {
			if wanted[i] {
				own = append(own, landmark.Landmark{Hash: hits[n].hash(), Frame: hits[n].frame() - e.base})
			}
			n++
		}
		hits = hits[n:]
		if wanted[i] {
			if err := use(i, own); err != nil {
				return err
			}
		}
	}
	return nil
}

// hit is a frame of the segment, and a hash in the low bits.
type hit uint64

func (h hit) frame() int   { return int(h >> landmark.HashBits) }
func (h hit) hash() uint32 { return uint32(h) & (hashes - 1) }

// hits returns the places of a query's hashes, in the order of the query and then of time.
// KeepAlive keeps the mapping until the last byte is read.
func (s *Segment) hits(q Query) ([]hit, error) {
	var all []hit
	for _, hash := range q {
		frame := uint64(0)
		for list := s.list(hash); len(list) > 0; {
			d, n := binary.Uvarint(list)
			if n <= 0 || d >= maxFrames-frame {
				return nil, fmt.Errorf("inverted: the list of hash %d is damaged: %w", hash, fault.ErrCorrupt)
			}
			frame += d
			all = append(all, hit(frame<<landmark.HashBits|uint64(hash)))
			list = list[n:]
		}
	}
	runtime.KeepAlive(s)
	return all, nil
}

// radix sorts hits by frame, 11 bits at a time. Hits of one frame stay in their order. It sorts
// in a second buffer in turn, and copies back if the last pass ended there.
func radix(hits []hit) {
	const bits = 11
	most := hit(0)
	for _, h := range hits {
		most = max(most, h)
	}
	from, to := hits, make([]hit, len(hits))
	swapped := false
	for shift := landmark.HashBits; most>>shift != 0; shift += bits {
		var next [1 << bits]int
		for _, h := range from {
			next[h>>shift&(1<<bits-1)]++
		}
		sum := 0
		for i, n := range next {
			next[i], sum = sum, sum+n
		}
		for _, h := range from {
			i := h >> shift & (1<<bits - 1)
			to[next[i]] = h
			next[i]++
		}
		from, to, swapped = to, from, !swapped
	}
	if swapped {
		copy(hits, from)
	}
}
