package git

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/code/gitrepo"
)

// Bounds of the request for the dates of commits.
const (
	packBytes = 4 << 20 // of an answer; the rest is not read
	packTime  = 30 * time.Second
	packSpan  = 180 * 24 * time.Hour // the period that a first visit requests
)

// requestDates returns when the commits of HEAD since a time were made, the latest first. It
// requests the commits without trees and files, and returns nil if the server cannot
// omit those, or after any error, because the visit already knows that the refs changed. all is
// true if no limit cut the dates off.
func (f *Flow) requestDates(ctx context.Context, u *url.URL, ad gitrepo.Advertised, since time.Time) (times []time.Time, all bool) {
	head := ad.Refs["HEAD"]
	if head == "" || !ad.Can("filter") || !ad.Can("deepen-since") || !ad.Can("ofs-delta") {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, packTime)
	defer cancel()
	header := http.Header{
		"Content-Type": {"application/x-git-upload-pack-request"}, "Accept": {"application/x-git-upload-pack-result"},
	}
	answer, err := f.Fetch.Post(ctx, u.JoinPath("git-upload-pack").String(), header, commitsRequest(head, since), packBytes)
	if err != nil {
		return nil, false
	}
	_, pack, ok := bytes.Cut(answer, []byte("0008NAK\n"))
	if !ok {
		return nil, false
	}
	times = gitrepo.CommitTimes(pack)
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	all = len(times) > 0 && len(times) <= models.MaxChanges && len(answer) < packBytes
	return times[:min(len(times), models.MaxChanges)], all
}

// commitsRequest returns the request for the commits of a head since a time, in the stateless
// protocol of git-upload-pack (version 0).
func commitsRequest(head string, since time.Time) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		fmt.Fprintf(&b, "%04x%s", len(text)+4, text)
	}
	line("want %s ofs-delta no-progress deepen-since filter agent=leasehold\n", head)
	line("deepen-since %d\n", since.Unix())
	line("filter tree:0\n")
	b.WriteString("0000")
	line("done\n")
	return b.Bytes()
}
