package admission

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base32"
	"strings"
	"sync"
	"time"

	"leasehold/shared/catalog/sqldb"
)

//go:embed migrations/*.sql migrations/postgres/*.sql
var migrations embed.FS

// Schema is the store's part of a database file.
func Schema() sqldb.Schema { return sqldb.Schema{Name: "admission", Migrations: migrations} }

// Store is whom a coordinator admits. Its methods may be called concurrently.
type Store struct {
	file sqldb.Database
	now  func() time.Time

	mu     sync.Mutex // guards what follows, which is as the file has it
	tokens map[[sha256.Size]byte]Token
	peers  map[string]Peer
	admin  [sha256.Size]byte // of the token of the coordinator's own user; zero: none
}

// New returns the store in a file with Schema. The caller closes the file.
func New(ctx context.Context, file sqldb.Database, now func() time.Time) (*Store, error) {
	s := &Store{file: file, now: now, tokens: map[[sha256.Size]byte]Token{}, peers: map[string]Peer{}}
	err := file.Read(ctx, "open the admission", func(c *sqldb.Conn) error {
		if err := s.loadTokens(c); err != nil {
			return err
		}
		return s.loadPeers(c)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// encoding writes random bytes so that a person can read them out, and nothing in them needs quotes.
var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// random returns the text of n random bytes.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return encoding.EncodeToString(b)
}

func hashOf(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// seconds returns a time as the tables have it.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// timeOf returns the time of seconds; the zero Time for 0.
func timeOf(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// list splits a text of names that are separated by commas; an empty text has none.
func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
