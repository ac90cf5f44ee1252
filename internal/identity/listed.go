package identity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Listed knows the users of a document. It is read once, when the first
// question is asked; what cannot be read is read again with the next.
type Listed struct {
	provider string
	load     func(ctx context.Context) (file string, raw []byte, err error)

	mu      sync.Mutex
	records map[string]record
}

// File knows the users of a file.
func File(path string) *Listed {
	return &Listed{provider: KindFile, load: func(context.Context) (string, []byte, error) {
		raw, err := readFile(path, yamldoc.MaxFile)
		return path, raw, err
	}}
}

// ConfigMap knows the users of a ConfigMap: the same document, under a key.
func ConfigMap(client kubernetes.Interface, namespace, name, key string) *Listed {
	return &Listed{provider: KindConfigMap, load: func(ctx context.Context) (string, []byte, error) {
		origin := fmt.Sprintf("configmap %s/%s[%s]", namespace, name, key)
		m, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return origin, nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "configmaps", Namespace: namespace, Name: name})
		}
		text, ok := m.Data[key]
		if !ok {
			return origin, nil, fmt.Errorf("it has no key %q", key)
		}
		return origin, []byte(text), nil
	}}
}

// Resolve looks the user up.
func (l *Listed) Resolve(ctx context.Context, username string) (User, error) {
	r, ok, err := l.find(ctx, username)
	if err == nil && !ok {
		err = unknown(username, l.provider)
	}
	return r.user, err
}

// Caller cannot be told from a list.
func (*Listed) Caller(context.Context) (string, error) { return "", nil }

// Custom is the blueprint that the user has by that name.
func (l *Listed) Custom(ctx context.Context, u userstring.UserString) (*Custom, error) {
	if u.Form() != userstring.Explicit {
		return nil, errElsewhere
	}
	r, _, err := l.find(ctx, u.User)
	if err != nil {
		return nil, err
	}
	if custom, ok := r.customs[u.Blueprint]; ok {
		return &custom, nil
	}
	return nil, errElsewhere
}

func (l *Listed) find(ctx context.Context, username string) (record, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records == nil {
		origin, raw, err := l.load(ctx)
		if _, told := errors.AsType[*fault.Error](err); err != nil && !told && ctx.Err() == nil {
			// The list is not there: nothing is known about anybody.
			err = fault.New(fault.Unavailable, "%s: %w", origin, err)
		} else if fault.CodeOf(err) == fault.NotFound {
			err = fault.New(fault.Unavailable, "%s: %w", origin, err)
		}
		if err != nil {
			return record{}, false, err
		}
		if l.records, err = parseDocument(origin, l.provider, raw); err != nil {
			return record{}, false, err
		}
	}
	r, ok := l.records[username]
	return r, ok, nil
}

// readFile reads a file, but no more than limit: what its name stands for may
// have no end. The name is not in the error.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return nil, pathErr.Err
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, limit+1))
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("it is larger than %d KiB", limit>>10)
	}
	return raw, err
}
