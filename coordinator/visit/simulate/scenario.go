package simulate

import (
	"bytes"
	"cmp"
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

// Scenario describes a simulated world. Shares and probabilities are 0 to 1, rates are
// per day.
type Scenario struct {
	Name  string `json:"name"`
	About string `json:"about"`

	Capacity   float64 `json:"capacity"`    // visits per day and origin
	MedianRate float64 `json:"median_rate"` // changes per day
	Spread     float64 `json:"spread"`      // standard deviation of the rates' natural logarithm
	Changes    string  `json:"changes"`     // poisson, bursts or regular
	BurstSize  float64 `json:"burst_size"`  // mean number of changes in a burst
	Counts     bool    `json:"counts"`      // visits count changes, up to 180 days back
	SizeShape  float64 `json:"size_shape"`  // shape of the Pareto distribution of sizes; at least 1.05
	Forks      float64 `json:"forks"`       // share of origins that change a tenth as often
	Dead       float64 `json:"dead"`        // share that is dead from the start
	Dying      float64 `json:"dying"`       // share that dies during a year
	Unlisted   float64 `json:"unlisted"`    // share of the dead that their lister no longer names
	New        float64 `json:"new"`         // share added during the run, spread evenly
	Flood      float64 `json:"flood"`       // share added at once
	FloodDay   float64 `json:"flood_day"`   // day on which Flood is added
	Dated      bool    `json:"dated"`       // the lister gives dates
	Recall     float64 `json:"recall"`      // probability that the next listing dates a change
	FalseRate  float64 `json:"false_rate"`  // dates per day without a change
	FailedRate float64 `json:"failed_rate"` // probability that a visit of a live origin fails
}

// defaults are the values that a scenario does not set; they are those of S1.
var defaults = Scenario{
	Capacity: 0.1, MedianRate: 1.0 / 30, Spread: 1.5, Changes: "poisson", BurstSize: 1, Counts: true, SizeShape: 1.5,
	Forks: 0.2, Dead: 0.02, Dying: 0.05, Unlisted: 0.5, New: 0.1, FailedRate: 0.002,
}

// Scenarios are the scenarios S1 to S8.
var Scenarios = func() []Scenario {
	vary := func(name, about string, change func(*Scenario)) Scenario {
		s := defaults
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

// ByName returns the scenarios of a list separated by commas. An item is a name such as
// S1, a range such as S1..S8, "all", or the path of a JSON file (see Parse).
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
	from, to, isRange := strings.Cut(name, "..")
	if name == "all" {
		return slices.Clone(Scenarios), nil
	}
	first := scenarioIndex(from)
	last := first
	if isRange {
		last = scenarioIndex(to)
	}
	if first >= 0 && last >= first {
		return slices.Clone(Scenarios[first : last+1]), nil
	}
	s, err := readScenario(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("scenario %q: %w: want S1 to S8, a range such as S1..S8, all, or a file", name, fault.ErrInvalid)
	}
	return []Scenario{s}, err
}

// scenarioIndex returns the index in Scenarios, or -1.
func scenarioIndex(name string) int {
	return slices.IndexFunc(Scenarios, func(s Scenario) bool { return strings.EqualFold(s.Name, name) })
}

const maxFile = 1 << 20 // bytes

// readScenario reads a scenario from a file; one without a name is named by the path.
func readScenario(path string) (s Scenario, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, fmt.Errorf("scenario %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err == nil {
		s, err = Parse(content)
	}
	if err != nil {
		return s, fmt.Errorf("scenario %s: %w", path, err)
	}
	s.Name = cmp.Or(s.Name, path)
	return s, nil
}

// Parse parses a scenario in JSON; a missing field has the value of S1. Unknown fields
// and numbers out of range are fault.ErrInvalid.
func Parse(content []byte) (Scenario, error) {
	s := defaults
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Scenario{}, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return s, s.Check()
}

// Check returns fault.ErrInvalid, with the accepted range, if a field is out of range.
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
			return fmt.Errorf("%s %v: %w: want %v to %v", key, x, fault.ErrInvalid, low, high)
		}
	}
	if !slices.Contains([]string{"poisson", "bursts", "regular"}, s.Changes) {
		return fmt.Errorf("changes %q: %w: want poisson, bursts or regular", s.Changes, fault.ErrInvalid)
	}
	return nil
}

// bounds returns the accepted range of a field; most are shares.
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
