package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/process/build"
)

// maxClockDifference is from when on the clocks of two machines differ.
const maxClockDifference = 2 * time.Second

// Fleet is what the API of a coordinator tells about it and its managers and workers.
type Fleet struct {
	Asked    time.Time // by the clock of this machine: the middle of the request for Report
	Report   models.AttentionReport
	Status   client.Status
	Sessions []types.OpenSession
}

// ReadFleet asks a coordinator. It only reads.
func ReadFleet(ctx context.Context, api *client.Client) (f Fleet, err error) {
	began := time.Now()
	if f.Report, err = api.Attention(ctx); err != nil {
		return f, err
	}
	f.Asked = began.Add(time.Since(began) / 2)
	if f.Status, err = api.Status(ctx); err != nil {
		return f, err
	}
	f.Sessions, err = api.Sessions(ctx)
	return f, err
}

// fleetChecks are the checks of a fleet, in their order, with the causes of attention items that belong to them. Items of
// other causes are findings of the check "attention".
var fleetChecks = []struct {
	name   string
	causes []models.Cause
	state  func(Fleet) []Finding // what is found without items
}{
	{"coordinator", []models.Cause{models.CauseSuspended, models.CauseUnknown}, coordinatorState},
	{"memory", []models.Cause{models.CauseRefused, models.CauseNearBound}, memoryState},
	{"catalog", []models.Cause{models.CauseNotWritable}, catalogState},
	{"disk", []models.Cause{models.CauseOwnFault}, diskState},
	{"clocks", []models.Cause{models.CauseClocks}, clockState},
	{"versions", []models.Cause{models.CauseVersions}, versionState},
	{"access", []models.Cause{models.CauseOpen, models.CauseInviteEnds}, accessState},
}

// ExamineFleet returns the findings about a fleet, in a fixed order.
func ExamineFleet(f Fleet) (found []Finding) {
	var known []models.Cause
	for _, c := range fleetChecks {
		known = append(known, c.causes...)
		items := itemFindings(f, c.name, func(i models.Attention) bool { return slices.Contains(c.causes, i.Cause) })
		for _, x := range c.state(f) {
			if x.State != OK || len(items) == 0 { // an item tells more than that all is well
				x.Check = c.name
				found = append(found, x)
			}
		}
		found = append(found, items...)
	}
	rest := itemFindings(f, "attention", func(i models.Attention) bool { return !slices.Contains(known, i.Cause) })
	if len(rest) == 0 {
		rest = []Finding{{Check: "attention", State: OK, What: "nothing else needs attention"}}
	}
	return append(found, rest...)
}

// itemFindings returns the attention items that belong to a check.
func itemFindings(f Fleet, check string, belongs func(models.Attention) bool) (found []Finding) {
	for _, i := range f.Report.Items {
		if belongs(i) {
			found = append(found, itemFinding(check, i))
		}
	}
	return found
}

func coordinatorState(f Fleet) []Finding {
	return []Finding{{State: OK, What: fmt.Sprintf("%s answers, and has %s", f.Status.Coordinator, numbered(len(f.Status.Sessions), "session"))}}
}

func memoryState(f Fleet) []Finding {
	tuples := 0
	for _, s := range f.Status.Spaces {
		tuples += s.Visible + s.Held
	}
	return []Finding{{State: OK, What: fmt.Sprintf("%s with %s are below their bounds", numbered(len(f.Status.Spaces), "space"), numbered(tuples, "tuple"))}}
}

func catalogState(f Fleet) (found []Finding) {
	c := f.Status.Database
	for _, damage := range c.Damage {
		found = append(found, Finding{State: Fail, What: "the database is damaged: " + damage, Advice: "restore a backup"})
	}
	switch {
	case len(found) > 0:
	case c.Error != "":
		found = append(found, Finding{State: Warn, What: "the nightly check could not be finished: " + c.Error, Advice: "leasehold log"})
	case c.At.IsZero():
		found = append(found, Finding{State: OK, What: "it can be written; it was not checked since the coordinator started"})
	default:
		found = append(found, Finding{State: OK, What: "it can be written; the check at " + c.At.Local().Format(time.DateTime) + " found no damage"})
	}
	return found
}

func diskState(Fleet) []Finding {
	return []Finding{{State: OK, What: "no worker gives tasks back because of its disk, a mount or a program"}}
}

// clockState compares the clock of this machine with the coordinator's, which compares its own with those of the fleet.
func clockState(f Fleet) []Finding {
	if f.Report.At.IsZero() {
		return nil // an older coordinator
	}
	// A report is up to a second old.
	differs := f.Asked.Sub(f.Report.At)
	if differs > -maxClockDifference && differs < maxClockDifference+time.Second {
		return []Finding{{State: OK, What: "those of the coordinator, its sessions and this machine differ by less than 3 s"}}
	}
	side := "ahead of"
	if differs < 0 {
		side = "behind"
	}
	return []Finding{{State: Warn, What: fmt.Sprintf("the clock of this machine is %s %s the coordinator's", differs.Abs().Round(time.Second), side), Advice: "synchronise the clocks (NTP)"}}
}

func versionState(f Fleet) (found []Finding) {
	sessions := map[string]int{}
	for _, s := range f.Sessions {
		if s.Version != "" && (s.Mode == "coordinator" || s.Mode == "manager" || s.Mode == "worker") {
			sessions[s.Version]++
		}
	}
	var all []string
	for version, n := range sessions {
		all = append(all, fmt.Sprintf("%s (%s)", version, numbered(n, "session")))
	}
	slices.Sort(all)
	own := build.Version()
	if sessions[own] == 0 && len(all) > 0 {
		return []Finding{{State: Warn, What: fmt.Sprintf("this program is %s, and the fleet is %s", own, strings.Join(all, ", ")), Advice: "use the program of the same version"}}
	}
	return []Finding{{State: OK, What: strings.Join(append(all, "this program is "+own), ", ")}}
}

// accessState is what is found about clients if no item tells of them.
func accessState(Fleet) []Finding {
	return []Finding{{State: OK, What: "no join line ends while processes need it"}}
}

// numbered returns a number with its noun.
func numbered(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
