package image

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		Reference
		short string
	}{
		"":                          {Reference{}, ""},
		"alpine":                    {Reference{Name: "alpine"}, "alpine"},
		"ghcr.io/team/dev:1.4":      {Reference{Name: "ghcr.io/team/dev", Tag: "1.4"}, "dev:1.4"},
		"localhost:5000/dev":        {Reference{Name: "localhost:5000/dev"}, "dev"},
		"a@sha256:abcdef123":        {Reference{Name: "a", Digest: "sha256:abcdef123"}, "a@sha256:abcdef1"},
		"r:5000/a:1@sha256:abcdef1": {Reference{Name: "r:5000/a", Tag: "1", Digest: "sha256:abcdef1"}, "a:1"},
		"a@sha256:abc":              {Reference{Name: "a", Digest: "sha256:abc"}, "a@sha256:abc"},
	} {
		if got := Parse(text); got != want.Reference || got.Short() != want.short {
			t.Errorf("%q is %+v, in short %q; want %+v, %q", text, got, got.Short(), want.Reference, want.short)
		}
	}
}
