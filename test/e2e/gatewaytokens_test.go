//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/berthdev/berth/internal/exec/gateway"
)

// How many tokens are made up in a second, for how long, beside how many valid ones.
const (
	madeUpRate  = 1000
	madeUpTime  = 10 * time.Second
	validTokens = 50
)

// TestGatewayMadeUpTokens sends made-up tokens of every kind at 1,000 a second: users of the same
// address whose tokens the gateway has not seen yet get in beside them, and nothing is left of it.
func TestGatewayMadeUpTokens(t *testing.T) {
	c := newGatewayClients(newWorld(t))
	var valid []string
	for i := range validTokens {
		valid = append(valid, c.world.token(fmt.Sprintf("user-%d", i)))
	}
	c.bind(c.namespace, "all-enter",
		[]rbacv1.PolicyRule{{
			APIGroups: []string{gateway.Group}, Resources: []string{"workspaces/exec"},
			Verbs: []string{"create"},
		}},
		[]rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts:" +
			c.namespace}})
	memory, routines := c.memory(), c.metric("go_goroutines")
	ctx, cancel := context.WithTimeout(t.Context(), madeUpTime)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	var sent, forged atomic.Int64
	answers := &sync.Map{}
	all.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ctx.Err() == nil; <-tick.C {
			for range madeUpRate / 100 {
				n++
				made, offline := c.madeUp(n), n%6 == 2 || n%6 == 3
				all.Go(func() {
					sent.Add(1)
					status := c.presents(client, made)
					if offline && status == http.StatusTooManyRequests {
						forged.Add(1)
					}
					count, _ := answers.LoadOrStore(status, new(atomic.Int64))
					count.(*atomic.Int64).Add(1)
				})
			}
		}
	})
	c.eventually("there is a flood", func() bool { return sent.Load() > 2*madeUpRate })
	var slowest atomic.Int64
	for _, token := range valid {
		all.Go(func() {
			begun := time.Now()
			status := c.presents(client, token)
			took := time.Since(begun)
			if status != http.StatusBadRequest { // it is let in, and no upgrade is asked for
				t.Errorf("a valid token is answered with %d after %s", status, took)
			}
			if took > time.Duration(slowest.Load()) {
				slowest.Store(int64(took))
			}
		})
		time.Sleep(20 * time.Millisecond) // they come one after the other
	}
	c.finish(c.user("office", "alice~plain", "--", "true")).mustBe(c.world, 0)
	high := c.memory()
	all.Wait()
	answers.Range(func(status, n any) bool {
		t.Logf("%d made-up tokens are answered with %d", n.(*atomic.Int64).Load(), status)
		if status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
			t.Errorf("a made-up token is answered with %d", status)
		}
		return true
	})
	if n := forged.Load(); n > 0 {
		t.Errorf("%d tokens that no key of the cluster has signed, or that have expired, waited for a review", n)
	}
	t.Logf("%d made-up tokens; the slowest valid one took %s; %d KiB before, %d KiB beside them", sent.Load(),
		time.Duration(slowest.Load()), memory>>10, high>>10)
	if high > memory+maxGrowth {
		t.Errorf("made-up tokens take %d KiB", (high-memory)>>10)
	}
	client.CloseIdleConnections()
	c.eventually("nothing is left of them", func() bool { return c.metric("go_goroutines") <= routines+5 })
}

// presents sends a request with a token, and gives the status of the answer.
func (c *gatewayClients) presents(client *http.Client, token string) int {
	request, err := http.NewRequest(http.MethodPost, c.execURL("https", c.address, "true").String(), http.NoBody)
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		c.Logf("no answer: %v", err)
		return 0
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// madeUp is a token that nobody has issued; each number gives another one.
func (c *gatewayClients) madeUp(n int) string {
	switch n % 6 {
	case 0:
		return fmt.Sprintf("opaque-%d", n)
	case 1:
		return fmt.Sprintf("%06d.%016d", n%1000000, n) // as a bootstrap token
	case 2:
		return c.altered(nil, map[string]any{"jti": n})
	case 3:
		return c.altered(nil, map[string]any{"jti": n, "exp": time.Now().Add(-time.Hour).Unix()})
	case 4:
		return c.altered(map[string]any{"kid": fmt.Sprintf("key-%d", n)}, nil)
	}
	return c.altered(map[string]any{"kid": "other"}, map[string]any{"iss": fmt.Sprintf("https://%d.example.com", n)})
}

// altered is the user's token with other claims and the same signature.
func (c *gatewayClients) altered(parts ...map[string]any) string {
	text := strings.Split(c.token, ".")
	for i, changes := range parts {
		raw, _ := base64.RawURLEncoding.DecodeString(text[i])
		all := map[string]any{}
		_ = json.Unmarshal(raw, &all)
		maps.Copy(all, changes)
		raw, _ = json.Marshal(all)
		text[i] = base64.RawURLEncoding.EncodeToString(raw)
	}
	return strings.Join(text, ".")
}
