package page

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/shared/api/types"
	"leasehold/shared/protocol/status"
)

// Limits of the page of the log.
const (
	maxLogLines = 200
	maxAudit    = 100
)

// logRow is a line of the log.
type logRow struct {
	At      time.Time
	Level   string
	Message string
	Session string // that it is about; empty: none
	Task    string // dead task that it is about; empty: none
}

// Class is the class of its colour.
func (l logRow) Class() string {
	return map[string]string{"error": "bad", "warn": "warn"}[l.Level]
}

// latestLog returns the latest lines of the log, the latest first.
func (p *Page) latestLog(ctx context.Context, most int) ([]logRow, error) {
	lines, err := status.Lines(ctx, p.Repo)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(lines, func(a, b status.Line) int { return b.At.Compare(a.At) })
	rows := make([]logRow, 0, most)
	for _, l := range lines[:min(len(lines), most)] {
		row := logRow{At: l.At, Level: l.Level, Message: l.Message, Session: l.ID}
		if strings.HasPrefix(l.Message, "task "+l.ID+" ") {
			row.Session, row.Task = "", l.ID
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// logPage is the log, and for administrators what people and programs changed.
type logPage struct {
	Lines   []logRow
	Audited bool
	Audit   []types.AuditRecord // the latest first
}

func readLog(v *visit) (any, error) {
	lines, err := v.page.latestLog(v.Context(), maxLogLines)
	if err != nil {
		return nil, err
	}
	l := logPage{Lines: lines}
	var audit types.Page[types.AuditRecord]
	err = v.get(v.Context(), path("audit"), url.Values{"limit": {strconv.Itoa(maxAudit)}}, &audit)
	var refused *problem
	switch {
	case err == nil:
		l.Audited, l.Audit = true, audit.Items
		slices.Reverse(l.Audit)
	case asProblem(err, &refused) && refused.Status != http.StatusInternalServerError: // without authentication, or for others
	default:
		return nil, err
	}
	return l, nil
}
