package pebble

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// growing knows how far the logs are written that this process has begun. A file does not
// tell: zeros are written ahead of its records (fill), and a reader that goes on while they
// become records sees zeros with records behind them, as in a damaged log.
type growing struct {
	mu      sync.Mutex
	written map[string]*atomic.Int64 // bytes of records, by path
}

// add notes a new log; its writer counts its bytes of records in the returned number.
func (g *growing) add(path string) *atomic.Int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.written == nil {
		g.written = map[string]*atomic.Int64{}
	}
	n := new(atomic.Int64)
	g.written[path] = n
	return n
}

// remove forgets a removed log, so that a long-lived process does not keep all names.
func (g *growing) remove(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.written, path)
}

// upToNow returns a reader of f. If f is the growing log, the reader ends where the records end now.
func (g *growing) upToNow(path string, f vfs.File) vfs.File {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.written[path]; n != nil {
		return &prefix{f, n.Load()}
	}
	return f
}

// prefix is the beginning of a file, read from front to back.
type prefix struct {
	vfs.File
	left int64
}

// Read returns io.EOF at the end of the prefix, also if the file goes on.
func (p *prefix) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n, err := p.File.Read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	return n, err
}
