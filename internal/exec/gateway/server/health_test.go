package server

import (
	"net/http"
	"testing"

	"github.com/berthdev/berth/internal/serve"
)

// The port of a gateway that is a poollet says whether it lives and is ready, to anyone, as a poollet's does.
func TestHealth(t *testing.T) {
	for pool, want := range map[string]int{"east": http.StatusOK, "": http.StatusNotFound} {
		r := start(t, echo, func(s *Server, _ *serve.Limits) { s.Pool, s.Health = pool, &serve.Health{} })
		for _, path := range []string{"/healthz", "/readyz"} {
			answer, err := r.public.Client().Get(r.public.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s of pool %q: %s, want %d", path, pool, answer.Status, want)
			}
		}
	}
}
