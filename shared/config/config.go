package config

import (
	"log/slog"
	"net/netip"
	"time"

	"leasehold/shared/process/wording"
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
// share lists and maps, which must not be changed.
type Config struct {
	Mode string // empty if none is set: see RequireMode
	Data string // an absolute path

	Journal string // JournalPebble, JournalPostgres or JournalMemory
	// Database is the URL of the database of JournalPostgres, or @FILE. Realm names the group of coordinators that serve
	// in turn there, and OwnerLost is the time without a sign of life after which one of them takes over.
	Database    string
	Realm       string
	OwnerLost   time.Duration
	Members     []string // gates of all coordinators of the realm, for join lines; empty: those that the members have
	AcceptLoss  bool     // of the changes that a standby of the database does not have yet when it is promoted
	IdentityKey string   // that encrypts the CA's key in the database, or @FILE; empty: none

	AcceptMissing string // pairing.Database, pairing.Journal or identity; empty: nothing may be missing
	Memory        int64  // budget of a coordinator in bytes

	Hosts  []string // addresses of the coordinator's native gate, or of those of all members of its realm, with their ports
	Listen string   // address on which a coordinator's native gate listens
	HTTP   string   // address on which its API and its dashboard listen
	// CompatListen is the address of the control endpoints of the original indexer; empty: none.
	CompatListen string
	Metrics      string // address of the metrics of a manager or worker; empty: none
	Gates        []Gate // for programs that speak foreign protocols
	Insecure     bool   // listen beyond loopback, without authentication
	Auth         bool   // authenticate on loopback too; see Authenticates
	TLSCert      string // file of a certificate for browsers and programs, as PEM; empty: one of the coordinator's CA
	TLSKey       string // file of its key
	Join         string // join line of a process of the fleet, or @FILE; empty: none
	Token        string // of a command, or @FILE; empty: that of the data folder, if it has one
	CA           string // fingerprint of a coordinator's CA; empty: that of the data folder, or the system's CAs

	HTTPNames   []string       // names by which clients may call the API, such as coordinator.lan
	HTTPActions bool           // offer actions on the dashboard
	Prefix      string         // path below which a proxy serves the API and the dashboard, without a slash at its end; empty: none
	PublicURL   string         // at which hubs reach the API, without a slash at its end; empty: no hub can
	QuotaExempt []netip.Prefix // networks whose machines have no quotas

	Name    string   // of a worker, the same after a restart; empty: its machine and its folder
	Slots   int      // of a worker
	Actions []string // that workers serve

	Commands      []Command // that do the tasks of further actions
	CommandDir    string    // in which they run; empty: the folder of the process
	CommandOutput int64     // bytes that they may print on standard output

	VisitSlots int // of a manager

	Workers     int
	Heartbeat   time.Duration
	SessionLost time.Duration
	// SessionMaxTTL is the longest TTL that a session may have.
	SessionMaxTTL time.Duration
	Drain         time.Duration

	ResearchTimeout   time.Duration
	LeaseTTL          time.Duration
	QueueTTL          time.Duration
	MaxAttempts       int
	ReleaseBackoff    time.Duration
	Retain            time.Duration // of ended tasks
	RetainBytes       int64
	DeadWebhook       string   // URL; empty: none
	DeadWebhookSecret string   // a file's path
	DeadWebhookAllow  []string // networks and hosts
	DeadCommand       []string // the program and its arguments; empty: none

	AlertWebhook       string // as the four above, for attention items
	AlertWebhookSecret string
	AlertWebhookAllow  []string
	AlertCommand       []string
	AlertQuiet         time.Duration // an item that comes back within it is not reported again
	ClipLimit          int
	CapacityLook       time.Duration

	FetchMaxBytes  int64
	FetchStall     time.Duration
	FetchRedirects int
	CacheBytes     int64
	AllowPrivate   []string
	Contact        string // URL or mail address in the User-Agent; empty: none

	EpisodeBytes   int64 // size of the kept fingerprints
	MatchThreshold float64
	MinCoverage    float64 // share of a clip

	Search                          string            // URLs of a search server, with commas between them, which may have a password; empty: the embedded index
	SearchPrefix                    string            // of the names of its indices
	SearchViews                     bool              // whether it also has the indices of the original indexer
	SearchShards                    int               // of its indices; 0: as the server has it set
	SearchReplicas                  int               // of its indices; -1: as the server has it set
	SearchGzip                      bool              // whether its answers are compressed
	SearchAPIKey, SearchBearer      string            // files with secrets for it; empty: none
	SearchCA, SearchCert, SearchKey string            // files in PEM; empty: none
	Index                           bool              // whether the files of repositories are indexed
	Branches                        []string          // patterns of the branches that are indexed; HEAD is one
	Tags                            []string          // patterns of the tags that are indexed beside the branches
	History                         bool              // whether mirrors have all commits
	GitSchemes                      []string          // of URLs of repositories that are accepted
	GitHosts                        []string          // of repositories that are accepted; empty: every host
	GitTokens                       map[string]string // files with tokens, by host
	GitSSH                          string            // command for ssh URLs
	MirrorBytes                     int64             // size of all mirrors
	ContentListen                   string            // address at which a manager serves files to workers
	Advertise                       string            // address at which workers reach it; empty: ContentListen

	VisitPolicy string // shared/protocol/visit/policy.ParsePlan reads it, and VisitRules
	VisitRules  string
	ForgeTokens map[string]string // files with tokens, by host
	HostGroups  string            // shared/protocol/visit/policy.ParseHostGroups reads it

	LogLevel  slog.Level
	LogFormat string // LogText or LogJSON
	Trace     string // a file's path; empty for none

	TraceBytes int64 // of a file of the trace, before the next one is begun
	TraceFiles int   // of the trace that are kept
	Conform    bool  // check the trace while it is written

	file    string
	sources map[string]string
}

// gitSchemes lists the schemes of URLs of repositories.
var gitSchemes = []string{"https", "http", "ssh"}

// The journals.
const (
	JournalPebble   = "pebble"
	JournalPostgres = "postgres"
	JournalMemory   = "memory"
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

// RequireMode returns an Invalid, which names the ways to set it, if c has no mode.
func (c Config) RequireMode() error {
	if c.Mode != "" {
		return nil
	}
	return Invalid{{Key: "mode", Text: "mode is not set; set the environment variable mode (or --mode, or mode: in the file) to " +
		wording.Or(modeNames...) + `, or use "leasehold run", which runs all three in one process; "leasehold --help" lists all commands`}}
}
