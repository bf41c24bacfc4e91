package petri_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/explore"
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
		{replaced(`target="q"/>`, `target="q"><arctype><text>reset</text></arctype></arc>`), "an arc of type reset"},
		{replaced(`<transition id="t"/>`, ``), "want an arc between a place and a transition"},
		{replaced(`<place id="q"/>`, `<referencePlace id="q" ref="r"/><referencePlace id="r" ref="q"/>`), `got one from "t" to "q"`},
		{replaced(`<place id="q"/>`, `<referencePlace id="q" ref="z"/>`), `got one from "t" to "q"`},
		{final(`<place idref="z"><text>1</text></place>`), `a final marking names the place "z", which the net does not have`},
		{final(`<place idref="q"/>`), "a final marking has no number of tokens for q"},
		{final(`<place idref="q"><text>-1</text></place>`), `expected a number of 0 to 1000000000, found "-1"`},
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

// final returns the document with a final marking, where ProM and pm4py write it.
func final(places string) string {
	return replaced("</page>", "</page><finalmarkings><marking>"+places+"</marking></finalmarkings>")
}

// mined is a net as pm4py 2.7 writes it.
const mined = `<?xml version='1.0' encoding='UTF-8'?>
<pnml>
  <net id="imdf" type="http://www.pnml.org/version-2009/grammar/pnmlcoremodel">
    <name>
      <text>imdf</text>
    </name>
    <page id="n0">
      <place id="source">
        <name>
          <text>source</text>
        </name>
        <initialMarking>
          <text>1</text>
        </initialMarking>
      </place>
      <place id="sink">
        <name>
          <text>sink</text>
        </name>
      </place>
      <transition id="9b2e">
        <name>
          <text>register</text>
        </name>
      </transition>
      <transition id="skip_1">
        <name>
          <text>skip_1</text>
        </name>
        <toolspecific tool="ProM" version="6.4" activity="$invisible$" localNodeID="1"><place id="source"/><net/></toolspecific>
      </transition>
      <arc id="a1" source="source" target="9b2e"/>
      <arc id="a2" source="9b2e" target="sink"/>
      <arc id="a3" source="source" target="skip_1"/>
      <arc id="a4" source="skip_1" target="sink"/>
    </page>
    <finalmarkings>
      <marking>
        <place idref="sink">
          <text>1</text>
        </place>
      </marking>
    </finalmarkings>
  </net>
</pnml>`

func TestANetOfAProcessMiningLibraryIsRead(t *testing.T) {
	t.Parallel()
	n, err := petri.ParsePNML("n.pnml", mined)
	require.NoError(t, err)
	require.Equal(t, parse(t, `.name "imdf" .places source sink .transitions 9b2e skip_1
.flows 9b2e: {source} -> {sink} skip_1: {source} -> {sink} .initial_marking {source} .final_markings {sink}`), n)
	r, found := check(t, n, petri.Question{})
	require.Equal(t, explore.Holds, found[petri.Proper].Outcome)
	require.Equal(t, explore.Holds, found[petri.Completes].Outcome)
	require.Empty(t, r.OffTheWay)
}

func TestPagesAndReferencesAreOneNet(t *testing.T) {
	t.Parallel()
	want, err := petri.ParsePNML("n.pnml", document)
	require.NoError(t, err)
	for _, src := range []string{
		replaced(`<arc id="b" source="t" target="q"/>`, `</page><page id="h"><referencePlace id="r" ref="s"/><referencePlace id="s" ref="q"/>
<referenceTransition id="u" ref="t"/><arc id="b" source="u" target="r"/>`),
		replaced(` type="http://www.pnml.org/version-2009/grammar/ptnet"`, ""),
		replaced(`<place id="p"><name><text>free</text></name>`, `<place><name><text>p</text></name>`),
		strings.Replace(replaced(` id="a"`, ""), ` id="b"`, "", 1),
		replaced(`net id="n"`, "net"),
	} {
		n, err := petri.ParsePNML("n.pnml", src)
		require.NoError(t, err, src)
		require.Equal(t, want, n, src)
	}
	n, err := petri.ParsePNML("n.pnml", final(`<place idref="p"><text>1</text></place><place idref="q"><text>2</text></place>`))
	require.NoError(t, err)
	require.Equal(t, []petri.Marking{{1, 2}}, n.Final)
}

func TestANetThatIsNoWorkflowNetSaysWhereNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flows []string
		want  []string
	}{
		{[]string{"t: {a} -> {b}", "u: {b} -> {c}"}, nil},
		{[]string{"t: {a} -> {b}", "u: {b} -> {c}", "v: {x} -> {x}"}, []string{"x", "v"}},
		{[]string{"t: {a} -> {b}", "u: {b} -> {x}", "v: {x} -> {x}", "w: {b} -> {c}"}, []string{"x", "u", "v"}},
		{[]string{"t: {a} -> {b}", "u: {b} -> {a}"}, nil},          // no source
		{[]string{"t: {a} -> {b}", "u: {c} -> {b}"}, nil},          // two sources
		{[]string{"t: {a} -> {b}", "u: {} -> {b}"}, []string{"u"}}, // from nowhere
		{[]string{"t: {a} -> {b}", "u: {a} -> {}"}, []string{"u"}}, // to nowhere
	} {
		r, _ := check(t, net(t, "{a}", c.flows...), petri.Question{})
		require.Equal(t, c.want, r.OffTheWay, c.flows)
	}
}

func TestANetWithoutTransitionsIsStuckAtOnce(t *testing.T) {
	t.Parallel()
	n, err := petri.ParsePNML("n.pnml", `<pnml><net><place id="p"/></net></pnml>`)
	require.NoError(t, err)
	r, found := check(t, n, petri.Question{})
	require.Equal(t, explore.Violated, found[petri.DeadlockFree].Outcome)
	require.Equal(t, 1, r.Markings)
}

// TestANetInTheEncodingOfProMIsRead reads ISO-8859-1, which older versions of ProM write.
func TestANetInTheEncodingOfProMIsRead(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"ISO-8859-1", "latin1", "windows-1252"} {
		n, err := petri.ParsePNML("n.pnml", "<?xml version=\"1.0\" encoding=\""+encoding+"\"?><pnml><net><place id=\"caf\xe9\"/></net></pnml>")
		require.NoError(t, err, encoding)
		require.Equal(t, []string{"café"}, n.Places, encoding)
	}
	_, err := petri.ParsePNML("n.pnml", `<?xml version="1.0" encoding="klingon"?><pnml><net><place id="p"/></net></pnml>`)
	require.ErrorContains(t, err, "klingon")
}
