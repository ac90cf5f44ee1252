package yamldoc

import (
	"slices"
	"strings"
)

// Nearest is the word that somebody meant who wrote another one; empty if none is
// near enough.
func Nearest(written string, words []string) (nearest string) {
	if len(written) > maxWord {
		return ""
	}
	least := 1 + len(written)/4 // of a short word, every other one would be near
	for _, word := range slices.Sorted(slices.Values(words)) {
		if d := distance(strings.ToLower(written), strings.ToLower(word)); d <= least && d < len(word) {
			nearest, least = word, d-1
		}
	}
	return nearest
}

// maxWord is as long as a word can be that is compared, in bytes.
const maxWord = 64

// distance is how many letters are wrong, missing, too many, or swapped with the next
// one.
func distance(a, b string) int {
	var older []int // the row before last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			wrong := 1
			if a[i] == b[j] {
				wrong = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+wrong)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, last = last, row
	}
	return last[len(b)]
}
