// Package process holds the packages that a process of any mode needs: its version (build),
// its data folder (datadir), what differs between systems (platform), groups of goroutines
// (supervisor), repeated calls (retry), histograms of durations (histogram), messages for people
// (wording), points at which tests kill it (failpoint), and a clock that tests shift (clock). A package belongs here if it knows
// nothing of tuples, of the catalog or of a job. It may import package fault and nothing else of
// ours.
package process
