// Package autoscale keeps as many workers of an action as its queue needs. The coordinator tells how many slots that
// is; a Scaler turns it into a number of workers that grows in bounded steps and shrinks late; a Fleet starts and ends
// them: a service of Docker's swarm, or a command of the operator.
package autoscale
