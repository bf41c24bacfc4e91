package api

// exposeEngine writes what the engine counts. None of it has a label that a
// stranger could choose.
func (s *server) exposeEngine(e *exposition) {
	if s.Engine == nil {
		return
	}
	f := s.Engine.Stats()
	full := 0.0
	if f.Full {
		full = 1
	}
	for _, m := range []struct {
		name, kind, help string
		value            float64
	}{
		{"leasehold_engine_sessions", "gauge", "Sessions that live.", float64(f.Sessions)},
		{"leasehold_engine_waiters", "gauge", "Calls that are blocked.", float64(f.Waiters)},
		{"leasehold_engine_holds", "gauge", "Tuples that are held, or taken and not acknowledged.", float64(f.Held)},
		{"leasehold_engine_queue_depth", "gauge", "Transactions that wait to be committed.", float64(f.Pending)},
		{"leasehold_engine_full", "gauge", "Whether puts are refused because the disk is full.", full},
		{"leasehold_engine_operations_total", "counter", "Transactions that succeeded.", float64(f.Operations)},
		{"leasehold_engine_refused_total", "counter", "Requests that were refused because a bound was reached.", float64(f.Refused)},
	} {
		e.family(m.name, m.kind, m.help)
		e.sample(m.name, m.value)
	}
	e.family("leasehold_journal_batch_records", "summary", "Records written by one commit.")
	e.sample("leasehold_journal_batch_records_count", float64(f.Commits))
	e.sample("leasehold_journal_batch_records_sum", float64(f.Records))
	e.family("leasehold_journal_commit_seconds", "summary", "How long a commit took, its sync included.")
	e.sample("leasehold_journal_commit_seconds_count", float64(f.Commits))
	e.sample("leasehold_journal_commit_seconds_sum", f.CommitTime.Seconds())
}
