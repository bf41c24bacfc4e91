package index

import "leasehold/shared/fault"

// HoldAtMost makes a Builder spill to files once it buffers that many bytes.
func (b *Builder) HoldAtMost(bytes int) { b.most = bytes }

// OpenPadded opens an image that starts with begin and ends with end. Between them is a table
// of buckets in which the last hash has all postings and the others have none. The image has
// the length that its header states. OpenPadded returns a nil Index if the header is incomplete
// or the length is too large for a test.
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
