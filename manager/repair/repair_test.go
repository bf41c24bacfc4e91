package repair

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"leasehold/shared/fault"
)

// show is a feed of two items. The second one is always without a fault, and must stay.
func show(item string) string {
	return `<rss version="2.0"><channel><title>Harbour talk</title><item>` + item + `</item>` + second + `</channel></rss>`
}

const second = `<item><title>Second</title><guid>s2</guid><enclosure url="https://example.org/2.mp3" type="audio/mpeg"/></item>`

type readItem struct {
	Title     string `xml:"title"`
	GUID      string `xml:"guid"`
	Link      string `xml:"link"`
	Enclosure struct {
		URL  string `xml:"url,attr"`
		Type string `xml:"type,attr"`
	} `xml:"enclosure"`
}

// readItems reads the items of a repaired document as strictly as encoding/xml does.
func readItems(t *testing.T, doc []byte) []readItem {
	t.Helper()
	var feed struct {
		Items []readItem `xml:"channel>item"`
	}
	require.NoError(t, xml.Unmarshal(doc, &feed), "%s", doc)
	return feed.Items
}

const most = 1 << 20

func TestOneFaultCostsAtMostItsField(t *testing.T) {
	t.Parallel()
	const rest = `<guid>s1</guid><enclosure url="https://example.org/1.mp3" type="audio/mpeg"/>`
	for name, c := range map[string]struct{ doc, title, says string }{
		"reference to a control character": {show(`<title>low&#8;tide</title>` + rest), "lowtide", "reference to a character that XML does not have (line 1)"},
		"control character":                {show("<title>low\x08tide\x00</title>" + rest), "lowtide", "2 × control character (the first in line 1)"},
		"U+FFFE":                           {show("<title>low\ufffetide\uffff</title>" + rest), "lowtide", "2 × character that XML does not have"},
		"reference to U+FFFE":              {show("<title>low&#xFFFE;&#xD800;&#99999999;&#99999999999;tide</title>" + rest), "lowtide", "4 × reference"},
		"Latin-1 byte within a word":       {show("<title>le caf\xe9 \u2013 d\u00e9but</title>" + rest), "le café – début", "field that is not UTF-8, read as windows-1252"},
		"ambiguous byte within a word":     {show("<title>Gen\xe8ve \u2013 d\u00e9but</title>" + rest), "Gen\ufffdve – début", "byte that is not UTF-8, now U+FFFD"},
		"bare &":                           {show(`<title>ebb & flow &c</title>` + rest), "ebb & flow &c", `2 × bare "&"`},
		"bare & in a URL":                  {show(`<title>a</title><guid>s1</guid><enclosure url="https://example.org/1.mp3?a=1&b=2" type="audio/mpeg"/>`), "a", `bare "&"`},
		"unknown entity":                   {show(`<title>find?a=b&query=c;&tide;</title>` + rest), "find?a=b&query=c;&tide;", "2 × unknown entity"},
		"entity of HTML":                   {show(`<title>caf&eacute;&nbsp;&lt;&LT;</title>` + rest), "café\u00a0<<", ""},
		"&#X in upper case":                {show(`<title>&#X41;&#x42;&#67;</title>` + rest), "ABC", "in upper case"},
		"number of windows-1252":           {show(`<title>don&#146;t</title>` + rest), "don’t", ""},
		"number without digits":            {show(`<title>&#; &#x; &#xyz;</title>` + rest), "&#; &#x; &#xyz;", `3 × bare "&"`},
		"CDATA without an end":             {show(`<title><![CDATA[ebb & <flow></title>` + rest), "ebb & <flow>", "CDATA section without an end"},
		"CDATA without an end, and others": {show(`<title><![CDATA[ebb</title>` + rest + `<description><![CDATA[x]]></description>`), "ebb", "CDATA section without an end"},
		"CDATA with an end tag":            {show(`<title><![CDATA[a</title>b]]></title>` + rest), "a</title>b", ""},
		"]]> in a text":                    {show(`<title>a]]>b</title>` + rest), "a]]>b", `"]]>" without a CDATA section`},
		"-- in a comment":                  {show(`<!-- made -- by hand --><title>a</title>` + rest), "a", `comment with "--"`},
		"--- at a comment's end":           {show(`<!-- made --->` + `<title>a</title>` + rest), "a", `comment with "--"`},
		"comment without an end":           {show(`<!-- made >` + `<title>a</title>` + rest), "a", "without an end"},
		"DOCTYPE with entities":            {`<!DOCTYPE rss [<!ENTITY a "aaaa"><!-- ]> --><!ENTITY b "&a;&a;">]>` + show(`<title>&b;</title>`+rest), "&b;", "DOCTYPE with declarations, which are ignored"},
		"DOCTYPE of a file":                {`<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY e SYSTEM "file:///etc/passwd">]>` + show(`<title>&e;</title>`+rest), "&e;", "DOCTYPE with declarations"},
		"DOCTYPE without an end":           {`<!DOCTYPE rss [<!ENTITY a "x">` + show(`<title>a</title>`+rest), "a", "DOCTYPE with declarations"},
		"DOCTYPE elsewhere":                {"<!DOCTYPE rss PUBLIC \"-//x//DTD RSS 0.91//EN\" \"http://x/rss.dtd\">" + show(`<title>a</title>`+rest), "a", ""},
		"XML 1.1":                          {`<?xml version="1.1"?>` + show(`<title>a</title>`+rest), "a", ""},
		"a warning before the feed":        {"<br />\n<b>Warning</b>: no such file\n" + show(`<title>a</title>`+rest), "a", "text before the feed (line 3)"},
		"a declaration in the second line": {"\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + show(`<title>a</title>`+rest), "a", ""},
		"a declaration within":             {show(`<?xml version="1.0"?><title>a</title>` + rest), "a", "instruction that does not belong there"},
		"text behind the feed":             {show(`<title>a</title>`+rest) + "<p>& more", "a", ""},
		"< in a text":                      {show(`<title>1 < 2 <3 a@<b@c.d></title>` + rest), "1 < 2 <3 a@<b@c.d>", `3 × "<" in a text`},
		"< in a value":                     {show(`<title>a</title><guid>s1</guid><enclosure url="https://example.org/1.mp3" type="audio/mpeg" title="1 < 2"/>`), "a", "badly written tag"},
		"value without a quote at its end": {show(`<title>a</title><guid>s1</guid><enclosure url="https://example.org/1.mp3 type="audio/mpeg" length="1"/>`), "a", "badly written tag"},
		"last value without its quote":     {show(`<title>a</title><guid>s1</guid><enclosure type="audio/mpeg" url="https://example.org/1.mp3/>`), "a", "badly written tag"},
		"value without quotes":             {show(`<title>a</title><guid>s1</guid><enclosure url=https://example.org/1.mp3 type=audio/mpeg></enclosure>`), "a", "badly written tag"},
		"signs in a tag":                   {show(`<title "" , x=>a</title>` + rest), "a", "badly written tag"},
		"field without an end":             {show(`<title>a` + rest), "a", "element without an end"},
		"end tag in upper case":            {show(`<title>a</TITLE>` + rest), "a", ""},
		"end tag without a start":          {show(`<title>a</b></title></p>` + rest), "a", "2 × end tag without a start"},
		"end tag with more":                {show(`<title>a</title x>` + rest), "a", "badly written end tag"},
		"end tag without >":                {show(`<title>a</title` + rest), "a", "badly written end tag"},
		"HTML that is not escaped":         {show(`<title>a</title><description><p>x<br>y</description>` + rest), "a", "element without an end"},
		"HTML without an end":              {show(`<title>a</title><p>x<div>` + rest), "a", "element without an end"},
		"item without an end":              {`<rss><channel><item><title>a</title>` + rest + second + `</channel></rss>`, "a", "element without an end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, faults, err := Document([]byte(c.doc), "", most)
			require.NoError(t, err)
			list := readItems(t, doc)
			require.Len(t, list, 2, "%s", doc)
			require.Equal(t, c.title, strings.TrimSpace(list[0].Title))
			require.Equal(t, "s1", list[0].GUID)
			require.Equal(t, "https://example.org/1.mp3", strings.TrimSuffix(list[0].Enclosure.URL, "?a=1&b=2"))
			require.Equal(t, "audio/mpeg", list[0].Enclosure.Type)
			require.Equal(t, "s2", list[1].GUID)
			require.Contains(t, faults.String(), c.says)
			require.Equal(t, c.says != "", faults.Any(), faults.String())
			again, faults, err := Document(doc, "", most)
			require.NoError(t, err)
			require.Equal(t, string(doc), string(again))
			require.Empty(t, faults.String())
		})
	}
}

func TestADocumentWithoutAFaultIsNotChanged(t *testing.T) {
	t.Parallel()
	root := show(`<title>a &amp; b &#228; ü</title><!-- c --><?d e?><x:y xmlns:x="z" x:q='"'><![CDATA[<&>]]></x:y>`)
	doc := []byte(`<?xml version="1.0" encoding="UTF-8"?><!-- d -->` + "\n" + root)
	got, faults, err := Document(doc, "text/xml; charset=utf-8", most)
	require.NoError(t, err)
	require.Equal(t, root, string(got))
	require.Same(t, &doc[len(doc)-1], &got[len(got)-1], "not even copied")
	require.Empty(t, faults)
}

func TestAFeedThatIsCutOffKeepsItsWholeItems(t *testing.T) {
	t.Parallel()
	whole := show(`<title>a & b</title><guid>s1</guid>`)
	for i := strings.Index(whole, "<title>Second"); i < strings.Index(whole, "</channel>")-len("</item>"); i++ {
		doc, faults, err := Document([]byte(whole[:i]), "", most)
		require.NoError(t, err)
		list := readItems(t, doc)
		require.Len(t, list, 1, whole[:i])
		require.Equal(t, "a & b", list[0].Title)
		require.Contains(t, faults.String(), "end of the feed missing")
	}
}

func TestWhatIsNoFeedIsNotMadeOne(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", "<", "<html><rss><channel/></rss></html>", "<!DOCTYPE html><p>x", "RIFF", "<opml></opml>", "<!--", "<?", "<!", "a & b"} {
		got, _, err := Document([]byte(doc), "", most)
		require.NoError(t, err)
		require.Equal(t, doc, string(got))
	}
}

// Sentences of our own, in the charsets that feeds do not declare.
var sentences = map[string]struct {
	charset encoding.Encoding
	text    string
}{
	"EUC-JP":       {japanese.EUCJP, "港の朝のラジオ、今日は灯台と船の話をします"},
	"Shift-JIS":    {japanese.ShiftJIS, "港の朝のラジオ、今日は灯台と船の話をします"},
	"EUC-KR":       {korean.EUCKR, "항구의 아침 라디오 오늘은 등대와 배에 대한 이야기를 합니다"},
	"GB2312":       {simplifiedchinese.GBK, "我们今天说一说港口的早上，有很多人来这里看大船"},
	"Big5":         {traditionalchinese.Big5, "我們今天說一說港口的早上，有很多人來這裡看大船"},
	"KOI8-R":       {charmap.KOI8R, "Утро в порту: сегодня мы говорим о маяке и о кораблях"},
	"windows-1251": {charmap.Windows1251, "Утро в порту: сегодня мы говорим о маяке и о кораблях"},
	"TIS-620":      {charmap.Windows874, "เช้าวันนี้ที่ท่าเรือเราจะพูดถึงประภาคารและเรือ"},
	"windows-1250": {charmap.Windows1250, "Ranní přístav: dnes mluvíme o majáku a o lodích, které plují"},
	"windows-1252": {charmap.Windows1252, "Le matin au port : aujourd’hui, le phare à côté de la forêt près du château"},
	"windows-1253": {charmap.Windows1253, "Το πρωί στο λιμάνι μιλάμε για τον φάρο και τα πλοία"},
	"windows-1254": {charmap.Windows1254, "Sabah limanında bugün deniz feneri ve gemiler üzerine konuşuyoruz"},
	"windows-1255": {charmap.Windows1255, "הבוקר בנמל אנחנו מדברים על המגדלור ועל האוניות"},
	"windows-1256": {charmap.Windows1256, "صباح الميناء اليوم نتحدث عن المنارة والسفن الكبيرة"},
	"windows-1257": {charmap.Windows1257, "Rytas uoste: šiandien kalbame apie švyturį ir laivus, kurie plaukia į jūrą"},
}

func encode(t testing.TB, charset encoding.Encoding, text string) string {
	t.Helper()
	encoded, err := charset.NewEncoder().String(text)
	require.NoError(t, err)
	return encoded
}

func TestACharsetIsGuessedIfNothingDeclaredFitsAndOneReadingIsPlausible(t *testing.T) {
	t.Parallel()
	for name, c := range sentences {
		for _, declaration := range []string{"", `<?xml version="1.0"?>`, `<?xml version="1.0" encoding="utf-8"?>`, `<?xml version="1.0" encoding="no-such"?>`} {
			doc, faults, err := Document([]byte(declaration+encode(t, c.charset, show("<title>"+c.text+"</title>"))), "text/xml", most)
			require.NoError(t, err, name)
			require.Equal(t, c.text, readItems(t, doc)[0].Title, name)
			require.Equal(t, "charset that is not declared, read as "+name, faults.String())
		}
	}
}

func TestAFieldInAnotherCharsetIsReadInItIfThatIsCertain(t *testing.T) {
	t.Parallel()
	for name, c := range sentences {
		doc, faults, err := Document([]byte(`<rss><channel><title>Über Häfen – déjà vu – ここ</title><item><title>`+encode(t, c.charset, c.text)+`</title></item></channel></rss>`), "", most)
		require.NoError(t, err)
		if _, bad := countSequences([]byte(encode(t, c.charset, c.text))); bad > 12 {
			continue // then the document counts as one of that charset
		}
		require.Equal(t, c.text, readItems(t, doc)[0].Title, name)
		require.Contains(t, faults.String(), "field that is not UTF-8, read as "+name)
	}
}

func TestAnAmbiguousCharsetIsNotGuessed(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Gen\xe8ve":      "Gen\ufffdve", // è or č
		"Espa\xf1a":      "Espa\ufffda", // ñ or ń
		"x \xe9 y":       "x \ufffd y",
		"\xcf\xf0\xe8":   "\ufffd", // three letters of any alphabet
		"caf\xe9":        "café",   // in all Latin ones
		"don\x92t \x96 ": "don’t –",
	} {
		doc, faults, err := Document([]byte(show("<title>"+title+"</title>")), "", most)
		require.NoError(t, err)
		require.Equal(t, want, strings.TrimSpace(readItems(t, doc)[0].Title))
		require.True(t, faults.Any())
	}
}

func TestTheDeclaredCharsetIsReadWithoutAFault(t *testing.T) {
	t.Parallel()
	const text = "Größe, déjà"
	le, be := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	plain := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	for name, c := range map[string]struct {
		charset            encoding.Encoding
		declaration, ofThe string
	}{
		"Content-Type":          {charmap.Windows1252, "\n", "text/xml; charset=iso-8859-1"},
		"declaration":           {charmap.Windows1252, `<?xml version='1.0' encoding='ISO-8859-1'?>`, ""},
		"an IBM code page":      {charmap.CodePage850, `<?xml version="1.0" encoding="IBM850"?>`, ""},
		"behind a comment":      {charmap.Windows1252, `<!-- made here --><?xml version="1.0" encoding="windows-1252"?>`, ""},
		"UTF-16 little":         {le, `<?xml version="1.0" encoding="UTF-16"?>`, ""},
		"UTF-16 big":            {be, `<?xml version="1.0" encoding="UTF-16"?>`, ""},
		"UTF-16 without a mark": {plain, `<?xml version="1.0" encoding="UTF-16"?>`, ""},
		"UTF-32":                {utf32.UTF32(utf32.BigEndian, utf32.UseBOM), `<?xml version="1.0" encoding="UTF-32"?>`, ""},
		"UTF-8 with a mark":     {encoding.Nop, "\ufeff" + `<?xml version="1.0"?>`, ""},
		"UTF-8 called UTF-16":   {encoding.Nop, `<?xml version="1.0" encoding="UTF-16"?>`, ""},
		"UTF-8 called Latin-1":  {encoding.Nop, `<?xml version="1.0" encoding="ISO-8859-1"?>`, "text/xml; charset=iso-8859-1"},
		"EBCDIC":                {charmap.CodePage037, `<?xml version="1.0" encoding="ebcdic-cp-us"?>`, ""},
	} {
		doc, faults, err := Document([]byte(encode(t, c.charset, c.declaration+show("<title>"+text+"</title>"))), c.ofThe, most)
		require.NoError(t, err, name)
		require.Equal(t, text, readItems(t, doc)[0].Title, name)
		require.Empty(t, faults.String(), name)
	}
	const japaneseText = "港の朝"
	doc, _, err := Document([]byte(encode(t, japanese.ISO2022JP, `<?xml version="1.0" encoding="iso-2022-jp"?>`+show("<title>"+japaneseText+"</title>"))), "", most)
	require.NoError(t, err)
	require.Equal(t, japaneseText, readItems(t, doc)[0].Title)
}

func TestOneByteThatDoesNotFitTheDeclaredCharsetCostsItself(t *testing.T) {
	t.Parallel()
	text := encode(t, japanese.EUCJP, sentences["EUC-JP"].text)
	doc, faults, err := Document([]byte(`<?xml version="1.0" encoding="euc-jp"?>`+show("<title>"+text+"\xff</title>")), "", most)
	require.NoError(t, err)
	require.Equal(t, sentences["EUC-JP"].text+"\ufffd", readItems(t, doc)[0].Title)
	require.Contains(t, faults.String(), "character that does not fit the charset euc-jp")
}

func compress(t testing.TB, doc string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, doc)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestGzipThatTheServerDidNotAnnounceIsDecodedWithinTheBound(t *testing.T) {
	t.Parallel()
	zipped := compress(t, show("<title>a</title>"))
	doc, faults, err := Document(zipped, "", most)
	require.NoError(t, err)
	require.Len(t, readItems(t, doc), 2)
	require.Empty(t, faults)
	doc, faults, err = Document(zipped[:len(zipped)-12], "", most)
	require.NoError(t, err)
	require.Contains(t, string(doc), "Harbour talk")
	require.Contains(t, faults.String(), "end of the gzip file missing")
	bomb := compress(t, strings.Repeat("a", most+1))
	_, _, err = Document(bomb, "", most)
	require.ErrorIs(t, err, fault.ErrTooLarge)
}

func TestTheResultHasAtMostTheBytesAllowed(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"references": show(strings.Repeat("&", most/3)),
		"a charset":  show(strings.Repeat("\x80\x99", most/4)),
	} {
		_, _, err := Document([]byte(doc), "text/xml; charset=windows-1252", most)
		require.ErrorIs(t, err, fault.ErrTooLarge, name)
	}
}

func TestTheBaseOfURLsIsApplied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, enclosure, link string }{
		"of the feed":     {`<rss xml:base="https://a.example/f/"><channel><item><enclosure url="1.mp3"/><link>p</link></item></channel></rss>`, "https://a.example/f/1.mp3", "https://a.example/f/p"},
		"of a document":   {`<rss xml:base="https://a.example/f/feed.xml"><channel><item><enclosure url="1.mp3"/></item></channel></rss>`, "https://a.example/f/1.mp3", ""},
		"within another":  {`<rss xml:base="https://a.example/f/"><channel xml:base="../g/"><item xml:base="h/"><enclosure url="1.mp3?a&amp;b"/></item></channel></rss>`, "https://a.example/g/h/1.mp3?a&b", ""},
		"beside":          {`<rss><channel><title xml:base="https://b.example/">x</title><item><enclosure url="1.mp3"/><link>p</link></item></channel></rss>`, "1.mp3", "p"},
		"no URL":          {`<rss xml:base="https://a.example/f/" ><channel xml:base="%zz"><item><enclosure url="1.mp3"/></item></channel></rss>`, "https://a.example/f/1.mp3", ""},
		"of an absolute":  {`<rss xml:base="https://a.example/"><channel><item><enclosure url="https://c.example/1.mp3"/></item></channel></rss>`, "https://c.example/1.mp3", ""},
		"relative itself": {`<rss xml:base="/f/"><channel><item><enclosure url="1.mp3"/></item></channel></rss>`, "/f/1.mp3", ""},
		"a folder":        {`<rss><channel><item xml:base="media/"><enclosure url="1.mp3"/><link>p</link></item></channel></rss>`, "media/1.mp3", "media/p"},
		"folders":         {`<rss xml:base="a/"><channel xml:base="b/c.xml"><item xml:base="d/"><enclosure url="1.mp3"/></item></channel></rss>`, "a/b/d/1.mp3", ""},
		"one file":        {`<rss xml:base="a/feed.php?x=1"><channel><item><enclosure url="?id=1"/><link>p</link></item></channel></rss>`, "a/feed.php?id=1", "a/p"},
		"upwards":         {`<rss xml:base="../a"><channel><item xml:base=".."><enclosure url="../1.mp3"/><link>p</link></item></channel></rss>`, "../../../1.mp3", "../../p"},
		"here":            {`<rss xml:base="."><channel><item><enclosure url="1.mp3"/><link>/p</link></item></channel></rss>`, "./1.mp3", "/p"},
		"only a query":    {`<rss xml:base="?a=1"><channel><item><enclosure url="1.mp3"/><link>?b</link></item></channel></rss>`, "1.mp3", "?b"},
		"empty":           {`<rss xml:base=""><channel xml:base=" "><item><enclosure url="1.mp3"/><link>//b.example/p</link></item></channel></rss>`, "1.mp3", "//b.example/p"},
		"no folder":       {`<rss xml:base="urn:feed:1"><channel><item><enclosure url="1.mp3"/></item></channel></rss>`, "1.mp3", ""},
		"only a host":     {`<rss xml:base="//b.example"><channel xml:base="f/"><item><enclosure url="1.mp3"/></item></channel></rss>`, "//b.example/f/1.mp3", ""},
		"escaped":         {`<rss xml:base="a%2Fb%20c/"><channel><item><enclosure url="1%3f.mp3"/></item></channel></rss>`, "a%2Fb%20c/1%3f.mp3", ""},
		"a colon":         {`<rss xml:base="a/"><channel><item><enclosure url="./b:1.mp3"/></item></channel></rss>`, "a/./b:1.mp3", ""},
	} {
		doc, faults, err := Document([]byte(c.doc), "", most)
		require.NoError(t, err, name)
		require.Equal(t, c.enclosure, readItems(t, doc)[0].Enclosure.URL, name)
		require.Equal(t, c.link, readItems(t, doc)[0].Link, name)
		require.NotContains(t, string(doc), "xml:base", name)
		require.Empty(t, faults, name)
	}
}

func TestTheBaseAppliesToAllAttributesWithURLs(t *testing.T) {
	t.Parallel()
	kept, _, err := Document([]byte(`<rss xmlns:uri="u" xml:base="https://a.example/f/" xmlns:src="s"><channel/></rss>`), "", most)
	require.NoError(t, err)
	require.Equal(t, `<rss xmlns:uri="u" xmlns:src="s"><channel/></rss>`, string(kept))
	for _, element := range []string{`<podcast:source uri="1.mp3"/>`, `<content src="1.mp3"/>`, `<link href="1.mp3"/>`, `<enc:enclosure rdf:resource="1.mp3"/>`, `<e:enclosure r:resource="1.mp3"/>`, `<media:content URL="1.mp3"/>`} {
		doc, _, err := Document([]byte(`<rss xml:base="https://a.example/f/"><channel><item>`+element+`</item></channel></rss>`), "", most)
		require.NoError(t, err)
		require.Contains(t, string(doc), `="https://a.example/f/1.mp3"`, element)
	}
}

func TestAnItemOfRSS1IsNamedByItsAboutUnlessItHasAGUID(t *testing.T) {
	t.Parallel()
	doc, _, err := Document([]byte(`<rdf:RDF><item rdf:about="urn:1&amp;"><title>a</title></item><item rdf:about="urn:2"><guid>own</guid></item></rdf:RDF>`), "", most)
	require.NoError(t, err)
	require.Equal(t, `<rdf:RDF><item><guid>urn:1&amp;</guid><title>a</title></item><item><guid>urn:2</guid><guid>own</guid></item></rdf:RDF>`, string(doc))
}

func TestControlCharactersInAJSONFeedCostNothing(t *testing.T) {
	t.Parallel()
	doc, faults, err := Document([]byte("\ufeff {\"title\":\"a\tb\\\"\x08\\\n\",\x00\"items\":[1]}"), "", most)
	require.NoError(t, err)
	var got struct{ Title string }
	require.NoError(t, json.Unmarshal(doc, &got))
	require.Equal(t, "a\tb\"\x08\n", got.Title)
	require.Contains(t, faults.String(), "4 × control character")
}

func TestAJSONFeedThatIsCutOffOrHasCommasTooManyKeepsItsWholeItems(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"a":[1],"items":[{"id":"]}"},{"id":{"x":[2]}},{"id`: `{"a":[1],"items":[{"id":"]}"},{"id":{"x":[2]}}]}`,
		`{"items":[{"id":"1"}`:                                `{"items":[{"id":"1"}]}`,
		`{"items":[{"id":"1"},{"id":"2`:                       `{"items":[{"id":"1"}]}`,
		`{"items":[{"id":"1",},{"id":",]"}, ],}`:              `{"items":[{"id":"1"},{"id":",]"} ]}`,
	} {
		got, faults, err := Document([]byte(doc), "", most)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		require.True(t, faults.Any())
		require.True(t, json.Valid(got), want)
	}
	for _, doc := range []string{`{"items":[`, `{"items":[{"id":"1`, `{`, `{"a":1}`} {
		got, faults, err := Document([]byte(doc), "", most)
		require.NoError(t, err)
		require.Equal(t, doc, string(got))
		require.Empty(t, faults)
	}
}

// check requires what holds for any document.
func check(t *testing.T, doc []byte, contentType string) {
	t.Helper()
	before := bytes.Clone(doc)
	got, _, err := Document(doc, contentType, most)
	require.Equal(t, before, doc, "the input is not changed")
	if err != nil {
		require.ErrorIs(t, err, fault.ErrTooLarge)
		return
	}
	require.LessOrEqual(t, len(got), most)
	require.True(t, utf8.Valid(got))
	f := Faults{}
	root := findRoot(&scanner{doc: got, next: map[string]int{}}, &tagReader{names: map[string]bool{}}, &f)
	if root != 0 || isObject(got) || bytes.Count(got, []byte("<")) > maxOpen {
		return
	}
	d := xml.NewDecoder(bytes.NewReader(got))
	for d.Strict = false; err == nil; {
		_, err = d.Token()
	}
	require.ErrorIs(t, err, io.EOF, "%q became %q", doc, got)
	again, faults, err := Document(got, "", most)
	require.NoError(t, err)
	require.Equal(t, string(got), string(again), "%q", doc)
	require.Empty(t, faults.String(), "%q became %q", doc, got)
}

func seeds() (docs []string) {
	for _, s := range []string{`<title>a & b &#8; &x; <![CDATA[c]]> ]]></title>`, `<!-- a -- b --><title>x<![CDATA[y</title>`, `<enclosure url="a type="b" c=d/><p><br></b>`, `<link href='x' xml:base="http://b/">c</link>`} {
		docs = append(docs, show(s), `<?xml version="1.0" encoding="euc-kr"?><!DOCTYPE a [<!ENTITY b "c">]>`+show(s))
	}
	return append(docs, "{\"items\":[\"\x01\"]}", "\xff\xfe<\x00r\x00s\x00s\x00>\x00", `<feed xml:base="a"><entry><id>b</id></entry></feed>`, `<rdf:RDF><item rdf:about="a"></item></rdf:RDF>`)
}

// Each document has a few bytes taken out, put in, doubled or moved.
func TestWhatIsRepairedIsReadByTheParserWhateverItWas(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const signs = "<>&;\"'/=![]-? \n\x00\x08\xe9\xff\ufffeaé:x#"
	for _, seed := range seeds() {
		for range 1500 {
			doc := []byte(seed)
			for range 1 + random.IntN(4) {
				i, j := random.IntN(len(doc)), random.IntN(len(doc))
				i, j = min(i, j), max(i, j)
				switch random.IntN(4) {
				case 0:
					doc = append(doc[:i:i], doc[min(j, i+1+random.IntN(8)):]...)
				case 1:
					k := random.IntN(len(signs))
					doc = append(append(doc[:i:i], signs[k:min(k+1+random.IntN(3), len(signs))]...), doc[i:]...)
				case 2:
					doc = append(append(doc[:j:j], doc[i:min(j, i+20)]...), doc[j:]...)
				case 3:
					doc[i] = signs[random.IntN(len(signs))]
				}
				if len(doc) == 0 {
					doc = []byte("<")
				}
			}
			check(t, doc, "")
		}
	}
}

func FuzzRepair(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s), "text/xml; charset=koi8-r")
	}
	f.Add(compress(f, show("<title>a</title>")), "")
	f.Fuzz(check)
}
