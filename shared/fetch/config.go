package fetch

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
)

// The defaults of Config.
const (
	DefaultMaxBytes     = 2 << 30          // holds 4 hours of 16-bit stereo at 37 kHz, or 35 h of MP3 at 128 kbit/s
	DefaultStall        = 10 * time.Minute // longer than any retry of a sane server
	DefaultMaxRedirects = 5                // podcast trackers chain three or four
	DefaultCacheBytes   = 20 << 30
)

const (
	// maxRatio is by how much an encoded body may grow: text compresses 10 to 50
	// times, DEFLATE's bombs 1,000 times.
	maxRatio = 200
	// ratioGrace is decoded before the ratio counts, so that a short page of
	// spaces is no bomb.
	ratioGrace = 1 << 20
	// stallBytes must come within each Stall: a server that drips one byte at a
	// time makes no progress.
	stallBytes     = 4 << 10
	maxHeaderBytes = 256 << 10
	dialTimeout    = 30 * time.Second
	userAgent      = "leasehold"
)

// Config says what may be fetched, and how much. The zero value of each number
// stands for its default.
type Config struct {
	Dir          string        // the cache's folder; made if need be
	MaxBytes     int64         // of one fetched file, after decoding; local files are not limited
	Stall        time.Duration // without progress, after which a transfer ends
	MaxRedirects int
	CacheBytes   int64 // of all cached files; those in use may exceed it

	// AllowPrivate names what may be dialled although its address is not public:
	// hosts ("nas.local"), hosts with a port ("127.0.0.1:8080") and networks
	// ("10.1.0.0/16").
	AllowPrivate []string
	// Roots are the folders, absolute, below which local files may be read.
	Roots []string
}

func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, fmt.Errorf("fetch.New: the cache needs a folder: %w", fault.ErrInvalid)
	}
	if c.MaxBytes < 0 || c.Stall < 0 || c.MaxRedirects < 0 || c.CacheBytes < 0 {
		return c, fmt.Errorf("fetch.New: a limit is negative: %w", fault.ErrInvalid)
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.Stall == 0 {
		c.Stall = DefaultStall
	}
	if c.MaxRedirects == 0 {
		c.MaxRedirects = DefaultMaxRedirects
	}
	if c.CacheBytes == 0 {
		c.CacheBytes = DefaultCacheBytes
	}
	return c, nil
}
