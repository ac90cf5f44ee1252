// Package server lets users read the scratch volumes that the API server allows them to, with an audit line for each
// request. The review is about what the driver itself has recorded of a volume, never about what a client says.
package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/admin"
	"github.com/berthdev/berth/internal/volume/read"
)

// Server answers readers.
type Server struct {
	Guard *serve.Guard
	Node  volume.Reader
}

// Limits are those of a driver, which has little memory: reading is not what it is for.
func Limits() serve.Limits {
	limits := serve.DefaultLimits()
	limits.Open, limits.OpenPerCaller = 64, 8
	return limits
}

// Handler answers requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+read.PathVolumes, s.guarded(list, s.volumes))
	mux.Handle("GET "+read.PathVolume, s.guarded(s.get, s.ofVolume(s.one)))
	mux.Handle("GET "+read.PathList, s.guarded(s.get, s.ofVolume(s.list)))
	mux.Handle("GET "+read.PathFile, s.guarded(s.get, s.ofVolume(s.file)))
	mux.Handle("GET "+read.PathArchive, s.guarded(s.get, s.ofVolume(s.archive)))
	return mux
}

// guarded lets in callers with permission, and says in the audit line which volume and path were asked for.
func (s *Server) guarded(takes func(*http.Request) serve.Access, next http.HandlerFunc) http.Handler {
	protected := s.Guard.Protect(takes, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var about []slog.Attr
		if id := r.PathValue(read.KeyID); id != "" {
			about = append(about, slog.String("volume", fault.Line(id)))
		}
		if query := r.URL.Query(); query.Has(read.KeyPath) {
			about = append(about, slog.String("path", fault.Line(query.Get(read.KeyPath))))
		}
		protected.ServeHTTP(w, serve.Noted(r, about...))
	})
}

func access(verb, namespace, name string) serve.Access {
	return serve.Access{Resource: &authorizationv1.ResourceAttributes{
		Verb: verb, Group: kube.Group, Version: "v1", Resource: read.Resource, Namespace: namespace, Name: name,
	}}
}

// list is what it takes to list the volumes of a namespace, or those of a name: no others are listed.
func list(r *http.Request) serve.Access {
	return access("list", r.PathValue(read.KeyNamespace), r.URL.Query().Get(read.KeyName))
}

// get is what it takes to read a volume: that of its record. Only a caller with permission on all of the namespace
// learns that a volume is not there, or is of another namespace.
func (s *Server) get(r *http.Request) serve.Access {
	namespace := r.PathValue(read.KeyNamespace)
	if v, known := s.Node.Find(r.PathValue(read.KeyID)); known && v.Namespace == namespace {
		return access("get", namespace, read.NameOf(v))
	}
	return access("get", namespace, "")
}

// volumes answers with those of a namespace that are in their afterlife.
func (s *Server) volumes(w http.ResponseWriter, r *http.Request) {
	picture, err := s.Node.Picture(r.Context())
	if err != nil {
		fail(w, r, err)
		return
	}
	namespace, name := r.PathValue(read.KeyNamespace), r.URL.Query().Get(read.KeyName)
	picture.Volumes = slices.DeleteFunc(slices.Clone(picture.Volumes), func(v volume.Volume) bool {
		return v.Namespace != namespace || name != "" && read.NameOf(v) != name
	})
	answer(w, picture)
}

// ofVolume makes sure that the volume is the one that the caller was let in for.
func (s *Server) ofVolume(next func(w http.ResponseWriter, r *http.Request, v volume.Volume)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue(read.KeyID)
		v, known := s.Node.Find(id)
		caller, _ := serve.CallerOf(r.Context())
		granted := caller.Access.Resource
		if !known || granted == nil || v.Namespace != granted.Namespace || read.NameOf(v) != granted.Name {
			fail(w, r, fault.New(fault.NotFound, "volume %s not found on this node", fault.Shorten(id, shownID)))
			return
		}
		next(w, r, v)
	}
}

// shownID is how much is shown of what is not the ID of a volume, in bytes.
const shownID = 100

// one answers with a volume alone.
func (s *Server) one(w http.ResponseWriter, r *http.Request, v volume.Volume) {
	picture, err := s.Node.Picture(r.Context())
	if err == nil {
		err = s.Node.Read(r.Context(), v.ID, func(context.Context, volume.Files) error { return nil })
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	picture.Volumes = []volume.Volume{v}
	answer(w, picture)
}

func answer(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_ = json.NewEncoder(w).Encode(document) // the client is gone otherwise
}

// fail answers with an error that came before anything was sent.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	note(r, err)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status(err))
	_, _ = io.WriteString(w, admin.FailureOf(err).Text()) // the client is gone otherwise
}

// note says in the audit line why a request has failed.
func note(r *http.Request, err error) {
	serve.Note(r.Context(), slog.String("ended", fault.Line(err.Error())))
}

// status is the HTTP status of an error; what the code is, the body says.
func status(err error) int {
	if fault.ReasonOf(err) == volume.ReasonRemoved {
		return http.StatusGone
	}
	return admin.Status(fault.CodeOf(err))
}
