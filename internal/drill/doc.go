// Package drill makes each cause of attention with real processes, and fixes it as a person would. It has only tests,
// which need a browser (build tag browser).
//
// For each cause, a coordinator with the processes that the cause needs runs. Once the condition of the cause holds, the
// API, `leasehold status` and the page must name it first. The test then presses the button of the item on the page,
// and the item must end.
//
//   - fault_test.go: what a fault is, and the list of all.
//   - tasks_test.go, workers_test.go, system_test.go, archive_test.go: the faults.
//   - rig_test.go: the processes of a fault.
//   - drill_test.go: the drill, each fault alone, and several at random at once.
package drill
