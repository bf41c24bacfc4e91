package repair

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// A script is one language's way to write in one charset.
type script struct {
	name     string
	charset  encoding.Encoding
	common   string  // frequent characters beyond ASCII, in lower case
	expected float64 // their share of the characters beyond ASCII in a usual text
	latin    bool    // its words have letters of ASCII too
	must     string  // a tenth of the characters are of these, unless it is empty
}

const (
	russian   = "оеаинтсрв"
	kana      = "のにはをたがでてとしれさいるなもかことりらあうっすくきんどまつけよみせそえ"
	quotes    = "’‘“”–—…«»„‚•·\u00a0©®°"
	shortText = 6 // characters below which a text in another script than Latin is not recognized
)

// scripts are those that are recognized. The shares are rough, because readings differ by far more.
var scripts = []script{
	{"windows-1252", charmap.Windows1252, "éèêëàâçùûîïôœ" + quotes, 1, true, ""},
	{"windows-1252", charmap.Windows1252, "äöüßé" + quotes, 1, true, ""},
	{"windows-1252", charmap.Windows1252, "áéíóúüñ¿¡ºª" + quotes, 1, true, ""},
	{"windows-1252", charmap.Windows1252, "ãõáâàéêíóôúçºª" + quotes, 1, true, ""},
	{"windows-1252", charmap.Windows1252, "àèéìòù" + quotes, 1, true, ""},
	{"windows-1252", charmap.Windows1252, "åäöæøéü" + quotes, 1, true, ""},
	{"windows-1250", charmap.Windows1250, "ąćęłńóśźż" + quotes, 1, true, ""},
	{"windows-1250", charmap.Windows1250, "áčďéěíňóřšťúůýžľĺŕôä" + quotes, 1, true, ""},
	{"windows-1250", charmap.Windows1250, "áéíóöőúüű" + quotes, 1, true, ""},
	{"windows-1250", charmap.Windows1250, "ăâîşţ" + quotes, 1, true, ""},
	{"windows-1250", charmap.Windows1250, "čćđšž" + quotes, 1, true, ""},
	{"windows-1254", charmap.Windows1254, "ıişğçöüâîi̇" + quotes, 1, true, ""},
	{"windows-1257", charmap.Windows1257, "ąčęėįšųūž" + quotes, 1, true, ""},
	{"windows-1257", charmap.Windows1257, "āčēģīķļņšūž" + quotes, 1, true, ""},
	{"windows-1257", charmap.Windows1257, "äõöüšž" + quotes, 1, true, ""},
	{"windows-1258", charmap.Windows1258, "ăâđêôơưàáèéìíòóùúýãõ\u0300\u0301\u0303\u0309\u0323" + quotes, 1, true, "\u0300\u0301\u0303\u0309\u0323"},
	{"windows-1251", charmap.Windows1251, russian, 0.62, false, ""},
	{"KOI8-R", charmap.KOI8R, russian, 0.62, false, ""},
	{"windows-1253", charmap.Windows1253, "αοιετσνηυρπκςλμάίόέή", 0.85, false, ""},
	{"windows-1255", charmap.Windows1255, "יוהלארמתבשנ", 0.8, false, ""},
	{"windows-1256", charmap.Windows1256, "اليمونترهبدعسةف", 0.85, false, ""},
	{"TIS-620", charmap.Windows874, "านรกอเงมยลวดสตทะ่้ีิัไบปคแหจุู็ใพชข์", 0.85, false, ""},
	{"EUC-JP", japanese.EUCJP, kana + "ンストルーリアイラクシ日本人大年一、。", 0.5, false, ""},
	{"Shift-JIS", japanese.ShiftJIS, kana + "ンストルーリアイラクシ日本人大年一、。", 0.5, false, ""},
	{"EUC-KR", korean.EUCKR, "이다는을의에가고로하은사지한기서를도어그자리인나대시수과아스일정라들해보전있게부장제주상원니여국방송", 0.6, false, ""},
	{"GB2312", simplifiedchinese.GBK, "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手用主行方又如前所本见经头面公同三已老从动两长，。、", 0.4, false, ""},
	{"Big5", traditionalchinese.Big5, "的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可裡後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手用主行方又如前所本見經頭面公同三已老從動兩長，。、", 0.4, false, ""},
}

// guess returns the script of a text, nil unless one is far more plausible than all that would read the text
// differently.
func guess(doc []byte) *script {
	sample := words(doc)
	if len(sample) == 0 {
		return nil
	}
	type reading struct {
		script
		text  string
		score float64
	}
	var best, rival reading
	for _, s := range scripts {
		text, bad := decode(s.charset, sample)
		if bad > 0 {
			continue
		}
		switch r := (reading{s, string(text), s.score(string(text))}); {
		case r.score > best.score:
			if best.text != r.text {
				rival = best
			}
			best = r
		case r.text != best.text && r.score > rival.score:
			rival = r
		}
	}
	if best.score < 0.7 || rival.score > 0.8*best.score {
		return nil
	}
	return &best.script
}

// sampleBytes is how much of a text is looked at.
const sampleBytes = 64 << 10

// words returns those words of a text that have bytes beyond ASCII, each behind a space. The bytes of a character
// are never separated, because in all charsets here they are from 0x40 on.
func words(doc []byte) (sample []byte) {
	for _, word := range bytes.FieldsFunc(doc[:min(len(doc), 64*sampleBytes)], func(r rune) bool { return r < 0x40 }) {
		if countHigh(word) > 0 {
			sample = append(append(sample, ' '), word...)
		}
		if len(sample) > sampleBytes {
			break
		}
	}
	return sample
}

// score returns how plausible a text is, from 0 to 1: the share of its characters beyond ASCII that are frequent,
// divided by the expected share; of a Latin script, 0 if a third is not.
func (s script) score(text string) float64 {
	var n tally
	for _, word := range strings.Fields(text) {
		s.count([]rune(word), &n)
	}
	if n.total == 0 || !s.latin && n.total < shortText || s.must != "" && n.musts*10 < n.total {
		return 0
	}
	share := float64(n.hits) / float64(n.total)
	if s.latin { // its letters beyond ASCII are few, so another one tells much
		return max(0, 1-3*(1-share))
	}
	return min(1, share/s.expected)
}

// A tally is of characters beyond ASCII.
type tally struct{ total, hits, musts int }

// count counts the characters of a word. A capital behind a small letter is not plausible, nor is a Latin word of
// several letters without one of ASCII, nor another word with one. A Latin letter alone does not count.
func (s script) count(word []rune, n *tally) {
	mixed := slices.ContainsFunc(word, isASCIILetter)
	for i, r := range word {
		isQuote := strings.ContainsRune(quotes, r)
		if r < utf8.RuneSelf || isQuote && !s.latin || !isQuote && s.latin && len(word) == 1 {
			continue
		}
		n.total++
		capital := i > 0 && unicode.IsUpper(r) && unicode.IsLower(word[i-1])
		if (isQuote || mixed == s.latin && !capital) && strings.ContainsRune(s.common, unicode.ToLower(r)) {
			n.hits++
		}
		if s.must != "" && strings.ContainsRune(s.must, r) {
			n.musts++
		}
	}
}

func isASCIILetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
