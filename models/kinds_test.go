package models_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestEveryVisitedKindHasAPlaceAndTexts(t *testing.T) {
	t.Parallel()
	for _, info := range models.Kinds() {
		require.NotEmpty(t, info.Label, info.Kind)
		if info.Flow == "" {
			continue
		}
		require.NotEmpty(t, info.Item, info.Kind)
		require.True(t, info.URL || info.Local != models.NotLocal, info.Kind)
		require.Equal(t, info, info.Kind.Info())
		require.Equal(t, info.Local != models.NotLocal, info.Kind.Accepted("/srv/x"), "%s at a path", info.Kind)
		require.Equal(t, info.URL, info.Kind.Accepted("https://example.org/x"), "%s at a URL", info.Kind)
		require.Equal(t, info.SSH, info.Kind.Accepted("ssh://example.org/x"), "%s at an ssh URL", info.Kind)
	}
	require.NotContains(t, models.VisitedKinds(), models.API)
	for _, kind := range models.ListerKinds() {
		require.Equal(t, kind != models.Pushed, kind.Visited(), "%s: a program that pushes is not visited", kind)
	}
	require.True(t, models.OriginKind("svn").Visited())
	for _, kind := range []models.OriginKind{"", "Svn", "1svn", "s vn", models.Git, models.API} {
		require.False(t, kind.IsProgram(), kind)
	}
	require.True(t, models.OriginKind("svn").Accepted("svn://host/path"))
	for _, uri := range []string{"", "/etc", "file:///etc", "svn://host/\n"} {
		require.False(t, models.OriginKind("svn").Accepted(uri), uri)
	}
	require.False(t, models.API.Visited())
	require.True(t, models.API.Known())
	require.False(t, models.OriginKind("films").Known())
	require.Zero(t, models.OriginKind("").Info())
}

func TestAKindIsDetectedByItsSuffix(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]models.OriginKind{
		"": models.Feed, "/x": models.Feed, "/x.git": models.Git, "/x.GIT": models.Git, "/x.opml": models.OPML, "/x.txt": models.Feed,
	} {
		require.Equal(t, want, models.KindOfURL(path), path)
	}
	for name, want := range map[string]models.OriginKind{"": "", "x": "", "x.xml": "", "x.git": "", "x.Opml": models.OPML, "x.txt": models.URLs} {
		require.Equal(t, want, models.KindOfFile(name), name)
	}
}

func TestATaskThatAFlowSelectedNamesItsSubjectAndParts(t *testing.T) {
	t.Parallel()
	task := models.Task{Action: models.ActionResearch, Data: json.RawMessage(`{"episode":{"id":"e"},"clips":[{"id":"a"},{"id":"b"}]}`)}
	require.Equal(t, []models.Selected{{Subject: "e", Parts: []string{"a", "b"}}}, task.SelectedWork())
	sweep := models.Task{Action: models.ActionResearch, Data: json.RawMessage(`{"episodes":[{"id":"e"},{"id":"f"}],"clips":[{"id":"a"}]}`)}
	require.Equal(t, []models.Selected{{Subject: "e", Parts: []string{"a"}}, {Subject: "f", Parts: []string{"a"}}}, sweep.SelectedWork())
	for _, other := range []models.Task{{Action: "dig", Data: task.Data}, {Action: models.ActionResearch}, {Action: models.ActionResearch, Data: json.RawMessage(`{}`)}} {
		require.Empty(t, other.SelectedWork(), other)
	}
	require.Contains(t, models.ActionNames(), models.ActionResearch)
}

func TestAnOriginNeedsAURIThatItsKindAccepts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind models.OriginKind
		uri  string
		want bool
	}{
		{models.Feed, "https://a.example/x", true}, {models.Feed, "/x", true}, {models.Feed, "x", false}, {models.Feed, "/a/../x", false},
		{models.Feed, "ftp://a.example/x", false}, {models.Feed, "https:///x", false}, {models.Feed, "", false},
		{models.Media, "/x", true}, {models.Media, "https://a.example/x", false}, {models.API, "any", true}, {models.API, "", false},
		{"films", "/x", false}, {models.Feed, "/" + strings.Repeat("x", 4096), false},
	} {
		require.Equal(t, c.want, c.kind.Accepted(c.uri), "%s %.20s", c.kind, c.uri)
	}
}

func TestAListerNamesURLsAndPathsBelowIts(t *testing.T) {
	t.Parallel()
	list, folder := models.Origin{Kind: models.URLs, URI: "/list"}, models.Origin{Kind: models.Repositories, URI: "/repos"}
	for _, c := range []struct {
		lister models.Origin
		kind   models.OriginKind
		uri    string
		want   bool
	}{
		{list, models.Feed, "https://a.example/", true}, {list, models.Git, "https://a.example/x.git", true}, {list, models.OPML, "https://a.example/", false},
		{list, models.Git, "/list/x", false}, {folder, models.Git, "/repos/x", true}, {folder, models.Git, "/repos/../etc", false},
		{folder, models.Git, "/repository", false}, {folder, models.Media, "/repos/x", false}, {folder, models.Git, "file:///repos/x", false},
	} {
		require.Equal(t, c.want, c.lister.MayList(models.ListedOrigin{Kind: c.kind, URI: c.uri}), "%s %s", c.kind, c.uri)
	}
}
