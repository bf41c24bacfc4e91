package clips

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestAFeedAsksForItsPace(t *testing.T) {
	t.Parallel()
	const item = `<item><title>a</title><enclosure url="a.mp3" type="audio/mpeg"/></item>`
	for name, c := range map[string]struct {
		channel  string
		skip     models.Skip
		interval time.Duration
		problem  bool
	}{
		"nothing":         {channel: ""},
		"hours":           {channel: "<skipHours><hour>0</hour><hour> 5 </hour><hour>24</hour></skipHours>", skip: models.Skip{Hours: []int{0, 5}}},
		"days":            {channel: "<skipDays><day>Saturday</day><day>SUNDAY</day></skipDays>", skip: models.Skip{Days: []string{"Sunday", "Saturday"}}},
		"no hours":        {channel: "<skipHours><hour>25</hour><hour>-1</hour><hour>x</hour><hour>99999999999999999999</hour></skipHours><skipDays><day>Someday</day><day></day><day>Ä</day></skipDays>"},
		"all days":        {channel: "<skipDays><day>Monday</day><day>Tuesday</day><day>Wednesday</day><day>Thursday</day><day>Friday</day><day>Saturday</day><day>Sunday</day></skipDays>", problem: true},
		"hourly":          {channel: "<sy:updatePeriod> hourly </sy:updatePeriod><sy:updateFrequency>1</sy:updateFrequency>", interval: time.Hour},
		"twice a day":     {channel: "<sy:updateFrequency>2</sy:updateFrequency>", interval: 12 * time.Hour},
		"daily":           {channel: "<sy:updatePeriod>daily</sy:updatePeriod>", interval: 24 * time.Hour},
		"a wrong period":  {channel: "<sy:updatePeriod>sometimes</sy:updatePeriod>"},
		"no frequency":    {channel: "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>"},
		"wrong frequency": {channel: "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>-3</sy:updateFrequency>"},
	} {
		doc := `<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><title>t</title>` + c.channel + item + `</channel></rss>`
		feed, _, err := parseFeed(t.Context(), []byte(doc), 10)
		require.NoError(t, err, name)
		skip, problem := skipOf(feed)
		require.Equal(t, c.skip, skip, name)
		require.Equal(t, c.problem, problem != "", name)
		require.Equal(t, c.interval, updateInterval(feed), name)
	}
}

func TestAVisitReportsWhenAFeedAsksNotToBeRead(t *testing.T) {
	t.Parallel()
	const doc = `<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><title>t</title><skipHours><hour>3</hour></skipHours>
		<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency><item><title>a</title><enclosure url="a.mp3" type="audio/mpeg"/></item></channel></rss>`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(doc)) }))
	t.Cleanup(server.Close)
	o := models.Origin{ID: models.NewID("feed", server.URL), Kind: models.Feed, URI: server.URL}
	l := lister(t, o)
	seen, err := l.read(t.Context(), o, models.Known{})
	require.NoError(t, err)
	require.Equal(t, &models.Skip{Hours: []int{3}}, seen.skip)
	require.Equal(t, 30*time.Minute, seen.freshFor)
}
