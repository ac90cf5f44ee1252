// Package watch reads what the API server says about a pod or a workload: which
// stage it is in, why it does not get on, and how that changes.
//
// State is what has been said so far. Analyze makes a reading of it, a pure
// function of state, policy and time that remembers nothing: the same state
// gives the same reading, and who calls decides when to stop. Classify says
// what a single Kubernetes event means. Nothing here asks the API server: that is
// package follow.
package watch
