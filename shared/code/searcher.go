package code

import (
	"context"
	"time"
)

// A Searcher is an index of code. Its methods may be called concurrently.
type Searcher interface {
	// Search calls visit for each match of q until visit returns false or a limit of o is
	// reached. The best RankedMatches of all matches come first, ordered by score, then by
	// repository, path and line; if the search's time does not allow to rank all,
	// Stats.RankedOf tells. The others follow in an order that is the same in each search of an
	// unchanged index. Each repository is
	// searched as one generation. If a limit is reached, the error is nil and Stats.Stopped names it. If ctx ends,
	// Search returns its cause.
	Search(ctx context.Context, q Query, o Options, visit func(Match) bool) (Stats, error)

	// Missing returns those of ids that are neither indexed nor known as skipped, in the
	// order of ids, each once.
	Missing(ctx context.Context, ids []OID) ([]OID, error)

	// PutBlobs adds blobs, which are durable when it returns. A blob indexed already is left alone,
	// so a batch may be put several times. A blob past a limit is kept as skipped, with the reason;
	// a symbol whose line the blob does not have is dropped. The index does not keep the blobs'
	// memory. batchID names the batch in errors.
	//
	// A blob that no generation names is kept for a day at least.
	PutBlobs(ctx context.Context, batchID string, blobs []Blob) error

	// Publish replaces the generation of m.RepoID by m at once, durably. It returns
	// fault.ErrConflict if blobs of m are missing: ask Missing again, put them, repeat.
	Publish(ctx context.Context, m Manifest) error

	// DropRepo removes the generation of a repository, and nothing of any other. It
	// returns nil if there is none.
	DropRepo(ctx context.Context, repoID string) error
}

// RankedMatches is how many matches of a search come ordered by score.
const RankedMatches = 50

// RankingShare is the part of a search's time that ranking may take, as a divisor: after a quarter
// the search delivers what it has found.
const RankingShare = 4

// Options limit a search. The zero value has no limit of matches and the default limits
// of time and memory.
type Options struct {
	Limit    int           // of matches; 0: all
	Context  int           // lines before and after each match, at most MaxContext
	Timeout  time.Duration // 0: DefaultTimeout
	MaxBytes int64         // of memory beside the mapped index; 0: DefaultMaxBytes
}

// Limits of a search.
const (
	DefaultTimeout  = 10 * time.Second
	DefaultMaxBytes = 64 << 20
	MaxContext      = 10
	MaxTextBytes    = 1024 // of Match.Text and of each line of context
)

// A Match is one line of one file that matches, or a file.
type Match struct {
	RepoID string
	Repo   string
	Refs   []string // those in which Path has this content, in the manifest's order
	Commit string   // of the first of Refs
	// Branch is the first of Refs, if the repository has others without this content at
	// Path; else it is empty, because the match is in all of them.
	Branch string
	Path   string
	OID    OID
	Lang   string
	Line   int    // from 1; 0 if the file matches by its path or its filters only
	Text   string // the line without its line feed; at most MaxTextBytes of it, around the first range
	Column int    // bytes of the line before Text
	Ranges []Range
	Before []string // context, in the order of the file
	After  []string
	Symbol *Symbol // the definition in this line that matches, if any
	Score  float64
}

// A Range is a part of Match.Text that matched, in bytes.
type Range struct{ Start, End int }

// Stats is about one search.
type Stats struct {
	Repos        int            // searched: those that filters do not exclude
	Files        int            // with at least one match that was visited
	Matches      int            // visited
	Skipped      map[string]int // files that the filters do not exclude and that are not indexed, by reason
	Missing      int            // files that the index has lost and that may have matches: segments and lists of files; of a search server, source files
	Fetching     bool           // the repositories of missing files are visited again; a coordinator's index sets it
	RankedOf     int            // the best matches are those of the first RankedOf found; 0: of all
	Stopped      string         // StoppedLimit, StoppedTime, StoppedMemory; empty if the search was complete
	Hints        []string       // why nothing can match, and exclusions without effect; a coordinator's index sets it
	Elapsed      time.Duration
	BytesScanned int64 // of text that was read to verify candidates
}

// Values of Stats.Stopped. A search that visit ended has StoppedLimit.
const (
	StoppedLimit  = "limit"
	StoppedTime   = "time"
	StoppedMemory = "memory"
)
