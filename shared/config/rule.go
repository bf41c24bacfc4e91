package config

import (
	"fmt"
	"strings"
)

// A rule relates two settings.
type rule struct {
	key    string
	other  string // key of the other setting
	must   string
	reason string
	holds  func(Config) bool
}

var rules = []rule{
	{"auth", "insecure", "auth and insecure must not both be true",
		"one authenticates clients, and the other one does not",
		func(c Config) bool { return !c.Auth || !c.Insecure }},
	{"join", "insecure", "join and insecure must not both be set",
		"a process that joins is authenticated and encrypts",
		func(c Config) bool { return c.Join == "" || !c.Insecure }},
	{"tls-cert", "tls-key", "tls-cert and tls-key must be set together",
		"a certificate is of no use without its key",
		func(c Config) bool { return (c.TLSCert == "") == (c.TLSKey == "") }},
	{"gate", "insecure", "each gate beyond this machine must have role=reader, role=producer or role=worker in place of read or write, unless insecure is true",
		"foreign programs cannot authenticate, so the gate has to tell what they may do",
		func(c Config) bool {
			return c.Insecure || areFenced(c.Gates, func(g Gate) bool { return g.Role != "" })
		}},
	{"gate", "insecure", "each gate beyond this machine must have allow=NETWORK, such as allow=10.0.0.0/8, unless insecure is true",
		"foreign programs cannot authenticate: everybody in the network may use the spaces",
		func(c Config) bool {
			return c.Insecure || areFenced(c.Gates, func(g Gate) bool { return len(g.Allow) > 0 })
		}},
	{"journal", "database", "database must be set if journal is postgres, and only then",
		"it is where that journal is",
		func(c Config) bool { return (c.Journal == JournalPostgres) == (c.Database != "") }},
	{"compat-listen", "http", "compat-listen and http must be different addresses",
		"both speak HTTP, and have other paths",
		func(c Config) bool { return c.CompatListen != c.HTTP || strings.HasSuffix(c.HTTP, ":0") }},
	{"queue-ttl", "lease-ttl", "queue-ttl must be shorter than lease-ttl",
		"a task must not wait longer than its lease lasts",
		func(c Config) bool { return c.QueueTTL < c.LeaseTTL }},
	{"release-backoff", "queue-ttl", "release-backoff must be shorter than queue-ttl",
		"a task that a worker released would be dropped before another could claim it",
		func(c Config) bool { return c.ReleaseBackoff < c.QueueTTL }},
	{"actions", "exec", "actions must name an action unless exec does",
		"a worker without actions would do nothing",
		func(c Config) bool { return len(c.Actions) > 0 || len(c.Commands) > 0 }},
	{"dead-webhook", "dead-webhook-secret", "dead-webhook and dead-webhook-secret must be set together",
		"the receiver checks the signature, because anybody could post to it",
		func(c Config) bool { return (c.DeadWebhook == "") == (c.DeadWebhookSecret == "") }},
	{"alert-webhook", "alert-webhook-secret", "alert-webhook and alert-webhook-secret must be set together",
		"the receiver checks the signature, because anybody could post to it",
		func(c Config) bool { return (c.AlertWebhook == "") == (c.AlertWebhookSecret == "") }},
	{"session-lost", "heartbeat", "session-lost must be longer than two heartbeats",
		"one late heartbeat must not end a session",
		func(c Config) bool { return c.SessionLost > 2*c.Heartbeat }},
	{"session-lost", "session-max-ttl", "session-lost must not be longer than session-max-ttl",
		"managers and workers open sessions of that TTL",
		func(c Config) bool { return c.SessionLost <= c.SessionMaxTTL }},
	{"public-url", "http-names", "http-names must have the host of public-url",
		"requests with another host are refused (DNS rebinding)",
		func(c Config) bool { return c.PublicURL == "" || allowsHost(c.HTTPNames, c.PublicURL) }},
	{"fetch-max-bytes", "cache-bytes", "fetch-max-bytes must not be more than cache-bytes",
		"fetched recordings are kept in the cache",
		func(c Config) bool { return c.FetchMaxBytes <= c.CacheBytes }},
}

// brokenRules returns a fault for each rule that c breaks, of the rules between settings
// that are both in use (uses).
func brokenRules(c Config, uses func(key string) bool) Invalid {
	values := make(map[string]Value, len(settings))
	for _, v := range c.Values() {
		values[v.Key] = v
	}
	var wrong Invalid
	for _, r := range rules {
		inUse := uses(r.key) && uses(r.other)
		if !inUse || r.holds(c) {
			continue
		}
		v, other := values[r.key], values[r.other]
		wrong = append(wrong, Fault{Key: r.key, Text: fmt.Sprintf("%s (%s); got %s %s (%s) and %s %s (%s)",
			r.must, r.reason, v.Key, v.Value, v.Source, other.Key, other.Value, other.Source)})
	}
	return wrong
}
