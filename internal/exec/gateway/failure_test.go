package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/fault"
)

func answered(code int32) error { return answeredWith(code, "so it is") }

func answeredWith(code int32, message string) error {
	return &httpstream.UpgradeFailureError{Cause: &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: code, Message: message,
	}}}
}

// What a gateway answers, and why it ends a session, is told by codes; its words are kept.
func TestFailure(t *testing.T) {
	workspace, machine := Destination{Namespace: "dev", Workspace: "alice"},
		Destination{Namespace: "dev", Machine: "vm"}
	for name, c := range map[string]struct {
		err        error
		to         Destination
		code       fault.Code
		says, hint string
	}{
		"401": {
			answered(401), workspace, fault.Unauthenticated,
			"does not accept your credential: so it is", "renew it",
		},
		"403": {
			answered(403), workspace, fault.PermissionDenied,
			"you may not enter workspace alice in namespace dev", "the ClusterRole workspace-user in namespace dev",
		},
		"403 of a machine": {
			answered(403), machine, fault.PermissionDenied,
			"you may not enter machine vm in namespace dev", "machinepools/proxy",
		},
		"404": {
			answeredWith(404, "workspace alice not found in namespace dev"), workspace, fault.NotFound,
			"workspace alice not found", "--namespace",
		},
		"404 of a machine": {
			answeredWith(404, "machine vm not found in namespace dev"), machine, fault.NotFound,
			"machine vm not found", "--namespace",
		},
		"404 of another workspace, whose name begins so": {
			answeredWith(404, "workspace alice-2 not found in namespace dev"), workspace, fault.NotFound,
			"workspace alice-2 not found", "the URL of the gateway",
		},
		"404 of a workspace in a namespace of that name": {
			answeredWith(404, "workspace bob not found in namespace alice"), workspace, fault.NotFound,
			"workspace bob not found", "the URL of the gateway",
		},
		"404 of a workspace with the name of the machine": {
			answeredWith(404, "workspace vm not found in namespace dev"), machine, fault.NotFound,
			"workspace vm not found", "the URL of the gateway",
		},
		"404 of something else": {answered(404), workspace, fault.NotFound, "so it is", "the URL of the gateway"},
		"it does not know how it ended": {
			errors.New("UNAVAILABLE/STATUS_UNKNOWN: the session with workspace alice ended without saying how"),
			workspace,
			fault.Unavailable, "gateway office: the session with workspace alice ended without saying how", "see what",
		},
		"400": {answered(400), workspace, fault.InvalidArgument, "so it is", ""},
		"409": {answered(409), workspace, fault.Failed, "so it is", ""},
		"429": {answered(429), workspace, fault.Unavailable, "so it is", "try again"},
		"503": {answered(503), workspace, fault.Unavailable, "so it is", "try again"},
		"500": {answered(500), workspace, fault.Internal, "so it is", ""},
		"not allowed any more": {
			errors.New("PERMISSION_DENIED: no more"), workspace, fault.PermissionDenied,
			"has ended the session with workspace alice in namespace dev: no more", "workspace-user",
		},
		"it stops": {
			errors.New("UNAVAILABLE: stopping"), workspace, fault.Unavailable, "stopping",
			"enter again",
		},
		"no such program": {
			errors.New("INVALID_ARGUMENT: no: such"), workspace, fault.InvalidArgument,
			"has ended the session with workspace alice in namespace dev: no: such", "",
		},
		"words that look like one": {
			errors.New("any more, the gateway is stopping"), workspace, fault.Internal, "any more",
			"",
		},
		"the connection breaks": {
			io.ErrUnexpectedEOF, workspace, fault.Unavailable,
			"the connection to gateway office was lost", "may still be running",
		},
		"nobody listens": {
			&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connect: connection refused")},
			workspace, fault.Unavailable, "gateway office cannot be reached", "the URL",
		},
		"no answer to SPDY": {
			errors.New(`error sending request: Post "https://localhost:1/exec": EOF`), workspace, fault.Unavailable,
			"gateway office cannot be reached", "the URL",
		},
		"refused here": {
			fault.New(fault.Unavailable, "redirects"), workspace, fault.Unavailable, "redirects",
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := fault.From(Gateway{Name: "office"}.failure(c.err, c.to))
			if f.Code != c.code || !strings.Contains(f.Message, c.says) || !strings.Contains(f.Hint, c.hint) {
				t.Errorf("%s: %s\nhint: %s", f.Code, f.Message, f.Hint)
			}
		})
	}
}

// What one end puts together the other takes apart.
func TestEnding(t *testing.T) {
	for _, err := range []error{
		fault.New(fault.PermissionDenied, "a: b"), context.Canceled,
		fault.New(fault.Failed, "x\ny"), fault.New(fault.Failed, "x").WithReason("WHY"),
	} {
		ending, is := endingOf(Ending(err))
		if !is || ending.Code != fault.CodeOf(err) || ending.Message != fault.Line(err.Error()) ||
			ending.Reason != fault.ReasonOf(err) {
			t.Errorf("%v becomes %v, %t", err, ending, is)
		}
	}
	for _, text := range []string{"", "NOT_FOUND", "WHO_KNOWS: x", "exit: 3"} {
		if _, is := endingOf(text); is {
			t.Errorf("%q has a code", text)
		}
	}
}
