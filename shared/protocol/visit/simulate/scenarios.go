package simulate

// Scenarios are the worlds of the documentation. S1 to S8 have fixed parameters; those of
// S9 and up are drawn from ranges by the seed.
var Scenarios = []Scenario{
	vary("S1", "no dates", func(*Scenario) {}),
	vary("S2", "good dates", func(s *Scenario) { s.Dated, s.Recall, s.FalseRate = true, 0.95, 0.001 }),
	vary("S3", "wrong dates", func(s *Scenario) { s.Dated, s.Recall, s.FalseRate = true, 0.3, 0.02 }),
	vary("S4", "bursty", func(s *Scenario) { s.Changes, s.BurstSize = "bursts", 8; s.MedianRate = 1.0 / 10 }),
	vary("S5", "podcasts without dates", func(s *Scenario) { s.Changes, s.MedianRate, s.Spread = "regular", 1.0/7, 1; s.Forks = 0 }),
	vary("S6", "starved", func(s *Scenario) { s.Capacity = 0.01 }),
	vary("S7", "bootstrap flood", func(s *Scenario) { s.Flood, s.FloodDay, s.New = 0.5, 60, 0 }),
	vary("S8", "folders with one-bit changes", func(s *Scenario) { s.Counts = false }),

	vary("S9", "dates for a part of the origins", func(s *Scenario) {
		s.Dated, s.Ranges = true, ranges{"dated_share": {0.3, 0.7}, "recall": {0.5, 0.98}, "false_rate": {0.001, 0.05}, "capacity": {0.03, 0.3}}
	}),
	vary("S10", "false dates", func(s *Scenario) {
		s.Dated, s.Ranges = true, ranges{"false_rate": {0.01, 1}, "recall": {0.3, 0.98}}
	}),
	vary("S11", "dates that are good for half of the origins", func(s *Scenario) {
		s.Dated, s.Ranges = true, ranges{"misdated": {0.4, 0.6}, "recall": {0.7, 0.98}, "false_rate": {0.003, 0.1}}
	}),
	vary("S12", "hosts with politeness, outages and Retry-After", func(s *Scenario) {
		s.Hosts, s.Ranges = 100, ranges{"host_visits": {10, 100}, "outages": {0.01, 0.1}, "outage_days": {0.1, 2}, "retry_after": {0.2, 0.8}}
	}),
	vary("S13", "rates that drift", func(s *Scenario) {
		s.Ranges = ranges{"drift": {0.02, 0.1}, "capacity": {0.03, 0.3}}
	}),
	vary("S14", "rates that switch on and off", func(s *Scenario) {
		s.Ranges = ranges{"on_days": {10, 60}, "off_days": {20, 120}, "median_rate": {0.03, 0.3}}
	}),
	vary("S15", "weeks and nights", func(s *Scenario) {
		s.Ranges = ranges{"night": {0.5, 1}, "weekend": {0.3, 1}, "median_rate": {0.03, 0.3}}
	}),
	vary("S16", "several listers", func(s *Scenario) {
		s.Dated, s.Listers, s.Ranges = true, 5, ranges{"recall": {0.5, 0.98}, "false_rate": {0.003, 0.1}, "cadence_days": {0.5, 7}, "dated_share": {0.5, 1}}
	}),
	vary("S17", "a cold start", func(s *Scenario) {
		s.Cold, s.Ranges = 1, ranges{"capacity": {0.02, 0.2}, "median_rate": {0.01, 0.1}}
	}),
	vary("S18", "failures and dying origins", func(s *Scenario) {
		s.Ranges = ranges{"failed_rate": {0.01, 0.1}, "dying": {0.1, 0.5}, "unlisted": {0, 1}}
	}),
	vary("S19", "one visit a day", func(s *Scenario) { s.CapacityDay = 1 }),
	vary("S20", "ten times the need", func(s *Scenario) { s.Need = 10 }),
	vary("S21", "podcasts with windows", func(s *Scenario) {
		s.Changes, s.Forks, s.Cold, s.Spread = "regular", 0, 1, 1
		s.Ranges = ranges{"window": {5, 50}, "median_rate": {0.05, 2}, "capacity": {0.05, 1}, "claim": {4, 64}}
	}),
	vary("S22", "everything drawn", func(s *Scenario) {
		s.Dated, s.Ranges = true, ranges{
			"window": {5, 200}, "claim": {4, 64}, "median_rate": {0.01, 1}, "spread": {0.5, 2}, "capacity": {0.02, 1}, "cold": {0, 1}, "new": {0, 0.5},
			"dated_share": {0, 1}, "recall": {0.3, 0.98}, "false_rate": {0.001, 0.1}, "listers": {1, 5}, "cadence_days": {0.5, 7},
			"hosts": {20, 500}, "host_visits": {10, 100}, "redirects": {0, 0.2}, "outages": {0.01, 0.1}, "failed_rate": {0.001, 0.1}, "dying": {0.05, 0.5},
		}
	}),
	vary("S23", "feeds and repositories with their own rules", func(s *Scenario) {
		s.Cold, s.Kinds = 1, []Kind{{Kind: "feed", Share: 0.6, MedianRate: 0.5, Window: 20}, {Kind: "git", Share: 0.4}}
		s.Ranges = ranges{"capacity": {0.1, 2}, "claim": {4, 64}}
	}),
}

// ranges are the limits between which the seed draws fields.
type ranges = map[string][2]float64

// vary returns the scenario S1 with a change.
func vary(name, about string, change func(*Scenario)) Scenario {
	s := defaults
	s.Name, s.About = name, about
	change(&s)
	return s
}
