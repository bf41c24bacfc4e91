package page

import (
	"strconv"

	"leasehold/shared/api/types"
)

// filePage is lines of an indexed file.
type filePage struct {
	types.CodeFile
	Next    string // link to the lines behind these; empty if there are none
	Problem string
}

type numberedLine struct {
	Number int
	Text   string
}

// Numbered returns the lines with their numbers.
func (f filePage) Numbered() []numberedLine {
	all := make([]numberedLine, len(f.Lines))
	for i, text := range f.Lines {
		all[i] = numberedLine{f.From + i, text}
	}
	return all
}

// readFile reads the page of a file. Why it cannot be read is on the page.
func readFile(v *visit) (any, error) {
	v.raw = true                             // the texts of files are shown as they are
	from, _ := strconv.Atoi(v.param("from")) // otherwise the first line
	at := types.FilePlace{Repo: v.param("repo"), Path: v.param("path"), OID: v.param("oid"), From: from, Lines: codeLines}
	v.title = at.Path + " – Code"
	end, err := v.startCode("readFile")
	if err != nil {
		return nil, err
	}
	defer end()
	f, err := v.page.Code.Read(v.Context(), at)
	shown := filePage{CodeFile: f}
	if err != nil && v.Context().Err() != nil {
		return nil, err
	}
	if err != nil {
		v.status, shown.Problem = statusOf(err), sentence(err.Error())
		return shown, nil
	}
	if behind := f.From + len(f.Lines); len(f.Lines) > 0 && behind <= f.Total {
		shown.Next = v.page.linkOf(f.Repo, f.Path, f.OID, 0, behind)
	}
	return shown, nil
}
