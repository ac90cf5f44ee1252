package credential

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/klog/v2"
)

const token = "ghp_0123456789secret"

// However a token gets into an output, it is not in there.
func TestSecretsAreNeverPrinted(t *testing.T) {
	c := Credential{Username: "bot", Token: token, From: "the variable X"}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb, c)
		fmt.Fprintf(&out, verb, &c)
		fmt.Fprintf(&out, verb, c.Token)
	}
	for _, marshal := range []func(any) ([]byte, error){json.Marshal, yaml.Marshal} {
		text, err := marshal(map[string]any{"c": c, "t": c.Token})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", c.Token, "credential", c)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "token", c.Token, "credential", c)

	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{
		"-v=10", "-logtostderr=false", "-alsologtostderr=false",
		"-stderrthreshold=4",
	}); err != nil {
		t.Fatal(err)
	}
	klog.SetOutput(&out)
	klog.InfoS("x", "token", c.Token, "credential", c)
	klog.V(10).Infof("%v %+v", c.Token, c)
	klog.Flush()
	for _, part := range []string{token, fmt.Sprintf("%x", token), fmt.Sprintf("%X", token)} {
		if strings.Contains(out.String(), part) {
			t.Errorf("%q is in:\n%s", part, out.String())
		}
	}
	if !strings.Contains(out.String(), "token") || !strings.Contains(out.String(), "***") {
		t.Errorf("nothing was written: %s", out.String())
	}
}
