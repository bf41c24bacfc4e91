package set

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// version of the sets: it goes up when the same recipe would give another set.
const version = 3

// truthFile is the name of the truth in a set's folder.
const truthFile = "truth.json"

// Kind says what a clip is.
type Kind string

// The kinds of clips.
const (
	Speech Kind = "speech"
	Music  Kind = "music"
	Effect Kind = "effect"
)

// Set is the truth about one built set. All times are in seconds.
type Set struct {
	Dir       string     `json:"-"` // that its files are in
	Name      string     `json:"name"`
	Version   int        `json:"version"`
	Seed      uint64     `json:"seed"`
	Packages  []string   `json:"packages"` // name_version_architecture
	Clips     []Clip     `json:"clips"`
	Relations []Relation `json:"relations"`
	Left      []Clip     `json:"-"` // all clips, when this is a part of a set
	Episodes  []Episode  `json:"episodes"`
}

// Clip is one short recording.
type Clip struct {
	ID        string  `json:"id"`
	File      string  `json:"file"` // relative to the set's folder
	Kind      Kind    `json:"kind"`
	Source    string  `json:"source"` // package and file that it comes from
	DurationS float64 `json:"duration_s"`
	Class     string  `json:"class"`           // the id of the first clip that it is related to
	Loops     bool    `json:"loops,omitempty"` // its class shares parts that come again (Relation.Part)
	Played    bool    `json:"played"`
}

// Relation says that a clip is heard within another one, by clean correlation.
type Relation struct {
	Clip    string  `json:"clip"`
	Within  string  `json:"within"`
	OffsetS float64 `json:"offset_s"`
	Score   float64 `json:"score,omitempty"`
	// Part says that much of the clip comes again there, but not all: they share a
	// loop. Finding one where the other is played is neither right nor wrong.
	Part bool `json:"part,omitempty"`
}

// Episode is one long recording, and what is played in it.
type Episode struct {
	File      string      `json:"file"` // relative to the set's folder
	DurationS float64     `json:"duration_s"`
	Kbps      int         `json:"kbps"`
	Played    []Insertion `json:"played"`         // by offset
	Free      bool        `json:"free,omitempty"` // none is played
	// Others are played too, of clips that Part left out: nobody asks for them.
	Others []Insertion `json:"-"`
}

// Insertion is one place where a clip is played. OffsetS is where the clip's own
// start lies; HeardS, where its sound begins, is later when the head is cut.
type Insertion struct {
	Clip      string  `json:"clip"`
	OffsetS   float64 `json:"offset_s"`
	HeardS    float64 `json:"heard_s"`
	DurationS float64 `json:"duration_s"` // of what is heard
	Condition string  `json:"condition"`
	Detail    string  `json:"detail,omitempty"` // the condition's parameters
	Speed     float64 `json:"speed"`            // 1.03 is 3 % faster, and so shorter
}

// HeardWithin reports whether some of the insertion is heard within a stretch.
func (i Insertion) HeardWithin(fromS, lengthS float64) bool {
	return fromS < i.HeardS+i.DurationS && fromS+lengthS > i.HeardS
}

// Path of one of the set's files.
func (s *Set) Path(file string) string { return filepath.Join(s.Dir, filepath.FromSlash(file)) }

// Hours of the episodes together: of those in which clips are played, or of the others.
func (s *Set) Hours(free bool) float64 {
	sum := 0.0
	for _, e := range s.Episodes {
		if e.Free == free {
			sum += e.DurationS
		}
	}
	return sum / 3600
}

// Load reads the truth of the set in dir.
func Load(dir string) (*Set, error) {
	b, err := os.ReadFile(filepath.Join(dir, truthFile))
	if err != nil {
		return nil, err
	}
	s := &Set{Dir: dir}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("set.Load %s: %w", dir, err)
	}
	return s, nil
}

// save writes the truth, whole or not at all: it is the sign that a set is done.
func (s *Set) save() error {
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	path := filepath.Join(s.Dir, truthFile)
	if err := os.WriteFile(path+".part", b, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
