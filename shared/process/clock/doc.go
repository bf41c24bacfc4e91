// Package clock has the time by which certificates, invites and tokens are judged.
//
// In a normal build Now is the clock of the system. In a build with the tag failpoints, tests shift it: the environment
// variable CLOCK_OFFSET names a file with an offset, such as -1h, which is read at each call.
package clock
