package page

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
)

// maxForm bounds the body of a form, in bytes.
const maxForm = 64 << 10

// A formAction is one operation of the API that a form of the page requests.
type formAction struct {
	operation string // of the API, which decides on the role
	nav       string
	do        func(v *visit, of string) error
}

// formActions are the actions of forms, by the value of their field "do". The field "of" names their object.
var formActions = map[string]formAction{
	"drain":   {"drainSession", "Workers", request(http.MethodPost, "sessions", "drain")},
	"end":     {"endSession", "Workers", request(http.MethodDelete, "sessions", "")},
	"requeue": {"requeueDead", "Tasks", request(http.MethodPost, "dead", "requeue")},
	"discard": {"discardDead", "Tasks", request(http.MethodDelete, "dead", "")},
	"cancel": {"cancelTask", "Tasks", func(v *visit, of string) error {
		return v.do(v.Context(), http.MethodPost, path("tasks", of, "cancel"), types.Cancel{Reason: v.reason()}, nil)
	}},
	"pause":           {"pauseAction", "Overview", pauseAction},
	"resume":          {"resumeAction", "Overview", request(http.MethodPost, "actions", "resume")},
	"pause-schedule":  {"pauseSchedule", "Schedules", request(http.MethodPost, "schedules", "pause")},
	"resume-schedule": {"resumeSchedule", "Schedules", request(http.MethodPost, "schedules", "resume")},
	"index-again":     {"steerOrigin", "Code", steer(types.SaveNow)},
	types.SaveNow:     {"steerOrigin", "Visits", steer(types.SaveNow)},
	types.ForceNow:    {"steerOrigin", "Visits", steer(types.ForceNow)},
	types.Enable:      {"steerOrigin", "Visits", steer(types.Enable)},
	types.Disable:     {"steerOrigin", "Visits", steer(types.Disable)},
	"retry-origin": {"retryProblems", "Archive", func(v *visit, of string) error {
		return v.do(v.Context(), http.MethodPost, path("problems", "retry"), types.Retry{Origin: of, Lasting: true}, nil)
	}},
	"run-schedule": {"createTask", "Schedules", runSchedule},
	"retry-episode": {"retryProblems", "Archive", func(v *visit, of string) error {
		return v.do(v.Context(), http.MethodPost, path("problems", "retry"), types.Retry{Episode: of, Lasting: true}, nil)
	}},
	"remedy": {"", "Overview", nil}, // actRemedy
	"bulk":   {"", "Tasks", nil},    // actBulk
}

// didWords tell what an action did, by the value of its field "do". They are the only texts that a link can put there.
var didWords = map[string]string{
	"drain": "The worker finishes its tasks and ends.", "end": "The session was ended; what it held is given back.",
	"requeue": "The task was queued again.", "discard": "The dead letter was discarded.", "cancel": "The task was cancelled.",
	"pause": "The action is paused; running tasks go on.", "resume": "The action goes on.",
	"pause-schedule": "The schedule is paused.", "resume-schedule": "The schedule goes on.", "run-schedule": "A task of the schedule was created.",
	"index-again": "A visit was asked for: it indexes what changed or is missing.", types.SaveNow: "A visit was asked for.", types.ForceNow: "A visit was asked for.", types.Enable: "The origin is visited again.", types.Disable: "The origin is not visited any more.",
	"retry-origin": "The recordings are tried again.", "retry-episode": "The episode is tried again.", "remedy": "Done.",
}

// request returns what sends a request without a body to a path: a collection, what of names, and a verb (empty: none).
func request(method, collection, verb string) func(*visit, string) error {
	return func(v *visit, of string) error {
		parts := []string{collection, of}
		if verb != "" {
			parts = append(parts, verb)
		}
		return v.do(v.Context(), method, path(parts...), nil, nil)
	}
}

// steer returns what changes the visits of an origin.
func steer(action string) func(*visit, string) error {
	return func(v *visit, of string) error {
		return v.do(v.Context(), http.MethodPost, path("origins", of, "schedule"), types.Steering{Action: action}, nil)
	}
}

// reason is why the visitor does something, for those who read about it later.
func (v *visit) reason() string {
	reason := strings.TrimSpace(v.PostFormValue("reason"))
	if reason == "" {
		reason = "cancelled on the page"
	}
	if v.who.ID != "" && v.who.ID != access.Everybody.ID {
		reason += fmt.Sprintf(" (%s)", v.who)
	}
	return reason
}

// act does what a form asks for, and shows the page of the form again. Package api has checked that the form came from
// this page; the API checks the role.
func (p *Page) act(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		p.fail(w, r, "", refusal(http.StatusBadRequest, "the form cannot be read: want at most %d bytes of application/x-www-form-urlencoded", maxForm))
		return
	}
	name := r.PostFormValue("do")
	d, known := formActions[name]
	switch {
	case !p.Actions:
		p.fail(w, r, d.nav, refusal(http.StatusForbidden, "this coordinator's page only shows: its setting http-actions is false"))
		return
	case !known:
		p.fail(w, r, "", refusal(http.StatusBadRequest, "the page has no action %.50q", name))
		return
	}
	switch name {
	case "bulk":
		p.actBulk(w, r)
	case "remedy":
		p.actRemedy(w, r)
	default:
		p.finish(w, r, name, d.do(p.newVisit(r), r.PostFormValue("of")))
	}
}

// finish shows the page of a form again, or why its action failed.
func (p *Page) finish(w http.ResponseWriter, r *http.Request, name string, err error) {
	p.cache.forget() // also after an error: what the visitor saw may have changed
	if err != nil {
		p.fail(w, r, formActions[name].nav, err)
		return
	}
	http.Redirect(w, r, withDid(back(r), p.Prefix, name), http.StatusSeeOther)
}

// refusal is an error with a status, as the API has them.
func refusal(status int, format string, args ...any) error {
	return &problem{types.Problem{Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}}
}

// asProblem is errors.As for an error answer of the API.
func asProblem(err error, p **problem) bool { return errors.As(err, p) }

// actRemedy fixes the cause of an attention item with the operation that the item names. It is refused if the item has
// ended, or concerns more than the visitor saw. A bulk goes on until all are changed, and shows what was refused.
func (p *Page) actRemedy(w http.ResponseWriter, r *http.Request) {
	v := p.newVisit(r)
	remedy, err := v.remedyOf(r.PostFormValue("of"))
	if err != nil {
		p.finish(w, r, "remedy", err)
		return
	}
	if s, isBulk, err := v.selectionOfRemedy(remedy); isBulk {
		p.showChanged(w, v, s, err)
		return
	}
	method, address, _ := strings.Cut(remedy.Request, " ")
	var body any
	if len(remedy.Body) > 0 {
		body = remedy.Body
	}
	p.finish(w, r, "remedy", v.do(v.Context(), method, address, body, nil))
}

// remedyOf returns the remedy of an item, unless it may not be performed.
func (v *visit) remedyOf(id string) (models.Remedy, error) {
	var report models.AttentionReport
	if err := v.get(v.Context(), path("attention"), nil, &report); err != nil {
		return models.Remedy{}, err
	}
	for _, item := range report.Items {
		if item.ID != id || item.Remedy == nil {
			continue
		}
		if item.Remedy.Request == "" {
			return models.Remedy{}, refusal(http.StatusConflict, "%s cannot be done here: run %s", item.Remedy.Label, item.Command)
		}
		if seen, err := strconv.ParseInt(v.PostFormValue("count"), 10, 64); err == nil && item.Remedy.Count > seen {
			return models.Remedy{}, refusal(http.StatusConflict, "there are %d now, and you saw %d: look at them again", item.Remedy.Count, seen)
		}
		return *item.Remedy, nil
	}
	return models.Remedy{}, refusal(http.StatusConflict, "the cause has ended meanwhile, so there is nothing to do")
}

// Back is the address of the page, to which a form comes back. It has no prefix.
func (v *visit) Back() string {
	query := v.URL.Query()
	query.Del("did")
	return (&url.URL{Path: v.URL.Path, RawQuery: query.Encode()}).String()
}

// back returns the address to which the form of a request comes back: a path of this page, otherwise the overview.
func back(r *http.Request) string {
	u, err := url.Parse(r.PostFormValue("back"))
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, "\\") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

// withDid returns an address below the prefix that shows what was done.
func withDid(address, prefix, did string) string {
	u, err := url.Parse(address)
	if err != nil {
		return prefix + "/"
	}
	query := u.Query()
	query.Set("did", did)
	return prefix + (&url.URL{Path: u.Path, RawQuery: query.Encode()}).String()
}
