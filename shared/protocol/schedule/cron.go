package schedule

import (
	"regexp"
	"strings"
)

// MaxCron is the maximum length of a cron expression, in bytes.
const MaxCron = 200

// CronPattern is the regular expression of cron expressions. Those that it accepts can be read, unless a range begins
// after its end, such as 9-5. They may be due at no time, such as at the 30th of February.
var CronPattern = `^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[ \t]*` + strings.Join([]string{
	cronList(`(0?[0-9]|[1-5][0-9])`, `(0?[1-9]|[1-5][0-9]|60)`),
	cronList(`(0?[0-9]|1[0-9]|2[0-3])`, `(0?[1-9]|1[0-9]|2[0-4])`),
	cronList(`(0?[1-9]|[12][0-9]|3[01])`, `(0?[1-9]|[12][0-9]|3[01])`),
	cronList(`(0?[1-9]|1[0-2]|`+anyCase("jan feb mar apr may jun jul aug sep oct nov dec")+`)`, `(0?[1-9]|1[0-2])`),
	cronList(`(0?[0-6]|7|`+anyCase("sun mon tue wed thu fri sat")+`)`, `0?[1-7]`),
}, `[ \t]+`) + `[ \t]*)$`

var cronExpression = regexp.MustCompile(CronPattern)

// cronList returns the regular expression of a field: values, ranges or *, with steps, separated by commas.
func cronList(value, step string) string {
	one := `([*?]|` + value + `(-` + value + `)?)(/` + step + `)?`
	return one + `(,` + one + `)*`
}

// anyCase returns the regular expression of words of a-z, in upper and lower case.
func anyCase(words string) string {
	var b strings.Builder
	for _, letter := range words {
		if letter == ' ' {
			b.WriteByte('|')
		} else {
			b.WriteString("[" + strings.ToUpper(string(letter)) + string(letter) + "]")
		}
	}
	return b.String()
}

// IsCron reports whether text has the form of a cron expression (CronPattern) of at most MaxCron bytes.
func IsCron(text string) bool { return len(text) <= MaxCron && cronExpression.MatchString(text) }
