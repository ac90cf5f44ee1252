//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// Several ports at once; one that is picked is told; a pod that is replaced is followed,
// on the same local ports; the deletion of the workspace ends it, with the reason.
func TestPortForward(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	id := w.idOf("alice~plain")
	serve := func() { w.in("alice~plain", "httpd -p 9000 -h /etc; httpd -p 9001 -h /etc") }
	serve()
	cmd := w.command("port-forward", "alice~plain", ":9000", "0:9001", "-o", "jsonl", "--address", "127.0.0.1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	next := func(state v1.PortForwardState) (e v1.PortForward) {
		t.Helper()
		for lines.Scan() {
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			if e.State == state {
				return e
			}
		}
		t.Fatalf("it ended before %s", state)
		return e
	}
	get := func(address string) error {
		client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get(fmt.Sprintf("http://%s/passwd", address))
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err == nil && !strings.HasPrefix(string(text), "root:") {
			err = fmt.Errorf("%q", text)
		}
		return err
	}
	if e := next(v1.PortConnected); e.Pod != id {
		t.Errorf("%+v", e)
	}
	first, second := next(v1.PortListening), next(v1.PortListening)
	for _, address := range []string{first.Address, second.Address, first.Address} {
		if err := get(address); err != nil {
			t.Error(err)
		}
	}

	now := int64(0)
	if err := w.CoreV1().Pods(w.namespace).
		Delete(t.Context(), id, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	if e := next(v1.PortLost); e.Reason == "" {
		t.Errorf("%+v", e)
	}
	w.must(0, "provision", "alice~plain")
	next(v1.PortConnected)
	serve()
	for _, address := range []string{first.Address, second.Address} {
		if err := get(address); err != nil {
			t.Error(err)
		}
	}

	w.must(0, "delete", "alice~plain", "--yes")
	rest, _ := io.ReadAll(out)
	_ = cmd.Wait()
	for lines.Scan() {
		rest = append(rest, lines.Bytes()...)
	}
	if status := cmd.ProcessState.ExitCode(); status != 7 || !strings.Contains(string(rest), "was deleted") {
		t.Errorf("status %d: %s", status, rest)
	}
}

// Ctrl-C ends it as it ends what follows: 130, without an error.
func TestPortForwardInterrupted(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	run := w.start("port-forward", "alice~plain", ":9000")
	run.waitFor("connected with pod")
	run.signal(os.Interrupt)
	if r := run.wait(); r.status != 130 || strings.Contains(r.stderr, "error") {
		t.Errorf("%+v", r)
	}
	w.contains(w.must(2, "port-forward", "alice~plain", "x").stderr, `"x" is not a number`)
	w.contains(w.must(7, "port-forward", "bob", "80").stderr, "NOT_FOUND")
}
