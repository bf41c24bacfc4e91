// Package catalog is what the system remembers of the world: origins, the
// episodes and clips they list, which clips were researched in which episodes,
// what was found, and what could not be done.
//
// The interface lives here with its vocabulary; sqlite is the default driver,
// and catalogtest the one conformance suite for all of them. Every write is
// idempotent, because managers may repeat it: the catalog is always written
// before the spaces (docs/architecture.md).
//
// A recording is gone if its origin no longer lists it. Its data is kept and comes back when it is listed again.
// Until then it is neither selected, nor listed, nor counted, nor are its findings and problems.
//
// Errors that errors.Is finds: fault.ErrNotFound for an unknown id,
// fault.ErrInvalid for a value that cannot be stored (nothing is written then),
// fault.ErrUnavailable while another program locks the database or the system fails to read
// or write it, fault.ErrOverloaded while the disk is full,
// fault.ErrCorrupt for one that cannot be read, fault.ErrClosed after Close.
// All methods may be called concurrently. Times are kept in UTC, to the
// microsecond.
package catalog

import (
	"context"
	"time"

	"leasehold/models"
)

// Catalog is one store.
type Catalog interface {
	// AddOrigin adds an origin or, when its id is known, sets its priority and, unless they
	// are nil, its branches and its tags.
	// It reports whether the origin is new.
	AddOrigin(ctx context.Context, o models.Origin) (isNew bool, err error)
	// SetOriginPriority sets the priority of an origin, which its recordings get when it is visited
	// next, and returns the origin.
	SetOriginPriority(ctx context.Context, id string, priority int64) (models.Origin, error)
	Origin(ctx context.Context, id string) (models.Origin, error)
	// Origins lists all, oldest first.
	Origins(ctx context.Context) ([]models.Origin, error)
	// RemoveOrigin forgets an origin, its recordings, and their findings and
	// problems.
	RemoveOrigin(ctx context.Context, id string) error
	// RecordOutcome notes how a visit ended; a failed one is a problem of the
	// origin until another ends. An outcome older than the last one recorded
	// changes nothing. The origin moves to an address that the feed gave at each
	// successful visit for models.MoveAfter (Outcome.Move) and at which a feed
	// answers: the address becomes its URI, and its id and all that is known of it stay. It does
	// not move to the URI of another origin.
	RecordOutcome(ctx context.Context, o models.Outcome) error

	// Curate records what one visit of an origin listed. A driver may take several
	// transactions; if the process is killed in between, or Curate fails, curating the
	// listing again completes it. A
	// new recording gets at as both its dates; a known one keeps the first and
	// moves the last. One whose Media.Version changed is to be researched again:
	// its problems and researched pairs go. The findings of a clip go too; those of
	// an episode stay until a result of the new research, findings or a problem,
	// replaces them. A complete listing marks what it did not name as gone. The
	// origin's item problems are replaced by the listing's.
	//
	// A Media.Hash that the listing gives is stored; where it gives none, the
	// stored one is kept while the version is the same. Of clips with equal
	// hashes the one first curated (then the smallest id) is researched; each
	// other gets a problem that names it, which is lifted when it changes, goes
	// or is removed.
	Curate(ctx context.Context, origin string, at time.Time, l Listing) (Curated, error)
	// AudioToCheck returns episodes that an origin lists now and whose audio is on a
	// web server, at most limit: first those whose audio was checked longest ago, then
	// the latest curated. Those that could not be fetched follow, at most four times limit
	// in the same order. With each comes what the server reported at the last check of
	// the same URI, if any.
	AudioToCheck(ctx context.Context, origin string, limit int) ([]models.Audio, error)
	// AudioChecked records what servers reported, and has the episodes whose audio was replaced researched again,
	// as Curate has those of another version. Their Media.Version becomes another one, until the origin lists
	// another version. An episode that could not be fetched is fetched again if the server did not answer the last
	// check and answers now, or reports something else. It returns how many these are; repeating the call changes
	// nothing. Unknown episodes, and those that have another URI by now, are left out.
	AudioChecked(ctx context.Context, at time.Time, checked []models.Audio) (replaced int, err error)
	// Episodes lists them, latest curated first.
	Episodes(ctx context.Context) ([]models.Episode, error)
	// EpisodesOf lists a part of the episodes that f selects, in the order of Episodes and with the progress of each,
	// and counts all that it selects.
	EpisodesOf(ctx context.Context, f EpisodeFilter, p Part) (list []EpisodeProgress, total int, err error)
	Episode(ctx context.Context, id string) (models.Episode, error)
	// Waveform returns the waveform of an episode. fault.ErrNotFound: the episode is unknown, or no worker has sent the
	// waveform of its current version.
	Waveform(ctx context.Context, episode string) (models.Waveform, error)
	// Clips lists them in the order in which they are selected.
	Clips(ctx context.Context) ([]models.Clip, error)
	Clip(ctx context.Context, id string) (models.Clip, error)
	// SetEpisodePriority sets the priority of an episode, which listings do not change from
	// then on, not even if its version changes; nil returns it to the priority that its
	// origin lists. The next Select follows it.
	SetEpisodePriority(ctx context.Context, id string, priority *int64) (models.Episode, error)
	// SetClipPriority is SetEpisodePriority for a clip.
	SetClipPriority(ctx context.Context, id string, priority *int64) (models.Clip, error)

	// Select chooses what to research next: of the episodes that have a clip
	// which is neither researched, busy, nor a problem (the episode's, the
	// clip's or the pair's), the one with the highest priority, then the latest
	// initial curation date, then the first in the order of Episodes: the latest aired, the first
	// title, the smallest id; then its such clips in the
	// order of Clips, at most limit. An episode that has busy clips and no researched ones is
	// passed over, because two workers would decode it at once.
	//
	// If at least SweepShare times as many episodes of that priority, in this order, have been researched
	// for other clips and have their first such clip in common, Select chooses that clip in these
	// episodes: a sweep (models.Research), because a worker that has their landmarks searches them all
	// at once.
	// Research.Waveform is set for an episode without a waveform.
	// The number is the priority of the work: the episode's. fault.ErrNotFound means
	// that nothing is left to select.
	Select(ctx context.Context, busy []Busy, l Limits) (models.Research, int64, error)
	// Ingest records one result of research. Findings replace those of the same
	// clips in the same episode. What is for other media versions than the
	// catalog's, or for unknown ids, is dropped without an error; so is a
	// problem of a pair that was researched. A problem of an episode or a pair ends
	// the findings of earlier versions of the episode. A result that looked at clips must
	// say at which versions (ClipMedia). Hashes that the catalog lacks are taken
	// from it. A waveform replaces that of the episode, unless it is of another version. A
	// recording that could not be fetched (models.Retry) rests: it is not selected until a pause is over, which grows with each failure from a minute to two
	// days and is never shorter than the server asks. Its problem stays until it was read.
	Ingest(ctx context.Context, r models.Researched, at time.Time) error
	// Lift takes away the problems of these pairs, so that they may be selected
	// again. Problems of the episode or of a clip stay; pairs without a problem
	// and unknown ids change nothing.
	Lift(ctx context.Context, episode string, clips []string) error
	// Retry makes the recordings that a selects selectable now if they rest and, with
	// lasting, if their content or research failed; duplicates stay problems. It returns
	// how many these are. fault.ErrNotFound: an unknown episode or clip.
	Retry(ctx context.Context, a About, lasting bool) (recordings int, err error)

	// Findings lists what was found, by episode (in the order of Episodes), then
	// offset, then clip title.
	Findings(ctx context.Context) ([]Finding, error)
	// FindingsOf lists a part of those that are about something, and counts all
	// that are. About.Origin does not count.
	FindingsOf(ctx context.Context, a About, p Part) (list []Finding, total int, err error)
	// Problems lists what could not be done, oldest first.
	Problems(ctx context.Context) ([]Problem, error)
	// ProblemsOf is to Problems what FindingsOf is to Findings.
	ProblemsOf(ctx context.Context, a About, p Part) (list []Problem, total int, err error)
	// Totals counts what the other methods list.
	Totals(ctx context.Context) (Totals, error)

	// Close waits for calls under way. A second Close returns nil.
	Close() error
}

// Listing is what one visit found at an origin. The ids, origins and dates of the recordings in it are set by
// Curate (models.NewID(origin, name)), and an empty title becomes the name. Of two with one name the first
// counts; the other becomes a problem.
type Listing struct {
	Episodes []models.Episode `json:"episodes,omitempty"`
	Clips    []models.Clip    `json:"clips,omitempty"`
	Problems []models.Problem `json:"problems,omitempty" doc:"items that cannot be curated"`
	Complete bool             `json:"complete,omitempty" doc:"what is not listed is gone: true for folders, false for feeds"`
	// Latest is true for a feed that was read whole. A known episode that it does not list
	// any more stays, but its problems are not listed until it is listed again.
	Latest bool `json:"latest,omitempty" doc:"these are all items of a feed: problems of known episodes that are not listed are hidden"`
}

// Curated counts what a listing changed. Changed are those to be looked at
// again: of another version, or listed again after they were gone.
type Curated struct {
	New     int `json:"new"`
	Changed int `json:"changed" doc:"to be researched again"`
	Gone    int `json:"gone"`
}

// Eventful reports whether the listing changed anything.
func (c Curated) Eventful() bool { return c != Curated{} }

// Limits are what one Select may choose.
type Limits struct {
	Clips    int      `json:"limit" doc:"most clips of one episode" schema:"minimum: 1"`
	Episodes int      `json:"episodes,omitempty" doc:"most episodes of a sweep, in which one clip is to be found; 0: no sweeps" schema:"minimum: 0"`
	Unswept  []string `json:"unswept,omitempty" doc:"ids of clips without a sweep"`
}

// SweepShare is how many times more episodes than clips are to be researched if a clip is selected for
// many episodes at once, and not an episode for many clips.
const SweepShare = 4

// Busy names parts of an episode that are in progress: a live lease, or
// a result that waits. Clips nil stands for none. Of a sweep, Episode is the clip and Clips are
// its episodes.
type Busy struct {
	Episode string   `json:"episode" doc:"id"`
	Clips   []string `json:"clips,omitempty" doc:"ids"`
}

// About selects findings and problems by ids; an empty id matches all.
type About struct{ Origin, Episode, Clip string }

// EpisodeFilter selects episodes by the id of their origin and by a text in their title; an empty field matches all.
// ASCII letters of the title match in upper and lower case.
type EpisodeFilter struct{ Origin, Title string }

// EpisodeProgress is an episode and what its research has led to. It counts what the other methods list.
type EpisodeProgress struct {
	models.Episode
	Researched int `json:"researched" doc:"clips that were searched in it"`
	Findings   int `json:"findings" doc:"places at which clips were found in it"`
	Problems   int `json:"problems"`
}

// Part is a part of a list: at most Limit of it, after the first Offset. Limit -1 is
// all the rest.
type Part struct{ Offset, Limit int }

// Finding is where a clip is played in an episode, with the titles that people know. It is
// one type from the database to the printed row: the API and the commands show it as it is.
type Finding struct {
	EpisodeTitle string `json:"episode" doc:"title"`
	ClipTitle    string `json:"clip" doc:"title"`
	models.Occurrence
	EpisodeID  string `json:"episode_id"`
	ClipID     string `json:"clip_id"`
	EpisodeURI string `json:"episode_uri"`
	// Within names a clip found around this one: of those in the same episode that last longer, the shortest. It
	// is computed from all findings of the episode when they are read, because the clips may belong to different
	// work-items.
	WithinTitle string `json:"within,omitempty" doc:"title of a longer clip that is found around this one; absent if there is none"`
	WithinID    string `json:"within_id,omitempty" doc:"its id"`
	// Aired is that of the episode.
	Aired time.Time `json:"aired,omitzero" doc:"when the episode was aired; absent if that is unknown"`
}

// WithinTolerance is by how much a finding may extend beyond either end of the one that it
// lies within, and MaxFindingLength how long one lasts at most: a clip of two minutes,
// played slowly.
const (
	WithinTolerance  = 50 * time.Millisecond
	MaxFindingLength = 132 * time.Second
)

// Problem is an input that cannot be processed, with the titles that people know. Fields that do not apply are
// empty. For a problem of research, origin and item name its episode, or its clip if there is no episode. The
// problems of several pairs of one episode are one if they have the same reason, because they have the same
// cause.
type Problem struct {
	Reason       string    `json:"reason"`
	At           time.Time `json:"at"`
	RetryAt      time.Time `json:"retry_at,omitzero" doc:"when the recording is fetched again, if it could not be fetched and rests"`
	OriginURI    string    `json:"origin,omitempty" doc:"URI"`
	Item         string    `json:"item,omitempty" doc:"the name that the origin gives it"`
	EpisodeTitle string    `json:"episode,omitempty" doc:"title"`
	ClipTitle    string    `json:"clip,omitempty" doc:"title"`
	Clips        int       `json:"clips,omitempty" doc:"for how many clips the episode has this problem, if for several; then no clip is named"`
	OriginID     string    `json:"origin_id,omitempty"`
	EpisodeID    string    `json:"episode_id,omitempty"`
	ClipID       string    `json:"clip_id,omitempty"`
	// Harmless: nobody has to act, because the clip is researched under another name, or the recording is fetched
	// again now.
	Harmless bool `json:"-"`
	// NoClip: the item is a file of a folder of clips that cannot be one, such as a silent one.
	NoClip bool `json:"-"`
}

// Totals counts what the catalog holds, without recordings that are gone.
type Totals struct {
	Origins    int `json:"origins"`
	Episodes   int `json:"episodes"`
	Clips      int `json:"clips"`
	Findings   int `json:"findings"`
	Problems   int `json:"problems"`
	Researched int `json:"researched" doc:"pairs of episode and clip"`
}
