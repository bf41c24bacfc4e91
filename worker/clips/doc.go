// Package clips does the action "research": it finds each clip of a task in
// the task's episode.
//
// Invariants:
//
//   - Every clip of the task gets one result of its own, as soon as it is known:
//     findings, none, or a problem. The last one resolves the task.
//   - A fault of a recording (not audio, truncated, silent) is a problem and never an
//     error, because a retry would not help. Scope states whether the episode, the clip or
//     the pair is at fault. One bad clip does not hide the results of the others; a bad
//     episode is one problem for all clips.
//   - A recording that cannot be fetched is a problem too, with a models.Retry: the catalog
//     decides when it is tried again. So no attempt of a task is lost while a server is away.
//   - Any other fault (the disk) is an error, so that another worker may try. Earlier
//     findings are reported before it.
//   - A result has the media as the task named them, with the hash of the content that
//     was searched.
//   - When the worker drains, the handler finishes the current group of clips, and the
//     last result of the group is the final one.
//
// Package fingerprint keeps the landmarks and the sound of an episode. A known episode is
// neither fetched nor decoded for new clips, unless its sound was evicted and is needed.
// The memory bounds of package match apply to one group of clips at a time.
package clips
