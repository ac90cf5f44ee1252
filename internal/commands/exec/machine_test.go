package exec_test

import (
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/exec"
	"github.com/berthdev/berth/internal/exec/machine"
)

func TestOptionsOfMachines(t *testing.T) {
	forget := func(o *exec.Options) { *o = exec.Options{Machine: o.Machine} }
	of := func(m exec.Machine) exec.Options { m.Name = "web"; return exec.Options{Machine: m} }
	ca, insecure := machine.Trust{CAFile: "ca.pem"}, machine.Trust{Insecure: true}
	cmdtest.Options(t, exec.NewCmd, forget, map[string]cmdtest.Case[exec.Options]{
		"a machine": {Args: "machine/web", Want: of(exec.Machine{})},
		"unverified": {
			Args: "machine/web --insecure-skip-tls-verify-backend",
			Want: of(exec.Machine{Trust: insecure}),
		},
		"direct": {
			Args: "machine/web --direct --poollet-ca ca.pem",
			Want: of(exec.Machine{Direct: true, Trust: ca}),
		},
		"direct and unverified": {
			Args: "machine/web --direct --insecure-skip-tls-verify-backend",
			Want: of(exec.Machine{Direct: true, Trust: insecure}),
		},
		"types of addresses": {
			Args: "machine/web --direct --poollet-ca ca.pem --address-types InternalIP,Hostname",
			Want: of(exec.Machine{Direct: true, Trust: ca, Types: []string{"InternalIP", "Hostname"}}),
		},
		"an empty name":       {Args: "machine/", Err: "machine name is empty"},
		"an invalid name":     {Args: "machine/Web", Err: `invalid machine name "Web"`},
		"a path":              {Args: "machine/web/exec", Err: `invalid machine name "web/exec"`},
		"a command":           {Args: "machine/web -- ls", Err: "machine/web takes no command"},
		"direct without a CA": {Args: "machine/web --direct", Err: "cannot be verified without its CA"},
		"a CA, and unverified": {
			Args: "machine/web --direct --poollet-ca ca.pem --insecure-skip-tls-verify-backend",
			Err:  "mutually exclusive",
		},
		"a CA for nothing": {Args: "machine/web --poollet-ca ca.pem", Err: "--poollet-ca requires --direct"},
		"addresses for nothing": {
			Args: "machine/web --address-types InternalIP",
			Err:  "--address-types requires --direct",
		},
		"an unknown type": {
			Args: "machine/web --direct --poollet-ca ca.pem --address-types IP",
			Err:  `invalid address type "IP"`,
		},
		"a type twice": {
			Args: "machine/web --direct --poollet-ca ca.pem --address-types InternalIP,InternalIP",
			Err:  "duplicate address type",
		},
		"direct, of a workspace": {Args: "alice --direct", Err: "--direct requires a machine"},
	})
}
