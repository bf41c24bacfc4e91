package config

import (
	"log/slog"
	"net/netip"
	"time"
)

// The modes of a process. Run is the other three in one process; it is not a value of the
// setting mode.
const (
	Coordinator = "coordinator"
	Manager     = "manager"
	Worker      = "worker"
	Run         = "run"
)

var modeNames = []string{Coordinator, Manager, Worker}

// Config is a complete configuration: every value is within its bounds and keeps the rules
// of the settings that the command uses. The table settings describes the fields. Copies
// share Actions, AllowPrivate and QuotaExempt, which must not be changed.
type Config struct {
	Mode string // empty if none is set: see RequireMode
	Data string // an absolute path

	Journal string // journalPebble or JournalMemory
	Memory  int64  // budget of a coordinator in bytes

	Host     string // address of the coordinator's native gate, with its port
	Listen   string // address on which a coordinator's native gate listens
	HTTP     string // address on which its API and its dashboard listen
	Insecure bool   // listen beyond loopback, without authentication

	QuotaExempt []netip.Prefix // networks whose machines have no quotas

	Slots   int      // of a worker
	Actions []string // that workers serve

	VisitSlots int // of a manager

	Workers     int
	Heartbeat   time.Duration
	SessionLost time.Duration
	// SessionMaxTTL is the longest TTL that a session may have.
	SessionMaxTTL time.Duration
	Drain         time.Duration

	ResearchTimeout time.Duration
	LeaseTTL        time.Duration
	QueueTTL        time.Duration
	MaxAttempts     int
	ReleaseBackoff  time.Duration
	ClipLimit       int
	CapacityLook    time.Duration

	FetchMaxBytes  int64
	FetchStall     time.Duration
	FetchRedirects int
	CacheBytes     int64
	AllowPrivate   []string

	EpisodeBytes   int64 // size of the kept fingerprints
	MatchThreshold float64

	VisitPolicy string // one of visitPolicies
	VisitRules  string // coordinator/visit.ParseRules reads it

	LogLevel  slog.Level
	LogFormat string // LogText or LogJSON
	Trace     string // a file's path; empty for none

	file    string
	sources map[string]string
}

// visitPolicies lists the policies of visits, the default first.
var visitPolicies = []string{"value", "seed", "swh2026", "legacy", "roundrobin"}

// The journals.
const (
	journalPebble = "pebble"
	JournalMemory = "memory"
)

// The formats of the log.
const (
	LogText = "text"
	LogJSON = "json"
)

// File returns the path of the file that was read, empty for none.
func (c Config) File() string { return c.file }

// A Value is one setting with its resolved value as text.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // "default", "--key", "environment variable NAME" or "FILE:LINE"
}

// Values returns every setting in the order of the table, with its value and its source.
func (c Config) Values() []Value {
	vs := make([]Value, 0, len(settings))
	for _, s := range settings {
		vs = append(vs, Value{Key: s.key, Value: s.field(&c).String(), Source: c.sources[s.key]})
	}
	return vs
}

// RequireMode returns an Invalid if c has no mode.
func (c Config) RequireMode() error {
	if c.Mode != "" {
		return nil
	}
	return Invalid{{Key: "mode", Text: "mode is not set; set the environment variable mode (or --mode, or mode: in the file) to " +
		orList(modeNames) + `, or use "leasehold run", which runs all three in one process`}}
}
