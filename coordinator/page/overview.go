package page

import (
	"html/template"
	"slices"
	"strings"

	"leasehold/models"
	"leasehold/shared/api/types"
)

// Limits of the overview.
const (
	overviewWorkers = 20
	overviewLog     = 8
	overviewItems   = 30 // of attention
)

// overview is what the first page shows.
type overview struct {
	Attention []attentionRow
	More      int            // attention items that are not shown
	Realm     *types.Realm   // nil: the coordinator works alone
	Actions   *actionsTable  // nil: the coordinator computes no figures
	History   *historyCharts // nil: the coordinator keeps none
	Fleet     fleet
	Lately    []logRow
}

// attentionRow is an attention item, with the page that shows what it is about.
type attentionRow struct {
	models.Attention
	Show string // address; empty: none
}

// readOverview reads the first page. The workers that have tasks come first.
func readOverview(v *visit) (any, error) {
	o := overview{}
	if v.attention != nil {
		items := v.attention.Items
		for _, item := range items[:min(len(items), overviewItems)] {
			o.Attention = append(o.Attention, attentionRow{item, v.page.showOf(item)})
		}
		o.More = len(items) - len(o.Attention)
	}
	var err error
	if o.Realm, err = v.readRealm(); err != nil {
		return nil, err
	}
	if o.Actions, err = v.readActions(); err != nil {
		return nil, err
	}
	var sparks map[string]template.HTML
	if o.History, sparks, err = v.readHistory(); err != nil {
		return nil, err
	}
	if o.Actions != nil {
		o.Actions.addSparks(sparks)
	}
	fleet, err := v.readFleet()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(fleet.Workers, func(a, b workerRow) int { return len(b.Tasks) - len(a.Tasks) })
	fleet.cut(overviewWorkers)
	o.Fleet = fleet
	o.Lately, err = v.page.latestLog(v.Context(), overviewLog)
	return o, err
}

// readRealm reads how the realm is kept; nil if the coordinator works alone.
func (v *visit) readRealm() (*types.Realm, error) {
	var r types.Realm
	found, err := v.getOptional(v.Context(), path("realm"), nil, &r)
	if !found || r.Name == "" {
		return nil, err
	}
	return &r, nil
}

// attentionTo returns the items of some causes, without links, because the page is the one that shows them.
func (v *visit) attentionTo(causes ...models.Cause) (rows []attentionRow) {
	if v.attention == nil {
		return nil
	}
	for _, item := range v.attention.Items {
		if slices.Contains(causes, item.Cause) {
			rows = append(rows, attentionRow{Attention: item})
		}
	}
	return rows
}

// showOf returns the address of the page that shows what an attention item is about; empty if there is none.
func (p *Page) showOf(i models.Attention) string {
	switch i.Cause {
	case models.CauseNoWorker, models.CausePaused:
		return p.link("/tasks", "action", i.About)
	case models.CauseDead:
		action, _, _ := strings.Cut(i.About, ": ") // followed by the error
		return p.link("/tasks", "state", "dead", "action", action)
	case models.CauseSuspect:
		return p.link("/tasks/" + i.About)
	case models.CauseSlow:
		return p.link("/tasks", "state", "claimed", "action", i.About)
	case models.CauseLost, models.CauseOwnFault, models.CauseClocks, models.CauseVersions:
		return p.link("/workers")
	case models.CauseNearBound:
		return p.link("/spaces")
	case models.CauseHostRests, models.CauseDisabled, models.CauseNoManager:
		return p.link("/visits")
	case models.CauseBadClips, models.CauseEpisodes:
		return p.link("/archive")
	case models.CauseRunsLeft:
		return p.link("/schedules")
	}
	return ""
}
