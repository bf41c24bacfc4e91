package clips

import (
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	rssfeed "github.com/mmcdole/gofeed/rss"

	"leasehold/models"
)

// skipOf returns when an RSS feed asks not to be read; other feeds cannot ask. Other entries than hours and
// days are left out. problem tells that a feed skips all hours or all days, which is ignored.
func skipOf(feed *gofeed.Feed) (skip models.Skip, problem string) {
	original, ok := feed.OriginalFeed().(*rssfeed.Feed)
	if !ok {
		return models.Skip{}, ""
	}
	for _, text := range original.SkipHours {
		if hour, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && hour >= 0 && hour <= 24 {
			skip.Hours = append(skip.Hours, hour%24) // RSS 0.91 counts from 1 to 24
		}
	}
	for _, text := range original.SkipDays {
		text = strings.ToLower(strings.TrimSpace(text))
		if text != "" {
			skip.Days = append(skip.Days, strings.ToUpper(text[:1])+text[1:])
		}
	}
	set, ignored := skip.Set()
	if ignored {
		problem = "the feed asks to be skipped in all hours (skipHours) or on all days (skipDays), which is ignored"
	}
	return set.Skip(), problem
}

// updatePeriods are the values of sy:updatePeriod.
var updatePeriods = map[string]time.Duration{
	"hourly": time.Hour, "daily": 24 * time.Hour, "weekly": 7 * 24 * time.Hour, "monthly": 30 * 24 * time.Hour, "yearly": 365 * 24 * time.Hour,
}

// updateInterval returns the time between two updates of a feed by the syndication module of RSS 1.0
// (sy:updatePeriod, daily if it is missing, divided by sy:updateFrequency, 1 if it is missing); 0 if the feed has
// neither, or one that is not valid.
func updateInterval(feed *gofeed.Feed) time.Duration {
	sy := feed.Extensions["sy"]
	period, frequency := moduleText(sy, "updatePeriod"), moduleText(sy, "updateFrequency")
	if period == "" && frequency == "" {
		return 0
	}
	length := 24 * time.Hour
	if period != "" {
		length = updatePeriods[strings.ToLower(period)]
	}
	times := 1
	if frequency != "" {
		times, _ = strconv.Atoi(frequency)
	}
	if times < 1 {
		return 0
	}
	return length / time.Duration(times)
}
