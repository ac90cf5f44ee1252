package job

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// add is the record with one entry more. A stage is never left out; an event of
// Kubernetes or a message that is like one before is counted there, so that a
// workspace which waits for a day does not fill its record.
func (r Record) add(e Entry, repeat repeat) Record {
	if e.Type == TypeStatus {
		if last, ok := lastStatus(r.Events); ok && last.Message == e.Message && last.Status == e.Status {
			return r // only its containers are new
		}
		return r.append(e)
	}
	if e.ObjectName == resultName {
		return r.append(e)
	}
	i := slices.IndexFunc(r.Events, e.isLike)
	if i < 0 {
		if count := repeat(0); count > 1 {
			e.Message = countText(e.Message, count, 0)
		}
		return r.append(e)
	}
	r.Events = slices.Clone(r.Events)
	r.Events[i] = folded(r.Events[i], e, repeat)
	return r
}

// append never shares the entries with the record that it was made of.
func (r Record) append(e Entry) Record {
	e.ID = r.nextID()
	r.Events = append(slices.Clip(r.Events), e)
	return r
}

func lastStatus(all []Entry) (Entry, bool) {
	for _, e := range slices.Backward(all) {
		if e.Type == TypeStatus {
			return e, true
		}
	}
	return Entry{}, false
}

// repeat says how often something has happened by now, when it had happened
// so often before.
type repeat func(before int) int

func oneMore(before int) int { return before + 1 }

// byCount takes Kubernetes' own count, unless it is another event's: that is
// reported again only when its count has grown.
func byCount(count int) repeat {
	return func(before int) int {
		if count > before {
			return count
		}
		return before + 1
	}
}

// atLeast is for what may have been counted already.
func atLeast(count int) repeat { return func(before int) int { return max(before, count) } }

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// withoutNumbers is a message without its count and its numbers.
func withoutNumbers(message string) string {
	message, _ = splitCount(message)
	return number.ReplaceAllString(message, "#")
}

// isLike is true for entries that differ in numbers only.
func (e Entry) isLike(other Entry) bool {
	return e.Type == other.Type && e.ObjectName == other.ObjectName && e.Status == other.Status && withoutNumbers(e.Message) == withoutNumbers(other.Message)
}

// folded is an entry that happened again: at its first time, with the newest
// message, the count, and how long it has been going on.
func folded(first, again Entry, repeat repeat) Entry {
	_, before := splitCount(first.Message)
	count := repeat(before)
	if count == before {
		return first
	}
	first.Message = countText(again.Message, count, again.Timestamp.Sub(first.Timestamp))
	return first
}

func countText(message string, count int, over time.Duration) string {
	if over = over.Round(time.Second); over <= 0 {
		return fmt.Sprintf("%s (x%d)", message, count)
	}
	return fmt.Sprintf("%s (x%d over %s)", message, count, over)
}

var counted = regexp.MustCompile(` \(x([0-9]+)(?: over [0-9hms]+)?\)$`)

// splitCount removes what countText has added to a message.
func splitCount(message string) (bare string, count int) {
	match := counted.FindStringSubmatch(message)
	if match == nil {
		return message, 1
	}
	count, err := strconv.Atoi(match[1])
	if err != nil {
		return message, 1
	}
	return strings.TrimSuffix(message, match[0]), count
}
