package models_test

import (
	"encoding/json"
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
	}
	require.Equal(t, []models.OriginKind{"feed", "media", "clips", "git", "opml", "urls", "repositories"}, models.VisitedKinds())
	require.Equal(t, []models.OriginKind{"opml", "urls", "repositories"}, models.ListerKinds())
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
	subject, parts, ok := task.SelectedWork()
	require.True(t, ok)
	require.Equal(t, "e", subject)
	require.Equal(t, []string{"a", "b"}, parts)
	for _, other := range []models.Task{{Action: "dig", Data: task.Data}, {Action: models.ActionResearch}, {Action: models.ActionResearch, Data: json.RawMessage(`{}`)}} {
		_, _, ok := other.SelectedWork()
		require.False(t, ok, other)
	}
	require.Equal(t, []string{"research"}, models.ActionNames())
}
