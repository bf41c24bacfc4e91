package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"leasehold/shared/fault"
)

// Scenario is a world. Shares and chances are 0 to 1, rates are per day.
type Scenario struct {
	Name  string `json:"name"`
	About string `json:"about"`

	Capacity   float64 `json:"capacity"`    // visits a day for each origin
	MedianRate float64 `json:"median_rate"` // changes a day
	Spread     float64 `json:"spread"`      // sigma of the rates' logarithm
	Changes    string  `json:"changes"`     // poisson, bursts or regular
	BurstSize  float64 `json:"burst_size"`  // mean changes of a burst
	Counts     bool    `json:"counts"`      // a visit can count changes, also past ones
	SizeShape  float64 `json:"size_shape"`  // of the Pareto sizes; at least 1.05
	Forks      float64 `json:"forks"`       // share of origins that change a tenth as often
	Dead       float64 `json:"dead"`        // share that is dead from the start
	Dying      float64 `json:"dying"`       // share that dies during a year
	Unlisted   float64 `json:"unlisted"`    // share of the dead that their lister drops
	New        float64 `json:"new"`         // share that comes during the run, spread evenly
	Flood      float64 `json:"flood"`       // share that comes at once
	FloodDay   float64 `json:"flood_day"`   // when it does
	Dated      bool    `json:"dated"`       // the lister gives dates
	Recall     float64 `json:"recall"`      // chance that a change is dated at the next listing
	FalseRate  float64 `json:"false_rate"`  // dates a day behind which there is nothing
	FailedRate float64 `json:"failed_rate"` // chance that a visit of a live origin fails
}

// base is what scenarios have in common.
var base = Scenario{
	Capacity: 0.1, MedianRate: 1.0 / 30, Spread: 1.5, Changes: "poisson", BurstSize: 1, Counts: true, SizeShape: 1.5,
	Forks: 0.2, Dead: 0.02, Dying: 0.05, Unlisted: 0.5, New: 0.1, FailedRate: 0.002,
}

// Scenarios are S1 to S8.
var Scenarios = func() []Scenario {
	vary := func(name, about string, change func(*Scenario)) Scenario {
		s := base
		s.Name, s.About = name, about
		change(&s)
		return s
	}
	return []Scenario{
		vary("S1", "no dates", func(*Scenario) {}),
		vary("S2", "good dates", func(s *Scenario) { s.Dated, s.Recall, s.FalseRate = true, 0.95, 0.001 }),
		vary("S3", "wrong dates", func(s *Scenario) { s.Dated, s.Recall, s.FalseRate = true, 0.3, 0.02 }),
		vary("S4", "bursty", func(s *Scenario) { s.Changes, s.BurstSize = "bursts", 8; s.MedianRate = 1.0 / 10 }),
		vary("S5", "podcasts without dates", func(s *Scenario) { s.Changes, s.MedianRate, s.Spread = "regular", 1.0/7, 1; s.Forks = 0 }),
		vary("S6", "starved", func(s *Scenario) { s.Capacity = 0.01 }),
		vary("S7", "bootstrap flood", func(s *Scenario) { s.Flood, s.FloodDay, s.New = 0.5, 60, 0 }),
		vary("S8", "folders with one-bit changes", func(s *Scenario) { s.Counts = false }),
	}
}()

// ByName returns scenarios of the table, or reads them from files of JSON whose
// fields replace those of S1. Names are separated by commas; "S1..S8" and "all" are
// several.
func ByName(names string) (all []Scenario, err error) {
	for name := range strings.SplitSeq(names, ",") {
		some, err := byName(name)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func byName(name string) ([]Scenario, error) {
	from, to, several := strings.Cut(name, "..")
	if name == "all" {
		return slices.Clone(Scenarios), nil
	}
	first := find(from)
	last := first
	if several {
		last = find(to)
	}
	if first >= 0 && last >= first {
		return slices.Clone(Scenarios[first : last+1]), nil
	}
	s, err := read(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("scenario %q: %w: there are S1 to S8, ranges such as S1..S8, and files", name, fault.ErrInvalid)
	}
	return []Scenario{s}, err
}

// find returns the index of a scenario of the table, or -1.
func find(name string) int {
	return slices.IndexFunc(Scenarios, func(s Scenario) bool { return strings.EqualFold(s.Name, name) })
}

const maxFile = 1 << 20

func read(path string) (Scenario, error) {
	f, err := os.Open(path)
	if err != nil {
		return Scenario{}, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err == nil {
		var s Scenario
		if s, err = Parse(content); err == nil && s.Name == "" {
			s.Name = path
		}
		return s, wrap(path, err)
	}
	return Scenario{}, wrap(path, err)
}

func wrap(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("scenario %s: %w", path, err)
}

// Parse reads a scenario; fields that it does not give are those of S1. Unknown
// fields, and numbers that make no world, are fault.ErrInvalid.
func Parse(content []byte) (Scenario, error) {
	s := base
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Scenario{}, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return s, s.Check()
}

// Check refuses numbers that make no world.
func (s Scenario) Check() error {
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		x, ok := v.Field(i).Interface().(float64)
		if !ok {
			continue
		}
		key := v.Type().Field(i).Tag.Get("json")
		low, high := bounds(key)
		if !(x >= low && x <= high) || math.IsNaN(x) {
			return fmt.Errorf("%s %v: %w: %v to %v is accepted", key, x, fault.ErrInvalid, low, high)
		}
	}
	if !slices.Contains([]string{"poisson", "bursts", "regular"}, s.Changes) {
		return fmt.Errorf("changes %q: %w: poisson, bursts or regular is accepted", s.Changes, fault.ErrInvalid)
	}
	return nil
}

// bounds are what a number of a scenario may be; most are shares.
func bounds(key string) (low, high float64) {
	switch key {
	case "capacity":
		return 1e-6, 100
	case "median_rate":
		return 1e-5, 50
	case "spread":
		return 0, 3
	case "burst_size":
		return 1, 1000
	case "size_shape":
		return 1.05, 100
	case "flood_day":
		return 0, 36500
	case "false_rate":
		return 0, 50
	}
	return 0, 1
}
