package petri_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/petri"
)

const document = `<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><name><text>lock</text></name><page id="g">
<place id="p"><name><text>free</text></name><initialMarking><text> 3 </text></initialMarking></place>
<transition id="t"/>
<place id="q"/>
<arc id="a" source="p" target="t"><inscription><text>2</text></inscription></arc>
<arc id="b" source="t" target="q"/>
</page></net></pnml>`

func TestPNMLIsTheNetThatAptIs(t *testing.T) {
	t.Parallel()
	n, err := petri.ParsePNML("n.pnml", document)
	require.NoError(t, err)
	require.Equal(t, parse(t, `.name "lock" .places p q .transitions t .flows t: {2*p} -> {q} .initial_marking {3*p}`), n)
	require.True(t, petri.IsPNML(document))
	require.False(t, petri.IsPNML(small))
}

func TestPNMLThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	bomb := `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>` + "\n<pnml>&b;</pnml>"
	for _, c := range []struct{ src, says string }{
		{bomb, "n.pnml:1:1: a document type is not allowed"},
		{"<pnml>&b;</pnml>", "invalid character entity &b;"},
		{strings.Repeat("<page>", 100), "n.pnml:1:385: more than 64 nested elements"},
		{strings.Repeat(" ", petri.MaxSource+1), "at most 4194304 are read"},
		{"<pnml>", "unexpected EOF"},
		{"<pnml></pnml>", "the file has no net"},
		{"", "the file has no net"},
		{replaced("grammar/ptnet", "grammar/symmetricnet"), "want a place/transition net"},
		{replaced("> 3 <", ">-3<"), `n.pnml:4:69: expected a number of 0 to 1000000000, found "-3"`},
		{replaced(">2<", ">0<"), `expected a number of 1 to 1000000000, found "0"`},
		{replaced(`target="q"`, `target="z"`), `n.pnml:8:1: want an arc between a place and a transition, got one from "t" to "z"`},
		{replaced(`id="q"`, `id="p"`), "n.pnml:6:1: the id p is used twice"},
		{replaced(` id="q"`, ``), "a place or transition without an id"},
		{replaced(`source="t" target="q"`, `source="p" target="t"`), "there are two arcs from p to t"},
		{replaced(`target="q"/>`, `target="q"><type value="inhibitor"/></arc>`), "an arc of type inhibitor"},
		{replaced(`<transition id="t"/>`, `<referencePlace id="r" ref="p"/>`), "references between pages are not supported"},
		{document + strings.Replace(document, `<?xml version="1.0"?>`, "", 1), "the file has more than one net"},
	} {
		_, err := petri.ParsePNML("n.pnml", c.src)
		require.ErrorContains(t, err, c.says, c.src[:min(300, len(c.src))])
	}
}

func replaced(old, now string) string { return strings.Replace(document, old, now, 1) }

func FuzzParsePNML(f *testing.F) {
	f.Add(document)
	f.Add(`<pnml><net><place id="p"/><text>1</text></net></pnml>`)
	f.Add(`<arc><inscription><text>1</text></inscription></arc>`)
	f.Fuzz(func(t *testing.T, src string) {
		if n, err := petri.ParsePNML("n.pnml", src); err == nil {
			petri.Check(t.Context(), "n.pnml", n, petri.Question{Options: petri.Options{Markings: 50, Semiflows: 20}})
		}
	})
}
