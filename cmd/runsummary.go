package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/node"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/lease"
)

// summary is what a run did.
type summary struct {
	leases   map[string]int64
	catalog  catalog.Totals
	origins  []models.Origin
	findings []catalog.Finding
	problems []catalog.Problem
	costs    []string
	reports  []types.CodeReport // of the first repositories
	resting  []types.Schedule   // of origins that were not visited with success since began
	began    time.Time
}

// read reads what a run did. It does not take the context of the run, because that has ended if the
// run was interrupted. Costs that cannot be read are left out; other errors, of the spaces and the
// catalog, are returned.
func (s *summary) read(l *node.Local) (err error) {
	ctx := context.Background()
	if costs, err := l.Costs(ctx); err == nil {
		s.costs = costLines(costs)
	}
	if s.leases, err = l.LeaseTotals(ctx); err != nil {
		return err
	}
	if s.catalog, err = l.Catalog.Totals(ctx); err != nil {
		return err
	}
	if s.origins, err = l.Catalog.Origins(ctx); err != nil {
		return err
	}
	if s.findings, err = l.Catalog.Findings(ctx); err != nil {
		return err
	}
	if s.problems, err = l.Catalog.Problems(ctx); err != nil {
		return err
	}
	if s.resting, err = l.Resting(ctx, s.unvisited()); err != nil {
		return err
	}
	return s.readReports(ctx, l)
}

// unvisited returns the ids of origins that were not visited with success in this run.
func (s *summary) unvisited() (ids []string) {
	for _, o := range s.origins {
		visited := !o.LastVisit.Before(s.began.Truncate(time.Microsecond)) && (o.LastOutcome == models.Eventful || o.LastOutcome == models.Uneventful)
		if o.Kind.Visited() && o.Disabled == "" && !visited {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// Bounds of the reports of a summary.
const (
	maxReports      = 3
	reportFunctions = 5
)

// readReports reads the heads of the reports of the first maxReports repositories. Repositories without
// indexed files are left out.
func (s *summary) readReports(ctx context.Context, l *node.Local) error {
	for _, o := range s.origins {
		if o.Kind.Info().Flow != models.IndexFlow || len(s.reports) == maxReports {
			continue
		}
		r, err := readReport(ctx, l, types.ReportQuery{Repo: o.ID, Limit: reportFunctions})
		switch {
		case errors.Is(err, fault.ErrNotFound): // nothing of it is indexed
		case err != nil:
			return err
		default:
			s.reports = append(s.reports, r)
		}
	}
	return nil
}

// reportTimeout is how long a summary waits for a search server that is away, because all of the run's work is done then.
const reportTimeout = 2 * time.Minute

// readReport reads a report, and repeats that while a search server is away.
func readReport(ctx context.Context, l *node.Local, q types.ReportQuery) (r types.CodeReport, err error) {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	loop := retry.Loop{Log: slog.New(slog.DiscardHandler)} // the index logs why it waits
	err = loop.Do(ctx, func() error {
		r, err = l.CodeReport(ctx, q)
		return err
	})
	return r, err
}

// plainWord matches what a shell reads as one word without quotes.
var plainWord = regexp.MustCompile(`^[\w./+:=@%,-]+$`)

// printReports prints the heads of reports, and below them a search to try; nothing if there are
// no reports. a.flags must be those of run.
func (a *app) printReports(s summary) error {
	for _, r := range s.reports {
		if _, err := sayf(a.out, "%s: %s indexed", r.Repo, count(r.Files, "file")); err != nil {
			return err
		}
		if len(r.Functions) == 0 {
			fmt.Fprintln(a.out)
			continue
		}
		fmt.Fprintln(a.out, "; its largest functions:")
		if err := printTable(a, rowsOf(r.Functions, func(f types.FunctionReport) functionRow { return functionRow{f} })); err != nil {
			return err
		}
	}
	if len(s.reports) == 0 {
		return nil
	}
	name := "main"
	if f := s.reports[0].Functions; len(f) > 0 {
		name = f[0].Function
	}
	folder := a.dataFlag()
	_, err := sayf(a.out, "try: leasehold search%s 'sym:%s'; leasehold report%s %s\n\n", folder, name, folder, s.reports[0].ID)
	return err
}

// costsOf returns the costs of research of a run; empty if they cannot be read.
func costsOf(ctx context.Context, l *node.Local) string {
	costs, err := l.Costs(ctx)
	if err != nil {
		return ""
	}
	return costLine(models.ActionResearch, costs)
}

// nothingDone reports whether there was something to do and none of it could be done: an
// origin could not be visited, or there were pairs to research, and no repository was visited with
// success.
func (s summary) nothingDone() bool {
	if slices.ContainsFunc(s.origins, func(o models.Origin) bool {
		return o.Kind.Info().Flow == models.IndexFlow && (o.LastOutcome == models.Eventful || o.LastOutcome == models.Uneventful)
	}) {
		return false
	}
	failed := slices.ContainsFunc(s.origins, func(o models.Origin) bool {
		return o.LastOutcome == models.Failed || o.LastOutcome == models.NotFound
	})
	pairs := s.catalog.Episodes * s.catalog.Clips
	return s.catalog.Researched == 0 && len(s.problems) > 0 && (failed || pairs > 0)
}

// totalsText returns the numbers of recordings and repositories to work on, and of the findings in
// recordings, as text.
func (s summary) totalsText() string {
	repositories := 0
	for _, o := range s.origins {
		if o.Kind.Info().Flow == models.IndexFlow {
			repositories++
		}
	}
	recordings := fmt.Sprintf("%s, %s", count(s.catalog.Episodes, "episode"), count(s.catalog.Clips, "clip"))
	found := count(len(s.findings), "finding")
	switch {
	case repositories == 0:
		return recordings + ": " + found
	case s.catalog.Episodes+s.catalog.Clips == 0:
		return count(repositories, "repository")
	}
	return recordings + ", " + count(repositories, "repository") + ": " + found
}

// leasesText returns how many leases were granted and ended with the result of a worker, and, if there are
// any, how many were extended or expired.
func (s summary) leasesText() string {
	text := fmt.Sprintf("%d granted, %d finished", s.leases[lease.Granted], s.leases[lease.Revoked])
	if n := s.leases[lease.Extended]; n > 0 {
		text += fmt.Sprintf(", %d extended", n)
	}
	if n := s.leases[lease.Expired]; n > 0 {
		text += fmt.Sprintf(", %d expired", n)
	}
	return text
}

// printSummary prints the findings, the problems and totals. It prints the costs, and what rests, to
// standard error, because they differ from run to run. It returns an error if nothing
// could be done.
func (a *app) printSummary(s summary) error {
	if len(s.findings) > 0 {
		if err := a.printFindings(s.findings); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	if len(s.problems) > 0 {
		if err := a.printProblems(s.problems); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	if err := a.printReports(s); err != nil {
		return err
	}
	_, err := sayf(a.out, "%s in %s; leases: %s; %s\n",
		s.totalsText(), count(int(s.leases[lease.Granted]), "work-item"), s.leasesText(), count(len(s.problems), "problem"))
	for _, line := range s.costs {
		sayf(a.err, "%s\n", line)
	}
	err = errors.Join(err, a.tellResting(a.err, s.resting, time.Now()))
	if err == nil && s.nothingDone() {
		return fmt.Errorf("no work could be done: %s", count(len(s.problems), "problem"))
	}
	return err
}

func (a *app) printFindings(found []catalog.Finding) error { return printTable(a, findingRows(found)) }

func (a *app) printProblems(problems []catalog.Problem) error {
	return printTable(a, problemRows(problems))
}

// subject returns what a problem is about, as people know it: the most specific of clip, episode,
// item of an origin, and origin.
func subject(p catalog.Problem) string {
	switch {
	case p.EpisodeTitle != "" && p.ClipTitle != "":
		return p.ClipTitle + " in " + p.EpisodeTitle
	case p.Clips > 0:
		return p.EpisodeTitle + " (" + count(p.Clips, "clip") + ")"
	case p.EpisodeTitle != "":
		return p.EpisodeTitle
	case p.ClipTitle != "":
		return p.ClipTitle
	case p.Item != "" && p.OriginURI != "":
		return p.Item + " in " + p.OriginURI
	case p.Item != "":
		return p.Item
	}
	return p.OriginURI
}

// count formats a number with its noun, which must be regular: one that ends in y gets -ies.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
