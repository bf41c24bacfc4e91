package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space/memory"
)

// These tests set the environment and the current folder of the process, so
// they do not run in parallel.

// alone moves the test to an empty folder and removes all settings from the environment.
func alone(t *testing.T) (dir string) {
	t.Helper()
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, envPrefix) || name == "mode" {
			t.Setenv(name, "")
			require.NoError(t, os.Unsetenv(name))
		}
	}
	dir = t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "conf"))
	t.Setenv("XDG_DATA_HOME", "")
	return dir
}

func load(t *testing.T, args ...string) (Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	BindFlags(flags, Keys()...)
	require.NoError(t, flags.Parse(args))
	return Load(flags)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

func sourceOf(c Config, key string) string {
	for _, v := range c.Values() {
		if v.Key == key {
			return v.Source
		}
	}
	return ""
}

func TestDefaultsAreThoseOfTheDesign(t *testing.T) {
	dir := alone(t)
	c, err := load(t)
	require.NoError(t, err)
	require.Empty(t, c.File())
	c.sources = nil
	require.Equal(t, Config{
		Realm: "default", OwnerLost: 5 * time.Second, Hosts: []string{"localhost:7411"}, Listen: "127.0.0.1:7411", HTTP: "127.0.0.1:7412", HTTPActions: true,
		VisitSlots: 16, Slots: runtime.GOMAXPROCS(0), Actions: models.ActionNames(), CommandOutput: 256 << 10,
		Journal: JournalPebble, Data: filepath.Join(dir, ".local/share/leasehold"), Workers: runtime.GOMAXPROCS(0),
		Heartbeat: 2 * time.Second, Memory: memory.Default(), SessionMaxTTL: time.Minute, SessionLost: 6 * time.Second, Drain: 30 * time.Second,
		ResearchTimeout: 30 * time.Minute,
		LeaseTTL:        time.Hour, QueueTTL: 30 * time.Minute, MaxAttempts: 3, AlertQuiet: time.Hour, ReleaseBackoff: 30 * time.Second, Retain: 24 * time.Hour, RetainBytes: 128 << 20,
		ClipLimit: 100, CapacityLook: 5 * time.Second,
		FetchMaxBytes: 2 << 30, FetchStall: 10 * time.Minute, FetchRedirects: 5,
		CacheBytes:     20 << 30,
		EpisodeBytes:   20 << 30,
		SearchReplicas: -1, Index: true, Branches: []string{"HEAD"}, GitSchemes: []string{"https", "http", "ssh"}, GitSSH: "ssh", MirrorBytes: 50 << 30, ContentListen: "127.0.0.1:0",
		MatchThreshold: 0.6, MinCoverage: 0.4, VisitPolicy: "value", LogLevel: 4, LogFormat: LogText,
		TraceBytes: 256 << 20, TraceFiles: 8,
	}, c)
}

func TestFlagsWinOverEnvironmentOverFileOverDefaults(t *testing.T) {
	dir := alone(t)
	want := func(value int, source string, args ...string) {
		t.Helper()
		c, err := load(t, args...)
		require.NoError(t, err)
		require.Equal(t, value, c.ClipLimit)
		require.Equal(t, source, sourceOf(c, "clip-limit"))
	}
	want(100, "default")
	write(t, "conf/leasehold/leasehold.yaml", "clip-limit: 11\n")
	want(11, filepath.Join(dir, "conf/leasehold/leasehold.yaml:1"))
	write(t, "leasehold.yaml", "# ours\nclip-limit: 12\n")
	want(12, "leasehold.yaml:2")
	write(t, "other.yaml", "clip-limit: 13\n")
	t.Setenv("LEASEHOLD_CONFIG", "other.yaml")
	want(13, "other.yaml:1")
	write(t, "third.yaml", "clip-limit: 14\n")
	want(14, "third.yaml:1", "--config", "third.yaml")
	t.Setenv("LEASEHOLD_CLIP_LIMIT", "15")
	want(15, "environment variable LEASEHOLD_CLIP_LIMIT")
	want(16, "--clip-limit", "--clip-limit=16")
	t.Setenv("LEASEHOLD_CLIP_LIMIT", "") // empty is not set
	want(13, "other.yaml:1")
}

func TestEveryKindOfValueIsReadFromEveryPlace(t *testing.T) {
	dir := alone(t)
	for key, good := range map[string]struct{ text, shown string }{
		"mode":            {"worker", "worker"},
		"data":            {"d", filepath.Join(dir, "d")},
		"workers":         {"7", "7"},
		"drain":           {"0s", "0s"},
		"lease-ttl":       {"1h30m", "1h30m"},
		"fetch-max-bytes": {"500 MB", "500000000"},
		"branch":          {"main, release-*", "main,release-*"}, "git-schemes": {"ssh,https", "ssh,https"},
		"git-hosts": {"github.com", "github.com"}, "git-token": {"GitHub.com=@/t", "github.com=@/t"}, "git-ssh": {"ssh -i key", "ssh -i key"}, "mirror-bytes": {"1GiB", "1GiB"},
		"compat-listen": {"127.0.0.1", "127.0.0.1:7413"}, "content-listen": {"0.0.0.0:7413", "0.0.0.0:7413"}, "advertise": {"manager", "manager:0"},
		"match-threshold": {"0.65", "0.65"}, "min-coverage": {"1", "1"}, "visit-policy": {"seed", "seed"}, "visit-rules": {"cooldown=1h,fudge=0", "cooldown=1h,fudge=0"},
		"forge-token":   {"API.github.com=@/t", "api.github.com=@/t"},
		"host-groups":   {"a=*.a.example,*.b.example,c=c.example:*", "a=*.a.example,*.b.example,c=c.example:*"},
		"log-level":     {"debug", "debug"},
		"allow-private": {"10.0.0.0/8, ::1,[::1]:80,media.lan:8080", "10.0.0.0/8,::1,[::1]:80,media.lan:8080"},
		"prefix":        {"/queue/of.mine/", "/queue/of.mine"},
		"public-url":    {"https://127.0.0.1/leasehold/", "https://127.0.0.1/leasehold"},
		"contact":       {"crawler@example.org", "crawler@example.org"},
		"http-names":    {"coordinator.lan, *", "coordinator.lan,*"},
		"trace":         {"t.jsonl", "t.jsonl"},
	} {
		s, _ := settingByKey(key)
		shown := func(args ...string) string {
			c, err := load(t, args...)
			require.NoError(t, err)
			return s.field(&c).String()
		}
		require.Equal(t, good.shown, shown("--"+key, good.text))
		write(t, "f.yaml", key+": "+good.text+"\n")
		require.Equal(t, good.shown, shown("--config=f.yaml"))
		t.Setenv(s.envName(), good.text)
		require.Equal(t, good.shown, shown())
		t.Setenv(s.envName(), "")
	}
}

func TestAListMayBeAListInTheFileAndARepeatedFlag(t *testing.T) {
	alone(t)
	write(t, "leasehold.yaml", "allow-private:\n  - 10.0.0.0/8\n  - media.lan\n")
	c, err := load(t)
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.0/8", "media.lan"}, c.AllowPrivate)
	c, err = load(t, "--allow-private=a.lan", "--allow-private=b.lan")
	require.NoError(t, err)
	require.Equal(t, []string{"a.lan", "b.lan"}, c.AllowPrivate)
	write(t, "leasehold.yaml", "allow-private: []\n")
	c, err = load(t)
	require.NoError(t, err)
	require.Empty(t, c.AllowPrivate)
}

func TestTheFlagInsecureAloneMeansTrue(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	BindFlags(flags, "insecure", "listen")
	require.NoError(t, flags.Parse([]string{"--insecure", "--listen", "0.0.0.0"}))
	require.Equal(t, "true", flags.Lookup("insecure").Value.String())
	require.Equal(t, "0.0.0.0", flags.Lookup("listen").Value.String())
}

func TestABadValueIsReportedWithItsSourceAndWhatIsAccepted(t *testing.T) {
	const modes = `mode must be coordinator, manager or worker; got "wroker" (did you mean worker?)`
	for name, c := range map[string]struct {
		args      []string
		env, file string
		want      string
	}{
		"flag":              {args: []string{"--mode=wroker"}, want: "--mode: " + modes},
		"environment":       {env: "mode=wroker", want: "environment variable mode: " + modes},
		"file":              {file: "drain: 1s\nmode: wroker", want: "leasehold.yaml:2: " + modes},
		"far from all":      {args: []string{"--mode=x"}, want: `got "x"`},
		"no unit":           {file: "lease-ttl: 60", want: `leasehold.yaml:1: lease-ttl must be a duration from 1s to 720h with its unit, such as 90s, 10m or 1h30m; got "60"`},
		"too small":         {env: "LEASEHOLD_HEARTBEAT=1ns", want: `heartbeat must be a duration from 10ms to 1m`},
		"negative":          {args: []string{"--drain=-1s"}, want: `drain must be a duration from 0s`},
		"not a number":      {args: []string{"--clip-limit=many"}, want: `--clip-limit: clip-limit must be a whole number from 1 to 10000; got "many"`},
		"a fraction":        {file: "max-attempts: 2.5", want: `max-attempts must be a whole number from 1 to 1000; got "2.5"`},
		"number and word":   {args: []string{"--workers=0"}, want: `workers must be a whole number from 1 to 1024, or auto; got "0"`},
		"size":              {args: []string{"--cache-bytes=20 parsecs"}, want: `cache-bytes must be a number of bytes, such as 500MB or 2GiB; got "20 parsecs"`},
		"size overflows":    {args: []string{"--cache-bytes=99999999TiB"}, want: "cache-bytes must be"},
		"not a fraction":    {args: []string{"--match-threshold=NaN"}, want: `match-threshold must be a number above 0 and below 1, such as 0.6`},
		"more than all":     {args: []string{"--min-coverage=1.1"}, want: `min-coverage must be a number above 0 and at most 1, such as 0.4`},
		"level":             {args: []string{"--log-level=wran"}, want: `log-level must be debug, info, warn or error; got "wran" (did you mean warn?)`},
		"not a host":        {args: []string{"--allow-private=http://x/"}, want: `allow-private must be a list of networks`},
		"not a name":        {args: []string{"--http-names=tasks.example/x"}, want: `http-names must be a list of host names, such as coordinator.lan, or *; got "tasks.example/x"`},
		"bad prefix":        {args: []string{"--prefix=leasehold"}, want: `prefix must be a path such as /leasehold, of letters, digits, and . _ ~ -; got "leasehold"`},
		"prefix with ..":    {args: []string{"--prefix=/a/../b"}, want: `prefix must be a path`},
		"empty path":        {args: []string{"--data="}, want: `--data: data must be a path; got ""`},
		"nothing":           {file: "mode:", want: "leasehold.yaml:1: mode must be coordinator"},
		"nested":            {file: "mode:\n  a: b", want: "leasehold.yaml:1: mode must be coordinator"},
		"unknown key":       {file: "\nlease-tll: 1h", want: `leasehold.yaml:2: unknown key "lease-tll" (did you mean lease-ttl?); use one of mode, data,`},
		"twice":             {file: "drain: 1s\ndrain: 2s", want: "leasehold.yaml:2: drain is set twice; first at leasehold.yaml:1"},
		"not yaml":          {file: "mode: [", want: "leasehold.yaml: yaml:"},
		"not a map":         {file: "- mode", want: "leasehold.yaml:1: want a list of settings"},
		"unknown variable":  {env: "LEASEHOLD_LEASE_TIL=1h", want: "environment variable LEASEHOLD_LEASE_TIL: unknown setting (did you mean LEASEHOLD_LEASE_TTL?)"},
		"no such file":      {args: []string{"--config=gone.yaml"}, want: "gone.yaml: no such file"},
		"mode, in our form": {env: "LEASEHOLD_MODE=worker", want: "unknown setting"},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t)
			if k, v, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(k, v)
			}
			if c.file != "" {
				write(t, "leasehold.yaml", c.file)
			}
			_, err := load(t, c.args...)
			require.ErrorContains(t, err, c.want)
			require.ErrorIs(t, err, fault.ErrUsage)
		})
	}
}

func TestTheHostHasAVariableWithThePrefixToo(t *testing.T) {
	alone(t)
	t.Setenv("LEASEHOLD_HOST", "far:7000")
	c, err := load(t)
	require.NoError(t, err)
	require.Equal(t, []string{"far:7000"}, c.Hosts)
	t.Setenv("host", "near")
	c, err = load(t)
	require.NoError(t, err)
	require.Equal(t, []string{"far:7000"}, c.Hosts, "it counts before the one without the prefix")
	t.Setenv("LEASEHOLD_HOST", "")
	c, err = load(t)
	require.NoError(t, err)
	require.Equal(t, []string{"near:7411"}, c.Hosts)
}

func TestAHostMayBeSeveral(t *testing.T) {
	alone(t)
	t.Setenv("host", "near, far:7000,[::1]")
	c, err := load(t)
	require.NoError(t, err)
	require.Equal(t, []string{"near:7411", "far:7000", "[::1]:7411"}, c.Hosts)
	for _, text := range []string{"near,", "near,,far", "near:x,far", strings.Repeat("near,", maxHosts) + "near"} {
		t.Setenv("host", text)
		_, err = load(t)
		require.ErrorContains(t, err, "separated by commas", text)
	}
}

func TestAWorkerMayServeOnlyItsOwnActions(t *testing.T) {
	alone(t)
	c, err := load(t, "--actions=", "--exec=count=wc")
	require.NoError(t, err)
	require.Empty(t, c.Actions)
	_, err = load(t, "--actions=")
	require.ErrorContains(t, err, "actions must name an action unless exec does")
}

func TestEveryFaultIsNamedAtOnce(t *testing.T) {
	alone(t)
	write(t, "leasehold.yaml", "hartbeat: 2s\nmode: boss\n")
	_, err := load(t, "--drain=soon")
	var wrong Invalid
	require.ErrorAs(t, err, &wrong)
	require.Len(t, wrong, 3)
	require.Len(t, strings.Split(err.Error(), "\n"), 3)
}

func TestFault23QueueTTLThatIsNotShorterThanLeaseTTLIsRefused(t *testing.T) {
	alone(t)
	for _, queue := range []string{"10m", "11m"} {
		_, err := load(t, "--queue-ttl="+queue, "--lease-ttl=10m")
		require.ErrorIs(t, err, fault.ErrUsage)
		require.EqualError(t, err, "queue-ttl must be shorter than lease-ttl (a task must not wait longer than its lease lasts); got queue-ttl "+
			queue+" (--queue-ttl) and lease-ttl 10m (--lease-ttl)")
	}
	_, err := load(t, "--queue-ttl=599s", "--lease-ttl=10m")
	require.NoError(t, err)
}

func TestSettingsThatContradictEachOtherAreRefused(t *testing.T) {
	alone(t)
	for name, args := range map[string][]string{
		"auth and insecure must not both be true":           {"--auth", "--insecure"},
		"join and insecure must not both be set":            {"--join", "@line", "--insecure"},
		"http-names must have the host of public-url":       {"--public-url=https://leasehold.example", "--http-names=other.example"},
		"session-lost must be longer than two heartbeats":   {"--heartbeat=3s"},
		"release-backoff must be shorter than queue-ttl":    {"--queue-ttl=30s"},
		"fetch-max-bytes must not be more than cache-bytes": {"--cache-bytes=1GiB"},
	} {
		_, err := load(t, args...)
		require.ErrorContains(t, err, name)
		require.ErrorIs(t, err, fault.ErrUsage)
	}
}

func TestARuleHoldsOnlyForACommandThatUsesBothSettings(t *testing.T) {
	alone(t)
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	BindFlags(flags, "host", "http")
	require.NoError(t, flags.Parse([]string{"--http=10.0.0.1:80"}))
	c, err := Load(flags)
	require.NoError(t, err)
	require.Equal(t, "10.0.0.1:80", c.HTTP)
}

func TestAMissingModeIsReportedWithTheWaysToSetIt(t *testing.T) {
	alone(t)
	c, err := load(t)
	require.NoError(t, err)
	require.ErrorIs(t, c.RequireMode(), fault.ErrUsage)
	require.ErrorContains(t, c.RequireMode(), "mode is not set; set the environment variable mode")
	require.ErrorContains(t, c.RequireMode(), "coordinator, manager or worker")
	t.Setenv("mode", "worker")
	c, err = load(t)
	require.NoError(t, err)
	require.NoError(t, c.RequireMode())
}

func TestWithoutAHomeFolderTheDataFolderMustBeSet(t *testing.T) {
	alone(t)
	t.Setenv("HOME", "")
	_, err := load(t)
	require.ErrorContains(t, err, "data is not set")
	_, err = load(t, "--data=x")
	require.NoError(t, err)
}

func TestAFileLargerThanTheBoundIsRefused(t *testing.T) {
	alone(t)
	write(t, "leasehold.yaml", strings.Repeat("#\n", maxFileBytes))
	_, err := load(t)
	require.ErrorContains(t, err, "leasehold.yaml: larger than 1MiB")
}

func TestAnEmptyFileSetsNothing(t *testing.T) {
	alone(t)
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		write(t, "leasehold.yaml", text)
		_, err := load(t)
		require.NoError(t, err)
	}
}

func TestLoadWithoutFlagsReadsTheRest(t *testing.T) {
	alone(t)
	t.Setenv("LEASEHOLD_DRAIN", "1s")
	c, err := Load(nil)
	require.NoError(t, err)
	require.Equal(t, time.Second, c.Drain)
}
