package provider

import (
	"context"
	"errors"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

// userList knows the users of a document, which is read with the first question,
// and again with the next one if that failed.
type userList struct {
	kind string
	load func(ctx context.Context) (file string, raw []byte, err error)

	mu      sync.Mutex
	records map[string]record
}

// fileList is the document in a file.
func fileList(path string) *userList {
	return &userList{kind: KindFile, load: func(context.Context) (string, []byte, error) {
		raw, err := yamldoc.ReadFile(path)
		return path, raw, err
	}}
}

// configMapList is the document under a key of a ConfigMap.
func configMapList(client kube.Interface, namespace, name, key string) *userList {
	return &userList{kind: KindConfigMap, load: func(ctx context.Context) (string, []byte, error) {
		origin := fmt.Sprintf("configmap %s/%s[%s]", namespace, name, key)
		m, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			err = kube.Fault(err, kube.Call{Verb: "get", Resource: "configmaps", Namespace: namespace, Name: name})
			if fault.CodeOf(err) == fault.NotFound {
				err = errors.New(err.Error()) // the list is missing, not a user
			}
			return origin, nil, err
		}
		text, ok := m.Data[key]
		if !ok {
			return origin, nil, fmt.Errorf("%s: key not found", origin)
		}
		return origin, []byte(text), nil
	}}
}

// Resolve looks the user up.
func (l *userList) Resolve(ctx context.Context, username string) (identity.User, error) {
	r, ok, err := l.find(ctx, username)
	if err == nil && !ok {
		err = identity.Unknown(username, l.kind)
	}
	return r.user, err
}

// Caller is not known from a list.
func (*userList) Caller(context.Context) (string, error) { return "", nil }

// Custom is the blueprint that the user owns by that name.
func (l *userList) Custom(ctx context.Context, u userstring.UserString) (*blueprint.Source, error) {
	if u.Form() != userstring.Explicit {
		return nil, identity.ErrNotResponsible
	}
	r, _, err := l.find(ctx, u.User)
	if err != nil {
		return nil, err
	}
	if custom, ok := r.customs[u.Blueprint]; ok {
		return &custom, nil
	}
	return nil, identity.ErrNotResponsible
}

func (l *userList) find(ctx context.Context, username string) (record, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records == nil {
		file, raw, err := l.load(ctx)
		if err != nil {
			return record{}, false, err
		}
		if l.records, err = parseDocument(file, l.kind, raw); err != nil {
			return record{}, false, err
		}
	}
	r, ok := l.records[username]
	return r, ok, nil
}
