package fetch

import (
	"strconv"
	"strings"
	"time"
)

// robotsName is the name of this program in robots.txt.
const robotsName = "leasehold"

// longestDelay limits the returned Crawl-delay.
const longestDelay = 24 * time.Hour

// crawlDelay returns the Crawl-delay of a robots.txt for our user agent: of the groups that name
// it, and else of those for all agents (*); 0 if there is none. The largest of several counts. A
// group is one or more lines of user agents with the rules after them. Lines that are not
// understood are skipped, so a page of HTML asks for nothing.
func crawlDelay(content string) time.Duration {
	var own, all time.Duration
	var forUs, forAll, inRules bool // of the current group: whom it names, and whether its rules have begun
	var named bool                  // whether any group is ours
	for line := range strings.Lines(strings.TrimPrefix(content, "\ufeff")) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "user-agent":
			if inRules { // a new group begins
				forUs, forAll, inRules = false, false, false
			}
			forAll = forAll || value == "*"
			if productOf(value) == robotsName {
				forUs, named = true, true
			}
		case "crawl-delay":
			inRules = true
			delay := delayOf(value)
			if forUs {
				own = max(own, delay)
			}
			if forAll {
				all = max(all, delay)
			}
		case "allow", "disallow":
			inRules = true
		}
	}
	if named {
		return own
	}
	return all
}

// productOf returns the name of a user agent without its version, in lower case.
func productOf(agent string) string {
	end := strings.IndexFunc(agent, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	})
	if end >= 0 {
		agent = agent[:end]
	}
	return strings.ToLower(agent)
}

// delayOf parses a number of seconds; 0 for anything else.
func delayOf(text string) time.Duration {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, longestDelay.Seconds()) * float64(time.Second))
}
