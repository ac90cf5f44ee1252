package controller

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch/cause"
)

// noReleases answers all who ask for the records of releases.
type noReleases struct{}

func (noReleases) RoundTrip(*http.Request) (*http.Response, error) {
	list := `{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "items": []}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(list)),
	}, nil
}

// timed is a log with the time of each line, since it began.
type timed struct {
	begun time.Time
	lines []string
}

func (l *timed) Write(line []byte) (int, error) {
	_, text, _ := strings.Cut(strings.TrimSpace(string(line)), "msg=")
	l.lines = append(l.lines, fmt.Sprintf("%s %s", time.Since(l.begun), text))
	return len(line), nil
}

// When everything is compared, and what follows where an exchange fails.
func TestExchanges(t *testing.T) {
	const compared = `"all workspaces are compared" workspaces=1 took=0s`
	failed := func(pause string) string {
		return `"an exchange failed" error="the cluster cannot list configmaps in namespace team at the ` +
			`moment: busy" pause=` + pause
	}
	for name, test := range map[string]struct {
		fails   func(since time.Duration) bool // listing all records
		changed time.Duration                  // when the limits change
		want    []string
	}{
		"all is well": {want: []string{"0s " + compared, "1m0s " + compared, "2m0s " + compared}},
		"the limits change": {
			changed: 25 * time.Second,
			want:    []string{"0s " + compared, "30s " + compared, "1m30s " + compared},
		},
		"the records cannot be listed at first": {
			fails: func(since time.Duration) bool { return since < 10*time.Second },
			want: []string{
				"0s " + failed("1s"), "1s " + failed("2s"), "3s " + failed("4s"), "7s " + failed("8s"),
				"15s " +
					compared, "1m15s " + compared,
			},
		},
		"later, and again": {
			fails: func(since time.Duration) bool { return since == time.Minute || since == 121*time.Second },
			want: []string{
				"0s " + compared, "1m0s " + failed("1s"), "1m1s " + compared, "2m1s " + failed("1s"),
				"2m2s " +
					compared,
			},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			objects := fake.NewClientset()
			log := &timed{begun: time.Now()}
			objects.PrependReactor("list", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.fails != nil && test.fails(time.Since(log.begun)), nil,
					apierrors.NewServiceUnavailable("busy")
			})
			client := &kube.Client{
				Interface: objects, Dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), Namespace: "team",
				Config: &rest.Config{Host: "http://cluster", QPS: -1}, HTTP: &http.Client{Transport: noReleases{}},
			}
			place := lifecycle.Place{Client: client}
			stopped := recordOf("alice-1", v1.DesiredStopped, v1.ActualStopped)
			stopped.UserString, stopped.Values = "alice~plain", "values"
			if _, err := place.Of("team").
				Change(t.Context(), stopped.ID,
					func(lifecycle.Record) (lifecycle.Record, error) { return stopped, nil }); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			log.begun = begun
			ctx, end := context.WithTimeout(t.Context(), 125*time.Second)
			defer end()
			c := &Controller{
				Log: slog.New(slog.NewTextHandler(log, nil)), Namespace: "team", Partial: 10 * time.Second,
				Full:   time.Minute,
				Limits: func(lifecycle.Record) lifecycle.Limits { return lifecycle.Limits{} },
				Provisioner: &provision.Provisioner{Environment: provision.Environment{
					States: place,
					Reader: inventory.Reader{Client: client, Policy: cause.DefaultPolicy(), Now: time.Now},
				}},
				Changed: func() bool {
					now := test.changed > 0 && time.Since(begun) >= test.changed
					if now {
						test.changed = 0
					}
					return now
				},
			}
			c.exchanges(ctx, newKnown(), func(string) {})
			if !slices.Equal(log.lines, test.want) {
				t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(log.lines, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
