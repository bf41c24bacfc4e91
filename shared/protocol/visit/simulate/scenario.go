package simulate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"leasehold/shared/api/strictjson"
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
	Window     float64 `json:"window"`      // items in a document, which has no others; 0: all are there
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

	Cold        float64 `json:"cold"`         // share of the origins without a visit before the start
	CapacityDay float64 `json:"capacity_day"` // visits per day of all origins; 0: Capacity counts
	Need        float64 `json:"need"`         // visits per day for each change per day of all origins; 0: Capacity counts
	DatedShare  float64 `json:"dated_share"`  // with Dated: share of the origins that get dates
	Misdated    float64 `json:"misdated"`     // share of the dated origins whose dates are all false
	Listers     float64 `json:"listers"`      // number of listers; all but the first draw their quality and cadence
	Cadence     float64 `json:"cadence_days"` // days between two listings
	Drift       float64 `json:"drift"`        // standard deviation of the logarithm of a rate after a day
	OnDays      float64 `json:"on_days"`      // mean length of phases with changes; 0: there are no phases
	OffDays     float64 `json:"off_days"`     // mean length of phases without; both have Pareto lengths of shape 1.5
	Night       float64 `json:"night"`        // share of the changes that nights do not have
	Weekend     float64 `json:"weekend"`      // share of the changes that weekends do not have
	Hosts       float64 `json:"hosts"`        // number of hosts; 0: politeness does not matter
	HostVisits  float64 `json:"host_visits"`  // visits per day that politeness allows for a host
	Redirects   float64 `json:"redirects"`    // share of the hosts whose visits go on to the first host, and count there too
	Outages     float64 `json:"outages"`      // per host and day
	OutageDays  float64 `json:"outage_days"`  // mean length of an outage
	RetryAfter  float64 `json:"retry_after"`  // share of the outages in which the host answers with a Retry-After

	Claim float64 `json:"claim"` // slots of a claim, whole ones; 0: one claim has the slots of six hours
	Kinds []Kind  `json:"kinds,omitempty"`

	// Ranges replace fields, by their JSON names, with numbers that the seed draws between
	// two limits; if both are above 0 the logarithm is uniform.
	Ranges map[string][2]float64 `json:"ranges,omitempty"`
	// Recorded replaces the origins by recorded ones (leasehold visits replay --world).
	Recorded []Recorded `json:"recorded,omitempty"`
}

// defaults are the values that a scenario does not set. They come from S1.
var defaults = Scenario{
	Capacity: 0.1, MedianRate: 1.0 / 30, Spread: 1.5, Changes: "poisson", BurstSize: 1, Counts: true, SizeShape: 1.5,
	Forks: 0.2, Dead: 0.02, Dying: 0.05, Unlisted: 0.5, New: 0.1, FailedRate: 0.002,
	DatedShare: 1, Listers: 1, Cadence: 1, HostVisits: 1000, OutageDays: 1,
}

// drawn returns the scenario with the numbers that the seed draws: those of the fields in Ranges,
// each from a generator of its own.
func (s Scenario) drawn(w *world) Scenario {
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		if limits, ok := s.Ranges[jsonName(v.Type().Field(i))]; ok {
			g := w.random(forRange, int64(i), 0)
			v.Field(i).SetFloat(g.between(limits[0], limits[1]))
		}
	}
	return s
}

// jsonName returns the name of a field in JSON.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// ByName returns the scenarios of a list separated by commas. An item is a name such as S1, a range such as
// S1..S8, "all", or the path of a JSON file (see Parse). Any other item gives fault.ErrInvalid.
func ByName(names string) (all []Scenario, err error) {
	for name := range strings.SplitSeq(names, ",") {
		some, err := scenariosOf(name)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// scenariosOf returns the scenarios of one item of ByName. Names precede paths.
func scenariosOf(name string) ([]Scenario, error) {
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
		return nil, fmt.Errorf("scenario %q: %w: want S1 to S23, a range such as S1..S8, all, or a file", name, fault.ErrInvalid)
	}
	return []Scenario{s}, err
}

// scenarioIndex returns the index in Scenarios, or -1.
func scenarioIndex(name string) int {
	return slices.IndexFunc(Scenarios, func(s Scenario) bool { return strings.EqualFold(s.Name, name) })
}

const maxFile = 64 << 20 // bytes; recorded worlds are large

// readScenario reads a scenario from a file; one without a name is named by the path. A file above maxFile is cut
// off there, so that Parse refuses it.
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

// Parse parses a scenario in JSON; a missing field has the value of S1. Unknown fields and numbers
// out of range give fault.ErrInvalid.
func Parse(content []byte) (Scenario, error) {
	s := defaults
	if err := strictjson.Decode(bytes.NewReader(content), &s); err != nil {
		return Scenario{}, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return s, s.Check()
}

// Check returns fault.ErrInvalid, with the accepted range, if a number or a limit of Ranges is
// out of range, if Ranges names a field without a number, or if Changes is unknown.
func (s Scenario) Check() error {
	v := reflect.ValueOf(s)
	known := 0
	for i := range v.NumField() {
		x, ok := v.Field(i).Interface().(float64)
		if !ok {
			continue
		}
		key := jsonName(v.Type().Field(i))
		values := []float64{x}
		if limits, ok := s.Ranges[key]; ok {
			known++
			values = append(values, limits[:]...)
			if limits[0] > limits[1] {
				return fmt.Errorf("range of %s from %v to %v: %w: want the smaller number first", key, limits[0], limits[1], fault.ErrInvalid)
			}
		}
		low, high := bounds(key)
		for _, x := range values {
			if !(x >= low && x <= high) {
				return fmt.Errorf("%s %v: %w: want %v to %v", key, x, fault.ErrInvalid, low, high)
			}
		}
	}
	if known < len(s.Ranges) {
		return fmt.Errorf("ranges: %w: one of the fields has no number", fault.ErrInvalid)
	}
	if !slices.Contains([]string{"poisson", "bursts", "regular"}, s.Changes) {
		return fmt.Errorf("changes %q: %w: want poisson, bursts or regular", s.Changes, fault.ErrInvalid)
	}
	return s.checkKinds()
}

// bounds returns the accepted range of a field by its JSON name; those not listed are shares, 0
// to 1.
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
	case "false_rate", "outages":
		return 0, 50
	case "capacity_day":
		return 0, 1e9
	case "need", "drift":
		return 0, 1000
	case "window", "claim":
		return 0, 1e6
	case "listers":
		return 1, 1000
	case "hosts":
		return 0, 1e6
	case "cadence_days":
		return 0.25, 365
	case "on_days", "off_days", "outage_days":
		return 0, 3650
	case "host_visits":
		return 0.01, 1e6
	}
	return 0, 1
}
