package config

import (
	"leasehold/models"
	"math"
	"time"
)

// The bounds of each setting. They keep out slips of the hand (a heartbeat of
// 2 ns, a lease of a century), not unusual wishes.

const (
	gib = 1 << 30
	day = 24 * time.Hour
)

func modeField(c *Config) value { return word{&c.Mode, Modes} }
func dataField(c *Config) value { return path{to: &c.Data, absolute: true} }
func journalField(c *Config) value {
	return word{&c.Journal, []string{JournalPebble, JournalMemory}}
}

func hostField(c *Config) value     { return address{&c.Host, GatePort} }
func listenField(c *Config) value   { return address{&c.Listen, GatePort} }
func httpField(c *Config) value     { return address{&c.HTTP, HTTPPort} }
func insecureField(c *Config) value { return truth{&c.Insecure} }

func slotsField(c *Config) value   { return count{to: &c.Slots, min: 1, max: 1024, auto: cores} }
func actionsField(c *Config) value { return words{&c.Actions, models.ActionNames()} }

func workersField(c *Config) value { return count{to: &c.Workers, min: 1, max: 1024, auto: cores} }
func heartbeatField(c *Config) value {
	return span{&c.Heartbeat, 10 * time.Millisecond, time.Minute}
}
func sessionLostField(c *Config) value {
	return span{&c.SessionLost, 20 * time.Millisecond, 10 * time.Minute}
}
func drainField(c *Config) value { return span{&c.Drain, 0, day} }

func researchTimeoutField(c *Config) value { return span{&c.ResearchTimeout, time.Second, 7 * day} }
func leaseTTLField(c *Config) value        { return span{&c.LeaseTTL, time.Second, 30 * day} }
func queueTTLField(c *Config) value        { return span{&c.QueueTTL, time.Second, 30 * day} }
func maxAttemptsField(c *Config) value     { return count{to: &c.MaxAttempts, min: 1, max: 1000} }
func releaseBackoffField(c *Config) value  { return span{&c.ReleaseBackoff, time.Millisecond, day} }
func clipLimitField(c *Config) value       { return count{to: &c.ClipLimit, min: 1, max: 10_000} }
func capacityLookField(c *Config) value {
	return span{&c.CapacityLook, 10 * time.Millisecond, time.Hour}
}

func fetchMaxBytesField(c *Config) value  { return size{&c.FetchMaxBytes, 1, 1024 * gib} }
func fetchStallField(c *Config) value     { return span{&c.FetchStall, time.Second, day} }
func fetchRedirectsField(c *Config) value { return count{to: &c.FetchRedirects, min: 0, max: 50} }
func episodeBytesField(c *Config) value   { return size{&c.EpisodeBytes, 1, math.MaxInt64} }
func cacheBytesField(c *Config) value     { return size{&c.CacheBytes, 1, math.MaxInt64} }
func allowPrivateField(c *Config) value   { return hosts{&c.AllowPrivate} }

func matchThresholdField(c *Config) value { return fraction{&c.MatchThreshold} }

func visitPolicyField(c *Config) value { return word{&c.VisitPolicy, VisitPolicies} }
func visitRulesField(c *Config) value  { return pairs{&c.VisitRules} }

func logLevelField(c *Config) value  { return level{&c.LogLevel} }
func logFormatField(c *Config) value { return word{&c.LogFormat, []string{LogText, LogJSON}} }
func traceField(c *Config) value     { return path{to: &c.Trace} }
