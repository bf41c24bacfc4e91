package page

import (
	"html/template"
	"net/url"
	"strconv"

	"leasehold/shared/api/types"
)

// Limits of the pages of spaces.
const (
	maxSpaces  = 200
	maxTuples  = 50
	maxShown   = 500     // bytes of a tuple that are shown
	maxSkipped = 100_000 // tuples before a page
)

// spacesPage is the spaces with their counts.
type spacesPage struct {
	Spaces  []types.Space
	Total   int
	Sparks  map[string]template.HTML // by space, of the last day
	History bool                     // the coordinator keeps it
}

func readSpaces(v *visit) (any, error) {
	var all types.Page[types.Space]
	err := v.get(v.Context(), path("spaces"), url.Values{"limit": {strconv.Itoa(maxSpaces)}}, &all)
	if err != nil {
		return nil, err
	}
	sparks, err := v.sparkSpaces()
	return spacesPage{all.Items, all.Total, sparks, sparks != nil}, err
}

// spacePage is a space, and its tuples that match a template.
type spacePage struct {
	types.Space
	Template string
	Tuples   []tupleRow
	Total    int
	Next     string
	Problem  string
	History  *spaceCharts // nil: none
}

type tupleRow struct {
	Number       int
	Line, Holder string
	Cut          bool
}

// readSpace reads the page of one space. A template that is refused is a problem on the page.
func readSpace(v *visit) (any, error) {
	name := v.PathValue("space")
	s := spacePage{Template: v.param("template")}
	if err := v.get(v.Context(), path("spaces", name), nil, &s.Space); err != nil {
		return nil, err
	}
	v.title = name
	var err error
	if s.History, err = v.readSpaceCharts(name); err != nil {
		return nil, err
	}
	offset, _ := strconv.Atoi(v.param("offset")) // otherwise the first page
	offset = max(0, min(offset, maxSkipped))
	query := url.Values{"limit": {strconv.Itoa(maxTuples)}, "offset": {strconv.Itoa(offset)}}
	if s.Template != "" {
		query.Set("template", s.Template)
	}
	var found types.Page[types.Tuple]
	err = v.get(v.Context(), path("spaces", name, "tuples"), query, &found)
	var refused *problem
	if asProblem(err, &refused) && refused.Status < 500 {
		s.Problem = sentence(refused.Error())
		return s, nil
	}
	s.Total = found.Total
	for i, t := range found.Items {
		row := tupleRow{Number: offset + i + 1, Holder: t.Holder}
		row.Line, row.Cut = firstBytes(t.Line, maxShown)
		s.Tuples = append(s.Tuples, row)
	}
	if next := offset + maxTuples; next < found.Total && next <= maxSkipped {
		s.Next = v.page.link("/spaces/"+name, "template", s.Template, "offset", strconv.Itoa(next))
	}
	return s, err
}
