// Package doctor looks whether this machine has what Leasehold needs: a data folder
// that can be written, room for spools, files that may be opened, a clock, and
// decoders of sound.
//
// Every check ends in a Finding, whatever is wrong: one that fails says what to do.
// Nothing is changed on the machine, but for a file that is written to the data
// folder and removed. Checks take a context and end within seconds. What is checked
// needs no coordinator, and says nothing of one.
package doctor
