package lister

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

const twoFeeds = `<opml version="2.0"><body><outline text="Käse" xmlUrl="https://a.example/feed"/><outline text="x" xmlUrl="https://b.example/feed?a=1"/></body></opml>`

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// inUTF16 returns text with a byte order mark, in little endian.
func inUTF16(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

func TestOneFaultOfAListOfFeedsCostsNoFeed(t *testing.T) {
	t.Parallel()
	replaced := func(from, to string) []byte { return bytes.ReplaceAll([]byte(twoFeeds), []byte(from), []byte(to)) }
	for name, c := range map[string]struct {
		doc         []byte
		contentType string
		repaired    bool
	}{
		"none":                               {[]byte(twoFeeds), "", false},
		"Latin-1 that claims to be UTF-8":    {append([]byte(`<?xml version="1.0" encoding="UTF-8"?>`), replaced("ä", "\xe4")...), "", true},
		"Latin-1 in Content-Type only":       {replaced("ä", "\xe4"), "text/x-opml; charset=iso-8859-1", false},
		"a declared charset":                 {append([]byte(`<?xml version="1.0" encoding="ISO-8859-1"?>`), replaced("ä", "\xe4")...), "", false},
		"a bare &":                           {replaced("Käse", "Käse & Wein"), "", true},
		"a bare & in the URL":                {replaced("?a=1", "?a=1&b=2"), "", true},
		"a control character":                {replaced("Käse", "K\x08se"), "", true},
		"a reference to a control character": {replaced("Käse", "K&#8;se"), "", true},
		"an unknown entity":                  {replaced("Käse", "&kaese;"), "", true},
		"an entity of HTML":                  {replaced("ä", "&auml;"), "", false},
		"a DOCTYPE with an entity":           {append([]byte(`<!DOCTYPE opml [<!ENTITY e "x">]>`), replaced("Käse", "&e;")...), "", true},
		"text in front":                      {append([]byte("Warning: \n"), twoFeeds...), "", true},
		"gzip without its header":            {zipped(t, twoFeeds), "", false},
		"UTF-16":                             {inUTF16(`<?xml version="1.0" encoding="UTF-16"?>` + twoFeeds), "", false},
	} {
		list, faults, err := parseOPML(c.doc, c.contentType)
		require.NoError(t, err, name)
		require.Len(t, list, 2, name)
		require.Equal(t, "https://a.example/feed", list[0].URI, name)
		require.Contains(t, list[1].URI, "https://b.example/feed?a=1", name)
		if c.repaired {
			require.True(t, faults.Any(), name)
		}
	}
}

// Its other feeds would count as removed from the list.
func TestAListOfFeedsThatIsCutOffIsRefused(t *testing.T) {
	t.Parallel()
	packed := zipped(t, twoFeeds)
	for _, doc := range [][]byte{[]byte(twoFeeds[:len(twoFeeds)-20]), packed[:len(packed)-20]} {
		_, _, err := parseOPML(doc, "")
		require.ErrorIs(t, err, fault.ErrInvalid)
	}
}

func TestARepairedListIsNamedAsAWhole(t *testing.T) {
	t.Parallel()
	o, err := visit(t, models.OPML, file(t, string(inUTF16(twoFeeds))), models.Known{})
	require.NoError(t, err)
	require.Equal(t, []string{"feed https://a.example/feed", "feed https://b.example/feed?a=1"}, uris(o))
}
