package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
)

// bulkTime is how long one form changes tasks; the rest needs another one.
const bulkTime = 6 * time.Second

// A bulkVerb changes all tasks that a filter selects.
type bulkVerb struct {
	Name, Label, Done, operation string
	dead                         bool // it is for dead letters, otherwise for live tasks
}

var bulkVerbs = []bulkVerb{
	{"requeue", "Requeue all", "queued again", "requeueSelected", true},
	{"discard", "Discard all", "discarded", "discardSelected", true},
	{"cancel", "Cancel all", "cancelled", "cancelSelected", false},
}

// fits reports whether it changes tasks in a state.
func (b bulkVerb) fits(state string) bool {
	ended := state == "resolved" || state == "cancelled" || state == "ended"
	return !ended && b.dead == (state == "dead")
}

// bulkVerbOf returns the verb with a name that fits the state of a filter.
func bulkVerbOf(name, state string) (bulkVerb, error) {
	for _, b := range bulkVerbs {
		if b.Name == name && b.fits(state) {
			return b, nil
		}
	}
	return bulkVerb{}, refusal(http.StatusBadRequest, "%.50q of tasks in state %.50q: want requeue or discard of dead ones, or cancel of those that are alive", name, state)
}

// selection is the filter of a bulk, how many tasks it selected, and when that was.
type selection struct {
	Verb   bulkVerb
	Filter [][2]string // name and value
	Count  int64
	At     string // in RFC 3339; empty: not counted by the page
	Cursor string // where the next request goes on
	Back   string // address of the list

	Done    int // tasks that were changed, of all requests so far
	Refused []types.BulkError
	More    int // refused ones that are not in Refused
}

// maxRefused is how many tasks that were refused are named.
const maxRefused = 20

// filterOf returns the parameters of a filter that are set.
func filterOf(value func(string) string) (filter [][2]string, query url.Values) {
	query = url.Values{}
	for _, name := range filterParams {
		if text := value(name); text != "" {
			filter = append(filter, [2]string{name, text})
			query.Set(name, text)
		}
	}
	return filter, query
}

// readBulk counts what a filter selects, for the page that asks before it is changed.
func readBulk(v *visit) (any, error) {
	verb, err := bulkVerbOf(v.param("verb"), v.param("state"))
	if err != nil {
		return nil, err
	}
	s := selection{Verb: verb}
	var query url.Values
	s.Filter, query = filterOf(v.param)
	s.Back = v.page.link("/tasks") + "?" + query.Encode()
	var counted types.TaskCount
	err = v.get(v.Context(), path("bulk", "count"), query, &counted)
	s.Count, s.At = counted.Count, counted.At.Format(time.RFC3339Nano)
	v.title = verb.Label
	return s, err
}

// actBulk changes what a form selects, as far as bulkTime suffices, and shows what it did.
func (p *Page) actBulk(w http.ResponseWriter, r *http.Request) {
	v := p.newVisit(r)
	s, err := v.selectionOfForm()
	p.showChanged(w, v, s, err)
}

// showChanged changes what s selects, unless err is why there is no selection, and shows what it did.
func (p *Page) showChanged(w http.ResponseWriter, v *visit, s selection, err error) {
	if err == nil {
		err = v.changeSelected(&s)
	}
	p.cache.forget()
	if err != nil {
		p.fail(w, v.Request, "Tasks", err)
		return
	}
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, "bulkdone", struct {
		*visit
		View selection
	}{v, s}); err != nil {
		p.fail(w, v.Request, "Tasks", err)
		return
	}
	p.writePage(w, v.Request, http.StatusOK, "Tasks", rendered{title: s.Verb.Label, html: models.Redact(b.String())})
}

// selectionOfForm returns the selection of a form, with the count that the visitor saw.
func (v *visit) selectionOfForm() (s selection, err error) {
	if s.Verb, err = bulkVerbOf(v.PostFormValue("verb"), v.PostFormValue("state")); err != nil {
		return s, err
	}
	if s.Count, err = strconv.ParseInt(v.PostFormValue("count"), 10, 64); err != nil {
		return s, refusal(http.StatusBadRequest, "count %.50q: want the number of tasks that you saw", v.PostFormValue("count"))
	}
	var query url.Values
	s.Filter, query = filterOf(v.PostFormValue)
	s.Back, s.At, s.Cursor = v.page.link("/tasks")+"?"+query.Encode(), v.PostFormValue("before"), v.PostFormValue("cursor")
	s.Done, _ = strconv.Atoi(v.PostFormValue("done")) // of earlier forms, if there were any
	return s, nil
}

// selectionOfRemedy returns the selection of a remedy that is a bulk; ok is false if it is another one.
func (v *visit) selectionOfRemedy(r models.Remedy) (s selection, ok bool, err error) {
	at := slices.IndexFunc(bulkVerbs, func(b bulkVerb) bool { return b.operation == r.Operation })
	if at < 0 {
		return s, false, nil
	}
	var body types.BulkCancel
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return s, true, fmt.Errorf("remedy %s: %w", r.Operation, err)
	}
	s.Verb, s.Count = bulkVerbs[at], body.Count
	if s.Verb.dead {
		body.State = "dead"
	}
	fields := map[string]string{"state": body.State, "action": body.Action, "text": body.Text}
	var query url.Values
	s.Filter, query = filterOf(func(name string) string { return fields[name] })
	s.Back = v.page.link("/tasks") + "?" + query.Encode()
	return s, true, nil
}

// changeSelected sends the requests of a bulk. The first one has the count that the visitor saw.
func (v *visit) changeSelected(s *selection) error {
	ctx, cancel := context.WithTimeout(v.Context(), bulkTime)
	defer cancel()
	for {
		body, err := s.body(v.reason())
		if err != nil {
			return err
		}
		var answer types.BulkResult
		if err := v.do(v.Context(), http.MethodPost, path("bulk", s.Verb.Name), body, &answer); err != nil {
			return err
		}
		s.Done += len(answer.Done)
		for _, refused := range answer.Refused {
			if len(s.Refused) < maxRefused {
				s.Refused = append(s.Refused, refused)
			} else {
				s.More++
			}
		}
		if s.Cursor = answer.Next; s.Cursor == "" || ctx.Err() != nil {
			return v.Context().Err()
		}
	}
}

// body is the body of one request.
func (s *selection) body(reason string) (b types.BulkCancel, err error) {
	b.Count, b.Cursor = s.Count, s.Cursor
	if s.At != "" {
		if b.Before, err = time.Parse(time.RFC3339Nano, s.At); err != nil {
			return b, refusal(http.StatusBadRequest, "before %.64q: want a time in RFC 3339, such as 2026-11-23T08:00:00Z", s.At)
		}
	}
	texts := map[string]*string{"action": &b.Action, "tag": &b.Tag, "group": &b.Group, "text": &b.Text, "data": &b.Data}
	ages := map[string]*int64{"older": &b.Older, "younger": &b.Younger}
	if s.Verb.Name == "cancel" {
		b.Reason = reason
		texts["state"] = &b.State
	}
	for _, f := range s.Filter {
		if to := texts[f[0]]; to != nil {
			*to = f[1]
		} else if to := ages[f[0]]; to != nil {
			if *to, err = strconv.ParseInt(f[1], 10, 64); err != nil {
				return b, refusal(http.StatusBadRequest, "%s %.50q: want a number of seconds", f[0], f[1])
			}
		}
	}
	return b, nil
}

// addBulks adds the changes of all selected tasks that the visitor may do.
func (t *tasksPage) addBulks(v *visit) {
	for _, b := range bulkVerbs {
		if b.fits(t.Filter["state"]) && v.May(b.operation) {
			pairs := []string{"verb", b.Name}
			for _, name := range filterParams {
				pairs = append(pairs, name, t.Filter[name])
			}
			t.Bulks = append(t.Bulks, choice{Name: b.Label, Link: v.page.link("/bulk", pairs...)})
		}
	}
}
