//go:build !race

package chart_test

const raceEnabled = false
