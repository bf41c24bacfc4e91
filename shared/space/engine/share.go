package engine

// share is what the entries of a space have in common that have one value in its field shareBy.
type share struct {
	bytes int64          // of the entries, as the budget counts them, taken ones included
	size  int            // entries, without taken ones
	byAge *order[*entry] // the visible ones
}

// byPlace ranks entries by their age.
func byPlace(x *entry) key { return key{Minor: x.Place} }

// memory returns the bytes of a share; nil has none.
func (s *share) memory() int64 {
	if s == nil {
		return 0
	}
	return s.bytes
}

func (s *share) add(x *entry) {
	s.size++
	if x.Hold == nil {
		s.byAge.insert(x)
	}
}

func (s *share) remove(x *entry) {
	s.size--
	if x.Hold == nil {
		s.byAge.remove(x)
	}
}

// shareOf returns the share of an entry, and makes it if there is none.
func (in *spaceState) shareOf(x *entry) *share {
	value := x.Tuple.Str(in.shareBy)
	s := in.shares[value]
	if s == nil {
		s = &share{byAge: newOrder(byPlace)}
		in.shares[value] = s
	}
	return s
}

// emptyShares is how many shares are kept with no entry left, so that an action whose last task is claimed does not
// need a new one each time.
const emptyShares = 64

// dropShare removes the share of an entry if it has no entries left and there are many shares.
func (in *spaceState) dropShare(x *entry) {
	if len(in.shares) <= emptyShares {
		return
	}
	value := x.Tuple.Str(in.shareBy)
	if s := in.shares[value]; s.size == 0 && s.bytes == 0 {
		delete(in.shares, value)
	}
}

// count adds the bytes that an entry takes; negative for one that goes.
func (in *spaceState) count(x *entry, bytes int64) {
	in.bytes += bytes
	if in.shareBy == 0 || bytes == 0 {
		return
	}
	in.shareOf(x).bytes += bytes
	in.dropShare(x)
}
