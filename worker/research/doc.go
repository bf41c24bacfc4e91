// Package research does the action "research": it finds each clip of a task in
// the task's episode.
//
// Invariants:
//
//   - Every clip of the task gets one result of its own, as soon as it is known:
//     findings, none, or a problem. The last one resolves the task.
//   - A fault that is a property of a recording (not audio, truncated, silent, not
//     there) is a problem that names it, never an error: trying again elsewhere
//     would not help. Scope tells whose it is; one bad clip never hides the
//     others, a bad episode is told once for all clips.
//   - Anything else (the network, the disk) is an error, so that another worker
//     may try; what was found before is reported before.
//   - A result carries the media as the task named them, with the hash of what was
//     really looked at.
//   - When the worker drains, the group of clips in hand is finished and its last
//     result is the final one.
//
// What is learned of an episode is kept (package fingerprint): one that is known is
// neither fetched nor decoded for new clips, unless its sound was let go and is needed.
// Memory is what package match says, for a group of clips at a time.
package research
