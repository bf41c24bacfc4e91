package space

// Surveyor is what a Tx may also be: one that can look at a space whatever the
// signatures of its tuples. It is apart from Tx because it costs as much as the
// space is large, so that no protocol should need it.
type Surveyor interface {
	// Survey returns the tuples that keep accepts, in the order of the kind: those
	// that can be found, and those that are held if held says so.
	Survey(space string, held bool, keep func(Entry) bool) []Entry
}
