package segment

import "bytes"

// Sizes of chunks in bytes. Small chunks leave less text to search; larger ones compress
// better.
const (
	chunkBytes           = 4 << 10
	compressedChunkBytes = 16 << 10
)

// nextChunk returns the length of the first chunk of text: as many whole lines as size
// bytes hold, or one line if it is longer. So a line is never divided.
func nextChunk(text []byte, size int) int {
	if len(text) <= size {
		return len(text)
	}
	if i := bytes.LastIndexByte(text[:size], '\n'); i >= 0 {
		return i + 1
	}
	if i := bytes.IndexByte(text[size:], '\n'); i >= 0 {
		return size + i + 1
	}
	return len(text)
}
