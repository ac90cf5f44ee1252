package config

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

func TestVolumes(t *testing.T) {
	c, dir, err := loadGateways(t, "volumes: {readURL: 'https://v.example.com:9443', readCA: ca.crt}\n")
	want := Volumes{
		ReadURL: "https://v.example.com:9443", ReadCA: filepath.Join(dir, "ca.crt"),
		Credential: GatewayCredential{Kubeconfig: true},
	}
	if err != nil || !reflect.DeepEqual(c.Volumes, want) {
		t.Errorf("%+v, %v, want %+v", c.Volumes, err, want)
	}
	c, dir, err = loadGateways(t, "volumes: {readURL: 'https://v', credential: {tokenFile: token}}\n")
	if own := c.Volumes.Credential; err != nil || own.TokenFile != filepath.Join(dir, "token") || own.Kubeconfig {
		t.Errorf("%+v, %v", own, err)
	}
	for text, says := range map[string]string{
		"{readURL: 'http://v'}":    "volumes.readURL: must be https://HOST[:PORT]",
		"{readURL: 'https://a@v'}": "volumes.readURL: must be https://HOST[:PORT]",
		"{readCA: ca.crt}":         "volumes.readCA: requires readURL",
		"{readURL: 'https://v', credential: {tokenFile: a, kubeconfig: true}}": "volumes.credential: " +
			"requires exactly one",
	} {
		if _, _, err := loadGateways(t, "volumes: "+text+"\n"); fault.CodeOf(err) != fault.InvalidArgument ||
			!strings.Contains(problemsOf(err), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func problemsOf(err error) string {
	return err.Error() + strings.Join(fault.From(err).Problems, "\n")
}
