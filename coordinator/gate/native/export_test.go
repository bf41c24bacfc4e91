package native

// Panics is how many panics were survived.
func (g *Gate) Panics() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.panics
}
