package fetch

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
)

// Defaults of Config.
const (
	defaultMaxBytes     = 2 << 30          // holds 4 hours of 16-bit stereo at 37 kHz, or 35 h of MP3 at 128 kbit/s
	defaultStall        = 10 * time.Minute // longer than the retries of a server's own storage
	defaultMaxRedirects = 5                // podcast trackers chain three or four
	defaultCacheBytes   = 20 << 30
)

const (
	// maxRatio limits the growth of an encoded body: text compresses 10 to 50 times, a
	// DEFLATE bomb 1,000 times.
	maxRatio = 200
	// ratioGrace is the number of decoded bytes below which the ratio is not checked,
	// because a short page may consist of spaces.
	ratioGrace = 1 << 20
	// stallBytes must arrive within each Stall, so that a server that sends single bytes
	// does not count as making progress.
	stallBytes     = 4 << 10
	maxHeaderBytes = 256 << 10
	dialTimeout    = 30 * time.Second
)

// Config has the limits of a Fetcher and what it may access. A number of 0 is replaced by its
// default.
type Config struct {
	Dir          string        // of the cache; created if it does not exist
	MaxBytes     int64         // of one fetched file, after decoding; local files are not limited
	Stall        time.Duration // time without progress after which a transfer ends
	MaxRedirects int
	Contact      string // URL or mail address in the User-Agent; empty: none
	CacheBytes   int64  // of all cached files; files in use may exceed it

	// AllowPrivate lists what may be dialled although its address is not public: hosts
	// ("nas.local"), hosts with a port ("127.0.0.1:8080") and networks ("10.1.0.0/16").
	AllowPrivate []string
	// Roots are the folders, absolute, below which local files may be read.
	Roots []string
}

// withDefaults returns the configuration with defaults for limits that are 0. Other fields stay as they are.
func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, fmt.Errorf("fetch.New: Dir is empty: want the folder of the cache: %w", fault.ErrInvalid)
	}
	if c.MaxBytes < 0 || c.Stall < 0 || c.MaxRedirects < 0 || c.CacheBytes < 0 {
		return c, fmt.Errorf("fetch.New: limits must not be negative: %w", fault.ErrInvalid)
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.Stall == 0 {
		c.Stall = defaultStall
	}
	if c.MaxRedirects == 0 {
		c.MaxRedirects = defaultMaxRedirects
	}
	if c.CacheBytes == 0 {
		c.CacheBytes = defaultCacheBytes
	}
	return c, nil
}
