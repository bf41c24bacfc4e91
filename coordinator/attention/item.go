package attention

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leasehold/models"
)

// Bounds of the texts of an item in bytes.
const (
	maxName   = 120 // of a name in a sentence
	maxText   = 300
	maxDetail = 600
)

// finish gives an item its id, and makes its texts safe.
func finish(i models.Attention) models.Attention {
	i.ID = models.NewID(string(i.Cause), i.About)
	i.About, i.Example = clean(i.About, maxName), clean(i.Example, maxName)
	i.Text, i.Detail, i.Command = clean(i.Text, maxText), clean(i.Detail, maxDetail), clean(i.Command, maxText)
	if i.Remedy != nil {
		r := *i.Remedy
		r.Label = clean(r.Label, maxName)
		if r.Operation == dismiss {
			r.Params = map[string]string{"item": i.ID}
		}
		i.Remedy = &r
	}
	return i
}

// clean makes a text one line of at most n bytes of valid UTF-8 without control characters and without users and
// passwords of URLs.
func clean(text string, n int) string {
	const ahead = 4 // reads so many times n, because the text may be far longer
	if len(text) > ahead*n {
		text = text[:ahead*n]
	}
	text = models.RedactSecrets(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' { // Cf: such as marks of direction
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	end := n - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// name is a name as it may stand in a sentence.
func name(text string) string { return clean(text, maxName) }

// compare sorts items: the worst first, then the causes in their order, then those of most items, then by name.
func compare(a, b models.Attention) int {
	return cmp.Or(
		cmp.Compare(slices.Index(models.Severities, a.Severity), slices.Index(models.Severities, b.Severity)),
		cmp.Compare(slices.Index(models.Causes, a.Cause), slices.Index(models.Causes, b.Cause)),
		cmp.Compare(b.Count, a.Count), strings.Compare(a.About, b.About))
}

// cut keeps the maxEach items of the highest counts, which stand for the others: the last one tells how many there are.
func cut(items []models.Attention) []models.Attention {
	slices.SortStableFunc(items, compare)
	if more := len(items) - maxEach; more > 0 {
		last := &items[maxEach-1]
		last.Detail = strings.TrimSpace(fmt.Sprintf("%s And %d more like this.", last.Detail, more))
		items = items[:maxEach]
	}
	return items
}

// dismiss is the operation by which a user confirms having seen an item, if no operation of the coordinator fixes it.
const dismiss = "dismissAttention"

// seen is the remedy of such an item; finish sets the parameter.
func seen() *models.Remedy { return &models.Remedy{Label: "Dismiss", Operation: dismiss} }

// remedy returns a remedy without a body. params are pairs of name and value.
func remedy(label, operation string, params ...string) *models.Remedy {
	r := &models.Remedy{Label: label, Operation: operation}
	for n := 0; n < len(params); n += 2 {
		if r.Params == nil {
			r.Params = map[string]string{}
		}
		r.Params[params[n]] = params[n+1]
	}
	return r
}

// with returns r with a body.
func with(r *models.Remedy, body any) *models.Remedy {
	r.Body, _ = json.Marshal(body) // bodies are plain structs
	return r
}

// count returns a number and a noun, with an s unless it is one.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// verb returns "s" if n is one: a task wait-s, two tasks wait.
func verb(n int64) string {
	if n == 1 {
		return "s"
	}
	return ""
}

// clock formats a time for people, in UTC.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// short formats a duration for people.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	text := d.Round(time.Second).String() // such as 2h0m0s
	for _, zero := range []string{"m0s", "h0m"} {
		if rest, found := strings.CutSuffix(text, zero); found {
			text = rest + zero[:1]
		}
	}
	return text
}

// lasting marks a remedy that removes something.
func lasting(r *models.Remedy) *models.Remedy {
	r.Lasting = true
	return r
}

// word quotes an argument of a command for a POSIX shell, if it needs that.
func word(text string) string {
	text = clean(text, maxName)
	if text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/@%+=,-") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
