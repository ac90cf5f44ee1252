package lock

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Token says under which lock something was written. The holder of a lock writes its
// lease, so the version of the lease at that moment is greater than that of every
// lock before it, also where the lease was deleted in between.
type Token struct {
	Generation string
	Holder     string // in words
}

// Token is that of this lock; empty if the API server gives its leases no versions.
func (h *Lock) Token() Token {
	if h == nil || h.generation == "" {
		return Token{}
	}
	return Token{Generation: h.generation, Holder: h.locker.Self.Human()}
}

// String is the token as it is written on an object. ParseToken reads it.
func (t Token) String() string { return strings.TrimSpace(t.Generation + " " + t.Holder) }

// maxHolder is how much is shown of the holder, which anybody can write, in bytes.
const maxHolder = 120

// ParseToken reads a token. What is not one has no generation.
func ParseToken(text string) Token {
	generation, holder, _ := strings.Cut(text, " ")
	if _, err := resourceversion.CompareResourceVersion(generation, generation); err != nil {
		return Token{}
	}
	holder = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '`' {
			return -1
		}
		return r
	}, holder)
	return Token{Generation: generation, Holder: fault.Shorten(holder, maxHolder)}
}

// After says whether a token is that of a newer lock. One that cannot be compared
// is not.
func (t Token) After(other Token) bool {
	order, err := resourceversion.CompareResourceVersion(t.Generation, other.Generation)
	return err == nil && order > 0
}

// Mark is the annotation that says under which lock an object was written last; the
// value is empty if that is not known.
func (h *Lock) Mark() (name, value string) { return kube.AnnotationLock, h.Token().String() }

// Check returns an error if what carries these annotations was written under a newer
// lock, which then is the one that is held.
func (h *Lock) Check(ctx context.Context, annotations map[string]string) error {
	found := ParseToken(annotations[kube.AnnotationLock])
	if !found.After(h.Token()) {
		return nil
	}
	// What was restored from another cluster has generations of that one.
	err := h.renewOnce(ctx)
	if errors.Is(err, ErrTaken) {
		return TakenBy(found)
	}
	return err
}

// TakenBy is ErrTaken, and says by whom as far as that is known.
func TakenBy(t Token) error {
	if t.Holder == "" {
		return ErrTaken
	}
	return &fault.Error{
		Code: ErrTaken.Code, Message: "the lock was lost: " + t.Holder + " has taken it",
		Hint: ErrTaken.Hint, Err: ErrTaken,
	}
}
