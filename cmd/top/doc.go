// Package top is `leasehold top`: what needs attention, the actions, the workers and the tasks of a coordinator on one
// screen of a terminal, with keys for the operations that the role of the user allows.
//
// Model is pure: Update returns the next state and the effect that it demands, and View returns the text. Run connects a Model
// with a terminal and the API. It asks the API about every two seconds; while that fails, the screen keeps the latest
// data and tells their age.
package top
