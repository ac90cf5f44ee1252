//go:build race

package chart_test

// raceEnabled is true with the race detector, under which a test takes many times as long.
const raceEnabled = true
