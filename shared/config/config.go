package config

import (
	"log/slog"
	"time"
)

// The modes of a process.
const (
	Coordinator = "coordinator"
	Manager     = "manager"
	Worker      = "worker"
)

// Modes lists every mode, for messages that say what is accepted.
var Modes = []string{Coordinator, Manager, Worker}

// Config is a complete configuration: every value is within its bounds and
// agrees with the others. Its fields are described in Settings. It is a value;
// copies share AllowPrivate, which nobody changes.
type Config struct {
	Mode string // empty when none was given: see RequireMode
	Data string // an absolute path

	Journal string // JournalPebble or JournalMemory

	Host     string // of the coordinator's native gate, with its port
	Listen   string // where a coordinator's native gate listens
	HTTP     string // where its API and its page do
	Insecure bool   // listen beyond loopback although nobody is authenticated

	Slots   int      // tasks at a time, of a worker
	Actions []string // that a worker serves

	Workers     int
	Heartbeat   time.Duration
	SessionLost time.Duration
	Drain       time.Duration

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

	EpisodeBytes   int64 // of what is kept of researched episodes
	MatchThreshold float64

	VisitPolicy string // one of VisitPolicies
	VisitRules  string // as coordinator/visit.ParseRules reads them

	LogLevel  slog.Level
	LogFormat string // LogText or LogJSON
	Trace     string // a file's path; empty for none

	file    string
	sources map[string]string
}

// VisitPolicies lists what decides when an origin is visited, the default first.
var VisitPolicies = []string{"value", "seed", "swh2026", "legacy", "roundrobin"}

// What the spaces are kept in.
const (
	JournalPebble = "pebble"
	JournalMemory = "memory"
)

// The formats of the log.
const (
	LogText = "text"
	LogJSON = "json"
)

// File returns the path of the file that was read, empty for none.
func (c Config) File() string { return c.file }

// A Value is one setting as it was resolved, for people to read.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"` // "default", "--key", "environment variable NAME" or "FILE:LINE"
}

// Values lists every setting in the order of Settings, with its value and where
// that came from.
func (c Config) Values() []Value {
	vs := make([]Value, 0, len(Settings))
	for _, s := range Settings {
		vs = append(vs, Value{Key: s.Key, Value: s.field(&c).String(), Source: c.sources[s.Key]})
	}
	return vs
}

// RequireMode returns an Invalid that says what to do when c has no mode.
func (c Config) RequireMode() error {
	if c.Mode != "" {
		return nil
	}
	return Invalid{{Key: "mode", Text: "mode is not set; set the environment variable mode (or --mode, or mode: in the file) to " +
		orList(Modes) + `, or use "leasehold run", which is all three in one process`}}
}
