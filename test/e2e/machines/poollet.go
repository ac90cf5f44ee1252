package main

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/exec/machine"
)

// poollet connects whoever may use the pool with the console of any of its machines,
// which is that of the pod console. Some machines are known for their errors.
type poollet struct {
	cluster
	pool string
}

// ServeHTTP implements http.Handler.
func (p poollet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, err := p.user(r)
	if err != nil || user.Username == "" {
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
		return
	}
	if allowed, err := p.allows(r, user); err != nil || !allowed {
		http.Error(w, fmt.Sprintf("%s may not create machinepools/proxy of %s", user.Username, p.pool), http.StatusForbidden)
		return
	}
	fmt.Println("entered by", user.Username)
	name := path.Base(path.Dir(r.URL.Path))
	switch name {
	case "lost":
		http.Error(w, "machine lost is not known here", http.StatusNotFound)
	case "busy":
		w.Header().Set("Retry-After", "7")
		http.Error(w, "too many open requests", http.StatusTooManyRequests)
	case "broken":
		http.Error(w, "the runtime does not answer", http.StatusInternalServerError)
	case "elsewhere":
		http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusTemporaryRedirect)
	default:
		p.connect(w, r)
	}
}

// connect attaches to the pod.
func (p poollet) connect(w http.ResponseWriter, r *http.Request) {
	at, err := p.location("/api/v1/namespaces/"+p.namespace+"/pods/console/attach", url.Values{"stdin": {"true"}, "stdout": {"true"}, "tty": {"true"}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	through{at: at, authority: "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt", token: p.token()}.ServeHTTP(w, r)
}

// user is whose client certificate or token a request has; without a name if it has none.
func (p poollet) user(r *http.Request) (authenticationv1.UserInfo, error) {
	if len(r.TLS.VerifiedChains) > 0 {
		subject := r.TLS.VerifiedChains[0][0].Subject
		return authenticationv1.UserInfo{Username: subject.CommonName, Groups: subject.Organization}, nil
	}
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return authenticationv1.UserInfo{}, nil
	}
	review, err := p.AuthenticationV1().TokenReviews().Create(r.Context(), &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token},
	}, metav1.CreateOptions{})
	if err != nil || !review.Status.Authenticated {
		return authenticationv1.UserInfo{}, err
	}
	return review.Status.User, nil
}

func (p poollet) allows(r *http.Request, user authenticationv1.UserInfo) (bool, error) {
	review, err := p.AuthorizationV1().SubjectAccessReviews().Create(r.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, Groups: user.Groups, UID: user.UID,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: "create", Group: machine.Group, Version: "*", Resource: "machinepools", Subresource: "proxy", Name: p.pool,
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}
