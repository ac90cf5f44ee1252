package signature_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
)

// What was verified by certificates is found under another name once another root vouches for them: that which was
// fetched last on this machine, for as long as an old root counts. Keys alone have one name.
func TestSumOfAFetchedRoot(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sigstore", "trusted_root.json")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	policyOf := func(keys signature.Keys) *signature.Policy {
		p, err := signature.New(keys, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := policyOf(signature.Keys{Identities: []sigstore.Identity{alice}, Cache: dir})
	key := policyOf(signature.Keys{Public: []string{signaturetest.NewCosign(t).Public}, Cache: dir})
	unknown, ofKey := p.Sum(), key.Sum()
	one, another := sigstoretest.New(t).Root(), sigstoretest.New(t).Root()
	var sums []string
	for _, step := range []struct {
		root []byte
		age  time.Duration
	}{{one, 0}, {another, 0}, {one, 6 * 24 * time.Hour}, {one, 8 * 24 * time.Hour}} {
		if err := os.WriteFile(file, step.root, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-step.age)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, p.Sum())
	}
	if sums[0] == unknown || sums[1] == unknown || sums[0] == sums[1] || sums[2] != sums[0] || sums[3] != unknown {
		t.Errorf("%s, and before that %s", sums, unknown)
	}
	if key.Sum() != ofKey {
		t.Errorf("%s of keys, and before that %s", key.Sum(), ofKey)
	}
}
