package terminal

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// What is waited for is a line, once; a view has it as long as it lasts, and no line is
// written into its picture.
func TestWaits(t *testing.T) {
	s, b := Test("", time.Time{})
	first, second := s.Waiting("the server"), s.Waiting("the server")
	if got := b.Err.String(); got != "waiting for the server\n" {
		t.Errorf("stderr has %q", got)
	}
	if got := s.Waits.Lines(); !slices.Equal(got, []string{"waiting for the server"}) {
		t.Errorf("%q", got)
	}
	release := s.Waits.Shown()
	plugin := s.Waiting("a\x1b[2Jplugin")
	first()
	if got := s.Waits.Lines(); len(got) != 2 {
		t.Errorf("%q", got)
	}
	second()
	plugin()
	release()
	release()
	if got := s.Waits.Lines(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	b.Err.Reset()
	s.Waiting("a \x1b[2J plugin")()
	if got := b.Err.String(); got == "" || slices.Contains([]byte(got), 0x1b) {
		t.Errorf("stderr has %q", got)
	}
}

// Without them, as in a test that makes its own streams, nothing happens.
func TestNoWaits(t *testing.T) {
	var s Streams
	s.Waiting("x")()
	s.Waits.Shown()()
	if s.Waits.Lines() != nil {
		t.Error("there is something")
	}
}

// What is quick is not mentioned.
func TestSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := Test("", time.Time{})
		s.Slowly("the file")()
		time.Sleep(time.Minute)
		quick := s.Slowly("the list")
		time.Sleep(999 * time.Millisecond)
		quick()
		over := s.Slowly("the directory")
		time.Sleep(time.Second)
		synctest.Wait()
		over()
		if got := b.Err.String(); got != "waiting for the directory\n" {
			t.Errorf("stderr has %q", got)
		}
	})
}
