package pebble

// logRecord is one whole record of a log.
type logRecord struct {
	at, end int // offsets
	payload []byte
}

// scanned is the content of a log or a manifest.
type scanned struct {
	records []logRecord
	end     int  // of the last record before the damage, or of all
	clean   bool // nothing that counts is behind end
	behind  bool // a record begins behind the damage: it is not at the end
}

// scan reads all records up to the first bytes that are not one. clean means that the log ends there, with only zeros
// or the trailer of a closed log behind. Otherwise behind tells whether a record follows the damage.
func (l log) scan() scanned {
	s := scanned{}
	at := 0
	for at < len(l.data) {
		if next, ok := l.padding(at); ok {
			at = next
			continue
		}
		if l.trailerAt(at) || zero(l.data[at:]) {
			s.clean = true
			return s
		}
		r, ok := l.recordAt(at)
		if !ok {
			_, s.behind = l.recordBehind(at + 1)
			return s
		}
		s.records = append(s.records, r)
		s.end, at = r.end, r.end
	}
	s.clean = true
	return s
}

// recordAt returns the whole record that begins at an offset, and whether there is one: a chunk,
// or a first, any middle ones and a last, with padding at the ends of blocks only. Its payload
// shares memory with the log if it is one chunk.
func (l log) recordAt(at int) (logRecord, bool) {
	r := logRecord{at: at}
	for first := true; ; first = false {
		c, ok := l.chunkAt(at)
		if !ok || c.first != first {
			return logRecord{}, false
		}
		if c.first && c.last {
			r.payload = c.payload
		} else {
			r.payload = append(r.payload, c.payload...)
		}
		r.end, at = c.end, c.end
		if c.last {
			return r, true
		}
		if next, ok := l.padding(at); ok {
			at = next
		}
		if at >= len(l.data) {
			return logRecord{}, false
		}
	}
}
