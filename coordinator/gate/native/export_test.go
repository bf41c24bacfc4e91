package native

// MaxIdle is how many goroutines wait for calls.
const MaxIdle = maxIdle

// SetMaxClientWaiters makes the limit of the calls of clients that wait smaller.
func (g *Gate) SetMaxClientWaiters(n int64) { g.maxClientWaiters = n }

// Panics is how many panics were survived.
func (g *Gate) Panics() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.panics
}
