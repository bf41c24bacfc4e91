package clips

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

func TestFault49FeedBombsAreRefusedBeforeTheyAreParsed(t *testing.T) {
	t.Parallel()
	item := func(inner string) string { return rss("<item>" + inner + "</item>") }
	for name, c := range map[string]struct {
		doc  string
		want error
	}{
		"entity bomb":     {`<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]>` + rss("<item><title>&lol2;</title></item>"), fault.ErrInvalid},
		"external entity": {`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>` + rss("<item><title>&e;</title></item>"), fault.ErrInvalid},
		"hidden subset":   {`<!DOCTYPE x "a>b" [<!ENTITY e "e">]>` + rss("<item/>"), fault.ErrInvalid},
		"depth":           {item(strings.Repeat("<a>", 100_000)), fault.ErrTooLarge},
		"elements":        {item(strings.Repeat("<x:a/>", maxElements+1)), fault.ErrTooLarge},
		"one huge tag":    {item("<a" + strings.Repeat(" b='1'", 100_000) + ">"), fault.ErrTooLarge},
		"namespaces":      {item(strings.Repeat(`<a xmlns:b="c" xmlns:d="e">`, 100)), fault.ErrTooLarge},
		"CDATA":           {item("<x:a>" + strings.Repeat("<![CDATA[a]]>", 100_000) + "</x:a>"), fault.ErrTooLarge},
		"comments":        {item("<x:a>" + strings.Repeat("a<!---->", 100_000) + "</x:a>"), fault.ErrTooLarge},
		"JSON objects":    {`{"items":[{"attachments":[{}` + strings.Repeat(",{}", maxElements) + `]}]}`, fault.ErrTooLarge},
		"JSON members":    {`{"items":[{"tags":[""` + strings.Repeat(`,""`, maxCommas+1) + `]}]}`, fault.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			items, more, err := parseFeed(t.Context(), []byte(c.doc), feedItems)
			require.ErrorIs(t, err, c.want)
			require.Empty(t, items)
			require.Zero(t, more)
			require.Less(t, len(err.Error()), 500)
		})
	}
}

func TestAFeedAtABoundIsReadAndBeyondItTheBoundIsNamed(t *testing.T) {
	t.Parallel()
	item := func(inner string) string { return "<rss><channel><item>" + inner + "</item></channel></rss>" }
	for name, c := range map[string]struct {
		bound int
		feed  func(n int) string // with n elements, bytes or other parts that are bounded
		says  string
	}{
		"elements":     {maxElements, func(n int) string { return item(strings.Repeat("<a/>", n-3)) }, "elements"},
		"depth":        {maxDepth, func(n int) string { return item(strings.Repeat("<a>", n-3)) }, "nested"},
		"tag":          {maxTagBytes, func(n int) string { return item("<" + strings.Repeat("a", n-1) + ">") }, "bytes"},
		"namespaces":   {maxNamespaces, func(n int) string { return item("<a" + strings.Repeat(` xmlns:b="c"`, n) + "/>") }, "namespaces"},
		"comments":     {maxPieces, func(n int) string { return item(strings.Repeat("<!---->", n)) }, "comments"},
		"CDATA":        {maxPieces, func(n int) string { return item(strings.Repeat("<![CDATA[a]]>", n)) }, "CDATA"},
		"JSON objects": {maxElements, func(n int) string { return `{"items":[` + strings.Repeat("{", n-1) + strings.Repeat("}", n-1) + `]}` }, "objects"},
		"JSON members": {maxCommas, func(n int) string { return `{"items":[],"tags":"` + strings.Repeat(",", n-1) + `"}` }, "members"},
	} {
		_, _, err := prune([]byte(c.feed(c.bound)), 2)
		require.NotErrorIs(t, err, fault.ErrTooLarge, name)
		cut, more, err := prune([]byte(c.feed(c.bound+1)), 2)
		require.ErrorIs(t, err, fault.ErrTooLarge, name)
		require.Nil(t, cut, name)
		require.Zero(t, more, name)
		require.ErrorContains(t, err, fmt.Sprint(c.bound), name)
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestOnlyCommentsInARowAndWhatIsReadCountToTheBounds(t *testing.T) {
	t.Parallel()
	items := strings.Repeat("<item></item>", 3)
	deep := strings.Repeat("<a>", maxDepth+1)
	for name, c := range map[string]struct {
		doc  string
		more int
	}{
		"comments between elements": {rss("<item>" + strings.Repeat("<!----><a/>", maxPieces+1) + "</item>"), 0},
		"comments between ends":     {rss("<item>" + strings.Repeat("<!----></a>", maxPieces+1) + "</item>"), 0},
		"depth behind the cut":      {rss(items + deep + "<item/>"), 2},
		"a tag behind the cut":      {rss(items + "<" + strings.Repeat("a", maxTagBytes) + "><item/>"), 2},
	} {
		cut, more, err := prune([]byte(c.doc), 2)
		require.NoError(t, err, name)
		require.Equal(t, c.more, more, name)
		require.Equal(t, c.more == 0, len(cut) == len(c.doc), name)
	}
}

func TestFault49HugeLineAndManyItems(t *testing.T) {
	t.Parallel()
	const all = 100_000
	items := []string{"<item><title>" + strings.Repeat("long ", 1<<20) + "</title></item>"}
	for i := range all - 1 {
		items = append(items, enclosing(fmt.Sprint(i), fmt.Sprintf("https://example.org/%d.mp3", i)))
	}
	l, _ := listFeedFile(t, rss(items...), nil)
	require.Len(t, l.Episodes, feedItems-1)
	require.Len(t, l.Problems, 2)
	require.Equal(t, "nothing is enclosed", l.Problems[0].Reason)
	require.Equal(t, fmt.Sprintf("the feed has %d items more than the %d that are read", all-feedItems, feedItems), l.Problems[1].Reason)
}

func TestFeedWithoutEnclosuresHasBoundedProblems(t *testing.T) {
	t.Parallel()
	l, _ := listFeedFile(t, rss(strings.Repeat("<item><title>news</title></item>", problemLimit+5)), nil)
	require.Empty(t, l.Episodes)
	require.Len(t, l.Problems, problemLimit+1)
	require.Equal(t, "and 5 more problems", l.Problems[problemLimit].Reason)
}

func TestPruneCutsAfterTheLastItemThatMayStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doc, want string
		more      int
	}{
		"fits":             {"<rss><channel><item/><item/></channel></rss>", "<rss><channel><item/><item/></channel></rss>", 0},
		"too many":         {"<rss><channel><item/><item>a</item><item>b</item><item/></channel></rss>", "<rss><channel><item/><item>a</item></channel></rss>", 2},
		"atom":             {"<feed><entry></entry><entry></entry><entry></entry></feed>", "<feed><entry></entry><entry></entry></feed>", 1},
		"not in text":      {"<rss><!-- <item> --><channel><![CDATA[<item>]]><?x <item>?><item/></channel></rss>", "<rss><!-- <item> --><channel><![CDATA[<item>]]><?x <item>?><item/></channel></rss>", 0},
		"item in an item":  {"<rss><channel><item><x:item/><x:item/><x:item/></item></channel></rss>", "<rss><channel><item><x:item/><x:item/><x:item/></item></channel></rss>", 0},
		"quoted end":       {`<rss><channel><a b="/>"></a><item/><item/><item/></channel></rss>`, `<rss><channel><a b="/>"></a><item/><item/></channel></rss>`, 1},
		"JSON fits":        {`{"items":[1,2],"a":[{}]}`, `{"items":[1,2],"a":[{}]}`, 0},
		"JSON":             {` {"a":{"items":[1,2,3]}, "Items": [1, {"b":"]"} , 3,4], "c":5}`, `{"a":{"items":[1,2,3]}, "Items": [1, {"b":"]"}]}`, 2},
		"not closed":       {"<rss><channel><item/><item/><item/>", "<rss><channel><item/><item/></channel></rss>", 1},
		"badly closed":     {"<rss><channel><p><b></p><item/></x></channel></rss>", "<rss><channel><p><b></p><item/></x></channel></rss>", 0},
		"DOCTYPE":          {"<!DOCTYPE x><rss><channel><item/><item/><item/>", "<!DOCTYPE x><rss><channel><item/><item/></channel></rss>", 1},
		"quoted DOCTYPE":   {`<!DOCTYPE x "[" '>"'><rss><channel><item/><item/><item/>`, `<!DOCTYPE x "[" '>"'><rss><channel><item/><item/></channel></rss>`, 1},
		"single quotes":    {`<rss><channel><a b = '/>' c="'>"></a><item/><item/><item/></channel></rss>`, `<rss><channel><a b = '/>' c="'>"></a><item/><item/></channel></rss>`, 1},
		"a stray quote":    {`<rss><channel><a b'></a><item/><item/><item/></channel></rss>`, `<rss><channel><a b'></a><item/><item/></channel></rss>`, 1},
		"a namespace":      {`<rss><channel><x:item/><x:item/><x:item/></channel></rss>`, `<rss><channel><x:item/><x:item/></channel></rss>`, 1},
		"nested after":     {"<rss><channel><item/><item/><item><x:item/></item><item/></channel></rss>", "<rss><channel><item/><item/></channel></rss>", 3},
		"no end of a tag":  {"<rss><channel><item/><item/", "<rss><channel><item/><item/", 0},
		"JSON twice":       {`{"items":[1,2,3],"items":[4,5,6,7]}`, `{"items":[1,2]}`, 1},
		"JSON behind BOM":  {"\ufeff\n{\"items\":[1,2,3]}", `{"items":[1,2]}`, 1},
		"many comments":    {"<rss>" + strings.Repeat("<!----><a/>", maxPieces+1) + "<channel><item/></channel></rss>", "<rss>" + strings.Repeat("<!----><a/>", maxPieces+1) + "<channel><item/></channel></rss>", 0},
		"other upper case": {"<RSS><Channel><Item/><ITEM/><item/></Channel></RSS>", "<RSS><Channel><Item/><ITEM/></Channel></RSS>", 1},
	} {
		cut, more, err := prune([]byte(c.doc), 2)
		require.NoError(t, err, name)
		require.Equal(t, c.want, string(cut), name)
		require.Equal(t, c.more, more, name)
	}
}

func FuzzFeed(f *testing.F) {
	f.Add([]byte(rss(enclosing("a", "https://example.org/a.mp3"), enclosing("b", "../b.mp3"), "<item/>")))
	f.Add([]byte(`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>x</id><link rel="enclosure" href="x.mp3"/></entry></feed>`))
	f.Add([]byte(`{"items":[{"id":1,"attachments":[{"url":"a.mp3","size_in_bytes":"7"}]},{"date_published":"0000-00-00T00:00:00Z"}]}`))
	f.Add([]byte(`{"items":[null]}`))
	f.Add([]byte(`<!DOCTYPE a [<!ENTITY b "c">]><rss><channel><item><title>&b;</title></item></channel></rss>`))
	dir := tree(f, map[string]string{"a.mp3": "a", "feed.xml": ""})
	o := originAt(models.Feed, dir+"/feed.xml")
	l := lister(f, o)
	f.Fuzz(func(t *testing.T, doc []byte) {
		if _, _, err := prune(doc, 2); err != nil {
			require.NotEmpty(t, err.Error())
		}
		if _, _, err := parseFeed(t.Context(), doc, feedItems); err != nil {
			require.NotEmpty(t, err.Error())
		}
		d, err := readDocument(t.Context(), fetch.Poll{Content: doc}, feedBytes, feedItems)
		if err != nil {
			return
		}
		from, err := l.sourceOf(o, "")
		require.NoError(t, err)
		defer from.close()
		c := curator{origin: o, resolve: from.resolve}
		require.NoError(t, c.addItems(t.Context(), d.feed.Items))
		for _, e := range c.episodes {
			require.NotEmpty(t, e.Name)
			require.NotEmpty(t, e.Title)
			require.Equal(t, oneLine(e.Name), e.Name)
			require.Equal(t, sanitize(e.Title), e.Title)
			require.NotEmpty(t, e.Media.Version)
			require.True(t, isURL(e.Media.URI) || strings.HasPrefix(e.Media.URI, "file://"+dir+"/"), e.Media.URI)
			_, err := e.Aired.MarshalJSON()
			require.NoError(t, err)
		}
	})
}

func TestAJSONFeedThatIsCutAnywhereIsMalformed(t *testing.T) {
	t.Parallel()
	const whole = `{"title":"T","items":[{"id":"1"},{"id":[2]}],"a":{"b":1}}`
	_, _, err := prune([]byte(whole), 5)
	require.NoError(t, err)
	for i := 1; i < len(whole); i++ {
		for _, items := range []int{1, 5} {
			cut, more, err := prune([]byte(whole[:i]), items)
			require.ErrorIs(t, err, fault.ErrInvalid, whole[:i])
			require.Nil(t, cut, whole[:i])
			require.Zero(t, more, whole[:i])
		}
	}
	for _, bad := range []string{`{"items":[1,]}`, `{"items":[1}`, `{"a" 1}`, `{1:2}`, `{"items":[1,2]]`, `{"items":nul}`} {
		_, _, err := prune([]byte(bad), 1)
		require.ErrorIs(t, err, fault.ErrInvalid, bad)
	}
}

func TestATagEndsBehindItsQuotedValues(t *testing.T) {
	t.Parallel()
	for tag, end := range map[string]int{
		`<a>`: 2, `<a b="c">`: 8, `<a b=">">`: 8, `<a b='>">'>`: 10, `<a b= ">">`: 9, "<a b=\t'>'>": 9,
		`<a b>c">`: 4, `<a "b>c">`: 5, `<a b=">`: -1, `<a`: -1, ``: -1,
	} {
		require.Equal(t, end, tagEnd([]byte(tag)), tag)
	}
}

func TestATextIsOneLineOfBoundedLength(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("é", titleLimit)
	require.Equal(t, longest, sanitize(longest))
	require.Equal(t, strings.Repeat("é", titleLimit-1)+"…", sanitize(longest+"é"))
	for _, r := range "\u2028\u2029\u202e\u2066\x00\x1b\n\u0085" {
		require.Equal(t, "a b", sanitize("a"+string(r)+"b"))
		require.False(t, wellNamed("a"+string(r)+"b"), "%U", r)
	}
	require.True(t, wellNamed("a b é"))
	require.False(t, wellNamed("a\xff"))
}
