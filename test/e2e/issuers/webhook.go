package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// issuer is what the webhook knows of one.
type issuer struct {
	Spec struct {
		Server  string `json:"server"`
		Profile string `json:"profile"`
	} `json:"spec"`
}

// answer serves the webhook with the certificate in a directory.
func answer(ctx context.Context, dir string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /validate", review(func(i issuer, r *admissionv1.AdmissionResponse) {
		if r.Allowed = strings.HasPrefix(i.Spec.Server, "https://"); !r.Allowed {
			r.Result = &metav1.Status{Code: http.StatusForbidden, Message: "spec.server must be a URL of https, not " +
				i.Spec.Server}
		}
	}))
	mux.HandleFunc("POST /mutate", review(func(i issuer, r *admissionv1.AdmissionResponse) {
		if r.Allowed = true; i.Spec.Profile == "" {
			kind := admissionv1.PatchTypeJSONPatch
			r.PatchType, r.Patch = &kind, []byte(`[{"op":"add","path":"/spec/profile","value":"classic"}]`)
		}
	}))
	server := &http.Server{Addr: ":8443", Handler: leaving(ctx, mux), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() {
		ended <- server.ListenAndServeTLS(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		time.Sleep(drain)
		return errors.Join(server.Shutdown(context.WithoutCancel(ctx)), ignoreClosed(<-ended))
	}
}

// drain is how long a server that is to end answers the connections that it has.
const drain = 2 * time.Second

// leaving closes a connection with its next answer once the server is to end. The API server keeps its connections and
// asks by HTTP/1.1: a request that it writes while Shutdown closes an idle one fails with EOF.
func leaving(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// review answers a request for admission.
func review(decide func(issuer, *admissionv1.AdmissionResponse)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		var i issuer
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&review)
		if err == nil && review.Request == nil {
			err = errors.New("no request")
		}
		if err == nil {
			err = json.Unmarshal(review.Request.Object.Raw, &i)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID}
		decide(i, review.Response)
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}
}
