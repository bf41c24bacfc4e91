package config

import (
	"leasehold/models"
	"strings"
)

// A Setting is one thing that can be set.
type Setting struct {
	Key     string // in the file; the flag is --Key
	Default string // as it would be written in the file; empty for none
	Help    string // one line, beginning with a lower-case word
	Env     string // the environment variable, if not LEASEHOLD_KEY

	field    func(*Config) value
	fallback func() string // a default that depends on the user; empty when there is none
}

// defaultText is the default of s as it is here and now.
func (s Setting) defaultText() string {
	if s.fallback != nil {
		return s.fallback()
	}
	return s.Default
}

// EnvName returns the environment variable that sets s: the one it declares, or
// LEASEHOLD_ and the key in capitals with underscores.
func (s Setting) EnvName() string {
	if s.Env != "" {
		return s.Env
	}
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.Key, "-", "_"))
}

// Accepts says in words which values s takes, such as "a whole number from 1 to
// 100".
func (s Setting) Accepts() string { return s.field(new(Config)).accepts() }

const envPrefix = "LEASEHOLD_"

// Settings is everything that can be set, in the order in which it is shown.
// The bounds stand with the fields, in fields.go.
var Settings = []Setting{
	{Key: "mode", Env: "mode", field: modeField,
		Help: "what this process is: coordinator, manager or worker"},
	{Key: "data", field: dataField, fallback: userData,
		Help: "folder that keeps the catalog and the cache (default: leasehold in the user's data folder)"},
	{Key: "journal", Default: JournalPebble, field: journalField,
		Help: "what a coordinator keeps its spaces in: pebble (on disk, they survive it) or memory"},

	{Key: "host", Env: "host", Default: "localhost", field: hostField,
		Help: "the coordinator, for managers, workers and commands that ask it"},
	{Key: "listen", Default: "127.0.0.1", field: listenField,
		Help: "where a coordinator listens for managers and workers"},
	{Key: "http", Default: "127.0.0.1", field: httpField,
		Help: "where a coordinator serves its API and its page"},
	{Key: "insecure", Default: "false", field: insecureField,
		Help: "listen beyond this machine, although everybody who reaches the ports may then do everything"},

	{Key: "slots", Default: "auto", field: slotsField,
		Help: "tasks that a worker does at once; auto is one per core"},
	{Key: "actions", Default: strings.Join(models.ActionNames(), ","), field: actionsField,
		Help: "what a worker does, separated by commas"},
	{Key: "workers", Default: "auto", field: workersField,
		Help: "workers that run at once; auto is one per core"},
	{Key: "heartbeat", Default: "2s", field: heartbeatField,
		Help: "how often a session says that it is alive"},
	{Key: "session-lost", Default: "6s", field: sessionLostField,
		Help: "silence after which a session is lost, and what it held is back"},
	{Key: "drain", Default: "30s", field: drainField,
		Help: "time that running tasks get when the process is asked to stop; then they are handed back"},

	{Key: "research-timeout", Default: "30m", field: researchTimeoutField,
		Help: "time that a task of research may take before it is given to another worker; each report begins it anew"},
	{Key: "lease-ttl", Default: "60m", field: leaseTTLField,
		Help: "time after which a lease expires that nothing extended"},
	{Key: "queue-ttl", Default: "30m", field: queueTTLField,
		Help: "time that a task may wait for a worker; shorter than lease-ttl"},
	{Key: "max-attempts", Default: "3", field: maxAttemptsField,
		Help: "attempts at a task before it becomes a dead letter"},
	{Key: "release-backoff", Default: "30s", field: releaseBackoffField,
		Help: "pause before a task that a worker gave back is offered again"},
	{Key: "clip-limit", Default: "100", field: clipLimitField,
		Help: "clips that one work-item looks for in its episode"},
	{Key: "capacity-look", Default: "5s", field: capacityLookField,
		Help: "how often a manager looks for free workers when nothing has told it of one"},

	{Key: "fetch-max-bytes", Default: "2GiB", field: fetchMaxBytesField,
		Help: "size above which a recording is not fetched"},
	{Key: "fetch-stall", Default: "10m", field: fetchStallField,
		Help: "time without progress after which a fetch is given up"},
	{Key: "fetch-redirects", Default: "5", field: fetchRedirectsField,
		Help: "redirects that a fetch follows"},
	{Key: "cache-bytes", Default: "20GiB", field: cacheBytesField,
		Help: "size of the cache of fetched media; the least recently used goes first"},
	{Key: "allow-private", field: allowPrivateField,
		Help: "private networks and hosts that may be fetched from, separated by commas; none by default"},

	{Key: "episode-bytes", Default: "20GiB", field: episodeBytesField,
		Help: "size of what a worker keeps of researched episodes, 58 MB an hour; the least recently used goes first"},
	{Key: "match-threshold", Default: "0.6", field: matchThresholdField,
		Help: "score from which a clip counts as found"},

	{Key: "visit-policy", Default: "value", field: visitPolicyField,
		Help: "what decides when an origin is visited"},
	{Key: "visit-rules", field: visitRulesField,
		Help: "its thresholds, such as cooldown=1h,disable-after=5 (docs/visits.md)"},

	{Key: "log-level", Default: "warn", field: logLevelField,
		Help: "how much is logged: debug, info, warn or error"},
	{Key: "log-format", Default: LogText, field: logFormatField,
		Help: "how it is logged: text or json"},
	{Key: "trace", field: traceField,
		Help: "file to which every operation on the spaces is logged; none by default"},
}

// settingByKey finds a setting.
func settingByKey(key string) (Setting, bool) {
	for _, s := range Settings {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// keys lists the keys of all settings.
func keys() []string {
	ks := make([]string, 0, len(Settings))
	for _, s := range Settings {
		ks = append(ks, s.Key)
	}
	return ks
}
