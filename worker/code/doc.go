// Package code does the action "index": it reads a batch of files from the manager
// that issued it, analyses them, and puts them into the code index.
//
// Invariants:
//
//   - A file is read only if the index does not have it yet. The content is checked
//     against the hash that names it, so that no manager can have content indexed under
//     the name of another.
//   - The result is put after the index has the batch durably. It has the hash of the
//     segment, and neither names nor content.
//   - Every file of the batch ends in one of three ways: it is indexed; it is in the index
//     as skipped, with the reason; or the result names it as unreadable.
//   - If the manager cannot be reached, because it has died or its address is wrong, the
//     task is resolved with that reason and not released, so that the batch is issued
//     again by a manager that can serve it. If the index is busy or away, the task is handed
//     back for a while, and the attempt does not count. Any other fault (this machine) is an
//     error, so that another worker tries.
//
// Memory is bounded by the size of a batch (8 MiB of content), times the number of slots.
package code
