// Package doctor checks that this machine has what Leasehold needs: a data folder that can
// be written, disk space, open files, a clock, git, and decoders of sound.
//
// Every check returns a Finding, also if the check itself fails. A Finding has advice unless it is OK. Checks
// change nothing on the machine, except that one writes a file to the data folder and removes it. They end within
// seconds, unless Folders.Deep has them read all files of the data folder. None needs a coordinator.
//
// ExamineFleet checks a coordinator with its managers and workers, by what its API tells.
package doctor
