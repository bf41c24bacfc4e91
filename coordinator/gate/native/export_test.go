package native

// MaxIdle is how many goroutines wait for calls.
const MaxIdle = maxIdle

// Panics is how many panics were survived.
func (g *Gate) Panics() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.panics
}
