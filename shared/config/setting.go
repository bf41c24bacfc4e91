package config

import (
	"math"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/space/memory"
)

// A setting is one thing that can be set.
type setting struct {
	key          string // in the file; the flag is --key
	defaultValue string // the default, as it would be written in the file; empty for none
	help         string // one line, beginning with a lower-case word
	env          string // the environment variable, if it is not LEASEHOLD_KEY
	alias        string // another one that sets it too, and counts if both are set; empty: none
	group        string // of the flag in help texts: one of groups
	usedBy       modes
	field        func(*Config) value
	userDefault  func() string // computes a default that depends on the user; it returns "" if there is none
}

// modes is a set of the commands that run a process.
type modes uint8

const (
	byCoordinator modes = 1 << iota
	byManager
	byWorker
	byRun
	byCommand // the commands that ask a coordinator

	byHost   = byCoordinator | byRun // hosts the spaces
	byClient = byManager | byWorker  // connects to a coordinator
	byAll    = byHost | byClient
)

// The commands that run a process, and their bits.
var modeBits = map[string]modes{Coordinator: byCoordinator, Manager: byManager, Worker: byWorker, Run: byRun}

// The groups of flags in help texts, in their order.
const (
	general  = "Data and logs"
	network  = "Network"
	sessions = "Sessions"
	workers  = "Workers"
	tasks    = "Tasks and leases"
	fetching = "Fetching"
	matching = "Matching"
	visits   = "Visits"
	indexing = "Code search"
)

var groups = []string{general, network, sessions, workers, tasks, fetching, matching, visits, indexing}

const (
	gib = 1 << 30
	day = 24 * time.Hour
)

// settings lists everything that can be set, in the order in which it is shown. The bounds
// catch typing errors (a heartbeat of 2 ns, a lease of a century), not unusual wishes.
var settings = []setting{
	{key: "mode", env: "mode", group: general,
		field: func(c *Config) value { return word{&c.Mode, modeNames} },
		help:  "mode to run without a command: coordinator, manager or worker"},
	{key: "data", group: general, usedBy: byAll, userDefault: userData,
		field: func(c *Config) value { return path{to: &c.Data, absolute: true} },
		help:  "folder of the catalog, the journal and the cache (default: leasehold in the user's data folder)"},
	{key: "journal", defaultValue: JournalPebble, group: general, usedBy: byHost,
		field: func(c *Config) value {
			return word{&c.Journal, []string{JournalPebble, JournalPostgres, JournalMemory}}
		},
		help: "where the spaces are kept: pebble (on disk, durable), memory, or postgres, a database in which several coordinators stand by for each other, and which has the catalog and the schedule too (docs/scaling.md)"},
	{key: "database", group: general, usedBy: byCoordinator,
		field: func(c *Config) value { return secretText{&c.Database} },
		help:  "URL of the database of journal postgres, such as postgres://USER:PASSWORD@HOST/NAME, or @FILE with it"},
	{key: "realm", defaultValue: "default", group: general, usedBy: byCoordinator,
		field: func(c *Config) value { return realm{&c.Realm} },
		help:  "name of the group of coordinators that serve in turn; another group in the same database has spaces and a catalog of its own"},
	{key: "owner-lost", defaultValue: "5s", group: general, usedBy: byCoordinator,
		field: func(c *Config) value { return span{&c.OwnerLost, time.Second, 10 * time.Minute} },
		help:  "time without a sign of life in the database after which another coordinator takes over"},
	{key: "members", group: general, usedBy: byCoordinator,
		field: func(c *Config) value { return addresses{&c.Members, GatePort} },
		help:  "gates of all coordinators of the realm for join lines, separated by commas (default: the addresses of their machines)"},
	{key: "accept-loss", defaultValue: "false", group: general, usedBy: byCoordinator,
		field: func(c *Config) value { return truth{&c.AcceptLoss} },
		help:  "start although the database has a standby that it does not wait for: when that one is promoted, the latest changes are lost"},
	{key: "identity-key", group: general, usedBy: byCoordinator,
		field: func(c *Config) value { return secretText{&c.IdentityKey} },
		help:  "key that encrypts the CA's key in the database (leasehold identity key), or @FILE with it; the same for all coordinators of a realm"},
	{key: "accept-missing", group: general, usedBy: byHost,
		field: func(c *Config) value { return word{&c.AcceptMissing, []string{"database", "journal", "identity"}} },
		help:  "start although the database, the journal or the identity is missing, or the first two too old or from another data folder; what it held is lost"},

	{key: "memory", defaultValue: "auto", group: general, usedBy: byHost,
		field: func(c *Config) value { return size{&c.Memory, 32 << 20, 1024 * gib, memory.Default} },
		help:  "memory for tuples, waiting calls, sessions and requests; puts are refused when it is used up; auto is half of the cgroup's limit or of RAM"},

	{key: "host", env: "host", alias: "LEASEHOLD_HOST", defaultValue: "localhost", group: network, usedBy: byClient,
		field: func(c *Config) value { return addresses{&c.Hosts, GatePort} },
		help:  "gate of the coordinator to connect to, or the gates of all members of its realm, separated by commas; if not set, the coordinator that runs in the data folder comes first"},
	{key: "listen", defaultValue: "127.0.0.1", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return address{&c.Listen, GatePort} },
		help:  "address of the gate, to which managers and workers connect"},
	{key: "http", defaultValue: "127.0.0.1", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return address{&c.HTTP, HTTPPort} },
		help:  "address of the coordinator's API and dashboard"},
	{key: "http-names", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return names{&c.HTTPNames} },
		help:  "host names, each with a dot, under which the API and the dashboard answer, separated by commas; * is any name"},
	{key: "http-actions", defaultValue: "true", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return truth{&c.HTTPActions} },
		help:  "offer actions on the dashboard to those whose role allows them; if false, it only shows. The API is not affected"},
	{key: "prefix", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return pathPrefix{&c.Prefix} },
		help:  "path below which a proxy serves the API and the dashboard, such as /leasehold; the proxy may strip it or leave it"},
	{key: "public-url", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return publicURL{&c.PublicURL} },
		help:  "URL at which WebSub hubs reach the path /hub/ of this coordinator; it subscribes to the hubs of feeds then (docs/visits.md)"},
	{key: "gate", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return gates{&c.Gates} },
		help:  "gate for programs of goSpace or jSpace: gospace=ADDRESS,SPACE,read|write or pspace=ADDRESS,read|write (docs/interop.md); may be repeated"},
	{key: "compat-listen", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return address{&c.CompatListen, compatPort} },
		help:  "address of the original indexer's control endpoints: POST /add, GET /repo, /tasks, /status and /log (docs/code.md); off by default"},
	{key: "auth", defaultValue: "false", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return truth{&c.Auth} },
		help:  "authenticate clients on this machine too; a coordinator that listens beyond it does so without this (docs/security.md)"},
	{key: "insecure", defaultValue: "false", group: network, usedBy: byCoordinator | byClient,
		field: func(c *Config) value { return truth{&c.Insecure} },
		help:  "listen beyond this machine without authentication: anyone who reaches the ports of a coordinator may do anything, and read the metrics of a manager or worker"},
	{key: "tls-cert", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return path{to: &c.TLSCert, absolute: true} },
		help:  "file of a certificate (PEM, with its chain) for browsers and programs; read again when it changes (default: one of the coordinator's own CA)"},
	{key: "tls-key", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return path{to: &c.TLSKey, absolute: true} },
		help:  "file of the key of tls-cert"},
	{key: "join", group: network, usedBy: byClient,
		field: func(c *Config) value { return secretText{&c.Join} },
		help:  "join line of a coordinator that authenticates (leasehold invite), or @FILE; if not set, the file " + JoinFile + ", if there is one"},
	{key: "metrics", group: network, usedBy: byClient,
		field: func(c *Config) value { return address{&c.Metrics, metricsPort} },
		help:  "address at which the process serves its own metrics for Prometheus (docs/monitoring.md); beyond this machine by TLS, to readers; off by default"},
	{key: "token", group: network, usedBy: byCommand,
		field: func(c *Config) value { return secretText{&c.Token} },
		help:  "token for a coordinator that authenticates (leasehold token create), or @FILE; on its machine the data folder has one"},
	{key: "ca", group: network, usedBy: byCommand,
		field: func(c *Config) value { return label{&c.CA} },
		help:  "fingerprint of the coordinator (leasehold identity show), or a PEM file with its CA (leasehold identity show --ca); on its machine the data folder has it"},
	{key: "quota-exempt", group: network, usedBy: byCoordinator,
		field: func(c *Config) value { return networks{&c.QuotaExempt} },
		help:  "networks without quotas on connections, sessions, waiting calls and spaces, separated by commas; loopback never has any"},

	{key: "name", group: workers, usedBy: byWorker,
		field: func(c *Config) value { return label{&c.Name} },
		help:  "name of the worker, under which tasks record that it gave them back (default: its machine and its folder in data)"},
	{key: "slots", defaultValue: "auto", group: workers, usedBy: byWorker,
		field: func(c *Config) value { return count{to: &c.Slots, min: 1, max: 1024, auto: cores} },
		help:  "tasks that the worker runs at once; auto is one per core"},
	{key: "actions", defaultValue: strings.Join(models.ActionNames(), ","), group: workers, usedBy: byWorker | byRun,
		field: func(c *Config) value {
			return words{&c.Actions, models.ActionNames(), " (exec is for your own actions)"}
		},
		help: "actions that workers serve, separated by commas; empty: only those of exec"},
	{key: "exec", group: workers, usedBy: byWorker | byRun,
		field: func(c *Config) value { return commands{&c.Commands} },
		help:  "command that runs the tasks of your own action, as ACTION=COMMAND (docs/tasks.md); may be repeated; in a file or the environment, one a line"},
	{key: "exec-dir", group: workers, usedBy: byWorker | byRun,
		field: func(c *Config) value { return path{to: &c.CommandDir, absolute: true} },
		help:  "folder in which exec commands run (default: the worker's)"},
	{key: "exec-output", defaultValue: "256KiB", group: workers, usedBy: byWorker | byRun,
		field: func(c *Config) value { return size{&c.CommandOutput, 1 << 10, 768 << 10, nil} },
		help:  "bytes that an exec command may print to standard output; one that prints more is stopped"},
	{key: "workers", defaultValue: "auto", group: workers, usedBy: byRun,
		field: func(c *Config) value { return count{to: &c.Workers, min: 1, max: 1024, auto: cores} },
		help:  "workers that run at once, with one slot each; auto is one per core"},
	{key: "heartbeat", defaultValue: "2s", group: sessions, usedBy: byAll,
		field: func(c *Config) value { return span{&c.Heartbeat, 10 * time.Millisecond, time.Minute} },
		help:  "interval of heartbeats"},
	{key: "session-lost", defaultValue: "6s", group: sessions, usedBy: byCoordinator | byClient,
		field: func(c *Config) value { return span{&c.SessionLost, 20 * time.Millisecond, 10 * time.Minute} },
		help:  "time without a heartbeat after which a session counts as lost and its tasks go to others"},
	{key: "session-max-ttl", defaultValue: "60s", group: sessions, usedBy: byCoordinator,
		field: func(c *Config) value { return span{&c.SessionMaxTTL, 20 * time.Millisecond, day} },
		help:  "longest time between heartbeats that a client may ask for; a dead client keeps what it holds for that long"},
	{key: "drain", defaultValue: "30s", group: sessions, usedBy: byWorker | byRun,
		field: func(c *Config) value { return span{&c.Drain, 0, day} },
		help:  "time to finish running tasks when the process is stopped; the rest are handed back"},

	{key: "research-timeout", defaultValue: "30m", group: tasks, usedBy: byManager | byRun,
		field: func(c *Config) value { return span{&c.ResearchTimeout, time.Second, 7 * day} },
		help:  "time without progress after which a search for clips goes to another worker"},
	{key: "lease-ttl", defaultValue: "60m", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return span{&c.LeaseTTL, time.Second, 30 * day} },
		help:  "time after which a lease expires unless it is extended"},
	{key: "queue-ttl", defaultValue: "30m", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return span{&c.QueueTTL, time.Second, 30 * day} },
		help:  "how long a task may wait for a worker; shorter than lease-ttl"},
	{key: "max-attempts", defaultValue: "3", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return count{to: &c.MaxAttempts, min: 1, max: 1000} },
		help:  "failed attempts that a task survives: with 3, it is tried up to four times before it becomes a dead letter"},
	{key: "release-backoff", defaultValue: "30s", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return span{&c.ReleaseBackoff, time.Millisecond, day} },
		help:  "pause before a task that a worker released is offered again"},
	{key: "retain", defaultValue: "24h", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return span{&c.Retain, time.Minute, 3650 * day} },
		help:  "how long finished tasks are kept, counting only coordinator uptime; at most a million tasks"},
	{key: "retain-bytes", defaultValue: "128MiB", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return size{&c.RetainBytes, 1 << 20, 64 * gib, nil} },
		help:  "disk space for finished tasks; the oldest are removed first"},
	{key: "dead-webhook", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return webURL{&c.DeadWebhook} },
		help:  "URL to which each dead letter is posted as JSON (docs/tasks.md)"},
	{key: "dead-webhook-secret", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return secretFile{&c.DeadWebhookSecret} },
		help:  "file with the secret that signs the posts of dead-webhook, as @FILE"},
	{key: "dead-webhook-allow", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return hosts{&c.DeadWebhookAllow} },
		help:  "private networks and hosts to which dead-webhook may connect, separated by commas; none by default"},
	{key: "dead-command", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return program{&c.DeadCommand} },
		help:  "command to run for each dead letter, which it gets as JSON on standard input"},
	{key: "alert-webhook", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return webURL{&c.AlertWebhook} },
		help:  "URL to which each attention item is posted once as JSON (docs/attention.md)"},
	{key: "alert-webhook-secret", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return secretFile{&c.AlertWebhookSecret} },
		help:  "file with the secret that signs the posts of alert-webhook, as @FILE"},
	{key: "alert-webhook-allow", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return hosts{&c.AlertWebhookAllow} },
		help:  "private networks and hosts to which alert-webhook may connect, separated by commas; none by default"},
	{key: "alert-command", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return program{&c.AlertCommand} },
		help:  "command to run once for each attention item, which it gets as JSON on standard input"},
	{key: "alert-quiet", defaultValue: "1h", group: tasks, usedBy: byHost,
		field: func(c *Config) value { return span{&c.AlertQuiet, time.Second, 30 * day} },
		help:  "time within which an attention item that ended and came back is not reported again"},
	{key: "clip-limit", defaultValue: "100", group: tasks, usedBy: byManager | byRun,
		field: func(c *Config) value { return count{to: &c.ClipLimit, min: 1, max: 10_000} },
		help:  "maximum number of clips in one work-item"},
	{key: "capacity-look", defaultValue: "5s", group: tasks, usedBy: byManager | byRun,
		field: func(c *Config) value { return span{&c.CapacityLook, 10 * time.Millisecond, time.Hour} },
		help:  "how often a manager checks for free workers"},

	{key: "fetch-max-bytes", defaultValue: "2GiB", group: fetching, usedBy: byClient | byRun,
		field: func(c *Config) value { return size{&c.FetchMaxBytes, 1, 1024 * gib, nil} },
		help:  "maximum size of a recording"},
	{key: "fetch-stall", defaultValue: "10m", group: fetching, usedBy: byClient | byRun,
		field: func(c *Config) value { return span{&c.FetchStall, time.Second, day} },
		help:  "time without progress after which a download fails"},
	{key: "fetch-redirects", defaultValue: "5", group: fetching, usedBy: byClient | byRun,
		field: func(c *Config) value { return count{to: &c.FetchRedirects, min: 0, max: 50} },
		help:  "maximum number of redirects to follow"},
	{key: "cache-bytes", defaultValue: "20GiB", group: fetching, usedBy: byClient | byRun,
		field: func(c *Config) value { return size{&c.CacheBytes, 1, math.MaxInt64, nil} },
		help:  "maximum size of the cache of downloads; the least recently used are removed first"},
	{key: "allow-private", group: fetching, usedBy: byClient | byRun,
		field: func(c *Config) value { return hosts{&c.AllowPrivate} },
		help:  "private networks and hosts that may be fetched from, separated by commas; none by default"},
	{key: "contact", group: fetching, usedBy: byHost | byClient,
		field: func(c *Config) value { return contact{&c.Contact} },
		help:  "URL or mail address in the User-Agent of all requests, so that administrators of servers can reach you"},

	{key: "episode-bytes", defaultValue: "20GiB", group: matching, usedBy: byWorker | byRun,
		field: func(c *Config) value { return size{&c.EpisodeBytes, 1, math.MaxInt64, nil} },
		help:  "maximum size of the fingerprints of searched episodes, 58 MB an hour of sound; the least recently used are removed first"},
	{key: "match-threshold", defaultValue: "0.6", group: matching, usedBy: byWorker | byRun,
		field: func(c *Config) value { return fraction{&c.MatchThreshold, false} },
		help:  "minimum score of a finding"},
	{key: "min-coverage", defaultValue: "0.4", group: matching, usedBy: byWorker | byRun,
		field: func(c *Config) value { return fraction{&c.MinCoverage, true} },
		help:  "minimum share of a clip that must be found; below 0.6, only parts of at least a second count"},

	{key: "visit-slots", defaultValue: "16", group: visits, usedBy: byManager | byRun,
		field: func(c *Config) value { return count{to: &c.VisitSlots, min: 1, max: 1024} },
		help:  "origins that a manager visits at once"},
	{key: "visit-policy", defaultValue: "value", group: visits, usedBy: byHost,
		field: func(c *Config) value { return policies{&c.VisitPolicy} },
		help:  "policy that decides when to visit an origin: value, seed, swh2026, swh2026-git, legacy or roundrobin; another one for a kind: value,git=swh2026-git"},
	{key: "visit-rules", group: visits, usedBy: byHost,
		field: func(c *Config) value { return pairs{&c.VisitRules} },
		help:  "thresholds of the policy, such as cooldown=1h,disable-after=5 (docs/visits.md)"},

	{key: "forge-token", group: visits, usedBy: byManager | byRun,
		field: func(c *Config) value { return tokens{&c.ForgeTokens} },
		help:  "files with API tokens for forges, as HOST=@FILE, separated by commas"},
	{key: "host-groups", group: visits, usedBy: byHost,
		field: func(c *Config) value { return hostGroups{&c.HostGroups} },
		help:  "hosts that share one visiting rate, such as acast=*.acast.com,*.acast.net"},

	{key: "search", env: "ELASTICSEARCH_URL", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return webURLs{&c.Search} },
		help:  "URL of Elasticsearch or OpenSearch, or of several of its nodes, separated by commas, to keep the code index there and not in the data folder; workers write to it directly"},
	{key: "search-prefix", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return prefix{&c.SearchPrefix} },
		help:  "prefix of all index names on the search server; each coordinator needs its own"},
	{key: "search-views", defaultValue: "false", group: indexing, usedBy: byHost,
		field: func(c *Config) value { return truth{&c.SearchViews} },
		help:  "at each publication, also write the indices files and report as the original indexer does"},
	{key: "search-shards", defaultValue: "0", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return count{to: &c.SearchShards, min: 0, max: 1024} },
		help:  "shards of the indices on the search server when they are created; 0: as the server has it set"},
	{key: "search-replicas", defaultValue: "-1", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return count{to: &c.SearchReplicas, min: -1, max: 100} },
		help:  "copies of each shard when the indices are created; -1: as the server has it set"},
	{key: "search-gzip", defaultValue: "false", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return truth{&c.SearchGzip} },
		help:  "ask the search server for compressed answers, which pays off only if the network is slow"},
	{key: "search-api-key", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return secretFile{&c.SearchAPIKey} },
		help:  "file with an API key of the search server, as @FILE"},
	{key: "search-bearer", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return secretFile{&c.SearchBearer} },
		help:  "file with a bearer token for the search server, as @FILE"},
	{key: "search-ca", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return path{to: &c.SearchCA, absolute: true} },
		help:  "file with the certificates that sign that of the search server, in PEM; by default those of the system"},
	{key: "search-cert", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return path{to: &c.SearchCert, absolute: true} },
		help:  "file with the certificate that is shown to the search server, in PEM"},
	{key: "search-key", group: indexing, usedBy: byHost | byWorker,
		field: func(c *Config) value { return path{to: &c.SearchKey, absolute: true} },
		help:  "file with the private key of search-cert, in PEM"},
	{key: "index", defaultValue: "true", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return truth{&c.Index} },
		help:  "index the files of repositories; if false, only their refs are read"},
	{key: "branch", defaultValue: "HEAD", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return patterns{&c.Branches} },
		help:  "branches to index, separated by commas: names, patterns such as release-*, or HEAD"},
	{key: "tag", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return patterns{&c.Tags} },
		help:  "tags to index beside the branches, separated by commas: names, or patterns such as v*; the newest, at most 64 with the branches; none by default"},
	{key: "history", defaultValue: "false", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return truth{&c.History} },
		help:  "keep all commits of the branches in mirrors, not only the last one"},
	{key: "git-schemes", defaultValue: strings.Join(gitSchemes, ","), group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return words{&c.GitSchemes, gitSchemes, ""} },
		help:  "URL schemes from which repositories may be fetched, separated by commas"},
	{key: "git-hosts", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return hosts{&c.GitHosts} },
		help:  "hosts from which repositories may be fetched, separated by commas; any host by default"},
	{key: "git-token", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return tokens{&c.GitTokens} },
		help:  "files with tokens for private repositories, as HOST=@FILE, separated by commas"},
	{key: "git-ssh", defaultValue: "ssh", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return label{&c.GitSSH} },
		help:  "command that connects to ssh:// repositories, such as ssh -i KEY; it cannot ask questions, so host keys must be known"},
	{key: "mirror-bytes", defaultValue: "50GiB", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return size{&c.MirrorBytes, 1 << 20, math.MaxInt64, nil} },
		help:  "maximum size of the copies of repositories; the least recently used are removed first"},
	{key: "content-listen", defaultValue: "127.0.0.1:0", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return address{&c.ContentListen, 0} },
		help:  "address at which the manager serves files to workers; port 0 is any free port"},
	{key: "advertise", group: indexing, usedBy: byManager | byRun,
		field: func(c *Config) value { return address{&c.Advertise, 0} },
		help:  "address at which workers reach content-listen, if it differs; without a port, the same port"},

	{key: "log-level", defaultValue: "warn", group: general, usedBy: byAll,
		field: func(c *Config) value { return level{&c.LogLevel} },
		help:  "minimum level of log messages: debug, info, warn or error"},
	{key: "log-format", defaultValue: LogText, group: general, usedBy: byAll,
		field: func(c *Config) value { return word{&c.LogFormat, []string{LogText, LogJSON}} },
		help:  "format of log messages: text or json"},
	{key: "trace", group: general, usedBy: byHost,
		field: func(c *Config) value { return path{to: &c.Trace} },
		help:  "file that records every operation on the spaces; off by default"},
	{key: "trace-bytes", defaultValue: "256MiB", group: general, usedBy: byHost,
		field: func(c *Config) value { return size{&c.TraceBytes, 4 << 10, 1024 * gib, nil} },
		help:  "size at which the trace file is renamed to FILE.NUMBER and a new one begins"},
	{key: "trace-files", defaultValue: "8", group: general, usedBy: byHost,
		field: func(c *Config) value { return count{to: &c.TraceFiles, min: 1, max: 100_000} },
		help:  "number of trace files to keep; the oldest is removed"},
	{key: "conform", defaultValue: "false", group: general, usedBy: byHost,
		field: func(c *Config) value { return truth{&c.Conform} },
		help:  "check the trace against the models of our protocols while it is written; without --trace, it is DATA/trace.jsonl"},
}

// defaultText returns the default of s for this user.
func (s setting) defaultText() string {
	if s.userDefault != nil {
		return s.userDefault()
	}
	return s.defaultValue
}

// envName returns the environment variable that sets s: the one that it declares, or
// LEASEHOLD_ and the key in capitals with underscores.
func (s setting) envName() string {
	if s.env != "" {
		return s.env
	}
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, "-", "_"))
}

// envNames returns the environment variables that set s, the one that counts most first.
func (s setting) envNames() []string {
	if s.alias != "" {
		return []string{s.alias, s.envName()}
	}
	return []string{s.envName()}
}

// accepts describes the values that s takes, such as "a whole number from 1 to 100".
func (s setting) accepts() string { return s.field(new(Config)).accepts() }

const envPrefix = "LEASEHOLD_"

// settingByKey finds a setting; ok is false if there is none with that key.
func settingByKey(key string) (s setting, ok bool) {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
	if i < 0 {
		return setting{}, false
	}
	return settings[i], true
}

// Keys returns the keys of all settings.
func Keys() []string {
	keys := make([]string, len(settings))
	for i, s := range settings {
		keys[i] = s.key
	}
	return keys
}

// KeysOf returns the keys of the settings that a mode uses: Coordinator, Manager, Worker or
// Run.
func KeysOf(mode string) []string {
	return slices.DeleteFunc(Keys(), func(key string) bool {
		s, _ := settingByKey(key) // Keys are known
		return s.usedBy&modeBits[mode] == 0
	})
}
