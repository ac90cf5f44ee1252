package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/exec/iri"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
)

// Elsewhere gives a URL at which an object can be entered once: what a user sends there is passed on as it is.
type Elsewhere func(ctx context.Context, o Object) (*url.URL, error)

// Runtime is a machine runtime behind the gateway.
type Runtime interface {
	Labelled(ctx context.Context, labels map[string]string) ([]iri.Machine, error)
	ByID(ctx context.Context, id string) ([]iri.Machine, error)
	Exec(ctx context.Context, id string) (*url.URL, error)
}

// AtRuntime are the machines of a pool that run at a machine runtime. Front reads the API in which users have theirs.
func AtRuntime(front machine.Reader, r Runtime, c Consoles, log *slog.Logger) Elsewhere {
	return func(ctx context.Context, o Object) (*url.URL, error) {
		meant, err := c.meant(ctx, front, o, log)
		if err != nil {
			return nil, err
		}
		id, err := found(ctx, r, meant)
		if err == nil && id == "" {
			return nil, notRunning(o, meant, "the runtime has no such machine", log)
		}
		var at *url.URL
		if err == nil {
			at, err = r.Exec(ctx, id)
		}
		switch {
		case err == nil:
			return at, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case fault.CodeOf(err) == fault.NotFound:
			return nil, notRunning(o, meant, "the runtime does not know it: "+fault.Line(err.Error()), log)
		}
		log.Error("the machine runtime could not be asked for a console", slog.String("namespace", o.Namespace),
			slog.String("machine", o.Name), slog.String("error", fault.Line(err.Error())))
		if fault.ReasonOf(err) == iri.ReasonFull {
			return nil, fault.New(fault.Unavailable, "the runtime of machine %s has too many sessions", o.Name).
				WithReason(iri.ReasonFull)
		}
		if fault.ReasonOf(err) == iri.ReasonAway { // 500 as well: a poollet has no other code for it
			return nil, fault.New(fault.Internal, "the machine runtime of machine pool %s cannot be reached: "+
				"it is for the administrator of the pool to start it", c.Pool)
		}
		return nil, fault.New(fault.Internal, "the runtime of machine %s cannot be asked for its console; "+
			"the log of the gateway says why", o.Name)
	}
}

// found is the ID of the machine that is meant: one with the labels of its name, or else the one with the ID that the
// pool reports. Empty if there is none.
func found(ctx context.Context, r Runtime, meant machine.Machine) (id string, err error) {
	reported := meant.AtRuntime()
	list, err := r.Labelled(ctx, map[string]string{
		iri.LabelNamespace: meant.Namespace, iri.LabelName: meant.Name,
	})
	if err != nil {
		return "", err
	}
	if id = chosen(list, meant, reported); id != "" {
		return id, nil
	}
	if list, err = r.ByID(ctx, reported); err != nil {
		return "", err
	}
	return chosen(list, meant, reported), nil
}

// chosen is the ID of the one machine of a list that is meant. It is never one with a label of another one, and one
// that says nothing of a UID has the ID that the pool reports. Of two with the UID, it is that with the ID.
func chosen(list []iri.Machine, meant machine.Machine, reported string) (id string) {
	wanted := map[string]string{
		iri.LabelNamespace: meant.Namespace, iri.LabelName: meant.Name, iri.LabelUID: meant.UID,
	}
	var all []string
	for _, m := range list {
		is := m.ID != "" && (m.ID == reported || meant.UID != "" && m.Labels[iri.LabelUID] == meant.UID)
		for label, value := range wanted {
			if says, has := m.Labels[label]; has && says != value {
				is = false
			}
		}
		switch {
		case is && m.ID == reported:
			return m.ID
		case is:
			all = append(all, m.ID)
		}
	}
	if len(all) != 1 {
		return ""
	}
	return all[0]
}

// answerTimeout bounds how long a runtime may take to answer at a URL.
const answerTimeout = 30 * time.Second

// toRuntime is how the URLs of a runtime are called: with no proxy of the environment, and nothing of the gateway's.
func toRuntime() *http.Transport {
	return &http.Transport{
		DisableCompression: true, ResponseHeaderTimeout: answerTimeout, TLSHandshakeTimeout: headerTimeout,
		MaxIdleConnsPerHost: -1,
	}
}

// ofRuntime makes the answer of a runtime one for a user: a connection, or the code of a refusal. What else it says,
// and where it redirects to, is for nobody.
func ofRuntime(o Object) func(*http.Response) error {
	return func(answer *http.Response) error {
		header := http.Header{}
		for name, values := range answer.Header {
			if forwarded(name) || name == "Sec-Websocket-Accept" || name == "Retry-After" {
				header[name] = values
			}
		}
		if answer.StatusCode == http.StatusSwitchingProtocols {
			answer.Header = header
			return nil
		}
		_ = answer.Body.Close()
		if answer.StatusCode < http.StatusBadRequest {
			answer.StatusCode = http.StatusInternalServerError
		}
		says := fmt.Sprintf("the runtime of machine %s refuses the session: %s\n", o.Name,
			strings.ToLower(http.StatusText(answer.StatusCode)))
		header = http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
		if after := answer.Header.Get("Retry-After"); after != "" {
			header.Set("Retry-After", after)
		}
		answer.Header, answer.ContentLength, answer.Trailer = header, int64(len(says)), nil
		answer.Body = io.NopCloser(strings.NewReader(says))
		return nil
	}
}

// watched lets a session end that is passed on, when nothing is sent for long.
func (i *idle) watched(answer *http.Response) {
	if conn, is := answer.Body.(io.ReadWriteCloser); is && answer.StatusCode == http.StatusSwitchingProtocols {
		answer.Body = passedOn{seenReader{conn, i}, seenWriter{conn, i}, conn}
	}
}

// passedOn is a connection with a runtime. It has no half that is closed: when an end goes, the session is over.
type passedOn struct {
	io.Reader
	io.Writer
	io.Closer
}
