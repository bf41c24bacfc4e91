package config

import "fmt"

// A rule is what two settings must keep between them.
type rule struct {
	a, b   string // keys
	must   string // what a must be, with b in it
	reason string // why, for whoever broke it
	holds  func(Config) bool
	host   bool // only for commands that may listen; others say by it where somebody does
}

var rules = []rule{
	{"listen", "insecure", "listen must be on this machine unless insecure is true",
		"nobody is authenticated in this version: whoever reaches the port may do everything",
		func(c Config) bool { return c.Insecure || IsLoopback(c.Listen) }, true},
	{"http", "insecure", "http must be on this machine unless insecure is true",
		"nobody is authenticated in this version: whoever reaches the port may do everything",
		func(c Config) bool { return c.Insecure || IsLoopback(c.HTTP) }, true},
	{"queue-ttl", "lease-ttl", "queue-ttl must be shorter than lease-ttl",
		"a task must not wait longer than the right to do it lasts",
		func(c Config) bool { return c.QueueTTL < c.LeaseTTL }, false},
	{"release-backoff", "queue-ttl", "release-backoff must be shorter than queue-ttl",
		"a task that a worker gave back would be dropped before another could take it",
		func(c Config) bool { return c.ReleaseBackoff < c.QueueTTL }, false},
	{"session-lost", "heartbeat", "session-lost must be longer than two heartbeats",
		"one late heartbeat must not end a session",
		func(c Config) bool { return c.SessionLost > 2*c.Heartbeat }, false},
	{"fetch-max-bytes", "cache-bytes", "fetch-max-bytes must not be more than cache-bytes",
		"what is fetched is kept in the cache",
		func(c Config) bool { return c.FetchMaxBytes <= c.CacheBytes }, false},
}

// broken lists the rules that c does not keep, as the settings of a command that
// may listen, or of one that does not.
func broken(c Config, host bool) Invalid {
	values := make(map[string]Value, len(Settings))
	for _, v := range c.Values() {
		values[v.Key] = v
	}
	var wrong Invalid
	for _, r := range rules {
		if r.host && !host || r.holds(c) {
			continue
		}
		a, b := values[r.a], values[r.b]
		wrong = append(wrong, Fault{Key: r.a, Text: fmt.Sprintf("%s (%s); got %s %s (%s) and %s %s (%s)",
			r.must, r.reason, a.Key, a.Value, a.Source, b.Key, b.Value, b.Source)})
	}
	return wrong
}
