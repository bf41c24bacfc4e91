// Package chaos runs the real binary and breaks it. It has only tests.
//
//   - crash_test.go: a coordinator under seeded traffic from many sessions is
//     killed again and again, at every failpoint (package failpoint) and at random
//     moments, and started again; what the clients were told must be true to the
//     end. Each kind of traffic is a file with its own invariants: registers
//     (linearizable), goods (each got once), grants (leases and operation ids),
//     labour (tasks).
//   - moments_test.go: rows 1 to 7 of the catalogue of faults, each at its moment.
//   - disk_test.go: a disk that fails, fills up or is slow, through strace, and a
//     small tmpfs; folders that cannot be used.
//   - podcast_test.go: the example, with coordinator, managers and workers as
//     processes that are killed, stopped and continued, and as one process that is
//     killed ten times in a row.
//
// A seed decides everything but the scheduling of processes, and is printed. Both
// can be set:
//
//	go test ./internal/chaos -chaos.seed 42 -chaos.time 30m
package chaos
