package cmd

import (
	"fmt"

	"leasehold/shared/catalog"
	"leasehold/shared/lease"
)

// summarize prints what was found, what could not be done, and what it took; how long,
// which is never the same twice, beside the output. It fails if nothing could be done.
func (a *app) summarize(t tally) error {
	if len(t.findings) > 0 {
		if err := a.printFindings(t.findings); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	if len(t.problems) > 0 {
		if err := a.printProblems(t.problems); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	_, err := fmt.Fprintf(a.out, "%s, %s: %s in %s; leases: %d granted, %d extended, %d revoked, %d expired; %s\n",
		count(t.catalog.Episodes, "episode"), count(t.catalog.Clips, "clip"), count(len(t.findings), "finding"),
		count(int(t.leases[lease.Granted]), "work-item"),
		t.leases[lease.Granted], t.leases[lease.Extended], t.leases[lease.Revoked], t.leases[lease.Expired],
		count(len(t.problems), "problem"))
	if err == nil && t.cost != "" {
		_, err = fmt.Fprintln(a.err, "research:", t.cost)
	}
	if err == nil && t.nothingDone() {
		return fmt.Errorf("nothing could be done: %s", count(len(t.problems), "problem"))
	}
	return err
}

// printFindings prints the table of findings.
func (a *app) printFindings(found []catalog.Finding) error { return printTable(a, findingRows(found)) }

// printProblems prints the table of problems.
func (a *app) printProblems(problems []catalog.Problem) error {
	return printTable(a, problemRows(problems))
}

// subject names what a problem is about, as people know it.
func subject(p catalog.Problem) string {
	switch {
	case p.EpisodeTitle != "" && p.ClipTitle != "":
		return p.ClipTitle + " in " + p.EpisodeTitle
	case p.EpisodeTitle != "":
		return p.EpisodeTitle
	case p.ClipTitle != "":
		return p.ClipTitle
	case p.Item != "":
		return p.Item
	}
	return p.OriginURI
}

// count prints a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
