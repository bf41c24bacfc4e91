// Package embedded is a code.Searcher in one folder: segments with the text of blobs
// and one file for each repository's generation.
//
//	segments/SHA256.segment        immutable; a new one for each batch, and for each merge
//	merging/                       a merged segment that is not installed yet
//	repositories/NAME.generation   replaced by renaming; NAME is a hash of the repository's id
//	inventory                      the names of these files, so that a missing one is noticed
//
// Only the inventory repeats what the folder has, so the folder is consistent after a crash at any point: a file
// is written beside its place, synced, renamed, and then its folder is synced. A merged
// segment names those that it replaces; Open removes any of them that a crash left.
//
// A search sees one view: the segments and generations at the moment when it began. Writers
// make a new view and install it. Files of an old view stay mapped until its last search
// ends.
//
// A blob is in the first segment that has it. Merging copies the blobs that a generation
// names, and those that were put less than a day ago; it drops the others.
//
// A folder is opened by one process at a time; its callers see to that (shared/process/datadir).
// Methods may be called concurrently.
package embedded
