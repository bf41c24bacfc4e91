// Package lockedbuffer is a buffer for tests: a log or an output that one goroutine writes while another reads it.
package lockedbuffer

import (
	"bytes"
	"sync"
)

// Buffer is an empty buffer. Its methods may be called concurrently. It must not be copied after its first use.
type Buffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

// Write appends p. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns everything that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
