package server

import (
	"testing"
	"time"
)

func TestTokens(t *testing.T) {
	var all tokens
	now := time.Now()
	mine := &session{}
	token, wait := all.add(now, mine)
	if len(token) != 32 || wait != 0 {
		t.Fatalf("token %q, wait %s", token, wait)
	}
	if all.take(now, token+"x") != nil || all.take(now, "") != nil {
		t.Error("a token that is guessed has a session")
	}
	if all.take(now, token) != mine {
		t.Error("the token has no session")
	}
	if all.take(now, token) != nil {
		t.Error("a used token has a session")
	}
	token, _ = all.add(now, mine)
	if all.take(now.Add(tokenFor), token) != nil {
		t.Error("a token is good for a minute")
	}
	if all.take(now, token) != nil {
		t.Error("an expired token is used up, too")
	}
}

// So many wait, and no more, until the first of them has expired.
func TestTokensAreBounded(t *testing.T) {
	var all tokens
	now := time.Now()
	for i := range maxWaiting {
		if _, wait := all.add(now.Add(time.Duration(i)), &session{}); wait != 0 {
			t.Fatalf("the one of number %d has to wait", i)
		}
	}
	if token, wait := all.add(now.Add(10*time.Second), &session{}); token != "" || wait != 50*time.Second {
		t.Errorf("one too many gets %q, and waits for %s", token, wait)
	}
	if _, wait := all.add(now.Add(tokenFor), &session{}); wait != 0 {
		t.Errorf("there is room again, and it waits for %s", wait)
	}
}
