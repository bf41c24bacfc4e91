package pebble

// A room is what the disk has left.
type room struct {
	memTable uint64
}

func newRoom(Config) *room { return &room{memTable: 8 << 20} }

func (r *room) exhausted() bool { return false }
