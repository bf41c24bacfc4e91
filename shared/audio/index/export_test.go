package index

import "leasehold/shared/fault"

// HoldAtMost makes a Builder move to files what is beyond so many bytes.
func (b *Builder) HoldAtMost(bytes int) { b.most = bytes }

// OpenPadded opens an image of some bytes, then a table of buckets that are all empty but
// the last hash's, which has all postings, then some bytes again. It is of the length that
// its header tells, if that is not too much for a test.
func OpenPadded(begin, end []byte) (*Index, error) {
	l, _, err := readHeader(begin, 0)
	if l.size() > 6<<20 || len(begin) < headerBytes || l == (layout{}) {
		return nil, err
	}
	if l.buckets() < 0 || l.size() < l.posting0() {
		return nil, fault.ErrCorrupt
	}
	image := make([]byte, l.size())
	copy(image[:l.buckets()], begin)
	le.PutUint32(image[l.buckets()+4*hashes:], uint32(l.postings))
	copy(image[l.posting0():], end)
	return open(image)
}
