package api

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/exposition"
)

// Attention shows what needs attention: an attention.Watcher.
type Attention interface {
	Attention() models.AttentionReport
	Took() time.Duration
	Dismiss(id string) error
}

// attentionRoutes are the routes for what needs attention.
func (s *server) attentionRoutes() []route {
	return []route{
		on("getAttention", "GET", "/attention", "Show what needs attention, the worst first, and how to fix it.", s.getAttention),
		on("dismissAttention", "POST", "/attention/{item}/dismiss", "Hide an attention item that a person has seen, until its cause ends, its count grows, or a day is over.", s.dismissAttention),
	}
}

// getAttention fails with fault.ErrUnavailable before the first report.
func (s *server) getAttention(context.Context, *request) (models.AttentionReport, error) {
	if s.Attention == nil {
		return models.AttentionReport{Items: []models.Attention{}}, nil
	}
	report := s.Attention.Attention()
	if report.At.IsZero() {
		return report, fmt.Errorf("attention: %w: the coordinator has just started; ask again in a second", fault.ErrUnavailable)
	}
	report.Items = slices.Clone(report.Items)
	for n, i := range report.Items {
		if i.Remedy == nil {
			continue
		}
		r := *i.Remedy
		r.Request = requestOf(s.routes(), r)
		report.Items[n].Remedy = &r
	}
	return report, nil
}

func (s *server) dismissAttention(_ context.Context, q *request) (none, error) {
	if s.Attention == nil {
		return none{}, fmt.Errorf("attention item %s: %w", q.text("item"), fault.ErrNotFound)
	}
	return none{}, s.Attention.Dismiss(q.text("item"))
}

// requestOf returns the method and the path of a remedy, with its parameters; empty if no route has its operation.
func requestOf(routes []route, r models.Remedy) string {
	at := slices.IndexFunc(routes, func(x route) bool { return x.id == r.Operation })
	if at < 0 {
		return ""
	}
	path, query := routes[at].path, url.Values{}
	for name, value := range r.Params {
		if place := "{" + name + "}"; strings.Contains(path, place) {
			path = strings.ReplaceAll(path, place, url.PathEscape(value))
		} else {
			query.Set(name, value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return routes[at].method + " " + path
}

// collectAttention counts the attention items by cause and severity. Causes without an item are left out.
func (s *server) collectAttention(to exposition.Sink) {
	if s.Attention == nil {
		return
	}
	type kind struct {
		cause    models.Cause
		severity models.Severity
	}
	to.Counter("leasehold_attention_seconds_total", "This is the time in seconds that looking for what needs attention has taken.", s.Attention.Took().Seconds())
	items := map[kind]float64{}
	for _, i := range s.Attention.Attention().Items {
		items[kind{i.Cause, i.Severity}]++
	}
	for k, n := range items {
		to.Gauge("leasehold_attention", "This is the number of items that need attention, by their cause and their severity (stops_work, degrades or to_know).", n,
			"cause", string(k.cause), "severity", string(k.severity))
	}
}
