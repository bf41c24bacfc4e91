// Package chaos runs the real binary and kills it. It has only tests.
//
//   - crash_test.go: a coordinator under seeded traffic from many sessions is killed
//     repeatedly, at every failpoint (package failpoint) and at random times, and
//     restarted; answers that clients received must stay true. Each kind of traffic is
//     a file with its own invariants: registers (linearizable), tuples (each got once),
//     grants (leases and operation ids), workload (tasks).
//   - rounds_test.go: short runs of that kind, with other settings; make soak makes 30 of them.
//   - killpoints_test.go: rows 1 to 7 of the catalogue of faults, each at its failpoint.
//   - takeover_test.go, takeoverwork_test.go: several coordinators share one realm of PostgreSQL, and each way to lose its
//     owner is tried. promotion_test.go: the standby of the database is promoted. refusingdatabase_test.go: the database is
//     read-only, or full. endedbackends_test.go, endedwork_test.go: the backend is ended in each kind of statement.
//   - disk_test.go: a disk that fails, fills up or is slow, with strace and a small
//     tmpfs; folders that cannot be used.
//   - podcast_test.go: the example, with coordinator, managers and workers as processes
//     that are killed, stopped and continued, and as one process, killed ten times in a row.
//   - scale_test.go: six workers without disks that join by one secret, restarts of all, clocks that differ,
//     and certificates that have ended.
//
// The trace of each coordinator must conform to all models of tup4fun/conform at the end of its test.
//
// A seed determines everything except the scheduling of processes, and is logged. Seed
// and duration can be set:
//
//	go test ./internal/chaos -chaos.seed 42 -chaos.time 30m
package chaos
