package yamldoc

import (
	"slices"
	"strings"
)

// Nearest is the word that somebody meant who wrote another one; empty if no word is near enough.
func Nearest(written string, words []string) (nearest string) {
	if len(written) > maxWord {
		return ""
	}
	least := 1 + len(written)/4
	for _, word := range slices.Sorted(slices.Values(words)) {
		if len(written) <= shortWord && !isSlip(strings.ToLower(written), strings.ToLower(word)) {
			continue
		}
		if d := distance(strings.ToLower(written), strings.ToLower(word)); d <= least && d < len(word) {
			nearest, least = word, d-1
		}
	}
	return nearest
}

// maxWord is as long as a word can be that is compared, in bytes.
const maxWord = 64

// shortWord is how long a word is of which every other one would be near.
const shortWord = 3

// isSlip says whether a short word is another one with letters that are missing, too many or swapped: cp and cup are
// cpu, and gpu is not.
func isSlip(written, word string) bool {
	if isWithin(written, word) || isWithin(word, written) {
		return true
	}
	letters := func(text string) string { return string(slices.Sorted(slices.Values([]byte(text)))) }
	return letters(written) == letters(word)
}

// isWithin says whether a word has all letters of another one, in their order.
func isWithin(letters, word string) bool {
	for _, letter := range []byte(letters) {
		_, rest, found := strings.Cut(word, string(letter))
		if !found {
			return false
		}
		word = rest
	}
	return true
}

// distance is how many letters are wrong, missing, too many, or swapped with the next one.
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
