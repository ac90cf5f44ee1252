// Program provisioner stands in for another provisioner of bundles: it serves an archive
// to everybody who has a token of the cluster, and prints to whom.
package main

import (
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func main() {
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: ":8443", ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			review, err := client.AuthenticationV1().TokenReviews().Create(r.Context(), &authenticationv1.TokenReview{
				Spec: authenticationv1.TokenReviewSpec{Token: token},
			}, metav1.CreateOptions{})
			if err != nil || !review.Status.Authenticated {
				fmt.Println("refused", err)
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			fmt.Println("given to", review.Status.User.Username)
			http.ServeFile(w, r, "/content/bundle.tgz")
		})}
	log.Fatal(server.ListenAndServeTLS("/tls/tls.crt", "/tls/tls.key"))
}
