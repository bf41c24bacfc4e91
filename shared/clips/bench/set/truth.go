package set

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// version of the sets. It is raised when a change of the program makes another set of the same
// recipe, and is part of the folder's name.
const version = 4

// truthFile is the name of the truth in a set's folder.
const truthFile = "truth.json"

// Kind is the kind of sound of a clip.
type Kind string

// The kinds of clips.
const (
	Speech Kind = "speech"
	Music  Kind = "music"
	Effect Kind = "effect"
)

// Set is the truth about one built set. All times are in seconds.
type Set struct {
	Dir       string     `json:"-"` // folder of its files
	Name      string     `json:"name"`
	Version   int        `json:"version"`
	Seed      uint64     `json:"seed"`
	Packages  []string   `json:"packages"` // name_version_architecture
	Clips     []Clip     `json:"clips"`
	Relations []Relation `json:"relations"`
	Left      []Clip     `json:"-"` // all clips, if this is a part of a set
	Episodes  []Episode  `json:"episodes"`
}

// Clip is one short recording.
type Clip struct {
	ID        string  `json:"id"`
	File      string  `json:"file"` // relative to the set's folder
	Kind      Kind    `json:"kind"`
	Source    string  `json:"source"` // its package and file
	DurationS float64 `json:"duration_s"`
	Class     string  `json:"class"`           // the id of the first clip that it is related to
	Loops     bool    `json:"loops,omitempty"` // its class shares parts that recur (Relation.Part)
	Played    bool    `json:"played"`
}

// Relation is one place where a clip occurs within another one, by correlation of the clean clips.
type Relation struct {
	Clip    string  `json:"clip"`
	Within  string  `json:"within"`
	OffsetS float64 `json:"offset_s"`
	Score   float64 `json:"score,omitempty"`
	// Part is set if much of the clip recurs there, but not all: the two share a loop.
	// Finding one where the other is played is neither right nor wrong.
	Part bool `json:"part,omitempty"`
}

// Episode is one long recording, and the insertions in it.
type Episode struct {
	File      string      `json:"file"` // relative to the set's folder
	DurationS float64     `json:"duration_s"`
	Kbps      int         `json:"kbps"`
	Played    []Insertion `json:"played"`         // by offset
	Free      bool        `json:"free,omitempty"` // no clip is played
	// Others are insertions of clips that Part left out. They are played, but are not scored as misses.
	Others []Insertion `json:"-"`
}

// Insertion is one place where a clip is played. OffsetS is the start of the whole clip.
// HeardS is the start of its sound, which is later if the head is cut.
type Insertion struct {
	Clip      string  `json:"clip"`
	OffsetS   float64 `json:"offset_s"`
	HeardS    float64 `json:"heard_s"`
	DurationS float64 `json:"duration_s"` // of the sound, from HeardS on
	Condition string  `json:"condition"`
	Detail    string  `json:"detail,omitempty"` // the condition's parameters
	Speed     float64 `json:"speed"`            // 1.03 is 3 % faster, and so shorter
}

// HeardWithin reports whether some of the insertion is heard within a stretch.
func (i Insertion) HeardWithin(fromS, lengthS float64) bool {
	return fromS < i.HeardS+i.DurationS && fromS+lengthS > i.HeardS
}

// Path returns the path of a file of the set.
func (s *Set) Path(file string) string { return filepath.Join(s.Dir, filepath.FromSlash(file)) }

// Hours returns the total length of the episodes without clips if free, else of those with clips.
func (s *Set) Hours(free bool) float64 {
	sum := 0.0
	for _, e := range s.Episodes {
		if e.Free == free {
			sum += e.DurationS
		}
	}
	return sum / 3600
}

// Load reads the truth of the set in dir. It fails with fs.ErrNotExist if the set is not complete.
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

// save writes the truth atomically, because its presence marks a complete set.
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
