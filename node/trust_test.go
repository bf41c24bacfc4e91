package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// Row 48 of the catalogue of faults: a document that names origins must not lead
// managers or workers to addresses of their own network.
func TestFault48WhatAListerNamesIsNotTrusted(t *testing.T) {
	t.Parallel()
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	feed := models.Origin{ID: "o", Kind: models.Feed, URI: "http://10.0.0.5/feed", Listed: true}
	require.NoError(t, f.Trust(feed))
	require.ErrorIs(t, f.Check(feed.URI), fault.ErrInvalid)
	feed.Listed = false
	require.NoError(t, f.Trust(feed))
	require.NoError(t, f.Check(feed.URI), "the operator may name it")
}
