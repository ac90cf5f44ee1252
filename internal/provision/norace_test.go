//go:build !race

package provision

const raceEnabled = false
